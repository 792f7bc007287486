"""`notewell import`: take over what another memory program, or a chat app, has kept.

It shows what would be written, asks, and makes new notes (see `imports.write`); conversations go
where `notewell sessions import` keeps them. Then words are indexed.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.append import require_notes
from notewell.cli.output import ProgressBar, print_json, say, tell
from notewell.cli.place import add_place, memory_of, place_words
from notewell.errors import BadRequest
from notewell.types import counted

if TYPE_CHECKING:
    import argparse

    from notewell.imports import Imported, ImportPlan, MemoryProgram, Reading
    from notewell.memory import Memory

NOTHING_FOUND = 3
NOT_CONFIRMED = 4
DEGRADED = 5
SHOWN = 5
EXAMPLE_CHARS = 100
OPENCLAW = "openclaw"
WHAT = (
    "claude-mem",
    "mem0",
    "basic-memory",
    "memsearch",
    "server-memory",
    "chatgpt",
    "claude",
    OPENCLAW,
)
"""The names in `imports.PROGRAMS`; importing them here would load every reader for --help."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=WHAT, metavar="WHAT", help=", ".join(WHAT))
    parser.add_argument(
        "path",
        nargs="?",
        metavar="PATH",
        type=os.path.expanduser,
        help="its files, or the export (default: where the program keeps them)",
    )
    parser.add_argument(
        "--only", metavar="NAME", help="only of this project, user or agent of the program"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be written; write nothing"
    )
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    add_place(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.what == OPENCLAW:
        return _openclaw(arguments)
    from notewell.imports import PROGRAMS

    program = PROGRAMS[arguments.what]
    path = _path(arguments, program)
    reading = _only(program, program.read(path), arguments.only)
    if program.host:
        return _conversations(arguments, program, path, reading)
    return _entries(arguments, program, path, reading)


def _path(arguments: argparse.Namespace, program: MemoryProgram) -> Path:
    if arguments.path is not None:
        return Path(arguments.path).absolute()
    usual = [Path.home() / place for place in program.places]
    if found := next((place for place in usual if place.exists()), None):
        return found
    looked = f"there is no {usual[0]}; " if usual else ""
    raise BadRequest(f"{looked}name {program.wants}: `notewell import {program.id} PATH`")


def _only(program: MemoryProgram, reading: Reading, name: str | None) -> Reading:
    """The entries of one group; several must not be mixed unless the user says so."""
    from notewell.records import replace

    if not program.groups:
        if name is not None:
            raise BadRequest(f"{program.title} has nothing that --only could choose by")
        return reading
    counts: dict[str, int] = {}
    for entry in reading.entries:
        counts[entry.group] = counts.get(entry.group, 0) + 1
    listed = ", ".join(f"{group or 'none'} ({count})" for group, count in sorted(counts.items()))
    if name is None:
        if len(counts) > 1 and not program.mixes_groups:
            raise BadRequest(
                f"it has memories of several {program.groups}s: {listed}; a memory is for one, "
                f"so name one with --only"
            )
        return reading
    if name not in counts:
        raise BadRequest(f"it has no {program.groups} {name!r}; it has: {listed or 'nothing'}")
    chosen = tuple(entry for entry in reading.entries if entry.group == name)
    return replace(reading, entries=chosen)


# -- notes ---------------------------------------------------------------------------------------


def _entries(
    arguments: argparse.Namespace, program: MemoryProgram, path: Path, reading: Reading
) -> int:
    from notewell.imports import import_reading, preview_reading

    with memory_of(arguments) as memory:
        if arguments.workspace is None:
            require_notes(memory)
        writer = memory.journal.writer()
        plan = preview_reading(writer, program, reading, zone=memory.zone)
        if not arguments.json or not (arguments.yes or arguments.dry_run):
            _show(program, path, memory, plan)
        if arguments.dry_run or not plan.notes:
            if arguments.json:
                print_json(_fields(program, path, memory, plan, is_dry_run=arguments.dry_run))
            elif not plan.notes:
                say("nothing new")
            return 0 if plan.notes or plan.unchanged else NOTHING_FOUND
        if not arguments.yes and not _confirmed():
            return NOT_CONFIRMED
        bar = ProgressBar()
        try:
            done = import_reading(
                writer,
                program,
                reading,
                now=memory.now(),
                zone=memory.zone,
                on_progress=lambda number, of: _progress(bar, number, of),
            )
        finally:
            bar.done()
        fields = _fields(program, path, memory, done.plan, done)
    return _finish(arguments, done, fields)


def _progress(bar: ProgressBar, number: int, of: int) -> None:
    from notewell.sync import Progress

    bar.update(Progress(number, of, "notes"))


def _finish(arguments: argparse.Namespace, done: Imported, fields: dict[str, Any]) -> int:
    from notewell.cli.kept_import import index_words
    from notewell.notes import NOT_RECORDED

    trouble = index_words(arguments) if done.paths else None
    if arguments.json:
        print_json(fields)
    else:
        wrote = f"{counted(done.entries, 'text')} in {counted(len(done.paths), 'new note')}"
        say(f"wrote {wrote}; already there: {done.plan.unchanged}")
        if done.paths:
            undo = shlex.join(["notewell", "undo", done.origin, *place_words(arguments)])
            tell(f"`{undo}` takes all of it back")
    if done.unrecorded:
        tell(f"{NOT_RECORDED}: {done.unrecorded.reason}")
    if trouble:
        tell(f"the words are not searchable yet: {trouble}")
    if done.trouble:
        tell(f"stopped: {done.trouble}. What was written stays; run it again to go on")
        return done.trouble.exit_code
    return DEGRADED if done.unrecorded or trouble else 0


def _show(program: MemoryProgram, path: Path, memory: Memory, plan: ImportPlan) -> None:
    new, changed = plan.new, plan.changed
    later = f", {changed} of them changed since the last import" if changed else ""
    notes = counted(len(plan.notes), "new note")
    tell(f"{program.title}: {path}")
    tell(
        f"for the memory in {memory.notes.location}: {counted(new + changed, 'text')}{later}, in "
        f"{notes} below memory/imported/{program.id}; already there: {plan.unchanged}"
    )
    for note in plan.notes[:SHOWN]:
        example = note.example[:EXAMPLE_CHARS]
        tell(f"    memory/{note.stem}.md  {counted(note.entries, 'text')}  {example}")
    if len(plan.notes) > SHOWN:
        tell(f"    … and {len(plan.notes) - SHOWN} more")
    from notewell.cli.kept_import import tell_problems

    tell_problems(plan.left_out)


def _confirmed() -> bool:
    from notewell.cli.install import asks

    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        tell("nothing was written; `--yes` imports this without a question")
        return False
    return asks("Import? [y/N] ")


def _fields(
    program: MemoryProgram,
    path: Path,
    memory: Memory,
    plan: ImportPlan,
    done: Imported | None = None,
    *,
    is_dry_run: bool = False,
) -> dict[str, Any]:
    planned = [f"memory/{note.stem}.md" for note in plan.notes]
    return {
        "program": program.id,
        "path": str(path),
        "workspace": memory.notes.location,
        "dryRun": is_dry_run,
        "new": plan.new,
        "changed": plan.changed,
        "unchanged": plan.unchanged,
        "written": done.entries if done else 0,
        "notes": done.paths if done else planned,
        "undo": done.origin if done and done.paths else None,
        "leftOut": [{"path": one.path, "why": one.why} for one in plan.left_out],
    }


# -- conversations -------------------------------------------------------------------------------


def _conversations(
    arguments: argparse.Namespace, program: MemoryProgram, path: Path, reading: Reading
) -> int:
    from notewell.capture import ImportedTranscript, SessionEnd
    from notewell.cli.kept_import import Batch, FoundPlace, keep_batches, tell_problems
    from notewell.cli.session_places import Destinations
    from notewell.sessions import FoundTranscript, FoundTranscripts

    now_s = datetime.now(UTC).timestamp()
    transcripts = list[ImportedTranscript]()
    for one in reading.conversations:
        file = Path(f"{re.sub(r'[^A-Za-z0-9._-]', '_', one.id)}.jsonl")
        # The time orders conversations; a clock may have been wrong.
        at_s = min(max(one.at.timestamp(), 0.0), now_s) if one.at else now_s
        ended = SessionEnd(file, one.id, program.host, None, "import")
        found_one = FoundTranscript(file, int(at_s * 1e9))
        transcripts.append(ImportedTranscript(found_one, ended, one.messages))
    if not transcripts:
        tell_problems(reading.left_out)
        raise BadRequest(f"{str(path)!r} has no conversation in which something was said")
    size = path.stat().st_size if path.is_file() else 0
    found = FoundTranscripts(tuple(one.found for one in transcripts), size, reading.left_out)
    place = FoundPlace(program.title, program.host, path, found)
    batch = Batch(Destinations(arguments).of(program.host, None), transcripts)
    return keep_batches(arguments, [place], [batch], [], program.id)


def _openclaw(arguments: argparse.Namespace) -> int:
    from notewell.cli import sessions

    path = Path(arguments.path).absolute() if arguments.path else None
    is_one_agents = path is not None and not (path / "agents").is_dir()
    folders = [str(path)] if is_one_agents else _openclaw_folders(path, arguments.only)
    given = {**vars(arguments), "source": folders, "project": None, "since": None}
    return sessions.run(Namespace(**given))


def _openclaw_folders(path: Path | None, agent: str | None) -> list[str]:
    """The folders with the sessions of one agent; an OpenClaw may have several agents."""
    from notewell.config import from_openclaw

    openclaw = from_openclaw(path)
    found = {
        id_: folders
        for id_, known in openclaw.agents.items()
        if (folders := [str(one) for one, _ in known.session_folders() if one.is_dir()])
    }
    if not found:
        raise BadRequest(
            f"there are no sessions of OpenClaw in {str(openclaw.state_dir)!r}; name its state "
            f"folder: `notewell import openclaw PATH`"
        )
    if agent is None and len(found) > 1:
        raise BadRequest(
            f"this OpenClaw has several agents: {', '.join(found)}; a memory is for one, so name "
            f"one with --only"
        )
    if agent is not None and agent not in found:
        raise BadRequest(f"it has no sessions of agent {agent!r}; it has: {', '.join(found)}")
    return found[agent or next(iter(found))]
