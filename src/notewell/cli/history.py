"""`notewell history`: the writes of Notewell to the notes, the newest first. `notewell undo`: take
one of them back, byte for byte, if the note still has it as it was written."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.output import print_json, say, tell
from notewell.cli.place import add_place, location_of
from notewell.types import counted

if TYPE_CHECKING:
    import argparse

    from notewell.capture import Forgetting, Logs, Recorded, RecordedImport
    from notewell.notes import NoteStore

NOTHING_FOUND = 3
DEGRADED = 5
SHOWN = 20
CONTINUED = "more of it was kept since; `notewell forget --session` removes it"
_ONE = {
    "messages": "message",
    "conversations": "conversation",
    "questions": "question",
    "entries": "entry",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument(
        "-n", "--last", type=int, default=SHOWN, metavar="N", help=f"how many (default: {SHOWN})"
    )


def notes_of(arguments: argparse.Namespace) -> tuple[NoteStore, Path]:
    """The notes, and the state folder of their captures. Raises `WorkspaceMissing`."""
    from notewell.capture import capture_dir
    from notewell.config import default_state_dir
    from notewell.notes import IN_DATABASE

    # Not `memory_of`: listing and undoing writes must work without an index and without an
    # embedder.
    agent, workspace, _ = location_of(arguments)
    notes: NoteStore
    if workspace == IN_DATABASE:
        from notewell.databases import database_notes

        notes = database_notes(agent)
    else:
        from notewell.notes import open_notes

        notes = open_notes(workspace)
    state_dir = arguments.state_dir
    state = Path(state_dir).expanduser() if state_dir else default_state_dir()
    return notes, capture_dir(state, agent, notes.location)


def logs_of(notes: NoteStore) -> Logs | None:
    """The journal of notes in a database; None: it is in the state folder."""
    if notes.folder is not None:
        return None
    from notewell.databases import journal_logs

    return journal_logs(notes)


def run(arguments: argparse.Namespace) -> int:
    from notewell.capture import forgettings, recorded_imports, writes

    notes, folder = notes_of(arguments)
    place = logs_of(notes) or folder
    forgotten = forgettings(place)[::-1][: max(0, arguments.last)]
    # Kept conversations are files, wherever the notes are.
    imports = list(recorded_imports(folder).values())[::-1][: max(0, arguments.last)]
    # The journal is in the order of writing.
    newest = writes(place, notes)[::-1][: max(0, arguments.last)]
    rows = [(recorded, _state(notes, recorded)) for recorded in newest]
    if arguments.json:
        print_json(
            {
                "writes": [_as_json(recorded, state) for recorded, state in rows],
                "forgotten": [_forgotten_json(one) for one in forgotten],
                "imports": [_import_json(one) for one in imports],
            }
        )
        return 0 if rows or forgotten or imports else NOTHING_FOUND
    for recorded, state in rows:
        say(_line(recorded, state))
    for one in forgotten:
        say(_forgotten_line(one))
    for recorded_import in imports:
        say(_import_line(recorded_import))
    if not rows and not forgotten and not imports:
        tell("Notewell has no record of a write to these notes")
    return 0 if rows or forgotten or imports else NOTHING_FOUND


def _forgotten_line(done: Forgetting) -> str:
    counts = ", ".join(
        f"1 {_ONE.get(name, name)}" if count == 1 else f"{count} {name}"
        for name, count in done.counts.items()
        if count
    )
    by = " and ".join(done.by)
    return f"{done.id}  {done.at.astimezone():%Y-%m-%d %H:%M}  forgot by {by}: {counts}"


def _forgotten_json(done: Forgetting) -> dict[str, object]:
    return {"id": done.id, "at": done.at.isoformat(), "by": list(done.by), **done.counts}


def _import_line(one: RecordedImport) -> str:
    """Of the conversations; the notes of an import are among the writes."""
    kept = f"{counted(len(one.files), 'new conversation')}{', undone' if one.undone else ''}"
    return f"{one.origin}  {one.at.astimezone():%Y-%m-%d %H:%M}  {kept}"


def _import_json(one: RecordedImport) -> dict[str, object]:
    at = one.at.isoformat()
    return {
        "origin": one.origin, "at": at, "conversations": len(one.files), "undone": one.undone,
    }  # fmt: skip


def _line(recorded: Recorded, state: str) -> str:
    # Stored in UTC; shown in the time zone of the reader.
    write, at = recorded.write, recorded.at.astimezone()
    size = write.end_byte - write.start_byte
    facts = f"{size} bytes, {write.origin}, {state}"
    return f"{recorded.id}  {at:%Y-%m-%d %H:%M}  {write.path}  {facts}"


def _state(notes: NoteStore, recorded: Recorded) -> str:
    """Looked up in the note: the user may have edited it since the write."""
    if recorded.undone:
        return "undone"
    from notewell.capture import NoCut, decide_cut
    from notewell.errors import NoteUnreadable

    try:
        data = notes.read_bytes(recorded.write.path)
    # A note that cannot be read is one row of the list, not the end of it.
    except NoteUnreadable as error:
        return error.why
    if data is None:
        return "not there"
    cut = decide_cut(data, recorded.write)
    return cut.why if isinstance(cut, NoCut) else "there"


def _as_json(recorded: Recorded, state: str) -> dict[str, object]:
    return {
        "id": recorded.id,
        "at": recorded.at.isoformat(),
        "path": recorded.write.path,
        "startByte": recorded.write.start_byte,
        "endByte": recorded.write.end_byte,
        "digest": recorded.write.digest,
        "origin": recorded.write.origin,
        "kind": recorded.write.kind,
        "state": state,
    }


def undo(arguments: argparse.Namespace) -> int:
    from notewell.capture import IMPORT, NOT_SAID, undo_write

    notes, folder = notes_of(arguments)
    if arguments.id.startswith(IMPORT):
        return _undo_import(arguments, notes, folder)
    place = logs_of(notes) or folder
    done, unrecorded = undo_write(notes, place, arguments.id, now=datetime.now(UTC))
    size = done.write.end_byte - done.write.start_byte
    if arguments.json:
        print_json({"undone": done.id, "path": done.write.path, "bytes": size})
    else:
        say(f"took {size} bytes out of {done.write.path}")
    if unrecorded:
        tell(f"{NOT_SAID}: {unrecorded.reason}")
    return DEGRADED if unrecorded else 0


def _undo_import(arguments: argparse.Namespace, notes: NoteStore, folder: Path) -> int:
    from notewell.capture import NOT_SAID, undo_import
    from notewell.sessions import kept_dir

    # `capture_dir` made the folder of the state folder.
    kept = kept_dir(folder.parents[1], location_of(arguments).agent, notes.location)
    place, now = logs_of(notes) or folder, datetime.now(UTC)
    done = undo_import(notes, place, arguments.id, state=folder, kept=kept, now=now)
    paths = [one.recorded.write.path for one in done.undone]
    if arguments.json:
        left = [{"path": one.path, "why": one.why} for one in done.left]
        left += [{"path": name, "why": CONTINUED} for name in done.continued]
        fields = {"paths": paths, "conversations": done.conversations, "left": left}
        print_json({"undone": arguments.id, **fields})
    else:
        removed = counted(len(paths), "note"), counted(len(done.conversations), "conversation")
        say(f"removed {' and '.join(removed)} of {arguments.id}")
    for one in done.left:
        tell(f"left alone: {one.path}: {one.why}")
    for name in done.continued:
        tell(f"left alone: {name}: {CONTINUED}")
    unrecorded = next((one.unrecorded for one in done.undone if one.unrecorded), None)
    if unrecorded:
        tell(f"{NOT_SAID}: {unrecorded.reason}")
    return DEGRADED if done.left or done.continued or unrecorded else 0
