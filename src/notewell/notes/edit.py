"""One folder of notes that an agent may rearrange: create, replace, move, and put into its trash.

An append (see `append`) is all that happens to the user's own notes. Here are the explicit writes
of an agent that was given a folder of its own, and they keep what can be kept:

    create    a new file or nothing; what is there is never written over
    replace   lock ─ is it what the caller read? ─ temporary file, fsync ─ still? ─ rename over it
    move      one rename that refuses a name somebody has; where there is none, the name is
              claimed first
    trash     a rename into `.trash/<time>-<number>/`, from where a person can take it back

Every way is walked as in `below`, so no link leads out, not even one that is put there meanwhile.
Everybody here asks for the note's lock. An editor does not: should it write into the note between
our last look and the rename, what it wrote is kept in the trash and the caller is told; should it
put a new file there within these microseconds, ours takes its place.
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
from notewell.notes.agent_folder import OwnFolder, telling
from notewell.notes.names import is_note_name
from notewell.notes.note_file import locked_note, read_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from notewell.files import WritableDir

Kind: TypeAlias = Literal["note", "folder"]

TRASH = ".trash"
MAX_EDIT_BYTES = 100_000
"""What hosted memory stores allow a file; an agent that writes more is copying, not noting."""
MAX_ENTRIES = 1000
"""In one folder: an agent that loops must stop before the disk is full of its notes."""
WAIT_S = 10.0
"""An edit takes milliseconds: whoever holds the lock for this long is stuck, or stopped."""

AGAIN = "read it again before changing it"


class Content(NamedTuple):
    data: bytes
    digest: str
    """sha256 of the bytes: what `replace` is told it would replace."""


class Listed(NamedTuple):
    """Something in a folder, as `ls` would show it."""

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
        self._own = OwnFolder.of(root, folder)
        self._now = now
        self._wait_s = wait_s

    # -- looking ---------------------------------------------------------------------------------

    def kind(self, path: str) -> Kind | None:
        """None when nothing is there; a link or a pipe is refused."""
        names = self._own.names(path)
        with telling(path), suppress(FileNotFoundError, NotADirectoryError):
            if not names:
                with self._own.at(()):
                    return "folder"
            with self._own.at(names[:-1]) as parent:
                return _kind(parent.stat(names[-1]))
        return None

    def read(self, path: str) -> Content:
        names = self._own.names(path)
        with telling(path), self._own.at(names[:-1]) as parent:
            fd = parent.file(names[-1])
            try:
                return _content(fd)
            finally:
                os.close(fd)

    def size(self, path: str) -> int:
        """As the system tells it; 0 for a folder that is not there yet."""
        names = self._own.names(path)
        with telling(path), suppress(FileNotFoundError), self._own.at(names[:-1]) as parent:
            return parent.stat(names[-1] if names else ".").st_size
        return 0

    def entries(self, path: str) -> list[Listed]:
        """What is in a folder, without hidden things and whatever is neither note nor folder."""
        names = self._own.names(path)
        listed = []
        with telling(path), suppress(FileNotFoundError), self._own.at(names) as folder:
            for entry in folder.entries():
                below = f"{path}/{entry.name}" if path else entry.name
                with suppress(EditRefused, NotPlain, FileNotFoundError):
                    self._own.names(below)
                    status = folder.stat(entry.name)
                    kind = _kind(status)
                    if kind == "folder" or is_note_name(entry.name):
                        listed.append(Listed(below, kind, status.st_size))
        return listed

    # -- changing --------------------------------------------------------------------------------

    def create(self, path: str, data: bytes) -> None:
        """A new note, on disk when done."""
        names = self._own.note_names(path)
        _require_size(path, data)
        with telling(path):
            self._own.make_folders(names[:-1])
            with self._own.at(names[:-1]) as parent:
                if len(parent.entries()) >= MAX_ENTRIES:
                    why = f"its folder has {MAX_ENTRIES} entries"
                    raise EditRefused(path, "limit", why, "delete some, or use another folder")
                os.close(parent.new_file(names[-1], data))
            self._own.sync(names[:-1])

    def replace(self, path: str, data: bytes, *, expected: str) -> str | None:
        """The whole note anew, if it is still the one with the digest that the caller read.

        Returns where a text is kept that another program wrote in the same moment; mostly None.
        """
        names = self._own.note_names(path)
        _require_size(path, data)
        with (
            telling(path),
            self._own.at(names[:-1]) as parent,
            self._locked(parent, names) as fd,
        ):
            self._require_unchanged(path, fd, expected)
            temporary = parent.temporary_file(names[-1], data, like=os.fstat(fd))
            with parent.removed_on_failure(temporary):
                self._require_at(parent, names, fd)
                self._require_unchanged(path, fd, expected)
                parent.rename(temporary, parent, names[-1])
            parent.sync()
            late = _content(fd)
            return None if late.digest == expected else self._keep(names, late.data)

    def move(self, old: str, new: str) -> None:
        """To a name that nobody has; a folder goes with all that is in it."""
        if self.kind(old) == "folder":
            self._move_folder(self._own.names(old), self._own.names(new))
            return
        before, after = self._own.note_names(old), self._own.note_names(new)
        with (
            telling(old),
            self._own.at(before[:-1]) as source,
            self._locked(source, before),
        ):
            self._renamed(source, before[-1], after, _claim_file)
            source.sync()

    def trash(self, path: str) -> str:
        """A note, or a folder with all that is in it; returns where it lies now."""
        names = self._own.names(path)
        if not names:
            raise EditRefused(path, "name", "it is the whole folder", "name what is in it")
        with telling(path), self._own.at(names[:-1]) as parent:
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
        with telling(old), self._own.at(before[:-1]) as source:
            # Over an empty folder, which is ours: with anything in it, the system refuses.
            self._renamed(source, before[-1], after, _claim_folder)
            source.sync()

    def _renamed(
        self,
        source: WritableDir,
        name: str,
        names: tuple[str, ...],
        claim: Callable[[WritableDir, str], None],
    ) -> None:
        """To a name that nobody has: in one step, or onto an empty thing of our own."""
        with telling("/".join(names)):
            self._own.make_folders(names[:-1])
            with self._own.at(names[:-1]) as target:
                if not source.rename_no_replace(name, target, names[-1]):
                    claim(target, names[-1])
                    with target.removed_on_failure(names[-1]):
                        source.rename(name, target, names[-1])
                self._own.sync(names[:-1])

    # -- trash -----------------------------------------------------------------------------------

    def _into_trash(self, parent: WritableDir, names: tuple[str, ...]) -> str:
        with self._place_in_trash(names) as (place, told):
            parent.rename(names[-1], place, names[-1])
            parent.sync()
            return told

    def _keep(self, names: tuple[str, ...], data: bytes) -> str:
        with self._place_in_trash(names) as (place, told):
            os.close(place.new_file(names[-1], data))
            return told

    @contextmanager
    def _place_in_trash(self, names: tuple[str, ...]) -> Iterator[tuple[WritableDir, str]]:
        """A new folder, where the way to the note is kept too."""
        with self._own.at(()) as top:
            top.make_folder(TRASH)
            with closing(top.folder(TRASH)) as trash:
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
