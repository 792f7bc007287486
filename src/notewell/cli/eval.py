"""`notewell eval`: measures search on questions with known answers, beside a plain baseline."""

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
    REPLAY_MEASURES,
    SYSTEMS,
    Comparison,
    EvalRun,
    change_lines,
    check_k,
    compare,
    compare_replays,
    comparison_json,
    comparison_lines,
    load_dataset,
    load_replays,
    load_runs,
    open_system,
    pairs,
    run_json,
    run_table,
    run_title,
    run_warnings,
    save_runs,
    seen_table,
)
from notewell.evals import run as ask_all

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from notewell.evals import Dataset, ReplayRun
    from notewell.ports import Embedder

DEGRADED = 5
DEFAULT_MEASURE = "ndcg"
FIRST_HITS = 6
"""The default number of hits of a search."""
# A number says little without a floor beside it: plain FTS5 is what everyone has.
NEARNESS_SYSTEMS = ("hybrid", "keyword", "vector")
BASELINE_AND_HYBRID = ("fts5", "hybrid")


def run(arguments: argparse.Namespace) -> int:
    if arguments.compare:
        return _compare(arguments)
    _check(arguments)
    if arguments.strangers:
        return _strangers(arguments)
    return _replay(arguments) if arguments.replay else _evaluate(arguments)


def _check(arguments: argparse.Namespace) -> None:
    if not arguments.sets:
        raise BadRequest("name a folder with a set of questions, or two runs to --compare")
    if arguments.limit is not None and arguments.limit < 1:
        raise BadRequest(f"--limit must be at least 1, not {arguments.limit}")
    if arguments.replay and (arguments.system or arguments.backend):
        raise BadRequest("--replay has no --system and --backend: it asks the tool memory_search")
    if arguments.strangers:
        _check_strangers(arguments)
    if arguments.notes_only and not arguments.replay:
        raise BadRequest("--notes-only is for --replay: without it, no hooks are run")


def _check_strangers(arguments: argparse.Namespace) -> None:
    if arguments.replay or arguments.backend or arguments.out:
        raise BadRequest("--strangers has no --replay, --backend and --out")
    for name in _systems(arguments.system):
        if name not in NEARNESS_SYSTEMS:
            known = ", ".join(NEARNESS_SYSTEMS)
            raise BadRequest(f"{name} does not say how near its hits are; --strangers: {known}")


def _strangers(arguments: argparse.Namespace) -> int:
    from notewell.cli.eval_strangers import ask_strangers

    systems = _systems(arguments.system) or ("hybrid",)
    k = check_k(FIRST_HITS if arguments.k is None else arguments.k)
    with _state(arguments.state_dir) as (state, embedder):
        return ask_strangers(arguments, systems, k, state, embedder)


def _evaluate(arguments: argparse.Namespace) -> int:
    systems = _requested_systems(arguments) or BASELINE_AND_HYBRID
    k = check_k(FIRST_HITS if arguments.k is None else arguments.k)
    out = _writable(arguments.out)
    runs: list[EvalRun] = []
    comparisons: list[Comparison] = []
    with _state(arguments.state_dir) as (state, embedder):
        for folder in arguments.sets:
            dataset = load_dataset(Path(folder), state / "evals", arguments.limit)
            dataset_runs = _ask(dataset, systems, k, state, embedder)
            runs += dataset_runs
            # Saved after each dataset: an interrupted evaluation keeps what it has measured.
            if out:
                save_runs(out, runs)
            if len(dataset_runs) > 1:
                # The first system is the baseline, the last one is what is being judged.
                measure = arguments.measure or DEFAULT_MEASURE
                comparisons.append(compare(dataset_runs[0], dataset_runs[-1], measure, k))
            if not arguments.json:
                _show(
                    dataset_runs, comparisons[-1:] if len(dataset_runs) > 1 else [], arguments, k
                )
    if arguments.json:
        _print(runs, comparisons, arguments, k)
    # Measured without vectors, for example: the numbers are not those of the system.
    return DEGRADED if any(result.degraded for each in runs for result in each.results) else 0


def _replay(arguments: argparse.Namespace) -> int:
    from notewell.cli.eval_replay import ReplayPlace, replay_sets

    k = check_k(FIRST_HITS if arguments.k is None else arguments.k)
    out = _writable(arguments.out)
    with _state(arguments.state_dir) as (state, embedder):
        return replay_sets(arguments, k, ReplayPlace(state, out), embedder)


def _requested_systems(arguments: argparse.Namespace) -> tuple[str, ...]:
    if not arguments.backend:
        return _systems(arguments.system)
    engines = [name.strip() for name in arguments.backend.split(",") if name.strip()]
    for name in engines:
        if name not in BACKENDS:
            raise BadRequest(f"no engine is called {name!r}; known: {', '.join(BACKENDS)}")
    named = ",".join(BACKENDS[name] for name in engines)
    return _systems(f"{named},{arguments.system or ''}")


