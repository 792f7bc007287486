"""Chunks against their words and their vectors, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.doctor.report import steps
from notewell.index import EMBEDDED, UNREAD, WAITING
from notewell.index.sqlite import rows

if TYPE_CHECKING:
    import apsw

    from notewell.doctor.report import ProgressCallback, Verdict
    from notewell.index.sqlite import ChunkRow, VectorDriver

LENGTH_SLACK = 1e-3
"""Vectors are stored with length 1, in 32 bits a number."""
FORCE = "run `notewell index --force`"


def verify_chunks(
    db: apsw.Connection, driver: VectorDriver, verdict: Verdict, told: ProgressCallback
) -> None:
    chunks = rows.chunk_rows(db)
    states = [row.embedded for row in chunks.values()]
    verdict.chunks = len(chunks)
    verdict.waiting, verdict.unread = states.count(WAITING), states.count(UNREAD)
    for path, line in rows.chunks_of_nothing(db):
        verdict.differs("chunk", f"{path}:{line}", f"a chunk of an unknown note: {FORCE}")
    words = rows.worded(db)
    for chunk_id in sorted(chunks.keys() - words):
        verdict.differs("chunk", _place(chunks, chunk_id), f"its words are missing: {FORCE}")
    for chunk_id in sorted(words - chunks.keys()):
        verdict.differs("index", f"chunk {chunk_id}", f"words of no chunk: {FORCE}")
    _verify_vectors(db, driver, chunks, verdict, told)


def _verify_vectors(
    db: apsw.Connection,
    driver: VectorDriver,
    chunks: dict[int, ChunkRow],
    verdict: Verdict,
    told: ProgressCallback,
) -> None:
    dims, filed = rows.dims(db), rows.filed(db, driver)
    seen: set[int] = set()
    step = steps(told, "vectors")
    for number, (chunk_id, vector) in enumerate(rows.vectors(db, driver), 1):
        seen.add(chunk_id)
        where = _place(chunks, chunk_id)
        if chunk_id not in chunks:
            verdict.differs("vector", where, f"a vector of no chunk: {FORCE}")
        elif chunks[chunk_id].embedded != EMBEDDED:
            verdict.differs("vector", where, f"it has a vector and is not marked so: {FORCE}")
        if why := why_unsound(vector, dims):
            verdict.differs("vector", where, f"its vector {why}: {FORCE}")
        if filed is not None and filed[chunk_id] != 1:
            verdict.differs("vector", where, f"filed {filed[chunk_id]} times, not once: {FORCE}")
        step(number, len(chunks))
    for chunk_id, row in chunks.items():
        if row.embedded == EMBEDDED and chunk_id not in seen:
            verdict.differs("vector", _place(chunks, chunk_id), f"its vector is missing: {FORCE}")
    verdict.embedded = len(seen)


def _place(chunks: dict[int, ChunkRow], chunk_id: int) -> str:
    row = chunks.get(chunk_id)
    return f"{row.path}:{row.line}" if row else f"chunk {chunk_id}"


def why_unsound(vector: bytes, dims: int, *, unit: bool = True) -> str | None:
    """What keeps these bytes from being a vector of that length; None where nothing does."""
    import numpy as np

    if len(vector) != 4 * dims:
        return f"has {len(vector)} bytes, not {4 * dims}"
    length = float(np.sqrt(np.square(np.frombuffer(vector, "<f4"), dtype=np.float64).sum()))
    if not np.isfinite(length):
        return "is not finite"
    if length == 0:
        return "is zero"
    if unit and abs(length - 1) > LENGTH_SLACK:
        return f"is {length:.3f} long, not 1"
    return None
