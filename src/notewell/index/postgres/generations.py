"""The row that says what an index is, and the rows that belong to it.

`generations` has one row for each index of an agent, complete or growing. Of those of a workspace
at most one is published; it answers. `commits` counts the transactions: a writer that finds
another number than it left has lost its lease, and writes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from notewell.errors import IndexUnreadable
from notewell.index.records import Identity
from notewell.ports import CosineScale
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import TypeAlias

    from notewell.postgres import Scope

    Select: TypeAlias = "Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]"

LAYOUT = 1
"""Of the rows of an index. An index of another layout is built again; there is no migration for
what is a copy."""

PARTS = ("postings", "half_vectors", "vectors", "chunks", "files")
"""The tables with the rows of a generation."""

_COLUMNS = (
    "generation, commits, layout, identity, cosine_scale, last_id, chunks, waiting, unread, "
    "is_suspect, extract(epoch FROM written_at)::float8, half_commits"
)


class Generation(NamedTuple):
    """One row of `generations`."""

    number: int
    commits: int
    layout: int
    stored_identity: dict[str, Any]
    stored_scale: dict[str, Any] | None
    last_id: int
    chunks: int
    waiting: int
    unread: int
    is_suspect: bool
    written_at_s: float
    half_commits: int | None

    @property
    def has_halves(self) -> bool:
        """Whether `half_vectors` has all vectors."""
        return self.half_commits == self.commits

    @property
    def name(self) -> str:
        return f"generation-{self.number}"

    @property
    def embedded(self) -> int:
        return self.chunks - self.waiting - self.unread

    def identity(self) -> Identity:
        try:
            fields = self.stored_identity
            return Identity(**(fields | {"sources": tuple(fields["sources"])}))
        except (TypeError, KeyError) as error:
            raise IndexUnreadable(self.name, f"its description is invalid: {error}") from error

    def cosine_scale(self) -> CosineScale | None:
        try:
            return CosineScale(**self.stored_scale) if self.stored_scale else None
        except TypeError as error:
            raise IndexUnreadable(self.name, f"its scale is invalid: {error}") from error


def published(select: Select, scope: Scope, workspace: str) -> Generation | None:
    """The generation that answers."""
    rows = select(
        f"SELECT {_COLUMNS} FROM notewell.generations "  # noqa: S608 - the columns stand above
        "WHERE tenant = %s AND agent = %s AND workspace = %s AND published",
        (*scope, workspace),
    )
    return Generation(*rows[0]) if rows else None


def numbered(select: Select, scope: Scope, number: int) -> Generation:
    """The generation with this number, which this process is writing."""
    rows = select(
        f"SELECT {_COLUMNS} FROM notewell.generations "  # noqa: S608 - the columns stand above
        "WHERE tenant = %s AND agent = %s AND generation = %s",
        (*scope, number),
    )
    if not rows:
        raise IndexUnreadable(f"generation-{number}", "another process has removed it")
    return Generation(*rows[0])


class Statements(Protocol):
    """What runs statements: a transaction, or what opens one for each statement."""

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int: ...


class GenerationRows:
    """The rows of one generation. `{own}` in a statement selects them."""

    OWN = "tenant = %s AND agent = %s AND generation = %s"

    def __init__(self, transaction: Statements, scope: Scope, number: int) -> None:
        self._transaction = transaction
        self.key = (*scope, number)

    def _bound(self, sql: str, values: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
        first, *others = sql.split("{own}")
        if not others:
            raise ValueError("a statement must name the rows of its generation")
        bound, place = list(values[: first.count("%s")]), first.count("%s")
        for part in others:
            end = place + part.count("%s")
            bound += [*self.key, *values[place:end]]
            place = end
        return self.OWN.join((first, *others)), tuple(bound)

    def select(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._transaction.rows(*self._bound(sql, values))

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        return self._transaction.execute(*self._bound(sql, values))

    def insert(self, table: str, columns: str, types: str, rows: Sequence[Sequence[Any]]) -> None:
        """Add rows, or replace those with the same key: one statement for all of them."""
        if not rows:
            return
        arrays = ", ".join(f"%s::{one}[]" for one in types.split())
        names = columns.split()
        key = {"postings": "bucket, block", "files": "path"}.get(table, "id")
        changed = ", ".join(f"{name} = excluded.{name}" for name in names)
        self._transaction.execute(
            f"INSERT INTO notewell.{table} (tenant, agent, generation, {', '.join(names)}) "  # noqa: S608
            f"SELECT %s, %s, %s, * FROM unnest({arrays}) "
            f"ON CONFLICT (tenant, agent, generation, {key}) DO UPDATE SET {changed}",
            (*self.key, *(list(column) for column in zip(*rows, strict=True))),
        )

    def put_postings(self, rows: Sequence[tuple[int, int, bytes]]) -> None:
        """Bucket, block and data."""
        self.insert("postings", "bucket block data", "int2 int4 bytea", rows)

    def postings(
        self, buckets: Sequence[int] | None, blocks: Collection[int] | None
    ) -> list[tuple[int, int, bytes]]:
        """Block, bucket and data of these buckets and blocks; None for all of them."""
        if blocks is not None and not blocks:
            return []
        wanted = None if buckets is None else list(buckets)
        within = None if blocks is None else list(blocks)
        rows = self.select(
            "SELECT block, bucket, data FROM notewell.postings WHERE {own} "
            "AND (%s::int2[] IS NULL OR bucket = ANY(%s)) "
            "AND (%s::int4[] IS NULL OR block = ANY(%s))",
            (wanted, wanted, within, within),
        )
        return [(block, bucket, data) for block, bucket, data in rows]

    def delete_blocks(self, blocks: Iterable[int]) -> None:
        if numbers := list(blocks):
            self.execute(
                "DELETE FROM notewell.postings WHERE {own} AND block = ANY(%s)", (numbers,)
            )
