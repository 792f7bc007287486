"""Evaluation: dataset → run → measures → report, through the front door like any user."""

from recollect.evals.baseline import PlainFts5
from recollect.evals.dataset import Dataset, load_dataset
from recollect.evals.report import as_json, compare, from_json, table
from recollect.evals.run import Recollect, Run, run

__all__ = [
    "Dataset",
    "PlainFts5",
    "Recollect",
    "Run",
    "as_json",
    "compare",
    "from_json",
    "load_dataset",
    "run",
    "table",
]
