"""Large indexes are scanned in half precision, and the answers are those of the exact vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.postgres_plans import captured_plans
from tests.postgres_server import PostgresServer

from notewell.core import VERSION, ChunkLimits, chunk
from notewell.index import Identity, IndexWriter, StoreAudit, UpToDate
from notewell.index.postgres import PostgresStore
from notewell.index.postgres.half_vectors import (
    LARGE_MEMORY,
    RoundedDistance,
    farthest_candidate,
    rounding_error,
)
from notewell.postgres import Database, Scope
from notewell.types import NoteStat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from notewell.index.postgres.view import PostgresView
    from notewell.ports import Vectors

NAME = "halves"
DIMS = 64
STAT = NoteStat(10, 1, 1, 1)
SOURCES = ("memory", "sessions")
CHUNKS = LARGE_MEMORY + 100
OF_SOURCES = "SELECT id FROM notewell.chunks WHERE {own} AND source = ANY(%s)"


def unit(vectors: NDArray[np.float64]) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / lengths, dtype="<f4")


def crowded(count: int, seed: int) -> Vectors:
    """Vectors of which many are nearer to each other than half precision can tell."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(8, DIMS)) + 2
    spread = draw.choice([0.0, 1e-5, 1e-3, 0.3], size=(count, 1))
    return unit(centres[draw.integers(0, 8, count)] + spread * draw.normal(size=(count, DIMS)))


