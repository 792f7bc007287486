"""What every store of an index does: SQLite, PostgreSQL, and the one in memory that we ship."""

from __future__ import annotations

import threading
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from notewell.core import (
    VERSION,
    ChunkLimits,
    chunk,
    find_windows,
    has_windows,
    languages_of,
    pack_windows,
    split_text,
    text_query,
)
from notewell.errors import EmbedderFailed, IndexBusy, IndexUnreadable
from notewell.index import (
    Identity,
    IndexStore,
    IndexView,
    IndexWriter,
    MustRebuild,
    StoreAudit,
    UpToDate,
)
from notewell.index.postgres import PostgresStore
from notewell.index.sqlite import SqliteStore
from notewell.ports import CosineScale
from notewell.search import QuestionCache, SearchOptions, prepare, search
from notewell.sync import Indexer
from notewell.testing import (
    HashEmbedder,
    InMemoryIndexStore,
    InMemoryNotes,
    WindowedHashEmbedder,
)
from notewell.types import NoteStat, SessionFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from notewell.postgres import Database, Scope
    from notewell.types import Source

STAT = NoteStat(10, 1, 1, 1)
LIMITS = ChunkLimits(60, 0)
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
NOTES = {
    "MEMORY.md": "# Decisions\n\nWe ship the router on Friday.\n",
    "memory/2026-10-02.md": "# Garden\n\nFrost tonight, cover the lemon tree.\n",
    "memory/2026-10-03.md": "# Router\n\nThe router lost its antenna; order a router antenna.\n",
}