def _systems(named: str | None) -> tuple[str, ...]:
    # `dict.fromkeys` removes duplicates and keeps the order of the user.
    systems = tuple(
        dict.fromkeys(name.strip() for name in (named or "").split(",") if name.strip())
    )
    for name in systems:
        if name not in SYSTEMS:
            raise BadRequest(f"no system is called {name!r}; known: {', '.join(SYSTEMS)}")
    return systems


def _writable(out: str | None) -> Path | None:
    # Checked before the run, which may take an hour.
    if out is None:
        return None
    path = Path(out)
    if not out or path.is_dir() or not path.parent.is_dir():
        raise BadRequest(f"cannot write the run to {out!r}: name a file in a folder that exists")
    return path


@contextmanager
def _state(named: str | None) -> Iterator[tuple[Path, Embedder]]:
    """A state folder, and one embedder for all: a dataset may have a thousand workspaces."""
    if named == "":
        raise BadSetting("state dir", "it is empty; name a folder or leave it out")
    if named is not None:
        state = Path(named).expanduser()
        yield state, open_embedded(state / "models")
        return
    # Downloaded models are in the default state folder, as for all other commands.
    embedder = open_embedded(default_state_dir() / "models")
    with TemporaryDirectory(prefix="notewell-eval-") as state_dir:
        yield Path(state_dir), embedder


def _ask(
    dataset: Dataset, systems: Sequence[str], k: int, state: Path, embedder: Embedder
) -> list[EvalRun]:
    bar = ProgressBar()
    try:
        return [
            ask_all(dataset, name, open_system(name, state, embedder=embedder), k, bar.update)
            for name in systems
        ]
    finally:
        bar.done()


def _show(
    runs: Sequence[EvalRun],
    comparisons: Sequence[Comparison],
    arguments: argparse.Namespace,
    k: int,
) -> None:
    say(run_title(runs[0]))
    for line in run_table(runs, k, by_category=arguments.by_category):
        say(line)
    for line in seen_table(runs, by_category=arguments.by_category):
        say(line)
    for each in runs:
        for line in run_warnings(each):
            say(line)
    for comparison in comparisons:
        for line in comparison_lines(comparison):
            say(line)
    say("")


def _print(
    runs: Sequence[EvalRun],
    comparisons: Sequence[Comparison],
    arguments: argparse.Namespace,
    k: int,
) -> None:
    by_category = arguments.by_category
    print_json(
        {
            "runs": [run_json(each, k, by_category=by_category) for each in runs],
            "comparisons": [comparison_json(comparison) for comparison in comparisons],
        }
    )


def _compare(arguments: argparse.Namespace) -> int:
    if arguments.sets or arguments.out or arguments.limit is not None:
        raise BadRequest("--compare takes two saved runs only: leave the rest out")
    old, new = (load_replays(Path(name)) for name in arguments.compare)
    comparisons = (
        _compared_replays(arguments, old, new)
        if old or new or arguments.replay
        else _compared_runs(arguments)
    )
    if arguments.json:
        print_json({"comparisons": [comparison_json(comparison) for comparison in comparisons]})
        return 0
    for comparison in comparisons:
        lines = [*comparison_lines(comparison), *change_lines(comparison)]
        say("\n".join([f"{comparison.dataset}:", *lines, ""]))
    return 0


def _compared_replays(
    arguments: argparse.Namespace, old: Sequence[ReplayRun], new: Sequence[ReplayRun]
) -> list[Comparison]:
    for name, runs in zip(arguments.compare, (old, new), strict=True):
        if not runs:
            raise BadRequest(f"{name!r} has no replay, so it cannot be compared with one")
    if arguments.system or arguments.k is not None:
        raise BadRequest("replays are compared form by form: leave out --system and --k")
    measure = arguments.measure
    if measure and measure not in REPLAY_MEASURES:
        raise BadRequest(f"a replay is measured by any and all, not by {measure}")
    return compare_replays(old, new, (measure,) if measure else REPLAY_MEASURES)


def _compared_runs(arguments: argparse.Namespace) -> list[Comparison]:
    old, new = (load_runs(Path(name)) for name in arguments.compare)
    systems = _systems(arguments.system)
    if len(systems) > 2:
        raise BadRequest("--compare takes one system for both runs, or one for each")
    comparisons = []
    for before, after in pairs(old, new, systems):
        # Only the hits that both runs have can be compared.
        k = min(before.k, after.k) if arguments.k is None else check_k(arguments.k)
        comparisons.append(compare(before, after, arguments.measure or DEFAULT_MEASURE, k))
    return comparisons
