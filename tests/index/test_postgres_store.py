"""What the PostgreSQL store does besides the contract of every store."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psycopg
import pytest
from tests.postgres_server import PostgresServer

from notewell.core import VERSION, ChunkLimits, TextQuery, chunk, short_sha256, text_query
from notewell.errors import IndexBusy, IndexTooNew, IndexUnavailable, IndexUnreadable
from notewell.index import Identity, IndexStore, IndexWriter, MustRebuild, StoreAudit, UpToDate
from notewell.index.postgres import PostgresStore, other_workspaces
from notewell.index.postgres.cache import PostgresVectorCache
from notewell.index.postgres.memo import MemoShelf
from notewell.index.postgres.postings import LAST_POSITION, places_in, unpack_words
from notewell.index.sqlite import SqliteStore
from notewell.postgres import Database, Scope
from notewell.testing import HashEmbedder, InMemoryIndexStore
from notewell.types import NoteStat

STAT = NoteStat(10, 1, 1, 1)
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
WORDS = ("router", "antenna", "lemon", "frost", "v2.3_b", "路由器", "Häuser", "books", "sensor")
QUESTIONS = ("router antenna", "lemon", "v2.3_b", "路由器", "books sensor frost", "note 17")


@pytest.fixture
def store(postgres: Database, postgres_scope: Scope) -> PostgresStore:
    return PostgresStore(postgres, postgres_scope, "notes", 100)


def identity() -> Identity:
    return Identity("hash", "hash-64", 64, 60, 0, ("memory",), VERSION, "pgvector")


def put(writer: IndexWriter, path: str, text: str) -> None:
    chunks = chunk(text, ChunkLimits(60, 0))
    writer.replace(path, "memory", short_sha256(text), STAT, chunks)


def embed(writer: IndexWriter) -> None:
    while waiting := writer.view.waiting_for_vectors(500):
        vectors = HashEmbedder().embed([one.text for one in waiting], "document")
        with writer.transaction():
            writer.add_vectors(waiting, vectors)


def publish(store: IndexStore, notes: dict[str, str]) -> None:
    with store.writing(wait_s=0) as writer:
        writer.start_generation(identity())
        with writer.transaction():
            for path, text in notes.items():
                put(writer, path, text)
        embed(writer)
        writer.publish()


def answers(store: IndexStore) -> list[object]:
    found: list[object] = []
    with store.view() as view:
        assert view is not None
        for question in QUESTIONS:
            matches, stats = view.matching(text_query(question), ("memory",), 20)
            facts = view.facts(one.chunk_id for one in matches)
            found.append(([(facts[one.chunk_id][1:], one[1:]) for one in matches], stats))
            vector = HashEmbedder().embed([question], "query")[0]
            near = view.nearest(vector, ("memory",), 20)
            cosines = view.cosines(vector, near)
            found.append([cosines[one] for one in near])
        found.append(sorted(view.notes()))
        found.append(view.counts())
        path = min(view.notes(), default="")
        found.append([one.text for one in view.around(path, 1, 2)])
    return found


def agrees(store: IndexStore) -> StoreAudit:
    audit = StoreAudit()
    store.verify(audit, lambda _: None, lambda *_: None)
    return audit


# -- blocks --------------------------------------------------------------------------------------


def line(draw: random.Random, number: int) -> str:
    return f"note {number}: {' '.join(draw.choices(WORDS, k=6))}\n"


def edit(stores: list[IndexStore], put_: dict[str, str], forgotten: list[str]) -> None:
    for store in stores:
        with store.writing(wait_s=0) as writer:
            assert writer.open_current() == UpToDate()
            with writer.transaction():
                for path, text in put_.items():
                    put(writer, path, text)
            with writer.transaction():
                writer.forget(forgotten)
            embed(writer)
            writer.finish()


def blocks_of(store: PostgresStore) -> int:
    with store.database.reading(store.scope) as transaction:
        ((blocks,),) = transaction.rows("SELECT count(*) FROM postings WHERE bucket = 0")
    return int(blocks)


def test_after_any_edits_it_answers_as_the_store_in_memory(store: PostgresStore) -> None:
    draw = random.Random(7)
    stores: list[IndexStore] = [store, InMemoryIndexStore()]
    for one in stores:
        publish(one, {})
    most = 0
    for turn in range(14):
        texts = {f"memory/{turn}-{n}.md": line(draw, n) for n in range(70)}
        with stores[1].view() as view:
            assert view is not None
            known = sorted(view.notes())
        # Some are written again, most are forgotten: blocks become sparse.
        texts |= {path: line(draw, turn) for path in draw.sample(known, min(5, len(known)))}
        forgotten = draw.sample(known, max(0, len(known) - 60)) if turn % 2 else []
        edit(stores, texts, [path for path in forgotten if path not in texts])
        most = max(most, blocks_of(store))
        if turn % 3 == 0:
            assert answers(store) == answers(stores[1])
    assert answers(store) == answers(stores[1])
    assert agrees(store).disagreements == []
    assert most <= 10  # 14 blocks were begun: small ones were joined.
    with stores[0].writing(wait_s=0) as writer:
        writer.open_current()
        writer.purge()
    assert answers(store) == answers(stores[1])
    assert agrees(store).disagreements == []


def test_more_chunks_than_a_block_has_slots(store: PostgresStore) -> None:
    draw, other = random.Random(3), InMemoryIndexStore()
    notes = {f"memory/{number}.md": line(draw, number) for number in range(1100)}
    for one in (store, other):
        publish(one, notes)
    assert blocks_of(store) == 2
    assert answers(store) == answers(other)
    assert agrees(store).disagreements == []


def test_a_purge_leaves_no_word_of_what_was_removed(store: PostgresStore) -> None:
    publish(store, {"MEMORY.md": "The penguin sings.\n", "memory/a.md": "The router.\n"})
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        with writer.transaction():
            writer.forget(["MEMORY.md"])
        assert "penguin" in words_in(store)  # Nobody finds it, but it is there.
        assert writer.view.having(["penguin"]) == {}
        writer.purge()
    assert "penguin" not in words_in(store)
    assert "router" in words_in(store)


def words_in(store: PostgresStore) -> set[str]:
    with store.database.reading(store.scope) as transaction:
        rows = transaction.rows("SELECT data FROM postings WHERE bucket > 0")
    return {word for (data,) in rows for word in unpack_words(data)}


def test_a_place_beyond_the_last_position_is_kept_at_it() -> None:
    assert places_in(1, 2, [LAST_POSITION + 5]) == places_in(1, 2, [LAST_POSITION])


def test_forms_of_a_term_are_counted_together_as_in_sqlite(
    store: PostgresStore, tmp_path: Path
) -> None:
    notes = {
        "memory/1.md": "alpha beta gamma, then alpha and beta.\n",
        "memory/2.md": "beta alpha beta gamma.\n",
        "memory/3.md": "alpha. Nothing else.\n",
    }
    queries = (
        TextQuery(("alpha", "beta", "gamma"), frozenset()),
        TextQuery(("alpha", "gamma"), frozenset(), variants=(("beta", "nothing"), ())),
        TextQuery(("missing", "gamma"), frozenset()),
        TextQuery(("missing",), frozenset()),
    )
    stores: list[IndexStore] = [store, SqliteStore(tmp_path / "index", "segments")]
    found = []
    for one in stores:
        publish(one, notes)
        with one.view() as view:
            assert view is not None
            found.append([view.matching(query, ("memory",), 10) for query in queries])
    assert found[0] == found[1]
    assert [len(matches) for matches, _ in found[0]] == [3, 3, 2, 0]
    stores[1].close()


def test_a_purge_writes_a_large_block_again(store: PostgresStore) -> None:
    draw = random.Random(3)
    publish(store, {f"memory/{number}.md": line(draw, number) for number in range(700)})
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        with writer.transaction():
            writer.forget([f"memory/{number}.md" for number in range(20)])
        writer.purge()
        with writer.transaction():
            put(writer, "memory/0.md", "back again\n")
            put(writer, "memory/0.md", "and changed at once\n")
            assert [one.text for one in writer.view.around("memory/0.md", 1, 9)] == [
                "and changed at once"
            ]
    assert agrees(store).disagreements == []
    assert agrees(store).chunks == 681


# -- writers -------------------------------------------------------------------------------------


def test_a_writer_that_lost_its_lease_writes_nothing(
    store: PostgresStore, postgres_server: PostgresServer
) -> None:
    publish(store, {"MEMORY.md": "old\n"})

    def lose_the_lease() -> None:
        with store.writing(wait_s=0) as first:
            first.open_current()
            with psycopg.connect(postgres_server.owner_url("notewell")) as killer:
                killer.execute(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                    "WHERE application_name LIKE 'process%'"
                )
            with store.writing(wait_s=30) as second:
                second.open_current()
                with second.transaction():
                    put(second, "MEMORY.md", "second\n")
            with pytest.raises(IndexBusy, match="took the lease"), first.transaction():
                put(first, "MEMORY.md", "first\n")

    with pytest.raises(IndexUnavailable):  # Its own lease is gone, which it learns in the end.
        lose_the_lease()
    with store.view() as view:
        assert view is not None
        assert [one.text for one in view.around("MEMORY.md", 1, 9)] == ["second"]


def test_what_a_killed_writer_left_is_found_and_removed(store: PostgresStore) -> None:
    publish(store, {"MEMORY.md": "text\n"})
    with store.writing(wait_s=0) as writer:
        writer.start_generation(identity())
        with writer.transaction():
            put(writer, "MEMORY.md", "half\n")
        assert list(store.check("leftovers", NOW)) == []  # It grows: somebody holds the lease.
        assert store.describe().notes_built == 1
    (found,) = store.check("leftovers", NOW)
    assert found.repair == "sweep"
    assert store.repair("sweep", wait_s=0, now=NOW) == "removed 1 generation"
    assert store.repair("sweep", wait_s=0, now=NOW) == ""
    assert list(store.check("leftovers", NOW)) == []
    assert agrees(store).chunks == 1


def test_text_that_postgres_cannot_keep_is_replaced(store: PostgresStore) -> None:
    publish(store, {"MEMORY.md": "a\x00b router\n"})
    with store.view() as view:
        assert view is not None
        assert [one.text for one in view.around("MEMORY.md", 1, 9)] == ["a\ufffdb router"]
    assert agrees(store).disagreements == []


def test_a_writer_needs_a_generation_and_a_transaction(store: PostgresStore) -> None:
    with store.writing(wait_s=0) as writer:
        with pytest.raises(RuntimeError, match="no generation"):
            _ = writer.view
        writer.start_generation(identity())
        with pytest.raises(RuntimeError, match="needs a transaction"):
            writer.forget(["MEMORY.md"])
        with pytest.raises(RuntimeError, match="only reads"):
            writer.execute("DELETE FROM files")


# -- versions and damage -------------------------------------------------------------------------


def change(store: PostgresStore, server: PostgresServer, sql: str) -> None:
    """As somebody who may do everything, in the rows of the store's agent."""
    with psycopg.connect(server.owner_url("notewell")) as owner:
        owner.execute(f"{sql} AND agent = %s".encode(), (store.scope.agent,))
    with store.writing(wait_s=0) as writer:  # Otherwise the rows that were read are still valid.
        writer.open_current(force=True)
        if writer.open_current(force=True) == UpToDate():
            with writer.transaction():
                pass


