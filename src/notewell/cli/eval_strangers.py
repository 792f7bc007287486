"""`notewell eval --strangers`: what a memory does with questions that it cannot answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from notewell.cli.output import ProgressBar, print_json, say
from notewell.evals import (
    NotewellSystem,
    load_dataset,
    run_strangers,
    strangers_json,
    strangers_lines,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from notewell.evals import StrangersRun
    from notewell.ports import Embedder

DEGRADED = 5


def ask_strangers(
    arguments: argparse.Namespace,
    systems: Sequence[str],
    k: int,
    state: Path,
    embedder: Embedder,
) -> int:
    # All sets first: each is asked the questions of the others.
    datasets = [
        load_dataset(Path(folder), state / "evals", arguments.limit) for folder in arguments.sets
    ]
    runs: list[StrangersRun] = []
    for dataset in datasets:
        for name in systems:
            bar = ProgressBar()
            system = _system(name, state, embedder)
            try:
                run = run_strangers(dataset, datasets, name, system, k, bar.update)
            finally:
                bar.done()
            runs.append(run)
            if not arguments.json:
                say("\n".join([*strangers_lines(run), ""]))
    if arguments.json:
        print_json({"strangers": [strangers_json(run) for run in runs]})
    return DEGRADED if any(result.degraded for run in runs for result in run.results) else 0


def _system(name: str, state: Path, embedder: Embedder) -> NotewellSystem:
    weight = 1.0 if name == "vector" else None
    mode: Literal["hybrid", "keyword"] = "keyword" if name == "keyword" else "hybrid"
    return NotewellSystem(state, mode, vector_weight=weight, embedder=embedder)
