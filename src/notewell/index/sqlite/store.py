"""The SQLite implementation of `IndexStore`: one folder per agent, see `folder`.

`SqliteReader` follows CURRENT to the published generation and never writes.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import apsw

from notewell.errors import BadSetting, IndexTrouble, IndexUnreadable
from notewell.index.records import EVERYWHERE, StoreFacts
from notewell.index.sqlite.connect import (
    doubted,
    found_schema,
    is_damage,
    is_immutable,
    open_reader,
    our_errors,
    select,
    without_spare_pages,
)
from notewell.index.sqlite.folder import SUSPECTED, IndexFolder
from notewell.index.sqlite.full_text import register_counts
from notewell.index.sqlite.lease import writer_lease
from notewell.index.sqlite.memo import ReadMemo
from notewell.index.sqlite.postings import PLACES_TABLE
from notewell.index.sqlite.schema import AS_CURRENT, SCHEMA
from notewell.index.sqlite.view import SqliteView, driver_in
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

    from notewell.index.findings import (
        StepCallback,
        StoreAudit,
        StoreFinding,
        StorePart,
        StoreRepair,
    )
    from notewell.index.ports import IndexView
    from notewell.index.settings import StoreSettings
    from notewell.index.sqlite.cache import SqliteVectorCache
    from notewell.index.sqlite.vectors import VectorDriver, VectorReader
    from notewell.index.sqlite.writer import SqliteWriter
    from notewell.ports import ModelFacts

DRIVERS = ("segments", "sqlite-vec")

MOVED_TRIES = 5  # A writer may publish and sweep between reading CURRENT and opening the file.


class SqliteStore:
    """See `IndexStore`. Nothing is read or written before the first question."""

    def __init__(
        self,
        path: Path,
        driver: str | VectorDriver,
        cache_entries: int | None = None,
        load_error: str | None = None,
    ) -> None:
        """`load_error` says why `driver` is not the one in the settings; see `usable_driver`."""
        self.folder = IndexFolder(path)
        self.driver = vector_driver(driver) if isinstance(driver, str) else driver
        self._load_error = load_error
        self._cache_entries = cache_entries
        # One connection for all views: it keeps page cache and vector segments between searches.
        self._reader: SqliteReader | None = None
        self._lock = threading.Lock()

    # -- reading ---------------------------------------------------------------------------------

    def reader(self) -> SqliteReader:
        """A connection of its own; `view` shares one."""
        return SqliteReader(self.folder, self.driver)

    def view(self) -> AbstractContextManager[SqliteView | None]:
        # Under the lock, or two threads would open two connections and one would leak.
        with self._lock:
            if self._reader is None:
                self._reader = self.reader()
        return self._reader.view()

    def describe(self) -> StoreFacts:
        from notewell.index.sqlite.lease import leases_in

        generation = None
        with suppress(IndexTrouble):  # A view raises it; this only describes.
            generation = self.folder.current()
        leases = [lease for lease in leases_in(self.folder.path) if lease.is_held]
        is_writing = any(lease.name == "writer" for lease in leases)
        suspect = None
        if generation is not None and self.folder.is_suspect(generation):
            suspect = IndexUnreadable(str(generation), SUSPECTED)
        return StoreFacts(
            place=str(self.folder.path),
            generation=generation.name if generation else None,
            size_bytes=self.folder.size(),
            written_at_s=max(self._write_times_ns(), default=0) / 1e9 or None,
            holder=leases[0].holder if leases else None,
            generation_bytes=_size(generation) if generation else 0,
            notes_built=self._notes_built(generation) if generation and is_writing else None,
            suspect=suspect,
            cache_limit=self._cache_entries,
            vector_load_error=self._load_error or self.driver.load_error(),
        )

    def _notes_built(self, current: Path) -> int | None:
        """Of a generation that is not published yet."""
        building = self.folder.newer_than(current)
        if building is None:
            return None
        try:
            db = open_reader(building)
            try:
                ((notes,),) = select(db, "SELECT count(*) FROM files")
            finally:
                db.close()
        except (apsw.Error, OSError, IndexTrouble):
            return 0  # It has no tables yet, or was published a moment ago.
        return int(notes)

    def change_mark(self) -> tuple[int, ...]:
        # A publish changes CURRENT, a commit the log, a checkpoint the file itself.
        files = (str(self.folder.pointer), *self._generation_files())
        return tuple([part for file in files for part in _time_and_size(file)])

    def _write_times_ns(self) -> list[int]:
        times = []
        for file in self._generation_files():
            with suppress(OSError):
                times.append(os.stat(file).st_mtime_ns)  # noqa: PTH116
        return times

    def _generation_files(self) -> list[str]:
        """The published file and its write-ahead log, which has the later time while it exists."""
        try:
            generation = self.folder.current()
        except IndexTrouble:
            return []
        if generation is None:
            return []
        return [str(generation), f"{generation}-wal"]

    def local_paths(self) -> Sequence[Path]:
        return (self.folder.path,)

    def local_files(self) -> Sequence[Path]:
        from notewell.index.sqlite.maintenance import own_files

        return own_files(self.folder.path)

    def derived_file(self, generation: str) -> Path | None:
        # `basename`: a generation is an opaque name, and must not lead out of the folder.
        return self.folder.map_of(self.folder.path / os.path.basename(generation))  # noqa: PTH119

    # -- writing ---------------------------------------------------------------------------------

    @contextmanager
    def writing(self, *, wait_s: float) -> Iterator[SqliteWriter]:
        from notewell.index.sqlite.writer import SqliteWriter  # A search does not write.

        # Only writers create the folder: a search of a workspace without index leaves no trace.
        self.folder.create()
        with writer_lease(self.folder.writer_lock, wait_s=wait_s):
            writer = SqliteWriter(self.folder, self.driver)
            try:
                yield writer
            finally:
                writer.close()

    def embedding_lease(self) -> AbstractContextManager[None]:
        return writer_lease(self.folder.embedder_lock, wait_s=0)

    def vector_cache(self, facts: ModelFacts) -> SqliteVectorCache:
        from notewell.index.sqlite.cache import MAX_ENTRIES, SqliteVectorCache

        self.folder.create()
        most = MAX_ENTRIES if self._cache_entries is None else self._cache_entries
        return SqliteVectorCache(self.folder.cache, facts, most)

    def cache_entries(self) -> int:
        from notewell.index.sqlite.cache import count_entries

        return count_entries(self.folder.cache)

    def purge_cache(self) -> None:
        from notewell.index.sqlite.cache import keep_entries

        if not os.path.lexists(self.folder.cache):
            return
        with self.view() as view:
            digests = view.digests() if view else []
        keep_entries(self.folder.cache, digests)

    def mark_suspect(self) -> None:
        if generation := self.folder.current():
            self.folder.mark_suspect(generation)

    # -- checking --------------------------------------------------------------------------------

    def check(self, part: StorePart, now: datetime) -> Iterator[StoreFinding]:
        from notewell.index.sqlite import maintenance

        return maintenance.check(self.folder, part, now, self._cache_entries)

    def repair(self, kind: StoreRepair, *, wait_s: float, now: datetime) -> str:
        from notewell.index.sqlite import maintenance

        return maintenance.repair(self.folder, kind, wait_s=wait_s, now_s=now.timestamp())

    def verify(
        self, audit: StoreAudit, compare: Callable[[IndexView], None], step: StepCallback
    ) -> None:
        from notewell.index.sqlite.audit import SqliteAudit

        SqliteAudit(self.folder, self.driver, audit, compare, step).run()

    def close(self) -> None:
        with self._lock:
            if self._reader is not None:
                self._reader.close()
            self._reader = None


def _time_and_size(file: str) -> tuple[int, ...]:
    try:
        status = os.stat(file)  # noqa: PTH116 - each search asks
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def vector_driver(name: str) -> VectorDriver:
    """The driver of this name, imported on demand."""
    if name == "segments":
        from notewell.index.sqlite.segments import SegmentDriver

        return SegmentDriver()
    if name == "sqlite-vec":
        from notewell.index.sqlite.sqlite_vec import SqliteVecDriver

        return SqliteVecDriver()
    known = " or ".join(repr(driver) for driver in DRIVERS)
    raise BadSetting("store.vector.driver", f"{name!r} is unknown; choose {known}")


class DriverChoice(NamedTuple):
    """The vector driver in use, and why it is not the one that the settings name."""

    driver: VectorDriver
    requested: str
    """The one that the settings name."""
    problem: str | None = None


SWITCHED_OFF = "store.vector.enabled is false, which switches sqlite-vec off and not the vectors"


def usable_driver(settings: StoreSettings) -> DriverChoice:
    """Both drivers find the same chunks, so a library that is missing is no reason to search
    without vectors, and even less to fail."""
    wanted = settings.vector_driver
    if wanted is None:
        wanted = "sqlite-vec" if settings.extension_path and settings.vector_extension else ""
    if wanted != "sqlite-vec":
        driver = vector_driver(wanted or EVERYWHERE)
        return DriverChoice(driver, driver.name)
    from notewell.index.sqlite.sqlite_vec import SqliteVecDriver

    other = SqliteVecDriver(settings.extension_path)
    problem = other.load_error() if settings.vector_extension else SWITCHED_OFF
    return DriverChoice(vector_driver(EVERYWHERE) if problem else other, wanted, problem)


class SqliteReader:
    """One connection, kept open between views; threads take turns."""

    def __init__(self, folder: IndexFolder, driver: VectorDriver) -> None:
        self._folder = folder
        self._own_driver = driver
        self._driver = driver
        """Of the generation that is open."""
        self._vectors: VectorReader | None = None
        self._memo = ReadMemo()
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
                        self._memo.begin(self._db)
                        yield SqliteView(
                            self._db, generation, self._driver, self._vector_reader, self._memo
                        )
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
        self._memo = ReadMemo()

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
                opened = (generation, os.stat(generation).st_ino)  # noqa: PTH116
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
                self._driver = driver_in(self._db, generation, self._own_driver)
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
    db.pragma("temp_store", "memory")
    without_spare_pages(db)
    if schema < SCHEMA:
        if schema not in AS_CURRENT:
            db.close()
            raise IndexUnreadable(str(generation), f"it has the older schema {schema}")
        db.execute(AS_CURRENT[schema])
    db.execute(PLACES_TABLE)
    register_counts(db)
    return db
