"""A folder of notes that an agent may edit: create, replace, move, and put into its trash.

The user's own notes are only appended to (see `append`). Here are the explicit writes of an agent
that was given a folder of its own; they lose nothing that can be kept:

    create    a new file or nothing; an existing file is never overwritten
    replace   compare-and-swap: lock ─ is it what the caller read? ─ write beside ─ still? ─ rename
    move      one rename that refuses an existing name (RENAME_NOREPLACE), or claims the name first
    trash     a rename into `.trash/<time>-<number>/`, from where a person can take it back

Folders are opened as in `files.nofollow`, so no link leads out, not even one created meanwhile.
Every operation takes the lock of the note. An editor does not: if it writes into the note between
our last check and the rename, its text is kept in the trash and the caller gets the path; if it
puts a new file there within these microseconds, ours replaces it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from notewell.errors import EditRefused
from notewell.files import NotPlain, identity, why_not_plain
from notewell.notes.agent_folder import AgentFolder, edit_errors
from notewell.notes.note_file import locked_note, read_all
from notewell.notes.scope import is_note_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from notewell.files import WritableDir

Kind: TypeAlias = Literal["note", "folder"]

TRASH = ".trash"
MAX_EDIT_BYTES = 100_000
"""The limit of hosted memory stores; an agent that writes more is copying, not taking notes."""
MAX_ENTRIES = 1000
"""In one folder: an agent in a loop must not fill the disk with notes."""
WAIT_S = 10.0
"""An edit takes milliseconds: a process that holds the lock for this long is stuck."""

AGAIN = "read it again before changing it"


class Content(NamedTuple):
    data: bytes
    digest: str
    """sha256 of the bytes; `replace` takes it as `expected`."""


class FolderEntry(NamedTuple):
    """One entry of a folder, as `ls` would show it."""

    path: str
    kind: Kind
    size: int


def utc_now() -> datetime:
    return datetime.now(UTC)


class EditableFolder:
    """Paths are relative to it, with `/`; the empty path is the folder itself."""

    def __init__(
        self,
        root: Path,
        folder: str,
        *,
        now: Callable[[], datetime] = utc_now,
        wait_s: float = WAIT_S,
    ) -> None:
        """`root` is the real path of the workspace; `folder` lies below its `memory/`."""
        self._own = AgentFolder.of(root, folder)
        self._now = now
        self._wait_s = wait_s

    # -- looking ---------------------------------------------------------------------------------

    def kind(self, path: str) -> Kind | None:
        """None if nothing is there; a link or a pipe is refused."""
        names = self._own.names(path)
        with edit_errors(path), suppress(FileNotFoundError, NotADirectoryError):
            if not names:
                with self._own.at(()):
                    return "folder"
            with self._own.at(names[:-1]) as parent:
                return _kind(parent.stat(names[-1]))
        return None

    def read(self, path: str) -> Content:
        names = self._own.names(path)
        with edit_errors(path), self._own.at(names[:-1]) as parent:
            fd = parent.file(names[-1])
            try:
                return _content(fd)
            finally:
                os.close(fd)

    def size(self, path: str) -> int:
        """The size the system reports; 0 for a folder that is not there yet."""
        names = self._own.names(path)
        with edit_errors(path), suppress(FileNotFoundError), self._own.at(names[:-1]) as parent:
            return parent.stat(names[-1] if names else ".").st_size
        return 0

    def entries(self, path: str) -> list[FolderEntry]:
        """The notes and folders in a folder, without hidden ones."""
        names = self._own.names(path)
        entries = []
        with edit_errors(path), suppress(FileNotFoundError), self._own.at(names) as folder:
            for entry in folder.entries():
                below = f"{path}/{entry.name}" if path else entry.name
                # One entry with an unusual name must not hide the rest of the folder.
                with suppress(EditRefused, NotPlain, FileNotFoundError):
                    self._own.names(below)
                    status = folder.stat(entry.name)
                    kind = _kind(status)
                    if kind == "folder" or is_note_name(entry.name):
                        entries.append(FolderEntry(below, kind, status.st_size))
        return entries

    # -- changing --------------------------------------------------------------------------------

    def create(self, path: str, data: bytes) -> None:
        """Create a note; it is on disk on return."""
        names = self._own.note_names(path)
        _require_size(path, data)
        with edit_errors(path):
            self._own.make_folders(names[:-1])
            with self._own.at(names[:-1]) as parent:
                if len(parent.entries()) >= MAX_ENTRIES:
                    why = f"its folder has {MAX_ENTRIES} entries"
                    raise EditRefused(path, "limit", why, "delete some, or use another folder")
                os.close(parent.new_file(names[-1], data))
            # Also the names of new folders: a power cut would take the note with them.
            self._own.sync(names[:-1])

    def replace(self, path: str, data: bytes, *, expected: str) -> str | None:
        """Replace the note if it still has the digest that the caller read.

        Returns where a text is kept that another program wrote at the same moment; mostly None.
        """
        names = self._own.note_names(path)
        _require_size(path, data)
        with (
            edit_errors(path),
            self._own.at(names[:-1]) as parent,
            self._locked(parent, names) as fd,
        ):
            self._require_unchanged(path, fd, expected)
            temporary = parent.temporary_file(names[-1], data, like=os.fstat(fd))
            with parent.removed_on_failure(temporary):
                # Again, as late as possible: editors do not take our lock.
                self._require_at(parent, names, fd)
                self._require_unchanged(path, fd, expected)
                parent.rename(temporary, parent, names[-1])
            parent.sync()
            # The descriptor still leads to the old file, and shows what an editor wrote into it
            # after the last check.
            late = _content(fd)
            return None if late.digest == expected else self._keep(names, late.data)

    def move(self, old: str, new: str) -> None:
        """Move to a free name; a folder moves with its content."""
        if self.kind(old) == "folder":
            self._move_folder(self._own.names(old), self._own.names(new))
            return
        before, after = self._own.note_names(old), self._own.note_names(new)
        with (
            edit_errors(old),
            self._own.at(before[:-1]) as source,
            self._locked(source, before),
        ):
            self._renamed(source, before[-1], after, _claim_file)
            source.sync()

    def trash(self, path: str) -> str:
        """Move a note, or a folder with its content, to the trash; returns its new path."""
        names = self._own.names(path)
        if not names:
            raise EditRefused(path, "name", "it is the whole folder", "name what is in it")
        with edit_errors(path), self._own.at(names[:-1]) as parent:
            # Only notes have a lock.
            if _kind(parent.stat(names[-1])) == "folder":
                return self._into_trash(parent, names)
            with self._locked(parent, names):
                return self._into_trash(parent, names)

    # -- still the same? ------------------------------------------------------------------------

    @contextmanager
    def _locked(self, parent: WritableDir, names: tuple[str, ...]) -> Iterator[int]:
        path = "/".join(names)
        fd = parent.file_to_change(names[-1])
        with locked_note(fd, path, wait_s=self._wait_s):
            self._require_at(parent, names, fd)
            yield fd

    def _require_at(self, parent: WritableDir, names: tuple[str, ...], fd: int) -> None:
        if identity(parent.stat(names[-1])) != identity(os.fstat(fd)):
            raise EditRefused("/".join(names), "changed", "it was replaced meanwhile", AGAIN)

    def _require_unchanged(self, path: str, fd: int, expected: str) -> None:
        if _content(fd).digest != expected:
            raise EditRefused(path, "changed", "it was changed meanwhile", AGAIN)

    # -- moving ----------------------------------------------------------------------------------

    def _move_folder(self, before: tuple[str, ...], after: tuple[str, ...]) -> None:
        old = "/".join(before)
        if not before or after[: len(before)] == before:
            raise EditRefused(old, "name", "a folder cannot go into itself", "choose another")
        with edit_errors(old), self._own.at(before[:-1]) as source:
            # Onto an empty folder that we made: if it is not empty, the system refuses.
            self._renamed(source, before[-1], after, _claim_folder)
            source.sync()

    def _renamed(
        self,
        source: WritableDir,
        name: str,
        names: tuple[str, ...],
        claim: Callable[[WritableDir, str], None],
    ) -> None:
        """Rename to a free name: in one step, or onto an empty entry that we made."""
        with edit_errors("/".join(names)):
            self._own.make_folders(names[:-1])
            with self._own.at(names[:-1]) as target:
                if not source.rename_no_replace(name, target, names[-1]):
                    claim(target, names[-1])
                    with target.removed_on_failure(names[-1]):
                        source.rename(name, target, names[-1])
                self._own.sync(names[:-1])

    # -- trash -----------------------------------------------------------------------------------

    def _into_trash(self, parent: WritableDir, names: tuple[str, ...]) -> str:
        with self._place_in_trash(names) as (folder, path):
            parent.rename(names[-1], folder, names[-1])
            parent.sync()
            return path

    def _keep(self, names: tuple[str, ...], data: bytes) -> str:
        with self._place_in_trash(names) as (folder, path):
            os.close(folder.new_file(names[-1], data))
            return path

    @contextmanager
    def _place_in_trash(self, names: tuple[str, ...]) -> Iterator[tuple[WritableDir, str]]:
        """A new folder in the trash, with the folders above the note repeated in it."""
        with self._own.at(()) as top:
            top.make_folder(TRASH)
            with closing(top.folder(TRASH)) as trash:
                # One folder for each deletion: two notes of the same name do not meet.
                claim = trash.new_folder(f"{self._now():%Y%m%dT%H%M%SZ}")
        for depth in range(len(names) - 1):
            with self._own.at((TRASH, claim, *names[:depth])) as folder:
                folder.make_folder(names[depth])
        with self._own.at((TRASH, claim, *names[:-1])) as place:
            yield place, str(PurePosixPath(self._own.folder, TRASH, claim, *names))
        self._own.sync((TRASH, claim, *names[:-1]))


def _claim_file(folder: WritableDir, name: str) -> None:
    os.close(folder.new_file(name, b""))


def _claim_folder(folder: WritableDir, name: str) -> None:
    folder.claim_folder(name)


def _kind(status: os.stat_result) -> Kind:
    if why := why_not_plain(status):
        raise NotPlain(why)
    return "folder" if stat.S_ISDIR(status.st_mode) else "note"


def _content(fd: int) -> Content:
    data = read_all(fd, os.fstat(fd).st_size)
    return Content(data, hashlib.sha256(data).hexdigest())


def _require_size(path: str, data: bytes) -> None:
    if len(data) > MAX_EDIT_BYTES:
        why = f"it would have {len(data)} bytes, and {MAX_EDIT_BYTES} are allowed"
        raise EditRefused(path, "limit", why, "spread it over several notes")
