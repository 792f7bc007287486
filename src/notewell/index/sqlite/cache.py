"""Computed vectors by the digest of their text, in a file that outlives every generation."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import apsw

from notewell.errors import IndexUnreadable
from notewell.index.sqlite.connect import (
    cannot_open,
    is_damage,
    open_new,
    open_reader,
    open_writer,
    our_errors,
    require_checksums,
    select,
    transaction,
)
from notewell.index.sqlite.lease import writer_lease
from notewell.index.sqlite.schema import CACHE_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from notewell.ports import ModelFacts, Vectors

MAX_ENTRIES = 50_000
"""About 77 MB at 384 dimensions, twice as much with windows; the oldest are evicted first."""
EVICTED_SHARE = 16
"""A full cache evicts this part at once. Counting 50 000 rows and finding the oldest took 33 ms
for every eight new vectors; everything else for eight vectors took 2 ms."""
READ_AT_ONCE = 400
OPEN_WAIT_S = 10.0  # Creating a file takes milliseconds; a longer wait is an error worth showing.


class SqliteVectorCache:
    """The cache of one model. A damaged one is replaced by an empty one: it holds only copies."""

    def __init__(
        self,
        path: Path,
        facts: ModelFacts,
        max_entries: int = MAX_ENTRIES,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._facts = facts
        self._max_entries = max_entries
        self._now_s = now_s
        self._db: apsw.Connection | None = None
        self._inode = 0
        self._room = 0
        """How many vectors may be added before the rows are counted again."""

    def get(self, digests: Sequence[str]) -> Mapping[str, Vectors]:
        vectors: dict[str, Vectors] = {}
        for start in range(0, len(digests), READ_AT_ONCE):
            part = digests[start : start + READ_AT_ONCE]
            try:
                vectors |= self._read(part)
            except IndexUnreadable as error:
                self._replace_damaged(error)
        return vectors

    def _read(self, digests: Sequence[str]) -> Mapping[str, Vectors]:
        import numpy as np

        # The vector comes first; the windows of a text, if it has any, follow.
        rows = self._parts("substr(embedding, 1, 4 * dims)", digests)
        return {digest: np.frombuffer(blob, dtype="<f4") for digest, blob in rows}

    def windows(self, digests: Sequence[str]) -> Mapping[str, bytes]:
        windows: dict[str, bytes] = {}
        for start in range(0, len(digests), READ_AT_ONCE):
            part = digests[start : start + READ_AT_ONCE]
            try:
                rows = self._parts("substr(embedding, 4 * dims + 1)", part)
                windows |= {digest: blob for digest, blob in rows if blob}
            except IndexUnreadable as error:
                self._replace_damaged(error)
        return windows

    def _parts(self, part: str, digests: Sequence[str]) -> list[tuple[Any, ...]]:
        facts = self._facts
        with our_errors(self._path):
            return select(
                self._opened(),
                f"SELECT hash, {part} FROM embedding_cache "  # noqa: S608 - one of two above
                "WHERE provider = ? AND model = ? AND provider_key = ? AND dims = ? "
                "AND typeof(embedding) = 'blob' AND (length(embedding) = 4 * dims "
                "OR length(embedding) > 4 * dims AND length(embedding) % dims = 1) "
                "AND hash IN (SELECT value FROM json_each(?))",
                (
                    facts.provider,
                    facts.model,
                    facts.endpoint_key,
                    facts.dims,
                    json.dumps(digests),
                ),
            )

    def put(
        self, vectors: Mapping[str, Vectors], windows: Mapping[str, bytes] | None = None
    ) -> None:
        try:
            self._write(vectors, windows or {})
        except IndexUnreadable as error:
            self._replace_damaged(error)
            self._write(vectors, windows or {})

    def _write(self, vectors: Mapping[str, Vectors], windows: Mapping[str, bytes]) -> None:
        facts, now = self._facts, int(self._now_s())
        room, self._room = (
            self._room - len(vectors),
            0,
        )  # If something fails below, the next write counts.
        with our_errors(self._path), transaction(self._opened()) as db:
            db.executemany(
                "INSERT OR REPLACE INTO embedding_cache VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        facts.provider,
                        facts.model,
                        facts.endpoint_key,
                        digest,
                        vector.astype("<f4").tobytes() + windows.get(digest, b""),
                        vector.size,  # Not `facts.dims`, which may still be unknown.
                        now,
                    )
                    for digest, vector in vectors.items()
                ),
            )
            if room < 0:
                room = self._evict(db)
        self._room = room

    def _evict(self, db: apsw.Connection) -> int:
        """Remove the oldest entries if there are too many; returns how many may be added now."""
        ((entries,),) = select(db, "SELECT count(*) FROM embedding_cache")
        room = self._max_entries - int(entries)
        if room >= 0:
            return room
        spare = self._max_entries // EVICTED_SHARE
        # INSERT OR REPLACE gives an entry a new rowid, so rowids ascend with age.
        oldest = "SELECT rowid FROM embedding_cache ORDER BY rowid LIMIT ?"
        db.execute(f"DELETE FROM embedding_cache WHERE rowid IN ({oldest})", (spare - room,))  # noqa: S608
        return spare

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None

    def _opened(self) -> apsw.Connection:
        if self._db is None:
            # With the lease: a file that another process is just creating would look like one
            # without checksums.
            with self._lease():
                self._db = self._open()
        return self._db

    def _open(self) -> apsw.Connection:
        self._inode = _inode(self._path)
        db = open_writer(self._path) if self._inode else open_new(self._path)
        try:
            self._inode = _inode(self._path)
            db.execute(CACHE_TABLE)
            require_checksums(db, self._path)
        except BaseException:
            db.close()
            raise
        return db

    def _replace_damaged(self, error: IndexUnreadable | None = None) -> None:
        if error and not is_damage(error):
            self.close()
            raise cannot_open(self._path.parent, error.why) from error
        with self._lease():
            # Another process may have replaced it already; then the new file is sound. The inode
            # of an open file is not reused, so our file is closed only after the comparison.
            damaged = _inode(self._path) == self._inode
            self.close()
            for suffix in ("-wal", "-shm", "") if damaged else ():
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _lease(self) -> AbstractContextManager[None]:
        return writer_lease(self._path.with_suffix(".lock"), wait_s=OPEN_WAIT_S)


def _inode(path: Path) -> int:
    """0 if there is no file."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def count_entries(path: Path) -> int:
    """How many vectors there are. Writes nothing."""
    if not os.access(path, os.R_OK):  # There is none yet, or we may not read it.
        return 0
    with our_errors(path):
        db = open_reader(path)
        try:
            return int(select(db, "SELECT count(*) FROM embedding_cache")[0][0])
        finally:
            db.close()


def keep_entries(path: Path, digests: Iterable[str]) -> None:
    """Remove the vectors of all other texts, also from the bytes of the file. Raises `IndexBusy`
    if another process reads it for too long."""
    with our_errors(path):
        db = open_writer(path)
        try:
            require_checksums(db, path)
            db.execute("CREATE TEMP TABLE in_use (hash TEXT PRIMARY KEY) WITHOUT ROWID")
            rows = ((digest,) for digest in digests)
            db.executemany("INSERT OR IGNORE INTO in_use VALUES (?)", rows)
            with transaction(db):
                db.execute(
                    "DELETE FROM embedding_cache WHERE hash NOT IN (SELECT hash FROM in_use)"
                )
            db.execute("VACUUM")
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            db.close()
