"""Markdown on disk: which files are notes, and their text, cleaned once.

    names.py      what a note may be called
    scope.py      which paths belong to a memory, decided without touching the disk
    below.py      folders and files opened so that no symbolic link is ever followed
    find.py       one look at the disk
    read.py       one note: bytes and the stat that belongs to them
    clean.py      bytes to text
    workspace.py  START HERE: open, scan, read

Nothing in this room writes: the notes are the user's.
"""

from recollect.notes.scope import ExtraPath
from recollect.notes.workspace import Workspace

__all__ = ["ExtraPath", "Workspace"]
