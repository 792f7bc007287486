"""START HERE: a folder of Markdown notes, the first implementation of `NoteStore`.

Modules are imported where they are used: a search scans and reads, and loads nothing that writes.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.errors import NotANote, WorkspaceMissing
from notewell.files import NotPlain, describe_os_error, disk
from notewell.notes.scope import scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from notewell.files import Directory
    from notewell.notes.entry import Entry
    from notewell.notes.ports import Appended, NoteStore
    from notewell.notes.scope import ExtraPath, NoteScope
    from notewell.notes.section import Section
    from notewell.types import Note, Scan

APPEND_WAIT_S = 10.0
"""An append takes milliseconds: a process that holds the lock for this long is stuck."""


def open_notes(workspace: str | Path, extra_paths: Sequence[ExtraPath] = ()) -> NoteStore:
    """The notes alone, without index and embedder. Raises `WorkspaceMissing`."""
    return Workspace.open(Path(workspace), extra_paths)


class Workspace:
    """See `NoteStore`. It holds no descriptor between calls, so there is nothing to close."""

    def __init__(self, scope: NoteScope, folders: Directory) -> None:
        self._scope = scope
        self._disk = folders

    @classmethod
    def open(cls, path: Path, extra_paths: Sequence[ExtraPath] = ()) -> Workspace:
        """Raises `WorkspaceMissing` if there is no folder that we may list."""
        try:
            given = path.absolute()
            # The user may choose a link as the workspace; links below it are not followed.
            root = Path(os.path.realpath(given, strict=True))
        except ValueError:
            raise WorkspaceMissing(str(path)) from None  # A path with a NUL.
        except OSError as error:
            raise WorkspaceMissing(str(path), _why_no_workspace(error)) from error
        workspace = cls(scope_of(root, given, extra_paths), disk())
        # Shows now, not at the first search, that the folder may not be listed.
        workspace._open_root().close()
        return workspace

    @property
    def root(self) -> Path:
        return self._scope.root

    @property
    def folder(self) -> Path:
        return self.root

    @property
    def location(self) -> str:
        return str(self.root)

    def local_paths(self) -> tuple[Path, ...]:
        """Every file and folder where notes may be, whether it is there or not."""
        return tuple(Path(*place.parts) for place in self._scope.roots)

    def change_mark(self) -> None:
        """Only a scan tells."""

    def scan(self) -> Scan:
        from notewell.notes.scan import scan_notes

        root = self._open_root()
        try:
            return scan_notes(self._scope, self._disk, root)
        finally:
            root.close()

    def read(self, path: str) -> Note:
        from notewell.notes.note_file import read_note

        names = self._scope.locate(path)
        if names is None:
            raise NotANote(path)
        if not path.isascii():
            names = _as_on_disk(names)
        return read_note(self._disk, names, path)

    def read_bytes(self, path: str) -> bytes | None:
        """Links are refused; unlike `read` it does not ask whether the path is part of the scope:
        the history also knows notes that the settings no longer include."""
        from notewell.notes.note_file import read_raw

        return read_raw(self._disk, (str(self.root), *path.split("/")), path)

    def append(
        self,
        entry: Entry,
        to: date | Section,
        *,
        wait_s: float = APPEND_WAIT_S,
        intend: Callable[[Appended], None] | None = None,
    ) -> Appended:
        from notewell.notes.append import append_entry

        # A missing workspace must not look like one note that cannot be written.
        self._open_root().close()
        return append_entry(self._disk, self.root, entry, to, wait_s=wait_s, intend=intend)

    def create(self, stem: str, data: bytes) -> str:
        from notewell.notes.rewrite import create_note

        return create_note(self.root, stem, data)

    def rewrite(
        self,
        path: str,
        change: Callable[[bytes], bytes | None],
        *,
        wait_s: float = APPEND_WAIT_S,
    ) -> None:
        from notewell.notes.rewrite import rewrite_note

        rewrite_note(self.root, path, change, wait_s=wait_s)

    def _open_root(self) -> Directory:
        try:
            return self._disk.folder(str(self.root))
        except NotPlain as refusal:
            raise WorkspaceMissing(str(self.root), f"it has become {refusal.why}") from None
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


def _as_on_disk(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same names in the normal form that the disk has. macOS writes `é` as two characters, and
    models and keyboards as one: a file that came from there must be found under both."""
    from unicodedata import normalize

    forms = [tuple(normalize(form, one) for one in names[1:]) for form in ("NFC", "NFD")]
    for below in (names[1:], *forms):
        some = (names[0], *below)
        if os.path.lexists(os.path.join(*some)):  # noqa: PTH118 - names as they are
            return some
    return names
