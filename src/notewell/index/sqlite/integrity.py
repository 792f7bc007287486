"""Is an SQLite file ours, is it complete, does every page match its checksum?

The file is read from disk page by page, because a query reads only the pages that it needs. A page
that is in the write-ahead log is read from there, so what the file has in its place does not
count: a checkpoint that was interrupted leaves half a page. `integrity` reads the log, too.
"""

from __future__ import annotations

import os
import struct
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from notewell.errors import IndexTooNew, IndexUnreadable, StateNotWritable
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import FileIO

    import apsw

MOST_BAD = 100
"""A longer list of damaged pages helps nobody."""
READ_AGAIN = 3
"""A checkpoint may be writing a page while we read it."""
INTEGRITY_LINES = 20
_LOG_HEADER, _FRAME_HEADER = 32, 24
_LOG_MAGIC = (0x377F0682, 0x377F0683)
"""The second one says that checksums are of big-endian words."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of one SQLite file."""

    kind: Literal["sound", "old", "newer", "damaged", "closed"]
    """old, newer: another schema · closed: we may not open it, so nothing is known about it."""
    detail: str
    pages: int = 0


def condition(file: Path, *, is_index: bool, every_page: bool = True) -> Condition:
    """Examine a generation or a cache."""
    try:
        with opened(file) as db:
            found = _schema(db, file, is_index=is_index)
            pages, bad = 0, list[int]()
            if every_page:
                with read_pages(file) as content:
                    pages, bad = bad_pages(db, content)
    except IndexTooNew as error:
        return Condition("newer", f"schema {error.found}, this Notewell knows {error.known}")
    except IndexUnreadable as error:
        return Condition("closed" if _is_closed(error) else "damaged", error.why)
    except StateNotWritable as error:
        return Condition("closed", error.why)
    except OSError as error:
        return Condition("closed", error.strerror or str(error))
    if bad:
        return Condition("damaged", pages_text(bad), pages)
    if found is not None:
        return Condition("old", found, pages)
    return Condition("sound", "sound", pages)


def pages_text(bad: list[int]) -> str:
    first = ", ".join(map(str, bad[:5]))
    number = f"{len(bad)} pages do" if len(bad) > 1 else "a page does"
    return f"{number} not match the checksum: page {first}{', …' if bad[5:] else ''}"


@contextmanager
def opened(file: Path) -> Iterator[apsw.Connection]:
    """A read-only connection; SQLite's errors become ours."""
    from notewell.index.sqlite.connect import open_reader, our_errors

    with our_errors(file):
        db = open_reader(file)
        try:
            yield db
        finally:
            db.close()


def _schema(db: apsw.Connection, file: Path, *, is_index: bool) -> str | None:
    """Why it is old, if it is; raises if it is not ours, incomplete, or too new."""
    from notewell.index.sqlite.connect import found_schema, require_checksums
    from notewell.index.sqlite.schema import SCHEMA
    from notewell.index.sqlite.segments import SegmentDriver
    from notewell.index.sqlite.view import SqliteView

    if not is_index:
        require_checksums(db, file)
        return None
    found = found_schema(db, file)
    if found < SCHEMA:
        return f"its schema is {found}, now {SCHEMA}"
    driver = SegmentDriver()  # A view needs one; no vector is read.
    view = SqliteView(db, file, driver, driver.reader)
    # Reads the tables that every search needs; damage there shows now.
    view.identity()
    view.counts()
    return None


def _is_closed(error: IndexUnreadable) -> bool:
    """A missing permission or descriptor is not damage."""
    import apsw

    return isinstance(error.__cause__, apsw.CantOpenError | apsw.PermissionsError)


def read_pages(file: Path) -> FileIO:
    """The file itself, beside a connection to it: it stays readable if a writer replaces it."""
    return file.open("rb", buffering=0)  # Unbuffered: a page is read again from the disk.


def bad_pages(
    db: apsw.Connection, content: FileIO, progress: Callable[[int, int], None] = lambda _, __: None
) -> tuple[int, list[int]]:
    """The number of pages, and the page numbers that do not match their checksums."""
    size = int(db.pragma("page_size"))
    locked = 2**30 // size + 1  # SQLite never writes the page that holds its lock bytes.
    bad: list[int] = []
    total = os.fstat(content.fileno()).st_size // size
    for number in range(1, total + 1):
        if number != locked and _stays_bad(db, content, number, size):
            bad.append(number)
            if len(bad) >= MOST_BAD:
                break
        progress(number, total)
    logged = logged_pages(Path(content.name)) if bad else frozenset()
    return total, [number for number in bad if number not in logged]


def _stays_bad(db: apsw.Connection, content: FileIO, number: int, size: int) -> bool:
    # Read again: a page that a checkpoint was writing is complete the next time.
    for _ in range(1 + READ_AGAIN):
        content.seek((number - 1) * size)
        page = content.read(size)
        # A short page means that the file was just truncated by a writer.
        if len(page) < size or _matches(db, page):
            return False
    return True


def _matches(db: apsw.Connection, page: bytes) -> bool:
    return bool(db.execute("SELECT verify_checksum(?)", (page,)).fetchall()[0][0])


def logged_pages(file: Path) -> frozenset[int]:
    """The pages that the write-ahead log of a file has, up to its last commit.

    The format is SQLite's (https://www.sqlite.org/fileformat2.html#the_write_ahead_log): frames
    count as long as salts and the running checksum are right.
    """
    try:
        data = file.with_name(f"{file.name}-wal").read_bytes()
    except OSError:
        return frozenset()
    if len(data) < _LOG_HEADER:
        return frozenset()
    magic, _, size, _, *salts = struct.unpack_from(">6I", data)
    if magic not in _LOG_MAGIC:
        return frozenset()
    order = ">" if magic & 1 else "<"
    sums = _log_checksum(order, data[:24], (0, 0))
    pages: set[int] = set()
    committed: frozenset[int] = frozenset()
    for at in range(_LOG_HEADER, len(data) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        number, commit, *found = struct.unpack_from(">6I", data, at)
        body = data[at : at + 8] + data[at + _FRAME_HEADER : at + _FRAME_HEADER + size]
        sums = _log_checksum(order, body, sums)
        if found[:2] != salts or tuple(found[2:]) != sums:
            break
        pages.add(number)
        if commit:
            committed = frozenset(pages)
    return committed


def _log_checksum(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    for left, right in struct.iter_unpack(f"{order}2I", data):
        first = (first + left + second) & 0xFFFFFFFF
        second = (second + right + first) & 0xFFFFFFFF
    return first, second


def integrity(db: apsw.Connection) -> list[str]:
    """The problems that SQLite finds in its trees, FTS5 in its words, and we in the tables.

    `integrity_check` includes virtual tables and works on a read-only connection; FTS5's own
    integrity command needs a writable one.
    """
    from notewell.index.sqlite.misplaced import misplaced

    rows = db.execute(f"PRAGMA integrity_check({INTEGRITY_LINES})").fetchall()
    return [*(str(line) for (line,) in rows if line != "ok"), *misplaced(db)]
