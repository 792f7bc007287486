"""Comparing every row of an index with every other, for `notewell verify`.

Notes and vectors are read from one generation at one moment, without a lease: a writer goes on
meanwhile, and what it changes after that moment shows as a note that is behind.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from notewell.core import has_windows, split_text
from notewell.errors import IndexTrouble, IndexUnreadable
from notewell.index.records import EMBEDDED, UNREAD, WAITING
from notewell.index.sqlite.audit_words import chunks_with_other_words
from notewell.index.sqlite.connect import (
    doubted,
    found_schema,
    our_errors,
    reading,
    require_checksums,
    select,
)
from notewell.index.sqlite.integrity import bad_pages, integrity, opened, pages_text, read_pages
from notewell.index.sqlite.schema import SCHEMA
from notewell.index.sqlite.view import SqliteView, driver_in
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import FileIO
    from pathlib import Path

    import apsw

    from notewell.index.findings import StepCallback, StoreAudit
    from notewell.index.ports import IndexView
    from notewell.index.sqlite.folder import IndexFolder
    from notewell.index.sqlite.vectors import VectorDriver

MOVED_TRIES = 5
"""A writer may publish and sweep between our look at CURRENT and our open."""
LENGTH_TOLERANCE = 1e-3
"""Vectors are stored with length 1, in 32 bits a number."""
FORCE = "run `notewell index --force`"


@dataclass(frozen=True, slots=True)
class SqliteAudit:
    """One run over a folder; see `IndexStore.verify`."""

    folder: IndexFolder
    driver: VectorDriver
    audit: StoreAudit
    compare: Callable[[IndexView], None]
    step: StepCallback

    def run(self) -> None:
        with self.audit.part("index", self.folder.path.name):
            self._index()
        cache = self.folder.cache
        if os.path.lexists(cache):
            with self.audit.part("cache", cache.name):
                self._cache(cache)

    def _index(self) -> None:
        with ExitStack() as stack:
            current = self._open_current(stack)
            if current is None:
                message = "there is no index: run `notewell index`"
                self.audit.differs("index", self.folder.path.name, message)
                return
            file, db, content = current
            self.audit.generation = file.name
            # Two parts: damaged pages must not keep the rows from being compared.
            with self.audit.part("index", file.name), our_errors(file):
                self._pages(db, content, file)
            with self.audit.part("index", file.name), our_errors(file), doubted(db, file):
                if found_schema(db, file) < SCHEMA:
                    raise IndexUnreadable(str(file), "it has an older schema")
                with reading(db):
                    driver = driver_in(db, file, self.driver)
                    self.compare(SqliteView(db, file, driver, driver.reader))
                    self._chunks(db, driver)

    def _open_current(self, stack: ExitStack) -> tuple[Path, apsw.Connection, FileIO] | None:
        """The published generation, which may be replaced and removed while we read it; None if
        nothing was published yet."""
        for _ in range(MOVED_TRIES):
            generation = self.folder.current()
            if generation is None:
                return None
            try:
                db = stack.enter_context(opened(generation))
                return generation, db, stack.enter_context(read_pages(generation))
            except (IndexTrouble, OSError):
                # Still published and still there: the error is real. Otherwise a writer has
                # replaced it.
                if generation == self.folder.current() and generation.exists():
                    raise
        raise IndexUnreadable(str(generation), "CURRENT names a file that is not there")

    def _pages(self, db: apsw.Connection, content: FileIO, file: Path) -> None:
        self.audit.pages, bad = bad_pages(db, content, self._steps("pages"))
        if bad:
            message = f"{pages_text(bad)}: run `notewell doctor --fix`"
            self.audit.differs("index", file.name, message)
        for line in integrity(db):
            self.audit.differs("index", file.name, f"{line}: {FORCE}")

    # -- chunks, words and vectors ---------------------------------------------------------------

    def _chunks(self, db: apsw.Connection, driver: VectorDriver) -> None:
        chunks = chunk_rows(db)
        states = [row.embedded for row in chunks.values()]
        self.audit.chunks = len(chunks)
        self.audit.waiting, self.audit.unread = states.count(WAITING), states.count(UNREAD)
        for path, line in chunks_of_unknown_notes(db):
            self.audit.differs("chunk", f"{path}:{line}", f"a chunk of an unknown note: {FORCE}")
        words = {chunk_id for (chunk_id,) in db.execute("SELECT rowid FROM chunks_fts")}
        for chunk_id in sorted(chunks.keys() - words):
            where = _place(chunks, chunk_id)
            self.audit.differs("chunk", where, f"its words are missing: {FORCE}")
        for chunk_id in sorted(words - chunks.keys()):
            self.audit.differs("index", f"chunk {chunk_id}", f"words of no chunk: {FORCE}")
        for chunk_id in chunks_with_other_words(db, self._steps("words")):
            if chunk_id in words:
                where = _place(chunks, chunk_id)
                self.audit.differs("chunk", where, f"its words are those of another text: {FORCE}")
        self._vectors(db, chunks, driver)

    def _vectors(
        self, db: apsw.Connection, chunks: dict[int, ChunkRow], driver: VectorDriver
    ) -> None:
        ((dims,),) = select(db, "SELECT dims FROM vec_state")
        filed = filings(db, driver)
        seen: set[int] = set()
        step = self._steps("vectors")
        for number, (chunk_id, vector) in enumerate(vector_rows(db, driver), 1):
            seen.add(chunk_id)
            where = _place(chunks, chunk_id)
            for problem in _vector_problems(chunks.get(chunk_id), vector, int(dims)):
                self.audit.differs("vector", where, f"{problem}: {FORCE}")
            if filed is not None and filed[chunk_id] != 1:
                message = f"filed {filed[chunk_id]} times, not once: {FORCE}"
                self.audit.differs("vector", where, message)
            step(number, len(chunks))
        for chunk_id, row in chunks.items():
            if row.embedded == EMBEDDED and chunk_id not in seen:
                where = _place(chunks, chunk_id)
                self.audit.differs("vector", where, f"its vector is missing: {FORCE}")
        self.audit.embedded = len(seen)
        self._windows(db, chunks, int(dims))

    def _windows(self, db: apsw.Connection, chunks: dict[int, ChunkRow], dims: int) -> None:
        stored = False
        for chunk_id, codes, heading, text in window_rows(db):
            stored = True
            if problem := _window_problem(chunks.get(chunk_id), codes, (heading, text), dims):
                where = _place(chunks, chunk_id)
                self.audit.differs("vector", where, f"{problem}: {FORCE}")
        # Without any, the model of this index gives windows no vectors.
        for chunk_id, heading, text in chunks_without_windows(db) if stored else ():
            if split_text(heading, text).windows:
                where = _place(chunks, chunk_id)
                self.audit.differs("vector", where, f"its windows are missing: {FORCE}")

    # -- the cache -------------------------------------------------------------------------------

    def _cache(self, file: Path) -> None:
        with our_errors(file), opened(file) as db, read_pages(file) as content:
            require_checksums(db, file)
            _, bad = bad_pages(db, content, self._steps("cache"))
            if bad:
                message = f"{pages_text(bad)}: run `notewell doctor --fix`"
                self.audit.differs("cache", file.name, message)
            for line in integrity(db):
                self.audit.differs("cache", file.name, line)
            for row in cache_rows(db):
                self.audit.cached += 1
                if why := _why_not_cached(row):
                    message = (
                        f"the vector of {row.digest[:12]} ({row.model}) {why}; it is not used"
                    )
                    self.audit.differs("cache", file.name, message)

    def _steps(self, label: str) -> Callable[[int, int], None]:
        return lambda done, total: self.step(label, done, total)


def _place(chunks: dict[int, ChunkRow], chunk_id: int) -> str:
    row = chunks.get(chunk_id)
    return f"{row.path}:{row.line}" if row else f"chunk {chunk_id}"


def _vector_problems(row: ChunkRow | None, vector: bytes, dims: int) -> Iterator[str]:
    if row is None:
        yield "a vector of no chunk"
    elif row.embedded != EMBEDDED:
        yield "it has a vector and is not marked so"
    if why := why_unsound(vector, dims):
        yield f"its vector {why}"


def _window_problem(
    row: ChunkRow | None, codes: object, text: tuple[str, str], dims: int
) -> str | None:
    if row is None:
        return "windows of no chunk"
    if row.embedded != EMBEDDED:
        return "it has windows and no vector"
    count = len(split_text(*text).windows)
    if not isinstance(codes, bytes) or not has_windows(codes, count, dims):
        return "its windows do not fit its text"
    return None


def _why_not_cached(row: CacheRow) -> str | None:
    vector, windows = row.vector[: 4 * row.dims], row.vector[4 * row.dims :]
    if windows and len(windows) % row.dims != 1:
        return f"has {len(row.vector)} bytes, not {4 * row.dims}"
    return why_unsound(vector, row.dims, unit=False)


def why_unsound(vector: bytes, dims: int, *, unit: bool = True) -> str | None:
    """Why these bytes are not a vector of that length; None if they are one."""
    import numpy as np

    if len(vector) != 4 * dims:
        return f"has {len(vector)} bytes, not {4 * dims}"
    length = float(np.sqrt(np.square(np.frombuffer(vector, "<f4"), dtype=np.float64).sum()))
    if not np.isfinite(length):
        return "is not finite"
    if length == 0:
        return "is zero"
    if unit and abs(length - 1) > LENGTH_TOLERANCE:
        return f"is {length:.3f} long, not 1"
    return None


# -- rows: each of these reads a whole table ------------------------------------------------------


class ChunkRow(NamedTuple):
    path: str
    line: int
    embedded: int
    """See `records`: waiting, embedded, unread."""


class CacheRow(NamedTuple):
    digest: str
    model: str
    dims: int
    vector: bytes


def chunk_rows(db: apsw.Connection) -> dict[int, ChunkRow]:
    rows = db.execute("SELECT id, path, start_line, embedded FROM chunks")
    return {chunk_id: ChunkRow(path, line, state) for chunk_id, path, line, state in rows}


def chunks_of_unknown_notes(db: apsw.Connection) -> list[tuple[str, int]]:
    rows = select(
        db,
        "SELECT path, start_line FROM chunks "
        "WHERE NOT EXISTS (SELECT 1 FROM files WHERE files.path = chunks.path) "
        "ORDER BY path, start_line",
    )
    return [(path, line) for path, line in rows]


def vector_rows(db: apsw.Connection, driver: VectorDriver) -> Iterator[tuple[int, bytes]]:
    driver.count(db, ())  # The driver loads the sqlite-vec extension at its first question.
    for chunk_id, vector in db.execute("SELECT id, vector FROM chunks_vec"):
        # A damaged row may hold another type; as empty bytes it is reported as unsound.
        yield int(chunk_id), bytes(vector) if isinstance(vector, bytes) else b""


def window_rows(db: apsw.Connection) -> Iterator[tuple[int, object, str, str]]:
    rows = db.execute(
        "SELECT chunk_windows.id, codes, heading, text "
        "FROM chunk_windows LEFT JOIN chunks ON chunks.id = chunk_windows.id"
    )
    for chunk_id, codes, heading, text in rows:
        yield int(chunk_id), codes, heading or "", text or ""


def chunks_without_windows(db: apsw.Connection) -> Iterator[tuple[int, str, str]]:
    rows = db.execute(
        "SELECT id, heading, text FROM chunks "
        "WHERE embedded = 1 AND id NOT IN (SELECT id FROM chunk_windows)"
    )
    for chunk_id, heading, text in rows:
        yield int(chunk_id), heading, text


def filings(db: apsw.Connection, driver: VectorDriver) -> Counter[int] | None:
    """How many times each vector is filed where a query looks; None if the driver does not tell.
    Once is right: a vector that is filed never is never found, one filed twice is found twice."""
    if driver.name != "segments":
        return None
    import numpy as np

    filed = Counter(chunk_id for (chunk_id,) in db.execute("SELECT id FROM vec_tail"))
    for (ids,) in db.execute("SELECT ids FROM vec_codes JOIN vec_segments ON segment = id"):
        numbers = np.frombuffer(ids, "<i8")
        filed.update(numbers[numbers > 0].tolist())  # The id of a removed row is negated.
    return filed


def cache_rows(db: apsw.Connection) -> Iterator[CacheRow]:
    rows = db.execute("SELECT hash, model, dims, embedding FROM embedding_cache")
    for digest, model, length, vector in rows:
        yield CacheRow(digest, model, length, vector if isinstance(vector, bytes) else b"")