def test_an_index_of_another_layout(store: PostgresStore, postgres_server: PostgresServer) -> None:
    publish(store, {"MEMORY.md": "text\n"})
    change(store, postgres_server, "UPDATE notewell.generations SET layout = 99 WHERE true")
    with pytest.raises(IndexTooNew), store.view():
        pass
    with store.writing(wait_s=0) as writer:
        with pytest.raises(IndexTooNew):
            writer.open_current()
        assert writer.open_current(force=True) == MustRebuild("newer")
    change(store, postgres_server, "UPDATE notewell.generations SET layout = 0 WHERE true")
    with store.writing(wait_s=0) as writer:
        state = writer.open_current()
        assert isinstance(state, MustRebuild)
        assert state.kind == "schema"
    with store.view() as view:
        assert view is not None
        assert view.outdated() == "its layout is 0, now 1"
    (found,) = store.check("index", NOW)
    assert found.repair == "sync"


@pytest.mark.parametrize(
    ("sql", "kind", "message"),
    [
        ("UPDATE notewell.chunks SET text = 'other words' WHERE true", "chunk", "words are not"),
        ("DELETE FROM notewell.vectors WHERE true", "vector", "and its mark differ"),
        ("UPDATE notewell.vectors SET vector = '[1,1]' WHERE true", "vector", "is damaged"),
        ("UPDATE notewell.vectors SET windows = '\\x0102' WHERE true", "vector", "windows are"),
        ("DELETE FROM notewell.files WHERE true", "chunk", "unknown note"),
        ("DELETE FROM notewell.chunks WHERE id = 1", "chunk", "words without a chunk"),
        (
            "UPDATE notewell.postings SET bucket = bucket + 300 WHERE bucket > 1",
            "chunk",
            "words are not",
        ),
        ("UPDATE notewell.generations SET waiting = 7 WHERE true", "index", "counts are wrong"),
    ],
)
def test_verifying_finds_rows_that_do_not_agree(
    store: PostgresStore, postgres_server: PostgresServer, sql: str, kind: str, message: str
) -> None:
    publish(store, {"MEMORY.md": "router\n"})
    change(store, postgres_server, sql)
    found = [(one.kind, one.message) for one in agrees(store).disagreements]
    assert any(one == kind and message in text for one, text in found), found


