"""Several services on one database: what one of them was told, every other one knows."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from tests.http_service.served import ORIGIN, PLENTY, PORT, running
from tests.http_service.test_mcp import HELLO
from tests.postgres_server import PostgresServer, everything_in

from notewell.capture import undo_write, writes
from notewell.cli import main
from notewell.core import Secret
from notewell.databases import tenant_database
from notewell.errors import NotewellError
from notewell.http_service.agents import Agents, ChangedElsewhere, Event
from notewell.http_service.app import create_app
from notewell.http_service.auth import AllowedHosts
from notewell.http_service.directory import DirectoryFollower
from notewell.http_service.ports import ServiceState
from notewell.http_service.postgres import shared_state
from notewell.http_service.postgres.events import SharedEvents, agent_digest
from notewell.http_service.problems import problem_of
from notewell.http_service.token_file import ALL_AGENTS
from notewell.http_service.tokens import TokenRequest
from notewell.index.postgres import PostgresStore
from notewell.postgres import Address, Database, Hints, Scope
from notewell.postgres.address import VARIABLE
from notewell.postgres.connections import Limits
from notewell.testing import HashEmbedder

ENTRY = {"text": "The giraffe moved to the router room."}


class Replica(NamedTuple):
    agents: Agents
    kept: ServiceState
    portal: BlockingPortal
    client: httpx2.AsyncClient
    token: str

    def ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return self.portal.call(
            partial(self.client.request, method, path, headers=headers, **options)
        )

    def search(self, query: str, agent: str = "main") -> list[Any]:
        answer = self.ask(
            "POST", "/v1/search", json={"query": query}, headers={"Notewell-Agent": agent}
        )
        assert answer.status_code == 200, answer.text
        found: list[Any] = answer.json()["results"]
        return found


@contextmanager
def replica(folder: Path, token: str) -> Iterator[Replica]:
    kept = shared_state(*tenant_database())
    assert kept.registry is not None
    agents = Agents(
        kept.registry.read().agents, folder, embedder=HashEmbedder(), may_be_empty=True
    )
    agents.look_again = DirectoryFollower(kept.registry, agents).look
    app = create_app(agents, kept, allowed_hosts=AllowedHosts.of(PORT), limits=PLENTY)
    with start_blocking_portal() as portal:
        transport = httpx2.ASGITransport(app=app)
        client = httpx2.AsyncClient(transport=transport, base_url=ORIGIN, timeout=60)
        with portal.wrap_async_context_manager(running(app)):
            yield Replica(agents, kept, portal, client, token)
        portal.call(client.aclose)


@pytest.fixture
def replicas(tenant: str, tmp_path: Path) -> Iterator[tuple[Replica, Replica]]:
    kept = shared_state(*tenant_database())
    assert kept.registry is not None
    kept.registry.add("main")
    _, token = kept.tokens.create(TokenRequest("all", (ALL_AGENTS,), ("admin",)))
    with ExitStack() as stack:
        one = stack.enter_context(replica(tmp_path / "one", token))
        yield one, stack.enter_context(replica(tmp_path / "other", token))


def test_a_note_appended_through_one_replica_is_found_through_the_other(
    replicas: tuple[Replica, Replica],
) -> None:
    one, other = replicas
    one.ask("POST", "/v1/sync")
    for number in range(3):
        text = f"Giraffe number {number} moved to the router room."
        answer = one.ask("POST", "/v1/append", json={"text": text})
        assert answer.status_code == 201, answer.text
        (hit, *_) = other.search(f"giraffe number {number}")
        assert text in hit["snippet"]
        one, other = other, one


def test_a_token_that_was_revoked_anywhere_is_refused_everywhere(
    replicas: tuple[Replica, Replica],
) -> None:
    one, other = replicas
    made, secret = one.kept.tokens.create(TokenRequest("ci", ("main",)))
    header = {"Authorization": f"Bearer {secret}"}
    assert other.ask("GET", "/v1/status", headers=header).status_code == 200
    one.kept.tokens.revoke(made.id)
    assert other.ask("GET", "/v1/status", headers=header).status_code == 401


def test_a_request_that_is_repeated_at_another_replica_writes_once(
    replicas: tuple[Replica, Replica],
) -> None:
    one, other = replicas
    key = {"Idempotency-Key": "k1"}
    first = one.ask("POST", "/v1/append", json=ENTRY, headers=key)
    again = other.ask("POST", "/v1/append", json=ENTRY, headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json() == first.json()
    note = other.ask("GET", f"/v1/notes/{first.json()['path']}").json()["text"]
    assert note.count("giraffe") == 1


def test_history_and_undo_know_what_another_replica_wrote(
    replicas: tuple[Replica, Replica],
) -> None:
    one, other = replicas
    path = one.ask("POST", "/v1/append", json=ENTRY).json()["path"]
    with other.agents.using("main") as memory:
        (recorded,) = writes(memory.journal.logs, memory.notes)
        undo_write(memory.notes, memory.journal.logs, recorded.id, now=datetime.now(UTC))
    with one.agents.using("main") as memory:
        assert [done.undone for done in writes(memory.journal.logs, memory.notes)] == [True]
        assert memory.notes.read_bytes(path) == b""


def test_agents_are_added_listed_and_removed_without_a_restart(
    replicas: tuple[Replica, Replica], capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = replicas
    assert one.ask("POST", "/v1/agents", json={"id": "Support"}).json() == {
        "id": "support",
        "added": True,
    }
    assert one.ask("POST", "/v1/agents", json={"id": "support"}).status_code == 200
    # The other replica learns of it by the first request that names it.
    assert other.search("giraffe", "support") == []
    assert main(["agents", "add", "sales"]) == 0
    capsys.readouterr()
    assert main(["agents", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [agent["id"] for agent in listed["agents"]] == ["main", "sales", "support"]
    for service in replicas:
        assert service.ask("GET", "/v1/agents").json()["agents"] == ["main", "sales", "support"]
    header = {"Notewell-Agent": "support"}
    assert other.ask("POST", "/v1/append", json=ENTRY, headers=header).status_code == 201
    assert other.ask("DELETE", "/v1/agents/support").json() == {"id": "support", "removed": True}
    assert other.ask("DELETE", "/v1/agents/support").status_code == 404
    one.agents.look_again()
    assert one.ask("GET", "/v1/status", headers=header).status_code == 403
    # Its notes stay: it is there again when it is added again.
    assert main(["agents", "add", "support"]) == 0
    assert one.search("giraffe", "support")
    assert main(["agents", "remove", "sales"]) == 0
    assert main(["agents", "remove", "sales"]) == 3
    assert main(["agents", "add", "../x"]) == 2


def test_only_an_admin_of_all_agents_changes_them(replicas: tuple[Replica, Replica]) -> None:
    one, _ = replicas
    for agents, scopes in (((ALL_AGENTS,), ("append",)), (("main",), ("admin",))):
        _, secret = one.kept.tokens.create(TokenRequest("x", agents, scopes))  # type: ignore[arg-type]
        header = {"Authorization": f"Bearer {secret}"}
        refused = one.ask("POST", "/v1/agents", json={"id": "new"}, headers=header)
        assert refused.status_code == 403
        assert one.ask("DELETE", "/v1/agents/main", headers=header).status_code == 403


def test_tenants_have_agents_and_tokens_of_their_own(
    replicas: tuple[Replica, Replica], tmp_path: Path
) -> None:
    one, _ = replicas
    one.ask("POST", "/v1/append", json=ENTRY)
    theirs = {"agents": {"defaults": {"memorySearch": {"store": {"tenant": "theirs"}}}}}
    (tmp_path / "own.json").write_text(json.dumps(theirs), encoding="utf-8")
    kept = shared_state(*tenant_database())
    assert kept.registry is not None
    assert one.kept.tokens.find(one.token) is not None
    assert kept.tokens.find(one.token) is None
    assert kept.tokens.tokens() == []
    assert kept.registry.agents() == []
    assert not kept.registry.remove("main")
    assert one.search("giraffe")


def test_a_service_that_uses_all_of_its_connections_says_that_it_is_too_busy(
    postgres_server: PostgresServer,
) -> None:
    """The database is well: it is this process that has too much to do."""
    address = Address(Secret(postgres_server.login_url("notewell")))
    scope = Scope("tenant", "busy")
    limits = Limits(connections=1, connection_wait_s=2.0)
    with closing(Database(address, limits)) as database, database.reading(scope):
        questions = (database.reading(scope), PostgresStore(database, scope, "notes").view())
        for question in questions:
            with pytest.raises(NotewellError) as raised, question:
                pass
            problem = problem_of(raised.value)
            assert (problem.status, problem.kind) == (503, "too-busy")
            assert problem.headers["Retry-After"] == "2"
            assert "connections" in problem.detail


def test_without_a_server_the_answer_is_503_and_not_401(
    replicas: tuple[Replica, Replica], monkeypatch: pytest.MonkeyPatch
) -> None:
    from notewell.core import Secret
    from notewell.postgres import Address, Database

    one, _ = replicas
    gone = Database(Address(Secret("postgresql://u:geheim@127.0.0.1:1/x")))
    monkeypatch.setattr(one.kept.tokens, "_database", gone)
    answer = one.ask("GET", "/v1/status")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert "geheim" not in answer.text


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:geheim@db/notewell",
        "postgres://db/notewell?password=geheim",
        "postgresql://me:p@ss/geheim@db/notewell",
    ],
)
def test_no_password_stands_on_a_command_line(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["serve"], ["agents", "list"], ["token", "list"], ["search", "x"]):
        with pytest.raises(SystemExit):
            main([*command, "-w", address])
        assert "geheim" not in capsys.readouterr().err


def test_an_address_without_a_password_may(
    tenant: str,
    postgres_server: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(VARIABLE, "postgresql://127.0.0.1:1/nowhere")
    address = postgres_server.owner_url("notewell")
    assert main(["token", "create", "ci", "-w", address, "--json"]) == 0
    token = json.loads(capsys.readouterr().out)
    assert main(["token", "list", "-w", "postgres:", "--json"]) == 0
    assert token["id"] in capsys.readouterr().out
    assert main(["token", "revoke", token["id"], "-w", "postgres:"]) == 0


def test_a_page_at_one_replica_hears_what_was_written_through_the_other(
    replicas: tuple[Replica, Replica],
) -> None:
    one, other = replicas
    other.agents.memory("main")
    heard: queue.SimpleQueue[Event] = queue.SimpleQueue()
    other.agents.listen(lambda _, event: heard.put(event))
    with ExitStack() as stack:
        for agents in (one.agents, other.agents):
            events = SharedEvents(agents, Hints(*tenant_database()), collect_s=0)
            stack.enter_context(events.running())
            assert events.is_listening.wait(60)
        one.ask("POST", "/v1/append", json=ENTRY)
        assert heard.get(timeout=60) == ChangedElsewhere("notes")


def test_hints_name_nobody_and_reach_no_other_tenant(
    tenant: str, postgres_server: PostgresServer
) -> None:
    database, _ = tenant_database()
    heard: queue.SimpleQueue[str] = queue.SimpleQueue()
    stop, ready = threading.Event(), threading.Event()
    theirs = Hints(database, "theirs")
    listener = threading.Thread(target=theirs.listen, args=(heard.put, stop, ready.set))
    listener.start()
    try:
        assert ready.wait(60)
        Hints(database, tenant).send(["for mine"])
        theirs.send(["for theirs"])
        assert heard.get(timeout=60) == "for theirs"
    finally:
        stop.set()
        listener.join()
    assert "support" not in agent_digest("support")


def test_an_mcp_client_that_one_replica_greeted_is_answered_by_the_other(
    replicas: tuple[Replica, Replica],
) -> None:
    one, other = replicas
    accept = {"Accept": "application/json, text/event-stream"}
    greeting = one.ask("POST", "/mcp", json=HELLO, headers=accept)
    assert greeting.status_code == 200
    session = greeting.headers.get("mcp-session-id")
    headers = accept | {"mcp-protocol-version": "2025-06-18"}
    headers |= {"mcp-session-id": session} if session else {}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert other.ask("POST", "/mcp", json=ready, headers=headers).status_code == 202
    for number, (service, tool, arguments) in enumerate(
        (
            (other, "memory_append", {"text": "The yak is called Ole."}),
            (one, "memory_search", {"query": "yak"}),
        )
    ):
        call = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        answer = service.ask("POST", "/mcp", json=call, headers=headers)
        assert answer.status_code == 200, answer.text
    assert "Ole" in answer.text
    # No stream that would have to stay at one replica.
    assert one.ask("GET", "/mcp", headers=headers).status_code == 405


def test_turns_that_one_replica_got_are_found_through_the_other(
    replicas: tuple[Replica, Replica], postgres_server: PostgresServer, tenant: str
) -> None:
    one, other = replicas
    one.ask("POST", "/v1/append", json=ENTRY)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for number in range(3):
        turns = [
            {"role": "user", "content": f"Where is parcel {number}? The token is {secret}."},
            {"role": "assistant", "content": f"Parcel {number} is in cellar {number}."},
        ]
        for replayed in range(2):  # A client that has lost the answer.
            answer = one.ask(
                "POST",
                "/v1/sessions/s1/turns",
                json={"turns": turns},
                headers={"Idempotency-Key": f"k{number}"},
            )
            assert answer.status_code == 201, answer.text
            assert answer.json()["kept"] == 2
            assert answer.headers.get("Idempotent-Replayed") == ("true" if replayed else None)
            one, other = other, one
        (hit, *_) = other.search(f"parcel cellar {number}")
        assert (hit["path"], hit["source"]) == ("sessions/kept/http-s1.jsonl", "sessions")
        assert f"cellar {number}" in hit["snippet"]
        one, other = other, one
    # A sync of either takes nothing of the other one out of the index.
    for each in (one, other, one):
        assert each.ask("POST", "/v1/sync").status_code in (200, 202)
        assert each.search("parcel cellar 2")[0]["source"] == "sessions"
    got = other.ask("GET", "/v1/notes/sessions/kept/http-s1.jsonl").json()
    assert got["text"].count("Parcel") == 3
    (shown,) = other.ask("GET", "/v1/page/sessions").json()["sessions"]
    assert shown["id"] == "kept/http-s1"
    listed = other.ask("GET", "/v1/notes").json()["notes"]
    assert [one["source"] for one in listed] == ["memory", "sessions"]
    rows = everything_in(postgres_server, "notewell", Scope(tenant, "main"))
    assert len(rows["conversation_records"]) == 7
    assert secret not in repr(rows)


def test_turns_are_refused_where_the_settings_keep_no_conversations(
    tenant: str, tmp_path: Path
) -> None:
    whole = json.loads((tmp_path / "own.json").read_text(encoding="utf-8"))
    search = whole["agents"]["defaults"]["memorySearch"]
    search["sessions"] = {"keep": {"enabled": False}}
    (tmp_path / "own.json").write_text(json.dumps(whole), encoding="utf-8")
    kept = shared_state(*tenant_database())
    assert kept.registry is not None
    kept.registry.add("main")
    _, token = kept.tokens.create(TokenRequest("all", (ALL_AGENTS,), ("admin",)))
    with replica(tmp_path / "one", token) as one:
        turns = {"turns": [{"role": "user", "content": "We ship on Friday."}]}
        refused = one.ask("POST", "/v1/sessions/s1/turns", json=turns)
    assert refused.status_code == 409
    assert "`sessions.keep.enabled` is false" in refused.text
    assert "/v1/append" in refused.text
