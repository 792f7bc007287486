"""A connection that follows CURRENT to the published generation. It never writes."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from notewell.errors import IndexUnreadable
from notewell.index.sqlite.connect import doubted, is_damage, is_immutable, open_reader, our_errors
from notewell.index.sqlite.schema import SCHEMA, found_schema
from notewell.index.sqlite.view import SqliteView, register_counts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from notewell.index.sqlite.folder import IndexFolder
    from notewell.index.sqlite.vectors import VectorDriver, VectorReader

MOVED_TRIES = 5  # A writer may publish and sweep between reading CURRENT and opening the file.


class SqliteReader:
    """One connection, kept open between views; threads take turns."""

    def __init__(self, folder: IndexFolder, driver: VectorDriver) -> None:
        self._folder = folder
        self._driver = driver
        self._vectors: VectorReader | None = None
        self._lock = threading.Lock()
        self._db: apsw.Connection | None = None
        self._opened: tuple[Path, int] | None = None

    @contextmanager
    def view(self) -> Iterator[SqliteView | None]:
        """One consistent view of the last published index; None where there is none yet."""
        with self._lock:
            generation = self._follow_pointer()
            if generation is None or self._db is None:
                yield None
                return
            try:
                with our_errors(generation), doubted(self._db, generation):
                    self._db.execute("BEGIN")
                    try:
                        yield SqliteView(self._db, generation, self._driver, self._vector_reader)
                    finally:
                        if self._db.in_transaction:  # After damage SQLite has rolled back itself.
                            self._db.execute("ROLLBACK")
            except IndexUnreadable as error:
                # An immutable file is read without locks: a writer may have changed it meanwhile.
                if is_damage(error) and not is_immutable(self._db):
                    self._folder.mark_suspect(generation)
                self._close()
                raise

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = self._opened = None
        self._vectors = None

    def _vector_reader(self) -> VectorReader:
        """Created on first use, so that a keyword search does not import numpy."""
        if self._vectors is None:
            self._vectors = self._driver.reader()
        return self._vectors

    def _follow_pointer(self) -> Path | None:
        for _ in range(MOVED_TRIES):
            generation = self._folder.current()
            if generation is None:
                self._close()
                return None
            try:
                # The inode, too: an index that was deleted and rebuilt may have the same name.
                opened = (generation, generation.stat().st_ino)
            except FileNotFoundError:
                continue
            except OSError as error:  # For example a link to itself.
                raise IndexUnreadable(str(generation), error.strerror or str(error)) from error
            # The common case: nothing was published since the last view, and the connection is
            # kept.
            if opened == self._opened:
                return generation
            self._close()
            with our_errors(generation):
                try:
                    self._db = _open_checked(generation)
                except (apsw.Error, IndexUnreadable, FileNotFoundError):
                    # Still published and still there: the error is real. Otherwise a writer has
                    # replaced it.
                    if generation == self._folder.current() and generation.exists():
                        raise
                    continue
            # A file that is read without locks may change meanwhile: open it anew each time.
            self._opened = None if is_immutable(self._db) else opened
            return generation
        raise IndexUnreadable(str(generation), "CURRENT names a file that is not there")


def _open_checked(generation: Path) -> apsw.Connection:
    db = open_reader(generation)
    try:
        schema = found_schema(db, generation)
    except BaseException:
        db.close()
        raise
    if schema < SCHEMA:
        db.close()
        raise IndexUnreadable(str(generation), f"it has the older schema {schema}")
    register_counts(db)
    return db
