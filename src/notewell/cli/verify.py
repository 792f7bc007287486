"""`notewell verify`: prove that the index says what the notes say."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from notewell.cli.output import ProgressBar, counted, print_json, say
from notewell.cli.place import memory_of

if TYPE_CHECKING:
    import argparse

    from notewell.doctor import Verdict

DEGRADED = 5
SHOWN = 50  # A list longer than this is for --json.


def run(arguments: argparse.Namespace) -> int:
    from notewell.doctor import verify

    bar, started = ProgressBar(), time.monotonic()
    with memory_of(arguments) as memory:
        try:
            verdict = verify(memory, bar.update)
            engine = memory.engine
        finally:
            bar.done()
    if arguments.json:
        print_json(as_json(verdict))
    else:
        _show(verdict, time.monotonic() - started)
        if engine != "builtin":
            say(f"this was our own index; what {engine} keeps was not looked at")
    return 0 if verdict.agrees else DEGRADED


def as_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "ok": verdict.agrees,
        "generation": verdict.generation,
        "pages": verdict.pages,
        "notes": verdict.notes,
        "chunks": verdict.chunks,
        "embedded": verdict.embedded,
        "waiting": verdict.waiting,
        "unread": verdict.unread,
        "cached": verdict.cached,
        "stateFiles": verdict.state_files,
        "disagreements": [
            {"kind": one.kind, "where": one.where, "told": one.told}
            for one in verdict.disagreements
        ],
    }


def _show(verdict: Verdict, took_s: float) -> None:
    for one in verdict.disagreements[:SHOWN]:
        say(f"{one.where}: {one.told}")
    if verdict.disagreements[SHOWN:]:
        say(f"{len(verdict.disagreements) - SHOWN} more (--json lists them)")
    say(
        f"{counted(verdict.pages, 'page')}, {counted(verdict.notes, 'note')}, "
        f"{counted(verdict.chunks, 'chunk')}: {counted(verdict.embedded, 'vector')}, "
        f"{verdict.waiting} waiting, {verdict.unread} not for this model; "
        f"{verdict.cached} cached ({took_s:.1f} s)"
    )
    number = len(verdict.disagreements)
    say(counted(number, "disagreement") if number else "index and notes agree")
