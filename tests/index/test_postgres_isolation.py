"""No question to the index of one agent is answered with a row of another, whatever it asks.

Two canaries lie beside the index: one of another tenant with the same agent, one of another agent
of the same tenant. They have the same workspace, the same paths, the same ids and even the same
number of a generation, so that only tenant and agent keep them apart.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.postgres_server import PostgresServer, everything_in

from notewell.core import VERSION, ChunkLimits, chunk, pack_windows, text_query
from notewell.index import Identity, IndexView, IndexWriter, StoreAudit
from notewell.index.ports import IndexInventory, IndexStore
from notewell.index.postgres import PostgresStore, other_workspaces
from notewell.ports import CosineScale
from notewell.postgres import Database, Scope
from notewell.testing import HashEmbedder
from notewell.types import NoteStat, SessionFacts

STAT = NoteStat(10, 1, 1, 1)
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
CANARY = "canaryzz"
MINE, THEIRS = Scope("mine", "agent"), (Scope("theirs", "agent"), Scope("mine", "agent-2"))
PATHS = ("MEMORY.md", "memory/a.md", "sessions/b.jsonl")
VECTOR = HashEmbedder().embed([CANARY], "query")[0]


def fill(store: PostgresStore, word: str) -> None:
    facts = HashEmbedder().facts
    own = Identity("hash", word, 64, 60, 0, ("memory",), VERSION, "pgvector")
    with store.writing(wait_s=0) as writer:
        writer.start_generation(own)
        with writer.transaction():
            for path in PATHS:
                chunks = chunk(f"# {word}\n\nThe {word} knows the router.\n", ChunkLimits(60, 0))
                session = SessionFacts(None, f"/code/{word}", word)
                source = "sessions" if path.startswith("sessions") else "memory"
                writer.replace(path, source, word, STAT, chunks, session)  # type: ignore[arg-type]
            writer.set_cosine_scale(CosineScale(0.1, 0.9))
        waiting = writer.view.waiting_for_vectors(10)
        vectors = HashEmbedder().embed([f"{word}"] * len(waiting), "document")
        with writer.transaction():
            writer.add_vectors(waiting, vectors, [pack_windows(list(vectors))] * len(waiting))
        writer.publish()
    cache = store.vector_cache(facts)
    cache.put({f"{word}-{number}": VECTOR for number in range(3)} | {"same": VECTOR})


@pytest.fixture(scope="module")
def stores(postgres_server: PostgresServer) -> Iterator[tuple[PostgresStore, Database]]:
    postgres_server.create_database("isolation")
    database = postgres_server.as_login("isolation")
    mine = PostgresStore(database, MINE, "notes")
    fill(mine, "innocent")
    for scope in THEIRS:
        fill(PostgresStore(database, scope, "notes"), CANARY)
    with psycopg.connect(postgres_server.owner_url("isolation")) as owner:
        tables = ("generations", "files", "chunks", "postings", "vectors")
        for table in tables:
            owner.execute(f"UPDATE notewell.{table} SET generation = 1".encode())
    yield mine, database
    database.close()


@pytest.fixture(scope="module")
def canaries(postgres_server: PostgresServer, stores: object) -> Callable[[], object]:
    """The rows of the others, as they are now."""
    return lambda: [everything_in(postgres_server, "isolation", scope) for scope in THEIRS]


VIEW_QUESTIONS: dict[str, Callable[[IndexView], object]] = {
    "generation": lambda view: view.generation,
    "identity": lambda view: view.identity(),
    "cosine_scale": lambda view: view.cosine_scale(),
    "outdated": lambda view: view.outdated(),
    "counts": lambda view: view.counts(),
    "is_empty": lambda view: view.is_empty(),
    "has_vectors": lambda view: view.has_vectors(),
    "waiting": lambda view: view.waiting(),
    "notes": lambda view: view.notes(),
    "chunks": lambda view: view.chunks(range(100)),
    "facts": lambda view: view.facts(range(100)),
    "sessions": lambda view: view.sessions(PATHS),
    "folders": lambda view: view.folders(),
    "chunks_in": lambda view: view.chunks_in([f"/code/{CANARY}"]),
    "chunks_of": lambda view: [view.chunks_of(path) for path in PATHS],
    "chunks_of_notes": lambda view: sorted(view.chunks_of_notes(PATHS)),
    "around": lambda view: [view.around(path, 0, 100) for path in PATHS],
    "waiting_for_vectors": lambda view: view.waiting_for_vectors(100),
    "vectors_of": lambda view: sorted(view.vectors_of(PATHS)),
    "inventory": lambda view: list(inventory_of(view)),
    "matching": lambda view: view.matching(text_query(CANARY), ("memory", "sessions"), 100),
    "having": lambda view: view.having([CANARY]),
    "nearest": lambda view: view.chunks(view.nearest(VECTOR, ("memory", "sessions"), 100)),
    "cosines": lambda view: sorted(view.cosines(VECTOR, range(100))),
    "window_cosines": lambda view: sorted(view.window_cosines(VECTOR, range(100))),
}


def inventory_of(view: IndexView) -> Iterator[object]:
    inventory = view.inventory()
    yield inventory.notes()
    yield [inventory.outline(path) for path in PATHS]
    yield [inventory.opening(path, 100) for path in PATHS]
    yield inventory.chars()
    yield inventory.placed()
    yield inventory.last_id()
    yield inventory.vectors(range(100))[0]


def members(protocol: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(protocol) if not name.startswith("_")}


def test_every_question_of_a_view_is_asked_here() -> None:
    assert set(VIEW_QUESTIONS) == members(IndexView)
    assert members(IndexInventory) == {
        "notes",
        "outline",
        "opening",
        "chars",
        "placed",
        "last_id",
        "vectors",
    }


@pytest.mark.parametrize("name", VIEW_QUESTIONS)
def test_no_answer_of_a_view_has_a_canary(
    stores: tuple[PostgresStore, Database], name: str
) -> None:
    mine, database = stores
    with mine.view() as view:
        assert view is not None
        answer = VIEW_QUESTIONS[name](view)
    assert CANARY not in repr(answer)
    # The question is one that a canary would answer.
    theirs = PostgresStore(database, THEIRS[0], "notes")
    with theirs.view() as view:
        assert view is not None
        other = VIEW_QUESTIONS[name](view)
    if name in ("identity", "chunks", "sessions", "folders", "around", "inventory", "nearest"):
        assert CANARY in repr(other)
    if name in ("matching", "having", "chunks_in"):
        assert answer != other
    if name == "counts":
        assert answer == other  # Three notes each, not six.


def test_nothing_else_that_a_store_says_has_a_canary(
    stores: tuple[PostgresStore, Database],
) -> None:
    mine, _ = stores
    audit = StoreAudit()
    mine.verify(audit, lambda _: None, lambda *_: None)
    assert (audit.chunks, audit.cached) == (3, 4)
    assert CANARY not in repr(audit)
    assert mine.cache_entries() == 4
    assert other_workspaces(mine) == []
    cache = mine.vector_cache(HashEmbedder().facts)
    assert not cache.get([f"{CANARY}-1"])
    assert not cache.windows([f"{CANARY}-1"])
    parts = [list(mine.check(part, NOW)) for part in ("lease", "leftovers", "index", "cache")]
    assert CANARY not in repr((parts, mine.describe(), mine.change_mark()))
    with PostgresStore(mine.database, THEIRS[0], "notes").writing(wait_s=0):
        assert mine.describe().holder is None
        with mine.writing(wait_s=0), mine.embedding_lease():
            pass


def test_no_write_changes_a_row_of_another(
    stores: tuple[PostgresStore, Database],
    canaries: Callable[[], object],
    postgres_server: PostgresServer,
) -> None:
    before = canaries()
    mine = PostgresStore(stores[1], Scope("mine", "writer"), "notes")
    fill(mine, "innocent")
    with mine.writing(wait_s=0) as writer:
        writer.open_current()
        with psycopg.connect(postgres_server.owner_url("isolation")) as owner:
            # The number of the canaries' generation: the writer believes that it is its own.
            for table in ("generations", "files", "chunks", "postings", "vectors"):
                sql = f"UPDATE notewell.{table} SET generation = 1 WHERE agent = 'writer'"
                owner.execute(sql.encode())
        writer._number = 1
        write_everything(writer)
        writer.purge()
    mine.purge_cache()
    mine.mark_suspect()
    for kind in ("sweep", "reset-cache", "set-aside"):
        mine.repair(kind, wait_s=0, now=NOW)
    publish_again(mine)
    assert canaries() == before


def write_everything(writer: IndexWriter) -> None:
    with writer.transaction():
        chunks = chunk("New words.\n", ChunkLimits(60, 0))
        writer.replace("MEMORY.md", "memory", "new", STAT, chunks)
        writer.mark_unread("MEMORY.md", [one.digest for one in chunks])
        writer.note_seen("memory/a.md", "memory", "seen", STAT)
        writer.forget(["sessions/b.jsonl"])
        writer.set_cosine_scale(CosineScale(0.2, 0.8))
    writer.finish()


def publish_again(store: IndexStore) -> None:
    with store.writing(wait_s=0) as writer:
        writer.start_generation(Identity("h", "m", 64, 60, 0, ("memory",), VERSION, "pgvector"))
        with writer.transaction():
            writer.replace("MEMORY.md", "memory", "1", STAT, chunk("Text.\n", ChunkLimits(60, 0)))
        writer.publish()


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
HOSTILE = st.sampled_from(
    [
        "'; SET app.tenant = 'theirs'; --",
        "' OR true --",
        "%s",
        "{own}",
        "MEMORY.md' UNION SELECT text FROM notewell.chunks --",
        "\\x00",
        "$1",
        CANARY,
    ]
)


@given(
    words=st.lists(TEXTS | HOSTILE, max_size=5),
    ids=st.lists(st.integers(-(2**62), 2**62), max_size=5),
    first=st.integers(-(2**31), 2**31 - 1),
)
def test_odd_words_and_ids_find_no_canary(
    stores: tuple[PostgresStore, Database], words: list[str], ids: list[int], first: int
) -> None:
    mine, _ = stores
    answers: list[Any] = []
    with mine.view() as view:
        assert view is not None
        answers += [view.chunks(ids), view.facts(ids), view.cosines(VECTOR, ids)]
        answers += [view.window_cosines(VECTOR, ids), view.having(words), view.sessions(words)]
        answers += [view.chunks_in(words), sorted(view.vectors_of(words))]
        question = text_query(" ".join(words))
        answers.append(view.matching(question, ("memory",), 10, ids))
        for word in words:
            answers += [view.chunks_of(word), view.around(word, first, first), view.notes(word)]
            answers.append(view.inventory().outline(word))
            answers.append(view.inventory().opening(word, 100))
        answers.append(view.waiting_for_vectors(5, after=first))
        answers.append(view.inventory().vectors(ids)[0])
    assert CANARY not in repr(answers)
    cache = mine.vector_cache(HashEmbedder().facts)
    assert not cache.get([f"{CANARY}-{one}" for one in ids] + words)


@given(tenant=TEXTS | HOSTILE, agent=TEXTS | HOSTILE)
def test_a_tenant_or_agent_with_any_name_sees_its_own_rows_alone(
    stores: tuple[PostgresStore, Database], tenant: str, agent: str
) -> None:
    if not tenant or not agent or Scope(tenant, agent) in (MINE, *THEIRS):
        return
    other = PostgresStore(stores[1], Scope(tenant, agent), "notes")
    with other.view() as view:
        assert view is None
    assert other.cache_entries() == 0
