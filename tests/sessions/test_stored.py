"""Conversations as rows of a database: each message once, for its own agent alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from tests.postgres_server import PostgresServer, everything_in

from notewell.capture import KeepSettings, SessionEnd, keep_stored
from notewell.core import Secret
from notewell.errors import DatabaseUnavailable, NotANote
from notewell.hosts import Turn
from notewell.postgres import Address, Database, Scope, SyncQueue
from notewell.sessions import SaidMessage, StoredConversations

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
SAID = ("When do we ship?", "On Friday.")
PATH = "sessions/kept/http-s1.jsonl"


@pytest.fixture
def stored(postgres: Database, postgres_scope: Scope) -> StoredConversations:
    return StoredConversations(postgres, postgres_scope, str)


def keep(
    stored: StoredConversations,
    *texts: str,
    session: str = "s1",
    first: int = 0,
    settings: KeepSettings = KeepSettings(),  # noqa: B008 - it is frozen
) -> int:
    """Messages whose ids are their numbers."""
    said = [
        SaidMessage(Turn("User" if number % 2 == 0 else "Assistant", text, f"m{number}"), NOW, 0)
        for number, text in enumerate(texts, first)
    ]
    conversation = SessionEnd(Path(f"{session}.jsonl"), session, "http", None, "turn")
    return keep_stored(stored, conversation, said, str, settings=settings, now=NOW).messages


def test_a_conversation_is_read_as_its_messages_in_order(stored: StoredConversations) -> None:
    assert keep(stored, *SAID) == 2
    assert keep(stored, "And the router?", first=2) == 1
    (found,) = stored.scan().notes.values()
    assert found.path == PATH
    assert stored.read(PATH).text == (
        "User: When do we ship?\nAssistant: On Friday.\nUser: And the router?\n"
    )
    assert stored.open(PATH).session.id == "s1"
    assert stored.read(PATH).stat == found.stat
    assert stored.has_message(PATH, lambda text, at: "router" in text and at == NOW)


def test_messages_that_are_sent_again_are_there_once(stored: StoredConversations) -> None:
    keep(stored, *SAID)
    before = stored.scan()
    assert keep(stored, *SAID) == 0
    assert stored.scan() == before  # No revision: nothing has to be indexed.
    assert keep(stored, *SAID, "New.") == 1
    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(lambda _: keep(stored, "a", "b", session="busy"), range(8)))
    assert sum(added) == 2
    assert stored.read("sessions/kept/http-busy.jsonl").text == "User: a\nAssistant: b\n"


@pytest.mark.parametrize("text", ["nul \x00 in it", "half \ud800 a pair", "路由器 🦒", "a\nb"])
def test_any_text_can_be_kept(stored: StoredConversations, text: str) -> None:
    assert keep(stored, text) == 1
    assert stored.records(PATH)[1]["message"]["content"] == text


def test_a_conversation_is_seen_by_its_own_agent_alone(
    stored: StoredConversations, postgres: Database, postgres_scope: Scope
) -> None:
    keep(stored, *SAID)
    tenant, agent = postgres_scope
    for scope in (Scope(tenant, f"{agent}-2"), Scope(f"{tenant}-2", agent), Scope.service(tenant)):
        other = StoredConversations(postgres, scope, str)
        assert other.scan().notes == {}
        with pytest.raises(NotANote):
            other.read(PATH)
        assert other.rewrite(PATH, lambda record: record) == 0
        other.remove(PATH)
    assert stored.read(PATH).text.count("\n") == 2


@pytest.mark.parametrize(
    "path",
    [
        "sessions/http-s1.jsonl",
        "sessions/kept/.jsonl",
        "sessions/kept/a/../http-s1.jsonl",
        "sessions/kept/http-s1",
        "sessions/kept/\x00.jsonl",
        "MEMORY.md",
        "sessions/kept/absent.jsonl",
    ],
)
def test_a_path_that_no_conversation_has_is_refused(
    stored: StoredConversations, path: str
) -> None:
    keep(stored, *SAID)
    with pytest.raises(NotANote):
        stored.read(path)


def test_a_message_that_was_rewritten_leaves_no_text_and_does_not_come_back(
    stored: StoredConversations, postgres_server: PostgresServer, postgres_scope: Scope
) -> None:
    keep(stored, "The secret word is giraffe.", *SAID)
    before = stored.scan().notes[PATH].stat

    def change(record: dict[str, object]) -> dict[str, object] | None:
        is_it = "giraffe" in str(record)
        return {"type": "custom", "id": record["id"]} if is_it else None

    assert stored.rewrite(PATH, change) == 1
    assert stored.scan().notes[PATH].stat != before
    assert keep(stored, "The secret word is giraffe.") == 0
    assert "giraffe" not in repr(everything_in(postgres_server, "notewell", postgres_scope))


def test_old_conversations_are_removed_when_one_begins(
    stored: StoredConversations,
    postgres: Database,
    postgres_server: PostgresServer,
    postgres_scope: Scope,
) -> None:
    keep(stored, *SAID, session="old")
    with psycopg.connect(postgres_server.owner_url("notewell")) as owner:
        owner.execute(
            "UPDATE notewell.conversations SET changed_at = %s WHERE tenant = %s AND agent = %s",
            (NOW - timedelta(days=40), *postgres_scope),
        )
    keep(stored, *SAID, settings=KeepSettings(days=30))
    assert list(stored.scan().notes) == [PATH]
    assert "old" not in repr(stored.scan())


def test_what_could_not_be_committed_is_an_error_and_never_counted() -> None:
    gone = Database(Address(Secret("postgresql://u:geheim@127.0.0.1:1/x")))
    with closing(gone), pytest.raises(DatabaseUnavailable) as raised:
        keep(StoredConversations(gone, Scope("t", "a"), str), *SAID)
    assert "geheim" not in str(raised.value)


def test_the_agent_of_a_message_waits_in_the_queue(
    postgres: Database, postgres_scope: Scope
) -> None:
    scope = Scope(f"only {postgres_scope.agent}", "main")
    keep(StoredConversations(postgres, scope, str), *SAID)
    with SyncQueue(postgres, scope.tenant).claim() as claimed:
        assert claimed is not None
        assert claimed.agent == "main"
