"""Vectors that were paid for once, by the digest of their text. It outlives every generation."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from recollect.core.errors import IndexUnreadable
from recollect.index.connect import open_new, open_reader, open_writer, our_errors, select
from recollect.index.schema import CACHE_TABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import apsw

    from recollect.core.ports import ModelFacts, Vectors

MAX_ENTRIES = 50_000
"""About 77 MB at 384 dimensions; the oldest go first."""
READ_AT_ONCE = 400


class SqliteVectorCache:
    """The cache of one model. A damaged cache is begun anew: it holds nothing but copies."""

    def __init__(self, path: Path, facts: ModelFacts, max_entries: int = MAX_ENTRIES) -> None:
        self._path = path
        self._facts = facts
        self._max_entries = max_entries
        self._db: apsw.Connection | None = None

    def get(self, digests: Sequence[str]) -> Mapping[str, Vectors]:
        found: dict[str, Vectors] = {}
        for start in range(0, len(digests), READ_AT_ONCE):
            part = digests[start : start + READ_AT_ONCE]
            try:
                found |= self._read(part)
            except IndexUnreadable:
                self._begin_anew()
        return found

    def _read(self, digests: Sequence[str]) -> Mapping[str, Vectors]:
        import numpy as np

        facts = self._facts
        with our_errors(self._path):
            found = select(
                self._opened(),
                "SELECT hash, embedding FROM embedding_cache WHERE provider = ? AND model = ? "
                "AND provider_key = '' AND dims = ? AND hash IN (SELECT value FROM json_each(?))",
                (facts.provider, facts.model, facts.dims, json.dumps(digests)),
            )
            return {digest: np.frombuffer(blob, dtype="<f4") for digest, blob in found}

    def put(self, vectors: Mapping[str, Vectors]) -> None:
        try:
            self._write(vectors)
        except IndexUnreadable:
            self._begin_anew()
            self._write(vectors)

    def _write(self, vectors: Mapping[str, Vectors]) -> None:
        facts, now = self._facts, int(time.time())
        with our_errors(self._path), self._opened() as db:
            db.executemany(
                "INSERT OR REPLACE INTO embedding_cache VALUES (?, ?, '', ?, ?, ?, ?)",
                (
                    (
                        facts.provider,
                        facts.model,
                        digest,
                        vector.astype("<f4").tobytes(),
                        facts.dims,
                        now,
                    )
                    for digest, vector in vectors.items()
                ),
            )
            db.execute(
                "DELETE FROM embedding_cache WHERE (provider, model, provider_key, hash) IN ("
                "  SELECT provider, model, provider_key, hash FROM embedding_cache"
                "  ORDER BY updated_at, hash"
                "  LIMIT max(0, (SELECT count(*) FROM embedding_cache) - ?))",
                (self._max_entries,),
            )

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None

    def _opened(self) -> apsw.Connection:
        if self._db is None:
            db = open_writer(self._path) if self._path.exists() else open_new(self._path)
            try:
                db.execute(CACHE_TABLE)
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db

    def _begin_anew(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)


def count_entries(path: Path) -> int:
    """How many vectors are kept, without writing anything."""
    if not path.exists():
        return 0
    with our_errors(path):
        db = open_reader(path)
        try:
            return int(select(db, "SELECT count(*) FROM embedding_cache")[0][0])
        finally:
            db.close()
