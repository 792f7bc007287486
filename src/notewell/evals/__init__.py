"""Evaluation: dataset → run → measures → report, through the front door like any user.

from notewell.evals import Notewell, load_dataset, run, table

dataset = load_dataset(folder, scratch)
print(*table([run(dataset, "hybrid", Notewell(state_dir), k=6)], 6, by_category=True), sep="\n")
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.evals.baseline import PlainFts5
    from notewell.evals.comparison import Comparison, compare, pairs
    from notewell.evals.dataset import Dataset, load_dataset
    from notewell.evals.report import table
    from notewell.evals.runner import Run, check_k, run
    from notewell.evals.saved import as_json, from_json, load_runs, save_runs
    from notewell.evals.systems import BACKENDS, SYSTEMS, Notewell, open_system
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "baseline": "PlainFts5",
            "comparison": "Comparison compare pairs",
            "dataset": "Dataset load_dataset",
            "report": "table",
            "runner": "Run check_k run",
            "saved": "as_json from_json load_runs save_runs",
            "systems": "BACKENDS Notewell SYSTEMS open_system",
        },
    )
