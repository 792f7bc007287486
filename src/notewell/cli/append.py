"""`notewell append`: add one entry to today's note or under a heading of MEMORY.md."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from notewell.cli.output import print_json, say, tell, tell_ignored
from notewell.cli.place import memory_of
from notewell.config import workspace_file
from notewell.errors import BadRequest, NoteUnreadable
from notewell.notes import NOT_RECORDED

if TYPE_CHECKING:
    import argparse

    from notewell.memory import Memory

ORIGIN = "cli"
DEGRADED = 5


def require_notes(memory: Memory) -> None:
    """A user in the wrong folder must not get a new `memory/` there."""
    folder = memory.notes.folder
    if folder is None:
        return
    today = memory.now().date().isoformat()
    # The two usual notes first: if one is there, the folder need not be scanned.
    if any(_is_note(memory, name) for name in ("MEMORY.md", f"memory/{today}.md")):
        return
    # A settings file of the workspace shows that this is the folder, even if it cannot be read.
    if not workspace_file(folder) and not memory.inspect.paths():
        raise BadRequest(
            f"there are no notes in {memory.notes.location!r}: `notewell init` makes a start, "
            "-w names another folder"
        )


def _is_note(memory: Memory, name: str) -> bool:
    try:
        return memory.notes.read_bytes(name) is not None
    except NoteUnreadable:
        return False  # A link or a folder of that name is not a note.


def run(arguments: argparse.Namespace) -> int:
    text = " ".join(arguments.text)
    if text == "-":
        try:
            text = sys.stdin.buffer.read().decode()
        except UnicodeDecodeError as error:
            raise BadRequest(f"standard input is not UTF-8 (byte {error.start + 1})") from None
    with memory_of(arguments) as memory:
        require_notes(memory)
        done = memory.append(text, section=arguments.section, origin=ORIGIN)
        tell_ignored(memory.settings)
    citation = f"{done.path}#{done.span}"
    if arguments.json:
        notice = {"notice": done.notice} if done.notice else {}
        print_json({"path": done.path, "citation": citation, "added": done.added, **notice})
    elif done.added:
        say(f"wrote {citation}")
    else:
        say(f"it is there already: {citation}")
    if done.unrecorded:
        tell(f"{NOT_RECORDED}: {done.unrecorded.reason}")
    return DEGRADED if done.unrecorded else 0
