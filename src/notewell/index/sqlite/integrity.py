"""Is an SQLite file ours, is it complete, does every page match its checksum?

The file is read from disk page by page, because a query reads only the pages that it needs. Pages
in the write-ahead log are not in the file yet; `integrity` reads those, too.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from notewell.errors import IndexTooNew, IndexUnreadable, StateNotWritable
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import apsw

MOST_BAD = 100
"""A longer list of damaged pages helps nobody."""
READ_TRIES = 3
"""A checkpoint may be writing a page while we read it."""
INTEGRITY_LINES = 20


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
            pages, bad = bad_pages(db, file) if every_page else (0, [])
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


def bad_pages(
    db: apsw.Connection, file: Path, progress: Callable[[int, int], None] = lambda _, __: None
) -> tuple[int, list[int]]:
    """The number of pages, and the page numbers that do not match their checksums."""
    size = int(db.pragma("page_size"))
    locked = 2**30 // size + 1  # SQLite never writes the page that holds its lock bytes.
    bad: list[int] = []
    with file.open("rb") as opened_file:
        total = file.stat().st_size // size
        for number in range(1, total + 1):
            page = opened_file.read(size)
            if number != locked and not _matches(db, page) and _stays_bad(db, file, number, size):
                bad.append(number)
                if len(bad) >= MOST_BAD:
                    break
            progress(number, total)
    return total, bad


def _matches(db: apsw.Connection, page: bytes) -> bool:
    return bool(db.execute("SELECT verify_checksum(?)", (page,)).fetchall()[0][0])


def _stays_bad(db: apsw.Connection, file: Path, number: int, size: int) -> bool:
    # Read again: a page that a checkpoint was writing is complete the next time.
    for _ in range(READ_TRIES):
        with file.open("rb") as again:
            again.seek((number - 1) * size)
            page = again.read(size)
        # A short page means that the file was just truncated by a writer.
        if len(page) < size or _matches(db, page):
            return False
    return True


def integrity(db: apsw.Connection) -> list[str]:
    """The problems that SQLite finds in its trees and FTS5 in its words.

    `integrity_check` includes virtual tables and works on a read-only connection; FTS5's own
    integrity command needs a writable one.
    """
    rows = db.execute(f"PRAGMA integrity_check({INTEGRITY_LINES})").fetchall()
    return [str(line) for (line,) in rows if line != "ok"]
