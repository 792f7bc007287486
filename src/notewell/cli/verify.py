"""`notewell verify`: prove that the index contains what the notes say."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from notewell.cli.output import ProgressBar, counted, print_json, say
from notewell.cli.place import memory_of

if TYPE_CHECKING:
    import argparse

    from notewell.doctor import VerifyReport

DEGRADED = 5
SHOWN = 50  # A list longer than this is for --json.


def run(arguments: argparse.Namespace) -> int:
    from notewell.doctor import verify

    bar, started = ProgressBar(), time.monotonic()
    with memory_of(arguments) as memory:
        try:
            report = verify(memory, bar.update)
            # Read while the memory is open; QMD's index has a format of its own that we cannot
            # check.
            engine = "builtin" if memory.settings.qmd is None else "qmd"
        finally:
            bar.done()
    if arguments.json:
        print_json(as_json(report))
    else:
        _show(report, time.monotonic() - started)
        if engine != "builtin":
            say(f"this was the builtin index; the data of {engine} was not checked")
    return 0 if report.agrees else DEGRADED


def as_json(report: VerifyReport) -> dict[str, Any]:
    return {
        "ok": report.agrees,
        "generation": report.generation,
        "pages": report.pages,
        "notes": report.notes,
        "chunks": report.chunks,
        "embedded": report.embedded,
        "waiting": report.waiting,
        "unread": report.unread,
        "cached": report.cached,
        "stateFiles": report.state_files,
        "disagreements": [
            # `told` is a published key of the JSON output.
            {"kind": difference.kind, "where": difference.where, "told": difference.message}
            for difference in report.disagreements
        ],
    }


def _show(report: VerifyReport, took_s: float) -> None:
    for difference in report.disagreements[:SHOWN]:
        say(f"{difference.where}: {difference.message}")
    if report.disagreements[SHOWN:]:
        say(f"{len(report.disagreements) - SHOWN} more (--json lists them)")
    say(
        f"{counted(report.pages, 'page')}, {counted(report.notes, 'note')}, "
        f"{counted(report.chunks, 'chunk')}: {counted(report.embedded, 'vector')}, "
        f"{report.waiting} waiting, {report.unread} not for this model; "
        f"{report.cached} cached ({took_s:.1f} s)"
    )
    number = len(report.disagreements)
    say(counted(number, "disagreement") if number else "index and notes agree")
