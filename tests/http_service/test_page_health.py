"""How the memory is, who looks, and news as it happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.http_service.served import HOST, Served
from tests.sqlite_store import sqlite_store

from notewell.doctor import Finding
from notewell.http_service.agents import (
    Agents,
    ContentWritten,
    SearchAnswered,
    ServedAgent,
    SyncFinished,
    SyncStarted,
)
from notewell.http_service.ui import state as ui_state
from notewell.http_service.ui.events import (
    MAX_QUEUED,
    MAX_SUBSCRIBERS,
    EventBroadcaster,
    TooManySubscribers,
    last_modified,
    topic_of,
)
from notewell.memory import Memory
from notewell.sync import Heard, Listening
from notewell.testing import HashEmbedder


def get(served: Served, path: str, token: str = "read") -> Any:
    answer = served.ask("GET", f"/v1/page/{path}", token)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_health_tells_how_everything_is(served: Served) -> None:
    served.agents.memory("main").sync()
    told = get(served, "health", "admin")
    assert told["status"]["state"] == "ready"
    assert told["index"]["generation"] == "index-1.sqlite"
    assert told["index"]["bytes"] > 0
    assert told["index"]["ageS"] >= 0
    assert told["disk"]["freeBytes"] > 0
    assert told["embedder"]["provider"] == "hash"
    assert told["embedder"]["cacheMisses"] == 1
    assert {"index", "notes", "disk"} <= {one["what"] for one in told["findings"]}
    assert {one["level"] for one in told["findings"]} <= {"ok", "warn", "error"}


def test_a_damaged_index_is_told_and_not_raised(served: Served) -> None:
    memory = served.agents.memory("main")
    memory.sync()
    folder = sqlite_store(memory).folder.path
    (folder / "CURRENT").unlink()
    (folder / "CURRENT").mkdir()
    told = get(served, "health")
    assert told["status"]["state"] == "unreadable"
    assert told["index"]["generation"] is None
    assert any(one["what"] == "index" and one["level"] != "ok" for one in told["findings"])


def test_a_rebuild_counts_the_vectors_that_were_there(served: Served) -> None:
    memory = served.agents.memory("main")
    memory.sync()
    memory.sync(force=True)
    embedder = get(served, "health")["embedder"]
    assert (embedder["cacheHits"], embedder["cacheMisses"]) == (1, 1)


def test_folders_of_this_machine_are_for_an_admin_only(served: Served, tmp_path: Path) -> None:
    served.agents.memory("main").sync()
    for path in ("health", "me", "cards", "sessions", "timeline"):
        assert str(tmp_path) not in json.dumps(get(served, path))
    assert str(tmp_path) in json.dumps(get(served, "health", "admin"))


def test_a_checkup_holds_for_a_minute(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Memory | None] = []

    def examined(patient: Any) -> list[Finding]:
        seen.append(patient.memory)
        return []

    monkeypatch.setattr(ui_state, "examine", examined)
    clock = [0.0]
    checkups = ui_state.FindingsCache(lambda: clock[0])
    memory = served.agents.memory("main")
    for now, looked in ((0.0, 1), (59.0, 1), (60.0, 2)):
        clock[0] = now
        checkups.findings(memory)
        assert len(seen) == looked


def test_the_page_learns_who_looks(served: Served) -> None:
    assert get(served, "me") == {
        "agent": "main",
        "agents": ["main"],
        "scopes": ["read"],
        "version": served.ask("GET", "/openapi.json", "").json()["info"]["version"],
        "readOnly": True,
    }
    assert get(served, "me", "admin")["readOnly"] is False
    assert get(served, "me", "both")["agents"] == ["main", "work"]


# -- news ----------------------------------------------------------------------------------------


def agents_in(folder: Path) -> Agents:
    folder.mkdir()
    return Agents(
        {"main": ServedAgent(str(folder)), "work": ServedAgent(str(folder))},
        folder / "state",
        watch=False,
        embedder=HashEmbedder(),
    )


def test_every_listener_of_an_agent_hears_and_no_other(tmp_path: Path) -> None:
    agents = agents_in(tmp_path / "a")

    async def story() -> None:
        live = EventBroadcaster(agents)
        one, two, other = live.join("main"), live.join("main"), live.join("work")
        agents.publish("main", ContentWritten("append", "MEMORY.md"))
        agents.publish("main", ContentWritten("append", "MEMORY.md"))
        agents.publish("main", SearchAnswered("mcp", "hybrid", 1.0))
        assert await one.next(5) == await two.next(5) == ("notes", "recall")
        assert await other.next(0) == ()

    asyncio.run(story())


def test_a_listener_that_does_not_keep_up_is_dropped(tmp_path: Path) -> None:
    agents = agents_in(tmp_path / "a")

    async def story() -> None:
        live = EventBroadcaster(agents)
        slow, quick = live.join("main"), live.join("main")
        for _ in range(MAX_QUEUED + 1):
            agents.publish("main", SyncStarted(force=False))
            await quick.next(5)
        assert (slow.is_dropped, quick.is_dropped) == (True, False)
        assert live.count("main") == 1

    asyncio.run(story())


def test_no_more_than_so_many_listen(tmp_path: Path) -> None:
    agents = agents_in(tmp_path / "a")

    async def story() -> None:
        live = EventBroadcaster(agents)
        listeners = [live.join("main") for _ in range(MAX_SUBSCRIBERS)]
        with pytest.raises(TooManySubscribers):
            live.join("main")
        live.leave("main", listeners[0])
        live.join("main")

    asyncio.run(story())


def test_who_listens_to_a_loop_that_has_ended_is_dropped(tmp_path: Path) -> None:
    agents = agents_in(tmp_path / "a")
    live = EventBroadcaster(agents)

    async def joined() -> None:
        live.join("main")

    asyncio.run(joined())
    agents.publish("main", SyncStarted(force=False))
    assert live.count("main") == 0


def test_after_the_end_nobody_listens(tmp_path: Path) -> None:
    agents = agents_in(tmp_path / "a")

    async def story() -> None:
        live = EventBroadcaster(agents)
        one = live.join("main")
        live.close()
        await one.next(5)
        assert one.is_dropped
        with pytest.raises(TooManySubscribers):
            live.join("main")

    asyncio.run(story())


def test_what_changes_nothing_is_no_news() -> None:
    assert topic_of(Listening(3)) is None
    assert topic_of(Heard(("a.md",))) == "notes"
    assert topic_of(SyncFinished(None, 1.0)) == "sync ended"


def test_what_other_processes_write_is_seen(served: Served) -> None:
    memory = served.agents.memory("main")
    before = last_modified(memory)
    memory.sync()
    after_sync = last_modified(memory)
    assert after_sync["index"] != before["index"]
    assert after_sync["recall"] == before["recall"]
    memory.journal.answered("a question", memory.search("SQLite"), tool="test", took_ms=1)
    assert last_modified(memory)["recall"] != after_sync["recall"]
    memory.append("We ship on Friday.")
    assert last_modified(memory)["history"] != after_sync["history"]


Read = Callable[[], Any]


@asynccontextmanager
async def listening(served: Served, headers: dict[str, str] | None = None) -> AsyncIterator[Read]:
    """A browser that reads the stream piece by piece; the usual client waits for its end."""
    pieces: asyncio.Queue[bytes] = asyncio.Queue()
    hung_up = asyncio.Event()
    told = {
        "host": HOST,
        "authorization": f"Bearer {served.tokens['read']}",
        **(headers or {}),
    }
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/v1/page/events",
        "raw_path": b"/v1/page/events",
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in told.items()],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 7374),
        "state": {},
    }
    sent = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if sent:
            return sent.pop()
        await hung_up.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200
        else:
            await pieces.put(message.get("body", b""))

    async def read() -> bytes:
        return await asyncio.wait_for(pieces.get(), 30)

    task = asyncio.ensure_future(served.app(scope, receive, send))
    try:
        yield read
    finally:
        hung_up.set()
        await asyncio.wait_for(task, 30)


def test_the_stream_tells_of_an_append_at_once(served: Served) -> None:
    memory = served.agents.memory("main")
    memory.sync()

    async def story() -> bytes:
        async with listening(served) as read:
            assert await read() == b"id: 1\n\n"
            served.agents.publish("main", ContentWritten("append", "MEMORY.md"))
            found: bytes = await read()
            return found

    event = served.portal.call(story).decode()
    assert event.startswith("event: status\ndata: ")
    told = json.loads(event.partition("data: ")[2])
    assert "notes" in told["changed"]
    assert (told["notes"], told["chunks"]) == (1, 1)


def test_who_comes_back_is_told_to_look(served: Served) -> None:
    async def story() -> bytes:
        async with listening(served, {"last-event-id": "1"}) as read:
            await read()
            found: bytes = await read()
            return found

    assert b'"back"' in served.portal.call(story)


def test_a_stream_ends_with_the_server(served: Served) -> None:
    async def story() -> None:
        async with listening(served) as read:
            await read()
            served.app._app._context.closing.set()
            while await read():
                pass

    served.portal.call(story)


def test_a_stream_ends_with_its_token(served: Served) -> None:
    async def story() -> None:
        async with listening(served) as read:
            await read()
            book = served.app._app._context.tokens
            book.revoke(book.find(served.tokens["read"]).id)
            served.agents.publish("main", ContentWritten("append", "MEMORY.md"))
            assert await read() == b""

    served.portal.call(story)
