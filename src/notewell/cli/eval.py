"""`notewell eval`: how well questions with known answers are answered, beside a plain floor."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from notewell.cli.output import ProgressBar, print_json, say
from notewell.config import default_state_dir
from notewell.embedders import open_embedded
from notewell.errors import BadRequest, BadSetting
from notewell.evals import (
    BACKENDS,
    SYSTEMS,
    Comparison,
    Run,
    check_k,
    compare,
    load_dataset,
    load_runs,
    open_system,
    pairs,
    report,
    save_runs,
)
from notewell.evals import run as ask_all

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from notewell.evals import Dataset
    from notewell.ports import Embedder

DEGRADED = 5
FIRST_HITS = 6
"""As many as a search shows unasked."""
FLOOR_AND_US = ("fts5", "hybrid")


def run(arguments: argparse.Namespace) -> int:
    if arguments.compare:
        return _compare(arguments)
    if not arguments.sets:
        raise BadRequest("name a folder with a set of questions, or two runs to --compare")
    systems = _asked_for(arguments) or FLOOR_AND_US
    k = check_k(FIRST_HITS if arguments.k is None else arguments.k)
    out = _writable(arguments.out)
    runs: list[Run] = []
    comparisons: list[Comparison] = []
    with _state(arguments.state_dir) as (state, embedder):
        for folder in arguments.sets:
            dataset = load_dataset(Path(folder), state / "evals")
            of_set = _ask(dataset, systems, k, state, embedder)
            runs += of_set
            if out:
                save_runs(out, runs)
            if len(of_set) > 1:
                comparisons.append(compare(of_set[0], of_set[-1], arguments.measure, k))
            if not arguments.json:
                _show(of_set, comparisons[-1:] if len(of_set) > 1 else [], arguments, k)
    if arguments.json:
        _print(runs, comparisons, arguments, k)
    return DEGRADED if any(one.degraded for each in runs for one in each.asked) else 0


def _asked_for(arguments: argparse.Namespace) -> tuple[str, ...]:
    if not arguments.backend:
        return _systems(arguments.system)
    engines = [name.strip() for name in arguments.backend.split(",") if name.strip()]
    for name in engines:
        if name not in BACKENDS:
            raise BadRequest(f"no engine is called {name!r}; known: {', '.join(BACKENDS)}")
    named = ",".join(BACKENDS[name] for name in engines)
    return _systems(f"{named},{arguments.system or ''}")


def _systems(named: str | None) -> tuple[str, ...]:
    systems = tuple(
        dict.fromkeys(name.strip() for name in (named or "").split(",") if name.strip())
    )
    for name in systems:
        if name not in SYSTEMS:
            raise BadRequest(f"no system is called {name!r}; known: {', '.join(SYSTEMS)}")
    return systems


def _writable(out: str | None) -> Path | None:
    """Said before the work, not after it."""
    if out is None:
        return None
    path = Path(out)
    if not out or path.is_dir() or not path.parent.is_dir():
        raise BadRequest(f"cannot write the run to {out!r}: name a file in a folder that is there")
    return path


@contextmanager
def _state(named: str | None) -> Iterator[tuple[Path, Embedder]]:
    """Where to keep what is made, and one embedder: a set may have a thousand workspaces."""
    if named == "":
        raise BadSetting("state dir", "it is empty; name a folder or leave it out")
    if named is not None:
        state = Path(named).expanduser()
        yield state, open_embedded(state / "models")
        return
    # Weights that were pulled lie where all the other commands look for them.
    embedder = open_embedded(default_state_dir() / "models")
    with TemporaryDirectory(prefix="notewell-eval-") as state_dir:
        yield Path(state_dir), embedder


def _ask(
    dataset: Dataset, systems: Sequence[str], k: int, state: Path, embedder: Embedder
) -> list[Run]:
    bar = ProgressBar()
    try:
        return [
            ask_all(dataset, name, open_system(name, state, embedder=embedder), k, bar.update)
            for name in systems
        ]
    finally:
        bar.done()


def _show(
    runs: Sequence[Run], comparisons: Sequence[Comparison], arguments: argparse.Namespace, k: int
) -> None:
    say(report.title(runs[0]))
    for line in report.table(runs, k, by_category=arguments.by_category):
        say(line)
    for each in runs:
        for line in report.surprises(each):
            say(line)
    for comparison in comparisons:
        for line in report.compared(comparison):
            say(line)
    say("")


def _print(
    runs: Sequence[Run], comparisons: Sequence[Comparison], arguments: argparse.Namespace, k: int
) -> None:
    by_category = arguments.by_category
    print_json(
        {
            "runs": [report.run_json(each, k, by_category=by_category) for each in runs],
            "comparisons": [report.comparison_json(one) for one in comparisons],
        }
    )


def _compare(arguments: argparse.Namespace) -> int:
    if arguments.sets or arguments.out:
        raise BadRequest("--compare takes two saved runs and asks nothing: leave the rest out")
    old, new = (load_runs(Path(name)) for name in arguments.compare)
    systems = _systems(arguments.system)
    if len(systems) > 2:
        raise BadRequest("--compare takes one system for both runs, or one for each")
    comparisons = []
    for before, after in pairs(old, new, systems):
        k = min(before.k, after.k) if arguments.k is None else check_k(arguments.k)
        comparisons.append(compare(before, after, arguments.measure, k))
    if arguments.json:
        print_json({"comparisons": [report.comparison_json(one) for one in comparisons]})
        return 0
    for comparison in comparisons:
        lines = [*report.compared(comparison), *report.changes(comparison)]
        say("\n".join([f"{comparison.dataset}:", *lines, ""]))
    return 0