@pytest.fixture(params=["sqlite", "in memory", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IndexStore]:
    opened: IndexStore
    if request.param == "sqlite":
        opened = SqliteStore(tmp_path / "index", "segments")
    elif request.param == "in memory":
        opened = InMemoryIndexStore()
    else:
        database = request.getfixturevalue("postgres")
        opened = PostgresStore(database, request.getfixturevalue("postgres_scope"), "notes")
    yield opened
    opened.close()


def identity(dims: int = 64, model: str = "hash-64") -> Identity:
    return Identity("hash", model, dims, 60, 0, ("memory",), VERSION, "segments")


def put(writer: IndexWriter, path: str, text: str, source: Source = "memory") -> None:
    writer.replace(path, source, f"digest of {text}", STAT, chunk(text, LIMITS))


def embed(writer: IndexWriter) -> int:
    waiting = writer.view.waiting_for_vectors(1000)
    vectors = HashEmbedder().embed([one.text for one in waiting], "document")
    with writer.transaction():
        return writer.add_vectors(waiting, vectors)


def publish(store: IndexStore, notes: Mapping[str, str] = NOTES) -> None:
    with store.writing(wait_s=0) as writer:
        writer.start_generation(identity())
        with writer.transaction():
            for path, text in notes.items():
                put(writer, path, text)
        embed(writer)
        writer.publish()


def seen(store: IndexStore) -> dict[str, str]:
    """The text of every note, as a reader sees it."""
    with store.view() as view:
        if view is None:
            return {}
        return {
            path: "".join(view.chunks([one])[one].text for one in view.chunks_of(path))
            for path in view.notes()
        }


def matches(view: IndexView, question: str, sources: tuple[str, ...] = ("memory",)) -> list[str]:
    found, _ = view.matching(text_query(question), sources, 10)
    facts = view.facts(match.chunk_id for match in found)
    return [facts[match.chunk_id].place[0] for match in found]


# -- generations ---------------------------------------------------------------------------------


def test_before_the_first_index_there_is_no_view(store: IndexStore) -> None:
    with store.view() as view:
        assert view is None
    assert store.describe().generation is None
    with store.writing(wait_s=0) as writer:
        assert writer.open_current() == MustRebuild("first")


def test_a_generation_is_invisible_until_it_is_published(store: IndexStore) -> None:
    publish(store)
    before, mark = store.describe().generation, store.change_mark()
    with store.writing(wait_s=0) as writer:
        writer.start_generation(identity())
        with writer.transaction():
            put(writer, "MEMORY.md", "new\n")
        assert set(seen(store)) == set(NOTES)
        assert store.describe().generation == before
        writer.publish()
        assert seen(store) == {"MEMORY.md": "new"}
    assert store.describe().generation not in (None, before)
    assert store.change_mark() != mark


def test_a_generation_that_is_abandoned_leaves_the_old_one(store: IndexStore) -> None:
    publish(store)
    with store.writing(wait_s=0) as writer:
        writer.start_generation(identity())
        with writer.transaction():
            put(writer, "MEMORY.md", "half\n")
    assert set(seen(store)) == set(NOTES)
    with store.writing(wait_s=0) as writer:
        assert writer.open_current() == UpToDate()


def test_a_view_keeps_the_state_it_began_with(store: IndexStore) -> None:
    publish(store)
    with store.view() as view:
        assert view is not None
        before = view.counts()
        with store.writing(wait_s=0) as writer:
            assert writer.open_current() == UpToDate()
            with writer.transaction():
                writer.forget(["MEMORY.md"])
        assert view.counts() == before
        assert "MEMORY.md" in view.notes()
    assert "MEMORY.md" not in seen(store)


def test_a_scale_belongs_to_its_generation_and_survives_a_purge(store: IndexStore) -> None:
    publish(store)
    scale = CosineScale(0.25, 0.75)
    with store.writing(wait_s=0) as writer:
        assert writer.open_current() == UpToDate()
        assert writer.view.cosine_scale() is None
        with writer.transaction():
            writer.set_cosine_scale(scale)
        writer.purge()
    with store.view() as view:
        assert view is not None
        assert view.cosine_scale() == scale
    publish(store)
    with store.view() as view:
        assert view is not None
        assert view.cosine_scale() is None


def test_a_generation_that_was_reported_as_damaged_is_rebuilt(store: IndexStore) -> None:
    publish(store)
    store.mark_suspect()
    assert isinstance(store.describe().suspect, IndexUnreadable)
    with store.writing(wait_s=0) as writer:
        state = writer.open_current()
        assert isinstance(state, MustRebuild)
        assert state.kind == "damaged"
        assert "damaged" in str(state)
    publish(store)
    assert store.describe().suspect is None
    assert set(seen(store)) == set(NOTES)


# -- interrupted writes --------------------------------------------------------------------------


def test_an_error_inside_a_transaction_leaves_the_old_state(store: IndexStore) -> None:
    publish(store)
    before = seen(store)

    def interrupted(writer: IndexWriter) -> None:
        with writer.transaction():
            put(writer, "MEMORY.md", "half\n")
            writer.forget(["memory/2026-10-02.md"])
            raise ZeroDivisionError

    with store.writing(wait_s=0) as writer:
        assert writer.open_current() == UpToDate()
        with pytest.raises(ZeroDivisionError):
            interrupted(writer)
        assert set(writer.view.notes()) == set(before)
        with writer.transaction():
            put(writer, "memory/new.md", "after\n")
    assert seen(store) == before | {"memory/new.md": "after"}


def test_what_was_committed_before_an_error_stays(store: IndexStore) -> None:
    publish(store)

    def killed() -> None:
        with store.writing(wait_s=0) as writer:
            writer.open_current()
            with writer.transaction():
                put(writer, "MEMORY.md", "kept\n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        killed()
    assert seen(store)["MEMORY.md"] == "kept"
    with store.writing(wait_s=0) as writer:  # The lease was given back.
        assert writer.open_current() == UpToDate()


# -- leases --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["writer", "embedder"])
def test_a_second_holder_of_a_lease_is_told_who_the_first_is(store: IndexStore, name: str) -> None:
    publish(store)
    take: Callable[[], object] = (
        (lambda: store.writing(wait_s=0.05).__enter__())
        if name == "writer"
        else (lambda: store.embedding_lease().__enter__())
    )
    lease = store.writing(wait_s=0) if name == "writer" else store.embedding_lease()
    with lease:
        assert store.describe().holder
        with pytest.raises(IndexBusy) as busy:
            take()
        assert busy.value.holder
    assert store.describe().holder is None


def test_a_second_writer_waits_for_the_first(store: IndexStore) -> None:
    publish(store)
    order: list[str] = []
    waits = threading.Event()

    def second() -> None:
        waits.set()
        with store.writing(wait_s=30):
            order.append("second")

    thread = threading.Thread(target=second)
    with store.writing(wait_s=0):
        thread.start()
        assert waits.wait(30)
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]


def test_readers_do_not_wait_for_a_writer(store: IndexStore) -> None:
    publish(store)
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        with writer.transaction():
            put(writer, "MEMORY.md", "not yet\n")
            assert "router" in seen(store)["MEMORY.md"]


# -- chunks and vectors --------------------------------------------------------------------------


def test_chunks_that_stay_keep_their_id_and_their_vector(store: IndexStore) -> None:
    one, two = "# One\n\n" + "alpha " * 40 + "\n", "# Two\n\n" + "beta " * 40 + "\n"
    publish(store, {"MEMORY.md": one + two})
    with store.view() as view:
        assert view is not None
        ids = view.chunks_of("MEMORY.md")
        first = view.chunks(ids)
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        with writer.transaction():
            put(writer, "MEMORY.md", two)
        assert writer.view.waiting() == 0
        (chunk_id,) = writer.view.chunks_of("MEMORY.md")
    assert first[chunk_id].text == two[:-1]
    assert first[chunk_id].span.start_line > 1
    with store.view() as view:
        assert view is not None
        assert view.chunks([chunk_id])[chunk_id].span.start_line == 1
        assert view.counts().embedded == 1


def test_ids_ascend_and_are_never_given_out_twice(store: IndexStore) -> None:
    publish(store)
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        (newest,) = writer.view.chunks_of("memory/2026-10-03.md")
        with writer.transaction():
            writer.forget(["memory/2026-10-03.md"])
        with writer.transaction():
            put(writer, "memory/again.md", "again\n")
        (after,) = writer.view.chunks_of("memory/again.md")
    assert after > newest


def test_a_chunk_that_was_replaced_meanwhile_gets_no_vector(store: IndexStore) -> None:
    publish(store, {})
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        with writer.transaction():
            put(writer, "MEMORY.md", "old\n")
            put(writer, "memory/a.md", "stays\n")
        waiting = writer.view.waiting_for_vectors(10)
        vectors = HashEmbedder().embed([one.text for one in waiting], "document")
        with writer.transaction():
            put(writer, "MEMORY.md", "new\n")
        with writer.transaction():
            assert writer.add_vectors(waiting, vectors) == 1
        assert [one.text for one in writer.view.waiting_for_vectors(10)] == ["new"]
        assert embed(writer) == 1
        assert writer.view.waiting() == 0


def test_chunks_wait_for_vectors_oldest_first_and_the_unread_do_not(store: IndexStore) -> None:
    publish(store, {})
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        with writer.transaction():
            for name in ("c", "a", "b"):
                put(writer, f"memory/{name}.md", f"{name}\n")
            (unread,) = chunk("a\n", LIMITS)
            writer.mark_unread("memory/a.md", [unread.digest])
        first = writer.view.waiting_for_vectors(1)
        rest = writer.view.waiting_for_vectors(10, after=first[0].id)
        assert [one.path for one in (*first, *rest)] == ["memory/c.md", "memory/b.md"]
        assert not writer.view.has_vectors()
        embed(writer)
        counts = writer.view.counts()
        assert (counts.chunks, counts.embedded, counts.waiting) == (3, 2, 0)
        assert writer.view.has_vectors()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_vector_that_would_spoil_every_answer_is_refused(store: IndexStore, bad: float) -> None:
    publish(store, {})
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        with writer.transaction():
            put(writer, "MEMORY.md", "text\n")
        waiting = writer.view.waiting_for_vectors(10)
        with pytest.raises(EmbedderFailed), writer.transaction():
            writer.add_vectors(waiting, np.full((1, 64), bad, np.float32))
        assert writer.view.waiting() == 1


LONG_NOTE = "\n".join(
    f"- {name}: the router of {name} has an antenna, and somebody has to look after it."
    for name in ("Ada", "Ben", "Cleo", "Dora", "Emil", "Finn")
)


def embed_windows(writer: IndexWriter) -> int:
    waiting = writer.view.waiting_for_vectors(1000)
    texts = [split_text(one.heading, one.text) for one in waiting]
    vectors = WindowedHashEmbedder().embed_windows(texts)
    rows = np.stack([one.vector for one in vectors])
    with writer.transaction():
        return writer.add_vectors(waiting, rows, [one.windows for one in vectors])


def test_windows_come_and_go_with_their_chunk(store: IndexStore) -> None:
    publish(store, {})
    wide = ChunkLimits(400, 0)
    query = WindowedHashEmbedder().embed(["- Dora"], "query")[0]
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        with writer.transaction():
            writer.replace("MEMORY.md", "memory", "1", STAT, chunk(LONG_NOTE, wide))
            writer.replace("memory/a.md", "memory", "1", STAT, chunk("short\n", wide))
        assert embed_windows(writer) == 2
        (long_id,), (short_id,) = (
            writer.view.chunks_of("MEMORY.md"),
            writer.view.chunks_of("memory/a.md"),
        )
        cosines = writer.view.window_cosines(query, [long_id, short_id, 999])
        assert list(cosines) == [long_id]
        assert len(cosines[long_id]) == len(find_windows(LONG_NOTE)) > 1
        digest = writer.view.chunks([long_id])[long_id].digest
        known = writer.view.vectors_of(["MEMORY.md", "memory/a.md"])
        assert has_windows(known[digest].windows, len(cosines[long_id]), 64)
        # The chunk moves down by two lines and keeps its windows.
        with writer.transaction():
            writer.replace("MEMORY.md", "memory", "2", STAT, chunk(f"\n\n{LONG_NOTE}", wide))
        assert writer.view.window_cosines(query, [long_id]) == cosines
        with writer.transaction():
            writer.replace("MEMORY.md", "memory", "3", STAT, chunk("gone\n", wide))
        assert writer.view.window_cosines(query, [long_id]) == {}


# -- searching -----------------------------------------------------------------------------------


def test_words_find_the_notes_that_have_them_best_first(store: IndexStore) -> None:
    publish(store)
    with store.view() as view:
        assert view is not None
        assert matches(view, "router antenna") == ["memory/2026-10-03.md", "MEMORY.md"]
        assert matches(view, "lemon") == ["memory/2026-10-02.md"]
        assert matches(view, "zebra") == []
        assert matches(view, "router", ("sessions",)) == []
        assert view.having(["router", "zebra"]) == {"router": 2}
        (lemon,) = view.chunks_of("memory/2026-10-02.md")
        found, _ = view.matching(text_query("router lemon"), ("memory",), 10, [lemon])
        assert [match.chunk_id for match in found] == [lemon]


def test_a_variant_counts_as_its_term(store: IndexStore) -> None:
    """A chunk in Spanish has stems where an English one has words; the counts are one number."""
    notes = {
        "memory/es.md": "El sensor nuevo es de la casa, y los sensores viejos no.\n",
        "memory/en.md": "The sensor is old.\n",
    }
    publish(store, notes)
    with store.view() as view:
        assert view is not None
        languages = languages_of(view.having)
        assert languages == ("es",)
        query = text_query("sensores nuevos", languages)
        found, stats = view.matching(query, ("memory",), 10)
        counts = {view.facts([one.chunk_id])[one.chunk_id].place[0]: one for one in found}
        assert counts["memory/es.md"].body == (2, 1)
        assert counts["memory/es.md"].gaps == (1,)
        assert stats.having == (2, 1)
        both, stats = view.matching(text_query("sensor", languages), ("memory",), 10)
        assert (len(both), stats.having) == (2, (2,))


def test_vectors_find_what_is_near_and_cosines_are_exact(store: IndexStore) -> None:
    publish(store)
    with store.view() as view:
        assert view is not None
        (chunk_id,) = view.chunks_of("memory/2026-10-02.md")
        vector = HashEmbedder().embed([view.chunks([chunk_id])[chunk_id].text], "query")[0]
        near = view.nearest(vector, ("memory",), 10)
        assert near[0] == chunk_id
        assert len(near) == 3
        cosines = view.cosines(vector, near)
        assert [cosines[one] for one in near] == sorted(cosines.values(), reverse=True)
        assert cosines[chunk_id] == pytest.approx(1.0, abs=1e-6)
        assert (
            view.nearest(vector, ("sessions",), 10) == view.nearest(vector, ("memory",), 0) == []
        )
        with pytest.raises(EmbedderFailed):
            view.nearest(np.ones(3, np.float32), ("memory",), 1)


@pytest.fixture
def all_stores(tmp_path: Path, postgres: Database, postgres_scope: Scope) -> list[IndexStore]:
    return [
        SqliteStore(tmp_path / "index", "segments"),
        InMemoryIndexStore(),
        PostgresStore(postgres, postgres_scope, "notes"),
    ]


def test_all_stores_count_words_alike(all_stores: list[IndexStore]) -> None:
    """The scores are computed in core from these counts, so the stores must agree on them."""
    answers = []
    for store in all_stores:
        publish(store, NOTES | {"memory/zh.md": "# 路由器\n\n我们星期五发布路由器 v2.3_b.\n"})
        with store.view() as view:
            assert view is not None
            questions = (
                "router antenna order",
                "the router on friday",
                "路由器",
                "v2.3_b",
                "2026-10",
            )
            answers.append([view.matching(text_query(one), ("memory",), 10) for one in questions])
        store.close()
    assert answers[0] == answers[1] == answers[2]


# -- listing -------------------------------------------------------------------------------------


def test_an_inventory_lists_everything(store: IndexStore) -> None:
    publish(store)
    with store.view() as view:
        assert view is not None
        inventory = view.inventory()
        assert [note.path for note in inventory.notes()] == sorted(NOTES)
        assert all(note.chunks == 1 and note.last_line == 3 for note in inventory.notes())
        (outlined,) = inventory.outline("MEMORY.md")
        assert (outlined.span.start_line, outlined.is_embedded) == (1, True)
        assert inventory.opening("MEMORY.md", 5) == NOTES["MEMORY.md"][:5]
        assert inventory.opening("none.md", 5) == ""
        assert inventory.chars() == {path: len(text) - 1 for path, text in NOTES.items()}
        placed = inventory.placed()
        assert [one.path for one in placed] == sorted(NOTES)
        ids, vectors = inventory.vectors([one.id for one in placed] + [999])
        assert ids == sorted(one.id for one in placed)
        assert vectors.shape == (3, 64)
        assert inventory.last_id() == max(ids)
        assert set(view.vectors_of(["MEMORY.md"])) == {view.chunks(ids)[ids[0]].digest}
        assert view.counts().by_source == {"memory": (3, 3)}
        assert not view.is_empty()


def test_what_a_transcript_says_of_its_conversation_is_kept(store: IndexStore) -> None:
    publish(store, {})
    facts = SessionFacts(date(2026, 10, 2), "/code/shop", "claude")
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        for at in ("2026-10-02T14:05Z", "2026-10-02T14:06Z"):  # The second time it only moves.
            with writer.transaction():
                chunks = [one._replace(said_at=at) for one in chunk("hello\n", LIMITS)]
                writer.replace("sessions/a.jsonl", "sessions", "digest", STAT, chunks, facts)
    with store.view() as view:
        assert view is not None
        assert view.sessions(["sessions/a.jsonl", "MEMORY.md"]) == {"sessions/a.jsonl": facts}
        (chunk_id,) = view.chunks_of("sessions/a.jsonl")
        assert view.folders() == ["/code/shop"]
        assert view.chunks_in(["/code/shop"]) == [chunk_id]
        assert view.chunks_in(["/work"]) == []
        assert view.chunks_of_notes(["sessions/a.jsonl", "missing.md"]) == [chunk_id]
        assert view.chunks_of_notes([]) == []
        assert view.chunks([chunk_id])[chunk_id].said_at == "2026-10-02T14:06Z"
        assert view.notes("memory") == {}
        assert list(view.notes("sessions")) == list(view.notes()) == ["sessions/a.jsonl"]


# -- the cache -----------------------------------------------------------------------------------


def test_cached_vectors_belong_to_a_model_and_outlive_a_generation(store: IndexStore) -> None:
    cache = store.vector_cache(HashEmbedder().facts)
    vector = np.ones(64, np.float32)
    cache.put({"a": vector, "short": np.ones(3, np.float32)})
    cache.close()
    publish(store)
    publish(store)
    cache = store.vector_cache(HashEmbedder().facts)
    assert {digest: row.tolist() for digest, row in cache.get(["a", "b", "short"]).items()} == {
        "a": vector.tolist()
    }
    assert dict(cache.windows(["a"])) == {}
    cache.put({"b": vector}, {"b": pack_windows([vector, vector])})
    assert dict(cache.windows(["a", "b"])) == {"b": pack_windows([vector, vector])}
    assert cache.get(["b"])["b"].tolist() == vector.tolist()
    other = store.vector_cache(HashEmbedder(model="another").facts)
    assert dict(other.get(["a"])) == dict(other.windows(["b"])) == {}
    assert store.cache_entries() == 3
    cache.close()
    other.close()


def test_a_purge_leaves_what_is_there_and_drops_vectors_that_nothing_uses(
    store: IndexStore,
) -> None:
    publish(store)
    cache = store.vector_cache(HashEmbedder().facts)
    with store.writing(wait_s=0) as writer:
        assert isinstance(writer.open_current(), UpToDate)
        in_use = [one.digest for one in writer.view.chunks(range(1, 100)).values()]
        cache.put({digest: np.ones(64, np.float32) for digest in (*in_use, "of a removed text")})
        cache.close()
        with writer.transaction():
            writer.forget(["memory/2026-10-03.md"])
        before = writer.view.generation
        writer.purge()
        assert writer.view.generation != before
        # It is still open for writing.
        with writer.transaction():
            put(writer, "memory/2026-10-04.md", "Antennas again.")
    store.purge_cache()
    with store.view() as view:
        assert view is not None
        assert matches(view, "router") == ["MEMORY.md"]
        assert matches(view, "antennas") == ["memory/2026-10-04.md"]
        assert view.has_vectors()
        assert view.identity() == identity()
    assert store.cache_entries() == 2


def test_a_store_whose_index_was_discarded_has_none(store: IndexStore) -> None:
    publish(store)
    with store.writing(wait_s=0) as writer:
        assert isinstance(writer.open_current(), UpToDate)
        writer.discard()
        assert isinstance(writer.open_current(), MustRebuild)
    with store.view() as view:
        assert view is None
    publish(store)
    with store.view() as view:
        assert view is not None


# -- sync and search through the store ------------------------------------------------------------


def indexer(
    store: IndexStore, notes: InMemoryNotes, embedder: HashEmbedder | None = None
) -> Indexer:
    return Indexer(
        notes=notes,
        indexes_notes=True,
        open_transcripts=lambda: None,
        delta_limits=None,
        redact_notes=None,
        redaction="",
        store=store,
        embedder=embedder or HashEmbedder(),
        chunk_tokens=60,
        chunk_overlap=0,
        vector_driver="segments",
        driver_problem=None,
        keyword_only=False,
        now_ns=lambda: 10**18,
        monotonic_s=time.monotonic,
        lease_wait_s=0,
    )


def test_a_sync_writes_changes_forgets_and_rebuilds(store: IndexStore) -> None:
    notes = InMemoryNotes(NOTES)
    keeper = indexer(store, notes)
    report = keeper.run()
    assert (report.rebuilt, report.written) == (MustRebuild("first"), 3)
    assert (report.chunks, report.vectors_added, report.vectors_waiting) == (3, 3, 0)
    assert not keeper.run().changed_anything

    notes.write("MEMORY.md", b"# Decisions\n\nWe ship on Monday.\n")
    notes.remove("memory/2026-10-02.md")
    report = keeper.run()
    assert (report.written, report.forgotten, report.rebuilt) == (1, 1, None)
    assert "Monday" in seen(store)["MEMORY.md"]
    assert "memory/2026-10-02.md" not in seen(store)

    report = keeper.run(force=True)
    assert (report.rebuilt, report.written) == (MustRebuild("requested"), 2)
    assert report.vectors_added == report.vectors_waiting == 0  # All were taken over.

    report = indexer(store, notes, HashEmbedder(32, model="small")).run()
    assert report.rebuilt is not None
    assert report.rebuilt.kind == "identity"
    assert report.vectors_added == 2


def test_a_search_answers_alike_from_every_store(all_stores: list[IndexStore]) -> None:
    answers = []
    for store in all_stores:
        keeper = indexer(store, InMemoryNotes(NOTES))
        keeper.run()
        options = SearchOptions(today=date(2026, 11, 15))
        question = "when do we ship the router?"
        context = prepare(
            keeper.index_facts(), question, keeper.embedder, options, QuestionCache(0)
        )
        with store.view() as view:
            answers.append(search(view, context, None))
        store.close()
    assert answers[0] == answers[1] == answers[2]
    assert answers[0].mode == "hybrid"
    assert answers[0].hits[0].path == "MEMORY.md"


def test_verifying_counts_everything_and_hands_over_a_view(store: IndexStore) -> None:
    audit, views = StoreAudit(), []
    store.verify(audit, lambda view: views.append(view.generation), lambda *_: None)
    assert [one.kind for one in audit.disagreements] == ["index"]
    publish(store)
    audit = StoreAudit()
    store.verify(audit, lambda view: views.append(view.generation), lambda *_: None)
    assert audit.agrees, audit.disagreements
    assert (audit.chunks, audit.embedded, audit.waiting, audit.unread) == (3, 3, 0, 0)
    assert views == [audit.generation] == [store.describe().generation]


@pytest.mark.parametrize("part", ["engine", "lease", "leftovers", "index", "cache"])
def test_a_sound_store_has_no_problem_in_any_part(store: IndexStore, part: str) -> None:
    publish(store)
    findings = list(store.check(part, NOW))  # type: ignore[arg-type]
    assert [one for one in findings if one.action or one.repair] == []
