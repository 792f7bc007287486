"""Which version of a table counts, and a second copy of its manifest.

    <table>.lance/_versions/<number>.manifest          written by LanceDB, one for each version
    <table>.commits/<number>-<digest>.manifest         our copy: this version is on disk

LanceDB links a manifest before the data it names is on disk, and it never checks what it reads: a
manifest whose first sector is gone opens as an empty table. So a version counts once our copy of
its manifest is there, which is made after everything was synced. A version without a copy belongs
to a writer that is at work, or to one that was killed: readers do not see it, and the next writer
removes it. A manifest that differs from its copy is restored from it. If both are damaged, the
version before is used.

A table that has no folder of copies was written by a release that made none: its newest version
counts. A folder without any copy belongs to a table that is not there yet, or no longer.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from notewell.files import make_private, replace_file, sync_directory
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

TABLE, COPIES = ".lance", ".commits"
_BEGUN = ".tmp*"
"""What LanceDB has begun to write and not yet renamed; it may hold text that is deleted now."""
KEPT = 2
"""The newest version and the one before it."""
_MANIFEST = re.compile(r"(\d{1,20})\.manifest")
_COPY = re.compile(r"(\d{1,20})-([0-9a-f]{32})\.manifest")
_NEWEST_FIRST = 2**64 - 1
"""LanceDB counts its names down from here, so that the newest is the first of a list. Tables of
its first releases count up."""


class Copy(NamedTuple):
    """Our copy of a manifest."""

    version: int
    digest: str
    path: Path

    @property
    def manifest(self) -> str:
        """The name of the manifest."""
        return self.path.name.split("-")[0] + ".manifest"


class Commits:
    """The versions of one table."""

    def __init__(self, folder: Path, name: str) -> None:
        self.table = folder / (name + TABLE)
        self._versions = self.table / "_versions"
        self._copies = folder / (name + COPIES)

    def exists(self) -> bool:
        """Whether any version of the table counts."""
        return bool(self.copies() if self._copies.is_dir() else self.manifests())

    def current(self) -> int:
        """The version that counts. Raises OSError if no manifest of the table is whole."""
        copies = self.copies()
        if not copies:
            return max(self.manifests())
        for copy in copies:
            if self._is_whole(copy) or self._restored(copy):
                return copy.version
        raise OSError(f"the manifests of {self.table.name} and their copies are damaged")

    def damage(self) -> list[str]:
        """What is wrong with the newest version; changes nothing."""
        if not (copies := self.copies()):
            return []
        newest = copies[0]
        parts = {
            self._versions / newest.manifest: "the manifest",
            newest.path: "our copy of the manifest",
        }
        where = f"of {self.table.name}, version {newest.version}"
        return [
            f"{part} {where} is damaged"
            for path, part in parts.items()
            if _digest(_read(path)) != newest.digest
        ]

    # -- for the writer, who holds the lock ------------------------------------------------------

    def begin(self) -> None:
        """Before anything is written: from now on only a copy makes a version count. What no
        commit has finished is removed, so that LanceDB goes on from the current version."""
        if not self._copies.is_dir():
            self._begin_copies()
        if not self.copies():
            self._remove_table()
            return
        for begun in self.table.rglob(_BEGUN):
            begun.unlink()
        current, committed = self.current(), self.copies()[0].version
        for version, path in self.manifests().items():
            if version > committed:
                path.unlink()
            elif version > current:
                # Committed and damaged: out of the way of LanceDB, and never removed by us.
                path.rename(self._copies / f"{path.name}.damaged")
        for copy in self.copies():
            if copy.version > current:
                copy.path.rename(f"{copy.path}.damaged")

    def commit(self) -> None:
        """Make the newest version count. Everything it names must be on disk already."""
        manifests = self.manifests()
        version = max(manifests)
        _copy_to(self._copies, manifests[version])
        for place, copy in enumerate(self.copies()):
            is_old = place >= KEPT or copy.version not in manifests
            if copy.version != version and is_old:
                copy.path.unlink()

    def drop(self) -> None:
        """The table is gone as soon as no copy is there; then its files go."""
        # The oldest first: until the last one is gone, the table is there as it was.
        for copy in reversed(self.copies()):
            copy.path.unlink()
        sync_directory(self._copies)
        self._remove_table()
        # The table first: without this folder, what is left of it would count.
        sync_directory(self._copies.parent)
        shutil.rmtree(self._copies)

    def move_to(self, aside: Path) -> None:
        """The table first: without a copy it would count as one that was never finished."""
        if self.table.exists():
            self.table.rename(aside)
        sync_directory(aside.parent)
        shutil.rmtree(self._copies, ignore_errors=True)

    def _begin_copies(self) -> None:
        """In one step: a folder without a copy would say that there is no table."""
        new = self._copies.with_name(self._copies.name + "-new")
        if new.exists():
            shutil.rmtree(new)
        make_private(new)
        if manifests := self.manifests():
            _copy_to(new, manifests[max(manifests)])
        new.rename(self._copies)
        sync_directory(self._copies.parent)

    def _remove_table(self) -> None:
        if self.table.exists():
            shutil.rmtree(self.table)

    # -- files -----------------------------------------------------------------------------------

    def manifests(self) -> dict[int, Path]:
        found = {}
        for name in _names(self._versions):
            if matched := _MANIFEST.fullmatch(name):
                found[_version(matched[1])] = self._versions / name
        return found

    def copies(self) -> list[Copy]:
        """The newest first."""
        found = [
            Copy(_version(matched[1]), matched[2], self._copies / name)
            for name in _names(self._copies)
            if (matched := _COPY.fullmatch(name))
        ]
        return sorted(found, reverse=True)

    def _is_whole(self, copy: Copy) -> bool:
        return _digest(_read(self._versions / copy.manifest)) == copy.digest

    def _restored(self, copy: Copy) -> bool:
        data = _read(copy.path)
        # Looked at again: a writer may have replaced the version while we looked at it.
        if _digest(data) != copy.digest or copy not in self.copies():
            return False
        with suppress(OSError):
            replace_file(self._versions / copy.manifest, data, durable=True)
            return True
        return False


def _copy_to(folder: Path, manifest: Path) -> None:
    data = manifest.read_bytes()
    # A fixed name: the writer holds a lock, and the next one removes what a kill has left.
    replace_file(
        folder / f"{manifest.stem}-{_digest(data)}.manifest",
        data,
        durable=True,
        temporary=folder / ".commit.tmp",
    )


def tables_in(folder: Path) -> list[str]:
    """The names of everything that looks like a table or its copies, sorted."""
    stems = {name.removesuffix(end) for name in _names(folder) for end in (TABLE, COPIES)
             if name.endswith(end)}  # fmt: skip
    return sorted(stems)


def _version(digits: str) -> int:
    number = int(digits)
    return _NEWEST_FIRST - number if number > _NEWEST_FIRST // 2 else number


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _read(path: Path) -> bytes:
    """Empty if it cannot be read, as if every sector of it were bad."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - only names are wanted
    except (FileNotFoundError, NotADirectoryError):
        return []
