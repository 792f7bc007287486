"""Notes without a disk, to test what reads or writes them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import NotANote, NoteBusy, NoteNotWritable, NoteUnreadable
from notewell.notes import (
    Block,
    Section,
    append_result,
    find_entry,
    note_of,
    numbered_paths,
    plan_addition,
    planned_append,
)
from notewell.types import FoundNote, NoteStat, Scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import date
    from pathlib import Path

    from notewell.notes import Appended, Entry
    from notewell.types import Note


class InMemoryNotes:
    """A `NoteStore` without a disk; threads may share it."""

    def __init__(self, notes: Mapping[str, str] | None = None) -> None:
        self._notes: dict[str, _StoredNote] = {}
        self._lock = threading.Lock()
        self._version = 0
        for path, text in (notes or {}).items():
            self.write(path, text.encode())

    @property
    def location(self) -> str:
        return "in memory"

    @property
    def folder(self) -> None:
        return None

    def local_paths(self) -> tuple[Path, ...]:
        return ()

    def write(self, path: str, data: bytes) -> None:
        """What an editor does: no lock, no questions."""
        self._version += 1
        # The version stands for both times, so no two contents of a note have an equal stat.
        stat = NoteStat(len(data), self._version, self._version, 0)
        self._notes[path] = _StoredNote(data, stat)

    def remove(self, path: str) -> None:
        del self._notes[path]

    def change_mark(self) -> None:
        """Only a scan tells."""

    def scan(self) -> Scan:
        return Scan(
            {path: FoundNote(path, self._notes[path].stat) for path in sorted(self._notes)}
        )

    def read(self, path: str) -> Note:
        # The same refusals as on a disk, so that tests of callers see both errors.
        is_key = path in ("MEMORY.md", "memory.md", "USER.md") or path.startswith("memory/")
        if not is_key or not {"", ".", ".."}.isdisjoint(path.split("/")):
            raise NotANote(path)
        if path not in self._notes:
            raise NoteUnreadable(path, "not there")
        return note_of(path, *self._notes[path])

    def read_bytes(self, path: str) -> bytes | None:
        note = self._notes.get(path)
        return note.data if note else None

    def append(
        self,
        entry: Entry,
        to: date | Section,
        *,
        wait_s: float = 10.0,
        intend: Callable[[Appended], None] | None = None,
    ) -> Appended:
        block = Block(entry)
        if isinstance(to, Section):
            # Raises for a heading that cannot be written, before anything is changed.
            to.new_headings()
        path = self._path_of(to)
        with self._locked(path, wait_s):
            data = self.read_bytes(path) or b""
            span = find_entry(data, block, to)
            if span is not None:
                return append_result(path, data, span, len(data), len(data))
            addition = plan_addition(path, data, block, to)
            done = planned_append(path, data, addition, block, to)
            if intend:
                intend(done)
            self.write(path, data + addition.lead + addition.body)
        return done

    def create(self, stem: str, data: bytes) -> str:
        with self._locked(stem, 10.0):
            path = next(path for path in numbered_paths(stem) if path not in self._notes)
            self.write(path, data)
        return path

    def rewrite(
        self, path: str, change: Callable[[bytes], bytes | None], *, wait_s: float = 10.0
    ) -> None:
        with self._locked(path, wait_s):
            note = self._notes.get(path)
            if note is None:
                raise NoteNotWritable(path, "not there", "look what is there")
            data = change(note.data)
            # `write` takes no lock, like an editor, so the note may have changed during `change`.
            if self._notes.get(path) != note:
                why = "another program changed the note meanwhile"
                raise NoteNotWritable(path, why, "try again")
            if data is None:
                self.remove(path)
            else:
                self.write(path, data)

    def _path_of(self, to: date | Section) -> str:
        if isinstance(to, Section):
            has_lower = "memory.md" in self._notes and "MEMORY.md" not in self._notes
            return "memory.md" if has_lower else "MEMORY.md"
        return f"memory/{to:%Y-%m-%d}.md"

    @contextmanager
    def _locked(self, path: str, wait_s: float) -> Iterator[None]:
        if not self._lock.acquire(timeout=wait_s):
            raise NoteBusy(path, wait_s)
        try:
            yield
        finally:
            self._lock.release()


class _StoredNote(NamedTuple):
    data: bytes
    stat: NoteStat
