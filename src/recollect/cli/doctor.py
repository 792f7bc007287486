"""`recollect doctor`: look at everything once, for real, and say what to do about it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recollect.cli.output import counted, print_json, say
from recollect.cli.place import memory_of, workspace_of
from recollect.core.errors import RecollectError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from recollect.status import Probe, Status

DEGRADED = 5


class Finding(NamedTuple):
    what: str
    told: str
    todo: str | None = None
    """The next step; None where all is well."""


def run(arguments: argparse.Namespace) -> int:
    findings = list(_settings(arguments))
    try:
        with memory_of(arguments) as memory:
            findings += _memory(memory.status(), memory.probe())
            findings += _capture(arguments)
    except RecollectError as error:
        findings.append(Finding("memory", str(error), "mend this first"))
    bad = [one for one in findings if one.todo]
    if arguments.json:
        print_json({"ok": not bad, "findings": [one._asdict() for one in findings]})
    else:
        for one in findings:
            say(f"{_mark(one)} {one.what:<10} {one.told}")
            if one.todo:
                say(f"  {'':<10} → {one.todo}")
        say("all is well" if not bad else counted(len(bad), "thing") + " to do")
    return DEGRADED if bad else 0


def _mark(finding: Finding) -> str:
    good, bad = ("✓", "✗") if (sys.stdout.encoding or "").lower() == "utf-8" else ("ok", "!!")
    return bad if finding.todo else good


def _settings(arguments: argparse.Namespace) -> Iterator[Finding]:
    from recollect.config.resolve import Asked, read_configuration

    asked = Asked(Path(workspace_of(arguments)), arguments.agent)
    configuration = read_configuration(asked, os.environ)
    told = ", ".join(configuration.files) or "none set: the defaults hold"
    yield Finding("settings", told)
    for finding in configuration.findings:
        bad = finding.kind in ("error", "refused")
        todo = "mend it; `recollect config check` lists all" if bad else None
        yield Finding("settings", str(finding), todo)


def _memory(status: Status, probe: Probe) -> Iterator[Finding]:
    yield from _notes(status)
    yield from _index(status)
    used = f"{status.provider}, {status.model}"
    if status.provider == "none":
        yield Finding("embedder", "none, as the settings say: words alone answer")
    elif probe.trouble:
        todo = "until then search goes on by keyword"
        yield Finding("embedder", f"{used}: {probe.trouble}", todo)
    else:
        yield Finding("embedder", f"{used}: {probe.dims} dimensions in {probe.ms:.0f} ms")


def _capture(arguments: argparse.Namespace) -> Iterator[Finding]:
    """What the hooks of an agent's host have been doing; silence where none ever ran."""
    from datetime import UTC, datetime

    from recollect.capture.heartbeat import pulse
    from recollect.cli.history import folder_of

    beat = pulse(folder_of(arguments)[1], datetime.now(UTC).astimezone())
    if beat is not None:
        yield Finding("capture", beat.told, beat.todo)


def _notes(status: Status) -> Iterator[Finding]:
    todo = None if status.eligible else "`recollect init` makes a start"
    yield Finding("notes", f"{counted(status.eligible, 'note')} in {status.workspace}", todo)
    for one in status.unreadable:
        yield Finding("notes", f"{one.path}: {one.why}", "let Recollect read it")
    for one in status.ignored:
        yield Finding("notes", f"left out: {one.path}: {one.why}")


def _index(status: Status) -> Iterator[Finding]:
    sync = "run `recollect index`"
    if status.problem:
        yield Finding("index", status.problem, sync)
    elif status.counts is None:
        yield Finding("index", "there is none yet", sync)
    else:
        counts = status.counts
        waiting = f", {counts.waiting} without a vector" if counts.waiting else ""
        told = f"{counts.files} notes, {counts.chunks} chunks{waiting}"
        behind = status.dirty or status.rebuild_needed or counts.waiting
        yield Finding("index", told, sync if behind else None)