@pytest.mark.parametrize("column", ["identity", "cosine_scale"])
def test_a_description_that_cannot_be_read_is_damage(
    store: PostgresStore, postgres_server: PostgresServer, column: str
) -> None:
    publish(store, {"MEMORY.md": "text\n"})
    wrong = f"SET {column} = '{{\"x\": 1}}' WHERE true"
    change(store, postgres_server, f"UPDATE notewell.generations {wrong}")
    with store.view() as view:
        assert view is not None
        question = view.identity if column == "identity" else view.cosine_scale
        with pytest.raises(IndexUnreadable):
            question()


def test_a_suspect_index_is_set_aside_by_a_repair(store: PostgresStore) -> None:
    assert [one.repair for one in store.check("index", NOW)] == ["sync"]
    publish(store, {"MEMORY.md": "text\n"})
    assert store.repair("set-aside", wait_s=0, now=NOW) == ""
    assert store.repair("sync", wait_s=0, now=NOW) == ""
    store.mark_suspect()
    (found,) = store.check("index", NOW)
    assert found.repair == "set-aside"
    assert "damaged" in store.repair("set-aside", wait_s=0, now=NOW)
    assert store.describe().generation is None


def test_a_lease_that_is_held_is_named_by_the_check(store: PostgresStore) -> None:
    assert [one.message for one in store.check("lease", NOW)] == ["free: writer, embedder"]
    with store.embedding_lease():
        assert "held by process" in next(iter(store.check("lease", NOW))).message


