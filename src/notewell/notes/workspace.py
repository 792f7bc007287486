"""An agent's workspace: what notes it has, what they say, and one entry more."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.errors import NotANote, WorkspaceMissing
from notewell.files import NotPlain, describe_os_error, disk
from notewell.notes.scope import scope_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from notewell.files import Directory
    from notewell.notes.append import Appended
    from notewell.notes.entry import Entry
    from notewell.notes.scope import ExtraPath, Scope
    from notewell.notes.section import Section
    from notewell.types import Note, Scan

APPEND_WAIT_S = 10.0
"""An append takes milliseconds: whoever holds the lock for this long is stuck, or stopped."""


class Workspace:
    """Holds no descriptor between calls, so there is nothing to close."""

    def __init__(self, scope: Scope, folders: Directory) -> None:
        self._scope = scope
        self._disk = folders

    @classmethod
    def open(cls, path: Path, extra_paths: Sequence[ExtraPath] = ()) -> Workspace:
        """Raises `WorkspaceMissing` when there is no folder we may list."""
        try:
            given = path.absolute()
            # The workspace itself may be a link, or lie behind one: that is the user's choice.
            root = Path(os.path.realpath(given, strict=True))
        except ValueError:
            raise WorkspaceMissing(str(path)) from None  # a NUL is in no folder's name
        except OSError as error:
            raise WorkspaceMissing(str(path), _why_no_workspace(error)) from error
        workspace = cls(scope_of(root, given, extra_paths), disk())
        workspace._open_root().close()
        return workspace

    @property
    def root(self) -> Path:
        return self._scope.root

    @property
    def places(self) -> tuple[Path, ...]:
        """Every file and folder where notes may be, whether it is there or not."""
        return tuple(Path(*place.parts) for place in self._scope.places)

    def scan(self) -> Scan:
        """Which notes are there now. A workspace that is gone is an error, never an empty scan."""
        from notewell.notes.find import find_notes

        root = self._open_root()
        try:
            return find_notes(self._scope, self._disk, root)
        finally:
            root.close()

    def read(self, path: str) -> Note:
        """One note, by its key; no scan is needed before.

        Raises `NotANote` for what is not of this memory, and `NoteUnreadable` for a note
        that is not there, too large, or not ours to read.
        """
        from notewell.notes.note_file import read_note

        names = self._scope.locate(path)
        if names is None:
            raise NotANote(path)
        return read_note(self._disk, names, path)

    def append(
        self, entry: Entry, to: date | Section, *, wait_s: float = APPEND_WAIT_S
    ) -> Appended:
        """One entry more in the note of a day, or under a heading of MEMORY.md; on disk when done.

        The day is the user's (see `user_day`). Nothing that is there is changed, and an entry
        that is there already is not doubled. Raises `BadEntry` for what cannot be an entry,
        `NoteBusy` when others hold the note longer than `wait_s`, and `NoteNotWritable`.
        """
        from notewell.notes.append import append_entry

        self._open_root().close()
        return append_entry(self._disk, self.root, entry, to, wait_s=wait_s)

    def _open_root(self) -> Directory:
        try:
            return self._disk.folder(str(self.root))
        except NotPlain as found:
            raise WorkspaceMissing(str(self.root), f"it has become {found.why}") from None
        except OSError as error:
            raise WorkspaceMissing(str(self.root), _why_no_workspace(error)) from error


def _why_no_workspace(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "no such folder"
    if error.errno == errno.ENOTDIR:
        return "it is not a folder"
    if error.errno in {errno.EACCES, errno.EPERM}:
        return "no permission to list it"
    return describe_os_error(error)
