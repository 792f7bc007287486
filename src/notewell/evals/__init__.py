"""Evaluation: dataset → run → measures → report, through the public API like any user.

from notewell.evals import NotewellSystem, load_dataset, run, run_table

dataset = load_dataset(folder, scratch)
runs = [run(dataset, "hybrid", NotewellSystem(state_dir), k=6)]
print(*run_table(runs, 6, by_category=True), sep="\n")
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.evals.baseline import PlainFts5
    from notewell.evals.conversations import ReplaySet, load_replay_set
    from notewell.evals.dataset import Dataset, load_dataset
    from notewell.evals.replay import (
        FORMS,
        HostHooks,
        ReplayFolders,
        ReplayHost,
        ReplayRun,
        run_replay,
    )
    from notewell.evals.replay_files import (
        REPLAY_MEASURES,
        compare_replays,
        load_replays,
        save_replays,
    )
    from notewell.evals.replay_report import replay_json, replay_table, replay_title
    from notewell.evals.report import (
        Comparison,
        change_lines,
        compare,
        comparison_json,
        comparison_lines,
        pairs,
        run_json,
        run_table,
        run_title,
        run_warnings,
        seen_table,
    )
    from notewell.evals.runner import (
        EvalRun,
        as_json,
        check_k,
        from_json,
        load_runs,
        run,
        save_runs,
    )
    from notewell.evals.strangers import StrangersRun, run_strangers
    from notewell.evals.strangers_report import strangers_json, strangers_lines
    from notewell.evals.systems import BACKENDS, SYSTEMS, NotewellSystem, open_system
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "baseline": "PlainFts5",
            "conversations": "ReplaySet load_replay_set",
            "dataset": "Dataset load_dataset",
            "replay": "FORMS HostHooks ReplayFolders ReplayHost ReplayRun run_replay",
            "replay_files": "REPLAY_MEASURES compare_replays load_replays save_replays",
            "replay_report": "replay_json replay_table replay_title",
            "report": (
                "Comparison change_lines compare comparison_json comparison_lines pairs run_json "
                "run_table run_title run_warnings seen_table"
            ),
            "runner": "EvalRun as_json check_k from_json load_runs run save_runs",
            "strangers": "StrangersRun run_strangers",
            "strangers_report": "strangers_json strangers_lines",
            "systems": "BACKENDS NotewellSystem SYSTEMS open_system",
        },
    )