# -- the cache and other workspaces --------------------------------------------------------------


def test_the_oldest_vectors_leave_a_full_cache(store: PostgresStore) -> None:
    facts = HashEmbedder().facts
    cache = store.vector_cache(facts)
    vector = np.ones(64, np.float32)
    for number in range(110):
        cache.put({f"{number:03}": vector})
    cache.put({})
    assert 90 <= store.cache_entries() <= 100
    assert not cache.get(["000"])
    assert cache.get(["109"])
    assert not cache.get([])
    assert store.describe().cache_limit == 100
    assert store.repair("reset-cache", wait_s=0, now=NOW).startswith("removed")
    assert store.repair("reset-cache", wait_s=0, now=NOW) == ""
    whole = PostgresStore(store.database, store.scope, "notes").vector_cache(facts)
    assert isinstance(whole, PostgresVectorCache)


def test_workspaces_of_an_agent_have_indexes_of_their_own(store: PostgresStore) -> None:
    other = PostgresStore(store.database, store.scope, "other")
    publish(store, {"MEMORY.md": "mine\n"})
    publish(other, {"MEMORY.md": "theirs\n", "memory/a.md": "router\n"})
    publish(store, {"MEMORY.md": "mine again\n"})
    assert [one.generation for one in (store.describe(), other.describe())].count(None) == 0
    assert agrees(store).chunks == 1
    assert agrees(other).chunks == 2
    assert [one.workspace for one in other_workspaces(store)] == ["other"]  # type: ignore[attr-defined]
    assert other_workspaces(InMemoryIndexStore()) == []
    assert list(store.local_paths()) == list(store.local_files()) == []
    assert store.derived_file("generation-1") is None


def test_few_states_are_kept() -> None:
    shelf = MemoShelf(2)
    first = shelf.memo("a", 1)
    assert shelf.memo("a", 1) is first
    shelf.memo("b", 1)
    shelf.memo("c", 1)
    assert shelf.memo("a", 1) is not first
    again = shelf.memo("c", 1)
    assert shelf.memo("c", 2) is not again
    large = shelf.memo("c", 2)
    large.vectors |= dict.fromkeys(range(5000))
    assert shelf.memo("c", 2) is not large
