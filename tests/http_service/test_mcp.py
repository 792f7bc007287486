"""MCP at /mcp: the token's agent, the token's tools, and sessions that nobody else can join."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.http_service.served import ORIGIN, Served, serving
from tests.surfaces.tool_text import cited, text_of

from notewell.config import Settings
from notewell.http_service import routes_mcp

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@asynccontextmanager
async def connected(
    served: Served, token: str, mode: Any = "auto", **headers: str
) -> AsyncIterator[Client]:
    sent = {"Authorization": f"Bearer {served.tokens[token]}", **headers}
    transport = httpx2.ASGITransport(app=served.app)
    async with (
        httpx2.AsyncClient(transport=transport, base_url=ORIGIN, headers=sent) as http,
        Client(streamable_http_client(f"{ORIGIN}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def run(served: Served, work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        with anyio.fail_after(60):
            await work()

    served.portal.call(bounded)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_searches_and_appends(served: Served, mode: str) -> None:
    async def work() -> None:
        async with connected(served, "append", mode) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"memory_search", "memory_get", "memory_append", "memory_status"}
            saved = await client.call_tool("memory_append", {"text": "The yak is called Ole."})
            assert text_of(saved).startswith("Saved: ")
            found = await client.call_tool("memory_search", {"query": "yak"})
            assert "The yak is called Ole." in text_of(found)

    run(served, work)
    (line,) = served.audit()
    assert (line["what"], line["via"], line["agent"]) == ("append", "mcp", "main")


def test_without_the_scope_what_writes_is_hidden_and_refused(served: Served) -> None:
    async def work() -> None:
        async with connected(served, "read") as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"memory_search", "memory_get", "memory_status"}
            assert "memory_append" not in (client.instructions or "")
            refused = await client.call_tool("memory_append", {"text": "The yak is called Ole."})
            assert refused.is_error
            assert "does not allow writes" in text_of(refused)
            # A flush is handed out once, to somebody who can write.
            assert "flush" not in [prompt.name for prompt in (await client.list_prompts()).prompts]
            with pytest.raises(MCPError, match="does not allow writes"):
                await client.get_prompt("flush")
            found = await client.call_tool("memory_search", {"query": "readings"})
            assert cited(text_of(found))

    run(served, work)
    assert served.audit() == []
    assert not list((served.workspaces["main"] / "memory").iterdir())


def test_the_agent_is_the_tokens(served: Served) -> None:
    async def text(token: str, **headers: str) -> str:
        async with connected(served, token, **headers) as client:
            found = await client.call_tool("memory_get", {"path": "MEMORY.md"})
            return text_of(found)

    async def work() -> None:
        assert "main agent" in await text("read")
        assert "work agent" in await text("other")
        assert "main agent" in await text("both")
        assert "work agent" in await text("both", **{"Notewell-Agent": "work"})

    run(served, work)


def hello(served: Served, token: str, **headers: str) -> httpx2.Response:
    return served.ask("POST", "/mcp", token, json=HELLO, headers={**ACCEPT, **headers})


def test_strangers_are_kept_out(served: Served) -> None:
    for kind in ("", "garbage", "revoked", "expired", "page"):
        assert hello(served, kind).status_code == 401, kind
    assert hello(served, "nobody's").status_code == 403
    assert hello(served, "read", Origin="http://evil.example").status_code == 403
    assert hello(served, "read", Host="evil.example").status_code == 421
    assert served.ask("POST", "/mcp/other", "read", json=HELLO).status_code == 404


def test_a_session_belongs_to_its_token_and_its_agent(served: Served) -> None:
    opened = hello(served, "both")
    assert opened.status_code == 200
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}

    def asked(token: str, **headers: str) -> int:
        sent = {**ACCEPT, **session, **headers}
        return served.ask("POST", "/mcp", token, json=ping, headers=sent).status_code

    assert asked("both") == 200
    assert asked("admin") == 404
    assert asked("both", **{"Notewell-Agent": "work"}) == 404
    token = served.book.find(served.tokens["both"])
    assert token is not None
    served.book.revoke(token.id)
    assert asked("both") == 401


def test_the_sessions_of_a_revoked_token_end(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream that is open is not left open."""
    ended = anyio.Event()
    opened = hello(served, "both")
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}

    async def stream() -> None:
        headers = {**session, "Authorization": f"Bearer {served.tokens['both']}"}
        await served.client.get("/mcp", headers={**headers, "Accept": "text/event-stream"})
        ended.set()

    async def work() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(stream)
            await anyio.lowlevel.checkpoint()
            token = served.book.find(served.tokens["both"])
            assert token is not None
            served.book.revoke(token.id)
            await ended.wait()

    assert routes_mcp.TOKEN_CHECK_S < 5
    run(served, work)


def test_a_memory_that_is_switched_off_is_a_server_without_tools(tmp_path: Path) -> None:
    settings = Settings(off_because="memorySearch.enabled is false (/own/settings.json:3)")
    with serving(tmp_path, settings=settings) as served:

        async def work() -> None:
            async with connected(served, "append", "legacy") as client:
                assert (await client.list_tools()).tools == []
                assert "this agent has no memory" in str(client.instructions)
                assert "/own/settings" not in str(client.instructions)
                called = await client.call_tool("memory_append", {"text": "A yak."})
                assert called.is_error
                assert "this agent has no memory" in text_of(called)

        run(served, work)
        assert served.ask("GET", "/v1/status").status_code == 403
