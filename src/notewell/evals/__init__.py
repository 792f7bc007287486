"""Evaluation: dataset → run → measures → report, through the front door like any user.

from notewell.evals import Notewell, load_dataset, run, table

dataset = load_dataset(folder, scratch)
print(*table([run(dataset, "hybrid", Notewell(state_dir), k=6)], 6, by_category=True), sep="\\n")
"""

from notewell.evals.baseline import PlainFts5
from notewell.evals.compare import Comparison, compare, pairs
from notewell.evals.dataset import Dataset, load_dataset
from notewell.evals.report import table
from notewell.evals.run import Run, run
from notewell.evals.saved import as_json, from_json, load_runs, save_runs
from notewell.evals.systems import BACKENDS, SYSTEMS, Notewell, open_system

__all__ = [
    "BACKENDS",
    "SYSTEMS",
    "Comparison",
    "Dataset",
    "Notewell",
    "PlainFts5",
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
