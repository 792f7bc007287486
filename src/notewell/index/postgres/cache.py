"""Computed vectors by the digest of their text: paid for once, kept over every rebuild.

All workspaces of an agent share one cache; another agent has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from notewell.index.postgres.failures import index_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.ports import ModelFacts, Vectors
    from notewell.postgres import Database, Scope

MAX_ENTRIES = 50_000
EVICTED_SHARE = 20
"""A full cache loses a twentieth, so that not every write evicts."""

_OWN = "tenant = %s AND agent = %s"


class PostgresVectorCache:
    """See `OpenVectorCache`: the vectors of one model."""

    def __init__(
        self, database: Database, scope: Scope, facts: ModelFacts, max_entries: int
    ) -> None:
        self._database = database
        self._scope = scope
        self._facts = facts
        self._max_entries = max_entries
        self._room = 0
        """How many entries may be added before they are counted again."""

    def get(self, digests: Sequence[str]) -> Mapping[str, Vectors]:
        rows = self._read("vector", digests)
        return {digest: np.frombuffer(data, "<f4") for digest, data in rows}

    def windows(self, digests: Sequence[str]) -> Mapping[str, bytes]:
        return {digest: data for digest, data in self._read("windows", digests) if data}

    def _read(self, column: str, digests: Sequence[str]) -> list[tuple[str, bytes]]:
        if not digests:
            return []
        facts = self._facts
        with index_errors(), self._database.reading(self._scope) as transaction:
            rows = transaction.rows(
                f"SELECT digest, {column} FROM notewell.vector_cache WHERE {_OWN} "  # noqa: S608
                "AND provider = %s AND model = %s AND endpoint_key = %s AND dims = %s "
                "AND digest = ANY(%s)",
                (
                    *self._scope,
                    facts.provider,
                    facts.model,
                    facts.endpoint_key,
                    facts.dims,
                    list(digests),
                ),
            )
        return [(digest, data) for digest, data in rows]

    def put(
        self, vectors: Mapping[str, Vectors], windows: Mapping[str, bytes] | None = None
    ) -> None:
        if not vectors:
            return
        facts, own = self._facts, windows or {}
        # If something fails below, the next write counts.
        room, self._room = self._room - len(vectors), 0
        with index_errors(), self._database.writing(self._scope) as transaction:
            transaction.execute(
                "INSERT INTO notewell.vector_cache (tenant, agent, provider, model, endpoint_key, "
                "digest, dims, vector, windows, added) "
                "SELECT %s, %s, %s, %s, %s, *, nextval('notewell.cache_numbers') "
                "FROM unnest(%s::text[], %s::int4[], %s::bytea[], %s::bytea[]) "
                "ON CONFLICT (tenant, agent, provider, model, endpoint_key, digest) DO UPDATE "
                "SET dims = excluded.dims, vector = excluded.vector, "
                "windows = excluded.windows, added = excluded.added",
                (
                    *self._scope,
                    facts.provider,
                    facts.model,
                    facts.endpoint_key,
                    # In one order, so that two writers never wait for each other in a circle.
                    *_columns(
                        [
                            (
                                digest,
                                vectors[digest].size,  # Not `dims`, which may still be unknown.
                                vectors[digest].astype("<f4").tobytes(),
                                own.get(digest, b""),
                            )
                            for digest in sorted(vectors)
                        ]
                    ),
                ),
            )
            if room < 0:
                ((entries,),) = transaction.rows(
                    f"SELECT count(*) FROM notewell.vector_cache WHERE {_OWN}",  # noqa: S608
                    self._scope,
                )
                room = self._max_entries - int(entries)
            if room < 0:
                spare = self._max_entries // EVICTED_SHARE
                transaction.execute(
                    f"DELETE FROM notewell.vector_cache WHERE {_OWN} AND added <= "  # noqa: S608
                    f"(SELECT added FROM notewell.vector_cache WHERE {_OWN} "
                    "ORDER BY added OFFSET %s LIMIT 1)",
                    (*self._scope, *self._scope, spare - room - 1),
                )
                room = spare
        self._room = room

    def close(self) -> None:
        """Every call has a connection for itself, so nothing is held open."""


def _columns(rows: Sequence[tuple[object, ...]]) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)]


def count_entries(database: Database, scope: Scope) -> int:
    with index_errors(), database.reading(scope) as transaction:
        ((entries,),) = transaction.rows(
            f"SELECT count(*) FROM notewell.vector_cache WHERE {_OWN}",  # noqa: S608
            scope,
        )
    return int(entries)


def keep_used(database: Database, scope: Scope) -> None:
    """Remove the vectors of texts that no published index of the agent has."""
    with index_errors(), database.writing(scope) as transaction:
        transaction.execute(
            f"DELETE FROM notewell.vector_cache WHERE {_OWN} AND digest NOT IN ("  # noqa: S608
            "SELECT chunks.digest FROM notewell.chunks JOIN notewell.generations "
            "USING (tenant, agent, generation) "
            "WHERE tenant = %s AND agent = %s AND published)",
            (*scope, *scope),
        )
