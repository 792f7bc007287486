"""`notewell history`: what Notewell wrote into the notes, the newest first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.output import print_json, say, tell
from notewell.cli.place import add_place, meant

if TYPE_CHECKING:
    import argparse

    from notewell.capture import Recorded

NOTHING_FOUND = 3
SHOWN = 20


def add_options(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument(
        "-n", "--last", type=int, default=SHOWN, metavar="N", help=f"so many (default: {SHOWN})"
    )


def folder_of(arguments: argparse.Namespace) -> tuple[Path, Path]:
    """The workspace, and what is remembered of its captures. Raises `WorkspaceMissing`."""
    from notewell.capture import capture_dir
    from notewell.config import default_state_dir
    from notewell.notes import Workspace

    agent, workspace, _ = meant(arguments)
    root = Workspace.open(Path(workspace)).root
    told = arguments.state_dir
    state = Path(told).expanduser() if told else default_state_dir()
    return root, capture_dir(state, agent, root)


def run(arguments: argparse.Namespace) -> int:
    from notewell.capture import writes

    root, folder = folder_of(arguments)
    newest = writes(folder)[::-1][: max(0, arguments.last)]
    shown = [(one, _state(root, one)) for one in newest]
    if arguments.json:
        print_json({"writes": [_as_json(one, state) for one, state in shown]})
    for one, state in () if arguments.json else shown:
        say(_line(one, state))
    if not shown and not arguments.json:
        tell("Notewell has written nothing here that it has a record of")
    return 0 if shown else NOTHING_FOUND


def _line(one: Recorded, state: str) -> str:
    write, at = one.write, one.at.astimezone()
    size = write.end_byte - write.start_byte
    told = f"{size} bytes, {write.origin}, {state}"
    return f"{one.id}  {at:%Y-%m-%d %H:%M}  {write.path}  {told}"


def _state(root: Path, one: Recorded) -> str:
    """Looked up in the note, not remembered."""
    if one.undone:
        return "undone"
    from notewell.capture import Kept, decide_cut, read_bytes
    from notewell.errors import NoteUnreadable

    try:
        found = decide_cut(read_bytes(root, one.write.path), one.write)
    except NoteUnreadable as error:
        return error.why
    return found.why if isinstance(found, Kept) else "there"


def _as_json(one: Recorded, state: str) -> dict[str, object]:
    return {
        "id": one.id,
        "at": one.at.isoformat(),
        "path": one.write.path,
        "startByte": one.write.start_byte,
        "endByte": one.write.end_byte,
        "digest": one.write.digest,
        "origin": one.write.origin,
        "kind": one.write.kind,
        "state": state,
    }
