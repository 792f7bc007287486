"""`notewell doctor` runs every check once and says what to do about each problem.

`notewell verify` proves that the index contains what the notes say.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import ProgressBar, print_json, say
from notewell.cli.place import HERE, MAIN, add_place, location_of, memory_of
from notewell.errors import NotewellError
from notewell.types import counted

if TYPE_CHECKING:
    import argparse

    from notewell.doctor import Finding, RepairResult, Subject, VerifyReport
    from notewell.memory import Memory

DEGRADED = 5
SHOWN_DIFFERENCES = 50  # A list longer than this is for --json.


def add_options(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument(
        "--fix",
        action="store_true",
        help="repair what is safe: close files to other users, remove leftovers, rebuild a "
        "damaged index, bring it up to date; notes are never changed",
    )
    parser.add_argument(
        "--secrets",
        action="store_true",
        help="say where notes hold secrets, by file and line, never the secrets; changes nothing "
        "and makes no other check",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.secrets:
        return _secrets(arguments)
    try:
        memory = memory_of(arguments)
    # Not an error here: a memory that cannot be opened is what the command has to explain.
    except (NotewellError, OSError) as error:
        return _report(_without_memory(arguments, error), arguments)
    with memory:
        return _report(_of(memory), arguments)


def _of(memory: Memory) -> Subject:
    from notewell.doctor import Subject

    return Subject.of(memory)


def _without_memory(arguments: argparse.Namespace, error: Exception) -> Subject:
    """A memory that cannot be opened is examined from outside; the settings may be the problem."""
    from notewell.config import default_state_dir
    from notewell.doctor import Subject

    try:
        agent, workspace, _ = location_of(arguments)
    except (NotewellError, OSError):
        # The settings themselves may be unreadable: then the options alone say what to examine.
        agent, workspace = arguments.agent or MAIN, arguments.workspace or HERE
    folder = arguments.state_dir
    state = Path(folder).expanduser() if folder else default_state_dir()
    return Subject.without_memory(agent, Path(workspace), state, str(error))


def _report(subject: Subject, arguments: argparse.Namespace) -> int:
    from notewell.doctor import examine, repair

    findings, results = examine(subject), None
    if arguments.fix:
        bar = ProgressBar()
        try:
            results = repair(subject, findings, bar.update)
        finally:
            bar.done()
        findings = examine(subject)  # The report shows what is left now.
    bad = [finding for finding in findings if finding.todo]
    if arguments.json:
        print_json({"ok": not bad, **_as_json(findings, results)})
    else:
        _show(findings, results)
    return DEGRADED if bad or any(result.failed for result in results or ()) else 0


def _as_json(findings: list[Finding], results: list[RepairResult] | None) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "findings": [
            {
                "what": finding.what,
                # A published key of the JSON output; clients read it under this name.
                "told": finding.message,
                "todo": finding.todo,
                "fixable": finding.is_fixable,
            }
            for finding in findings
        ]
    }
    if results is not None:
        payload["done"] = [
            {"what": result.what, "told": result.message, "failed": result.failed}
            for result in results
        ]
    return payload


def _show(findings: list[Finding], results: list[RepairResult] | None) -> None:
    # A Windows console or a pipe may have an encoding without these two characters.
    good, bad = ("✓", "✗") if (sys.stdout.encoding or "").lower() == "utf-8" else ("ok", "!!")
    for result in results or ():
        say(f"{bad if result.failed else good} fix        {result.what}: {result.message}")
    # None means that --fix was not given; an empty list means that it had nothing to do.
    if results == []:
        say(f"{good} fix        nothing to repair")
    for finding in findings:
        say(f"{bad if finding.todo else good} {finding.what:<10} {finding.message}")
        if finding.todo:
            say(f"  {'':<10} → {finding.todo}")
    left = sum(1 for finding in findings if finding.todo)
    say(counted(left, "thing") + " to do" if left else "all is well")


# -- secrets -------------------------------------------------------------------------------------


def _secrets(arguments: argparse.Namespace) -> int:
    from notewell.doctor import find_note_secrets

    bar = ProgressBar()
    with memory_of(arguments) as memory:
        try:
            report = find_note_secrets(memory.indexer.notes, bar.update)
        finally:
            bar.done()
    if arguments.json:
        print_json(
            {
                "ok": not report.secrets and not report.unread,
                "notes": report.notes,
                "secrets": [secret._asdict() for secret in report.secrets],
                "unread": list(report.unread),
            }
        )
    else:
        for secret in report.secrets:
            say(f"{secret.citation}  {secret.kind}")
        for reason in report.unread:
            say(f"not read: {reason}")
        number = counted(len(report.secrets), "secret") if report.secrets else "no secrets"
        say(f"{number} in {counted(report.notes, 'note')}")
    return DEGRADED if report.secrets or report.unread else 0


# -- verify --------------------------------------------------------------------------------------


def verify(arguments: argparse.Namespace) -> int:
    from notewell.doctor import verify as verify_index

    bar, started = ProgressBar(), time.monotonic()
    with memory_of(arguments) as memory:
        try:
            report = verify_index(memory, bar.update)
            # Read while the memory is open; QMD's index has a format of its own that we cannot
            # check.
            engine = "builtin" if memory.settings.qmd is None else "qmd"
        finally:
            bar.done()
    if arguments.json:
        print_json(_verify_json(report))
    else:
        _show_verified(report, time.monotonic() - started)
        if engine != "builtin":
            say(f"this was the builtin index; the data of {engine} was not checked")
    return 0 if report.agrees else DEGRADED


def _verify_json(report: VerifyReport) -> dict[str, Any]:
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
        "entries": report.entries,
        "disagreements": [
            # `told` is a published key of the JSON output.
            {"kind": difference.kind, "where": difference.where, "told": difference.message}
            for difference in report.disagreements
        ],
    }


def _entries(report: VerifyReport) -> str:
    return f"; entries: {report.entries}" if report.entries else ""


def _show_verified(report: VerifyReport, took_s: float) -> None:
    for difference in report.disagreements[:SHOWN_DIFFERENCES]:
        say(f"{difference.where}: {difference.message}")
    if report.disagreements[SHOWN_DIFFERENCES:]:
        say(f"{len(report.disagreements) - SHOWN_DIFFERENCES} more (--json lists them)")
    say(
        f"{counted(report.pages, 'page')}, {counted(report.notes, 'note')}, "
        f"{counted(report.chunks, 'chunk')}: {counted(report.embedded, 'vector')}, "
        f"{report.waiting} waiting, {report.unread} not for this model; "
        f"{report.cached} cached{_entries(report)} ({took_s:.1f} s)"
    )
    number = len(report.disagreements)
    say(counted(number, "disagreement") if number else "index and notes agree")
