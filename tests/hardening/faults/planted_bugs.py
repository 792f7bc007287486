"""What must be caught: the ways of doing it that lose data, put into the product's place.

Only ever called in a forked child, which ends right afterwards: nothing needs to be put back.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from notewell.index.sqlite import IndexFolder, SqliteWriter
from notewell.notes.append import _Append

_SUFFIXES = ("", "-wal", "-shm")


def swap_by_renames() -> None:
    """No pointer: one name, and three files that are renamed one after another."""

    def current(self: IndexFolder) -> Path | None:
        path = self.path / "index-1.sqlite"
        return path if path.exists() else None

    def publish(self: IndexFolder, generation: Path) -> None:
        target = self.path / "index-1.sqlite"
        for suffix in _SUFFIXES:
            _rename(f"{target}{suffix}", f"{target}{suffix}.backup")
        for suffix in _SUFFIXES:
            _rename(f"{generation}{suffix}", f"{target}{suffix}")
        for suffix in _SUFFIXES:
            Path(f"{target}{suffix}.backup").unlink(missing_ok=True)

    def next_generation(self: IndexFolder) -> Path:
        return self.path / "index-2.sqlite"

    def publish_and_reopen(self: SqliteWriter) -> None:
        self.finish()
        self.close()
        self._folder.publish(next_generation(self._folder))
        self._folder.sweep()
        self.open_current()

    _put(IndexFolder, current=current, publish=publish, next_generation=next_generation)
    _put(SqliteWriter, publish=publish_and_reopen)


def overwrite_on_append() -> None:
    """Read, add, write all of it anew."""

    def once(self: _Append, fd: int) -> Any:
        data = self._read(fd)
        found = self._find(data)
        if found is not None:
            return self._result(data, found, len(data), len(data))
        addition = self._plan(data)
        path = Path(f"/proc/self/fd/{fd}").readlink()
        path.write_bytes(data + addition.lead + addition.body)
        return self._read_back(fd, len(data), addition)

    _put(_Append, _once=once)


def _rename(old: str, new: str) -> None:
    if os.path.exists(old):  # noqa: PTH110
        os.rename(old, new)  # noqa: PTH104


def _put(owner: type, **methods: Any) -> None:
    for name, method in methods.items():
        setattr(owner, name, method)


PLANTED_BUGS: dict[str, Callable[[], None]] = {
    "swap by renames": swap_by_renames,
    "overwrite on append": overwrite_on_append,
}
