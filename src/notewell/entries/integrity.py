"""Whether an entry is as it was written: digests in its row, and what of a table is legible.

LanceDB does not check what it reads. A flipped bit turns "tea" into "pea", and a bad sector in one
file makes a query of the whole table fail. So each row has a digest of its columns and one of its
vector. Rows of a release that wrote none have no digest, and are taken as they are.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import TYPE_CHECKING, Any

from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lancedb.table import Table

    from notewell.ports import Vectors

    Row = dict[str, Any]

COLUMNS = ("id", "owner", "text", "importance", "category", "created_at_ms", "model", "by_words")
DIGESTS = ("digest", "vector_digest")
ALL = 2**31 - 1
_READ_ERRORS = (OSError, RuntimeError, ValueError)
"""What LanceDB raises for a file that it cannot read."""


class TableAudit(NamedTuple):
    """What was found in one table."""

    entries: int
    """That are as they were written."""
    damaged: tuple[str, ...]
    """One message for each damaged part."""
    sound: Any
    """The sound rows with their vectors, as an Arrow table; None if there is none."""


def row_digest(row: Row) -> str:
    content = json.dumps([row[name] for name in COLUMNS], ensure_ascii=False)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def has_digests(table: Table) -> bool:
    return DIGESTS[0] in table.schema.names


def as_table(rows: Sequence[Row], vectors: Vectors) -> Any:
    """The rows as LanceDB takes them."""
    import pyarrow as pa  # type: ignore[import-untyped]

    text = dict.fromkeys(("id", "owner", "text", "category", "model"), pa.string())
    kinds = {**text, "importance": pa.float64(), "created_at_ms": pa.int64()}
    kinds["by_words"] = pa.bool_()
    columns = {name: pa.array([row[name] for row in rows], kinds[name]) for name in COLUMNS}
    # A list of fixed size: LanceDB takes only such a column as a vector.
    flat = pa.array(vectors.reshape(-1), pa.float32())
    columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    return with_digests(pa.table(columns))


def with_digests(table: Any) -> Any:
    """The digests of what the rows have now."""
    import pyarrow as pa

    rows = table.select(COLUMNS).to_pylist()
    table = table.append_column(DIGESTS[0], pa.array([row_digest(row) for row in rows]))
    return table.append_column(DIGESTS[1], pa.array(_vector_digests(table)))


def _vector_digests(table: Any) -> list[str]:
    import numpy as np

    vectors = table["vector"].combine_chunks()
    flat = vectors.flatten().to_numpy(zero_copy_only=False).astype("<f4")
    return [
        f"{zlib.crc32(one.tobytes()):08x}" for one in np.split(flat, len(vectors) or 1) if len(one)
    ]


# -- reading what is legible ---------------------------------------------------------------------


def legible_rows(table: Table) -> tuple[list[int], int]:
    """The row ids that can be read, and how many cannot."""
    query: Any = table.search().with_row_id(True)  # noqa: FBT003 - LanceDB's
    query = query.select(["_rowid"]).limit(ALL)
    ids: list[int] = sorted(query.to_arrow()["_rowid"].to_pylist())
    legible = _legible(ids, lambda some: _at(table, some))
    return legible, len(ids) - len(legible)


def _legible(ids: Sequence[int], read: Callable[[Sequence[int]], object]) -> list[int]:
    """Halved until each part is legible or one row: few damaged rows take few reads."""
    if not ids:
        return []
    try:
        read(ids)
    except _READ_ERRORS:
        middle = len(ids) // 2
        return [*_legible(ids[:middle], read), *_legible(ids[middle:], read)] if middle else []
    return list(ids)


def _at(table: Table, ids: Sequence[int]) -> Any:
    from lancedb.expr import col

    query: Any = table.search().where(col("_rowid").isin(list(ids)))
    columns = [*COLUMNS, *(DIGESTS if has_digests(table) else ()), "vector"]
    return query.select(columns).limit(ALL).to_arrow()


def is_written(table: Table, added: Sequence[str] | None) -> bool:
    """Whether the rows with these ids are as they should be; None: whether all can be read."""
    if added is None:
        return legible_rows(table)[1] == 0
    from lancedb.expr import col

    query: Any = table.search().where(col("id").isin(list(added)))
    try:
        audit = _audited(query.select([*COLUMNS, *DIGESTS, "vector"]).limit(ALL).to_arrow())
    except _READ_ERRORS:
        return False
    return audit.entries >= len(set(added)) and not audit.damaged


def nearest_rows(rows: Sequence[Row], vector: Vectors) -> list[tuple[Row, float]]:
    """The rows without their vectors, with their cosines, the nearest first."""
    import numpy as np

    if not rows:
        return []
    vectors = np.array([row.pop("vector") for row in rows], dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector)
    cosines = vectors @ np.asarray(vector) / np.where(lengths == 0, 1, lengths)
    order = np.argsort(-cosines, kind="stable")
    return [(rows[at], float(cosines[at])) for at in order]


def audit_rows(table: Table, damage: Sequence[str]) -> TableAudit:
    """Every row with its vector; `damage` is what is known of the files already."""
    legible, lost = legible_rows(table)
    found = _at(table, legible) if legible else None
    messages = [*damage, *([f"{lost} entries are in a file that cannot be read"] if lost else [])]
    if found is None:
        return TableAudit(0, tuple(messages), None)
    if not has_digests(table):
        return TableAudit(found.num_rows, tuple(messages), with_digests(found))
    audit = _audited(found)
    return audit._replace(damaged=(*messages, *audit.damaged))


def _audited(found: Any) -> TableAudit:
    rows, vectors = found.select([*COLUMNS, *DIGESTS]).to_pylist(), _vector_digests(found)
    messages, sound = [], []
    for row, vector in zip(rows, vectors, strict=True):
        is_sound = row[DIGESTS[0]] == row_digest(row) and row[DIGESTS[1]] == vector
        sound.append(is_sound)
        if not is_sound:
            messages.append(
                f"the entry {row['id']!r} of {row['owner']!r} is not as it was written"
            )
    kept = found.filter(sound)
    return TableAudit(kept.num_rows, tuple(messages), kept if kept.num_rows else None)


def free_name(path: Path) -> Path:
    """This path, or the first with a number behind it that nothing has."""
    numbered = (path.with_name(f"{path.name}-{number}") for number in range(2, ALL))
    return path if not path.exists() else next(one for one in numbered if not one.exists())
