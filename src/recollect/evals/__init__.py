"""Evaluation: dataset → run → measures → report, through the front door like any user.

from recollect.evals import Recollect, load_dataset, run, table

dataset = load_dataset(folder, scratch)
print(*table([run(dataset, "hybrid", Recollect(state_dir), k=6)], 6, by_category=True), sep="\\n")
"""

from recollect.evals.baseline import PlainFts5
from recollect.evals.compare import Comparison, compare, pairs
from recollect.evals.dataset import Dataset, load_dataset
from recollect.evals.report import table
from recollect.evals.run import Run, run
from recollect.evals.saved import as_json, from_json, load_runs, save_runs
from recollect.evals.systems import BACKENDS, SYSTEMS, Recollect, open_system

__all__ = [
    "BACKENDS",
    "SYSTEMS",
    "Comparison",
    "Dataset",
    "PlainFts5",
    "Recollect",
    "Run",
    "as_json",
    "compare",
    "from_json",
    "load_dataset",
    "load_runs",
    "open_system",
    "pairs",
    "run",
    "save_runs",
    "table",
]
