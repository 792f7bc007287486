"""Markdown on disk: which files are notes, their text, cleaned once, and one entry more.

names.py      what a note may be called
scope.py      which paths belong to a memory, decided without touching the disk
below.py      folders and files opened so that no symbolic link is ever followed
find.py       one look at the disk
read.py       one note: bytes and the stat that belongs to them
clean.py      bytes to text
entry.py      what an append adds: an entry and its mark, as lines
section.py    a section by its heading
tail.py       which bytes put those lines behind the bytes that are there
target.py     which note an entry goes to
lock.py       one appender at a time
append.py     one entry more at the end of a note: how the user's notes are written to
own.py        the folder an agent may edit, and nothing outside it
held.py       that folder, held open while something in it changes
edit.py       create, replace, move and trash in there: compare and swap, nothing lost
workspace.py  START HERE: open, scan, read, append
"""

from typing import TYPE_CHECKING, Any

from notewell.notes.scope import ExtraPath
from notewell.notes.workspace import Workspace

if TYPE_CHECKING:
    from notewell.notes.append import Appended
    from notewell.notes.entry import Entry
    from notewell.notes.section import Section
    from notewell.notes.target import user_day

_HOMES = {"Appended": "append", "Entry": "entry", "Section": "section", "user_day": "target"}

__all__ = ["Appended", "Entry", "ExtraPath", "Section", "Workspace", "user_day"]


def __getattr__(name: str) -> Any:
    """What only writing needs is imported when it is asked for: a search writes nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'notewell.notes' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"notewell.notes.{_HOMES[name]}"), name)
