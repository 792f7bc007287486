"""`notewell doctor`: look at everything once, for real, and say what to do about it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import ProgressBar, counted, print_json, say
from notewell.cli.place import HERE, MAIN, add_place, meant, memory_of
from notewell.errors import NotewellError

if TYPE_CHECKING:
    import argparse

    from notewell.doctor import Deed, Finding, Patient
    from notewell.memory import Memory

DEGRADED = 5


def add_options(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument(
        "--fix",
        action="store_true",
        help="do what can be done safely: close files to others, sweep what belongs to no index, "
        "rebuild what is damaged, bring the index up to date; notes are never touched",
    )


def run(arguments: argparse.Namespace) -> int:
    try:
        memory = memory_of(arguments)
    except (NotewellError, OSError) as error:
        return _treat(_without_memory(arguments, error), arguments)
    with memory:
        return _treat(_of(memory), arguments)


def _of(memory: Memory) -> Patient:
    from notewell.doctor import Patient

    return Patient.of(memory)


def _without_memory(arguments: argparse.Namespace, error: Exception) -> Patient:
    """What cannot be opened is looked at from outside; even the settings may be what is bad."""
    from notewell.config import default_state_dir
    from notewell.doctor import Patient

    try:
        agent, workspace, _ = meant(arguments)
    except (NotewellError, OSError):
        agent, workspace = arguments.agent or MAIN, arguments.workspace or HERE
    told = arguments.state_dir
    state = Path(told).expanduser() if told else default_state_dir()
    return Patient.without_memory(agent, Path(workspace), state, str(error))


def _treat(patient: Patient, arguments: argparse.Namespace) -> int:
    from notewell.doctor import examine, mend

    findings, deeds = examine(patient), None
    if arguments.fix:
        bar = ProgressBar()
        try:
            deeds = mend(patient, findings, bar.update)
        finally:
            bar.done()
        findings = examine(patient)  # What remains is what is there now.
    bad = [one for one in findings if one.todo]
    if arguments.json:
        print_json({"ok": not bad, **_as_json(findings, deeds)})
    else:
        _show(findings, deeds)
    return DEGRADED if bad or any(deed.failed for deed in deeds or ()) else 0


def _as_json(findings: list[Finding], deeds: list[Deed] | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "findings": [
            {"what": one.what, "told": one.told, "todo": one.todo, "fixable": one.is_fixable}
            for one in findings
        ]
    }
    if deeds is not None:
        told["done"] = [
            {"what": deed.what, "told": deed.told, "failed": deed.failed} for deed in deeds
        ]
    return told


def _show(findings: list[Finding], deeds: list[Deed] | None) -> None:
    good, bad = ("✓", "✗") if (sys.stdout.encoding or "").lower() == "utf-8" else ("ok", "!!")
    for deed in deeds or ():
        say(f"{bad if deed.failed else good} fix        {deed.what}: {deed.told}")
    if deeds == []:
        say(f"{good} fix        nothing that could be done by itself")
    for one in findings:
        say(f"{bad if one.todo else good} {one.what:<10} {one.told}")
        if one.todo:
            say(f"  {'':<10} → {one.todo}")
    left = sum(1 for one in findings if one.todo)
    say(counted(left, "thing") + " to do" if left else "all is well")