def add(writer: IndexWriter, name: str, count: int) -> None:
    """Two notes with so many chunks together, one of each source."""
    with writer.transaction():
        for source in SOURCES:
            lines = "".join(f"{name} {number} {'word ' * 35}\n" for number in range(count // 2))
            chunks = chunk(lines, ChunkLimits(60, 0))
            assert len(chunks) == count // 2
            writer.replace(f"{source}/{name}.md", source, name, STAT, chunks)  # type: ignore[arg-type]
    while waiting := writer.view.waiting_for_vectors(500):
        with writer.transaction():
            writer.add_vectors(waiting, crowded(len(waiting), seed=waiting[0].id))


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> Iterator[Database]:
    postgres_server.create_database(NAME)
    database = postgres_server.as_login(NAME)
    yield database
    database.close()


@pytest.fixture(scope="module")
def store(database: Database) -> PostgresStore:
    """Large, and written in several transactions: the copy begins in one of them."""
    store = PostgresStore(database, Scope("t", "large"), "notes")
    with store.writing(wait_s=0) as writer:
        identity = Identity("hash", "m", DIMS, 60, 0, SOURCES, VERSION, "pgvector")
        writer.start_generation(identity)
        add(writer, "some", 100)
        add(writer, "many", CHUNKS - 100)
        writer.publish()
    return store


def halves(store: PostgresStore) -> tuple[bool, int]:
    """Whether the copy is complete by its mark, and how many rows it has."""
    with store.view() as view:
        assert view is not None
        assert view.wrong_halves() == 0
        ((count,),) = view._select("SELECT count(*) FROM notewell.half_vectors WHERE {own}")
        return view._generation().has_halves, count


def exactly(view: PostgresView, query: Vectors, sources: Sequence[str]) -> list[int]:
    """All chunks with a vector, the nearest first, ties by id: by the vectors themselves."""
    sought = [one for (one,) in view._select(OF_SOURCES, (list(sources),))]
    cosines = view.cosines(query, sought)
    return sorted(cosines, key=lambda one: (-cosines[one], one))


def require_same_neighbours(store: PostgresStore, seed: int) -> None:
    with store.view() as view:
        assert view is not None
        for query in crowded(12, seed):
            for sources in (SOURCES, SOURCES[:1]):
                for k in (1, 10, 300):
                    assert view.nearest(query, sources, k) == exactly(view, query, sources)[:k]


def test_the_neighbours_are_those_of_the_exact_vectors_in_the_same_order(
    store: PostgresStore,
) -> None:
    assert halves(store) == (True, CHUNKS)
    require_same_neighbours(store, seed=1)


def test_the_exact_vectors_are_read_for_few_chunks_and_by_their_key(
    postgres_server: PostgresServer, store: PostgresStore
) -> None:
    with psycopg.connect(postgres_server.owner_url(NAME), autocommit=True) as owner:
        owner.execute("VACUUM ANALYZE")
    with captured_plans() as plans, store.view() as view:
        assert view is not None
        view.nearest(crowded(1, seed=2)[0], SOURCES, 10)
    steps = [step for plan in plans.values() for step in plan]
    assert {step.table for step in steps} == {"generations", "half_vectors", "vectors"}
    assert len({step.partition for step in steps}) == 1
    assert {step.index_name for step in steps if step.table == "vectors"} == {"vectors_pkey"}


def test_the_copy_follows_every_change(store: PostgresStore) -> None:
    with store.writing(wait_s=0) as writer:
        assert writer.open_current() == UpToDate()
        with writer.transaction():
            writer.forget(["memory/some.md"])
        add(writer, "more", 30)
        writer.purge()
    assert halves(store) == (True, CHUNKS - 50 + 30)
    require_same_neighbours(store, seed=3)


def test_what_a_version_without_the_copy_has_written_is_found(
    store: PostgresStore, database: Database
) -> None:
    """It counts its commit, and knows nothing of the other number and of the table."""
    query = crowded(1, seed=4)[0]
    with database.writing(store.scope) as older:
        ((newest,),) = older.rows("SELECT max(id) FROM notewell.vectors")
        text = "[" + ",".join(map(str, query.tolist())) + "]"
        older.execute(
            "UPDATE notewell.vectors SET vector = %s::vector WHERE id = %s", (text, newest)
        )
        older.execute("UPDATE notewell.generations SET commits = commits + 1")
    assert not halves(store)[0]
    with store.view() as view:
        assert view is not None
        assert view.nearest(query, SOURCES, 1) == [newest]
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        with writer.transaction():
            pass
    assert halves(store)[0]
    require_same_neighbours(store, seed=5)
    with store.view() as view:
        assert view is not None
        assert view.nearest(query, SOURCES, 1) == [newest]


def test_verify_finds_a_copy_that_differs(store: PostgresStore, database: Database) -> None:
    with database.writing(store.scope) as transaction:
        transaction.execute(
            "DELETE FROM notewell.half_vectors WHERE id = (SELECT max(id) FROM half_vectors)"
        )
    audit = StoreAudit()
    store.verify(audit, lambda _: None, lambda *_: None)
    (found,) = audit.disagreements
    assert "1 vector in half precision" in found.message


def test_a_small_index_has_no_copy(database: Database) -> None:
    small = PostgresStore(database, Scope("t", "small"), "notes")
    with small.writing(wait_s=0) as writer:
        identity = Identity("hash", "m", DIMS, 60, 0, SOURCES, VERSION, "pgvector")
        writer.start_generation(identity)
        add(writer, "some", 300)
        writer.publish()
    assert halves(small) == (False, 0)


# -- the bound -----------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.sampled_from([3, 64, 384, 3072]), st.sampled_from([0, 1, 6]))
def test_no_rounding_is_worse_than_its_bound(seed: int, dims: int, skew: int) -> None:
    draw = np.random.default_rng(seed)
    # A high power leaves few large numbers and many that are too small for 16 bits.
    pair = unit(draw.normal(size=(2, dims)) ** (2 * skew + 1))
    question, stored = pair
    exact = float(np.dot(question.astype(np.float64), stored.astype(np.float64)))
    rounded = np.float32(0)
    for one, other in zip(question.astype("<f2"), stored.astype("<f2"), strict=True):
        rounded += np.float32(one) * np.float32(other)
    assert abs(exact - float(rounded)) <= rounding_error(question)


def test_a_chunk_that_rounding_may_have_put_behind_is_a_candidate() -> None:
    near = [RoundedDistance(1, -0.9), RoundedDistance(2, -0.8), RoundedDistance(3, -0.7)]
    assert farthest_candidate(near, 2, 0.01) == pytest.approx(-0.78)
    assert farthest_candidate(near, 4, 0.01) == np.inf
