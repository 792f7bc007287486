"""One MCP server for many conversations: the host names the one that calls in `_meta`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from notewell import Memory, open_memory
from notewell.mcp_server import create_server
from notewell.testing import HashEmbedder
from notewell.tools import CallContext

PRIVATE = "agent:main:telegram:dm:ada"
GROUP = "agent:main:telegram:group:-100"
DENYING = """\
memory:
  scope:
    default: allow
    rules:
      - action: deny
        match: {channel: discord}
"""


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    settings = tmp_path / "settings.yaml"
    settings.write_text(DENYING, encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_CONFIG", str(settings))
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("The walrus is called Otto.\n", encoding="utf-8")
    (workspace / "memory" / "zoo.md").write_text("The walrus eats fish.\n", encoding="utf-8")
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=HashEmbedder()) as memory:
        yield memory


async def answer(client: Client, key: object, name: str, **arguments: object) -> str:
    meta: Any = {"notewell/sessionKey": key} if key is not None else None
    result = await client.call_tool(name, arguments, meta=meta)
    return "\n".join(cast("Any", block).text for block in result.content)


async def searched(client: Client, key: object) -> str:
    return await answer(client, key, "memory_search", query="walrus")


def in_one_server(memory: Memory, asking: Any, *, key_per_call: bool = True) -> None:
    async def run() -> None:
        context = CallContext(origin="mcp")
        server = create_server(memory, context, background_sync=False, key_per_call=key_per_call)
        with anyio.fail_after(60):
            async with Client(server) as client:
                await asking(client)

    anyio.run(run)


def test_each_call_sees_what_its_own_conversation_may_see(memory: Memory) -> None:
    async def asking(client: Client) -> None:
        private, group = await searched(client, PRIVATE), await searched(client, GROUP)
        assert "Otto" in private
        assert "Otto" not in group
        assert "eats fish" in group
        assert "Otto" in await answer(client, PRIVATE, "memory_get", path="MEMORY.md")
        refused = await answer(client, GROUP, "memory_get", path="MEMORY.md")
        assert "private conversations" in refused

    in_one_server(memory, asking)


@pytest.mark.parametrize("key", [None, "", "not a key", 7])
def test_a_call_that_names_no_conversation_is_not_private(memory: Memory, key: object) -> None:
    async def asking(client: Client) -> None:
        found = await searched(client, key)
        assert "eats fish" in found
        assert "Otto" not in found

    in_one_server(memory, asking)


@pytest.mark.parametrize("key", ["agent:work:telegram:dm:ada", "agent:main:discord:dm:ada"])
def test_a_conversation_of_another_agent_or_out_of_scope_gets_nothing(
    memory: Memory, key: str
) -> None:
    meta: Any = {"notewell/sessionKey": key}

    async def asking(client: Client) -> None:
        for name, arguments in (
            ("memory_search", {"query": "walrus"}),
            ("memory_get", {"path": "memory/zoo.md"}),
            ("memory_append", {"text": "The walrus left."}),
            ("memory_status", {}),
        ):
            said = await answer(client, key, name, **arguments)
            assert "may not see the memory" in said
            assert "fish" not in said
        for request in (
            client.list_resources(meta=meta),
            client.read_resource("memory://memory/zoo.md", meta=meta),
            client.get_prompt("recall", {"question": "walrus"}, meta=meta),
        ):
            with pytest.raises(MCPError, match="may not see the memory"):
                await request

    in_one_server(memory, asking)
    assert not list((Path(memory.notes.location) / "memory").glob("2*.md"))


def test_a_client_cannot_name_a_conversation_unless_the_server_was_started_so(
    memory: Memory,
) -> None:
    async def asking(client: Client) -> None:
        assert "Otto" in await searched(client, GROUP)

    in_one_server(memory, asking, key_per_call=False)
