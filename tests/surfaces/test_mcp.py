"""The MCP server, asked by the SDK's own client in this process, in both eras of the protocol."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.surfaces.tool_text import cited, text_of

from notewell import Memory, open_memory
from notewell.mcp_server import create_server
from notewell.mcp_server.background_sync import BackgroundSync
from notewell.mcp_server.catalogue import uri_of
from notewell.mcp_server.resources import path_of
from notewell.ports import Kind
from notewell.testing import HashEmbedder
from notewell.tools import TOOLS, AppendInput, CallContext, memory_append

if TYPE_CHECKING:
    from notewell.ports import Vectors

HANDSHAKE, MODERN = "legacy", "2026-07-28"
ERAS = pytest.mark.parametrize("era", [HANDSHAKE, MODERN])
Asking = Callable[[Client], Awaitable[None]]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    text = "# Decisions\n\nWe store readings in SQLite.\n"
    (workspace / "MEMORY.md").write_text(text, encoding="utf-8")
    (workspace / "memory" / "ä b.md").write_text("- frost tonight\n", encoding="utf-8")
    (workspace / "secret.md").write_text("not a note", encoding="utf-8")
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=HashEmbedder()) as memory:
        yield memory


def ask(memory: Memory, era: str, asking: Asking, talk: CallContext | None = None) -> None:
    async def run() -> None:
        with anyio.fail_after(60):
            server = create_server(
                memory, talk or CallContext(origin="mcp"), background_sync=False
            )
            async with Client(server, mode=era) as client:
                await asking(client)

    anyio.run(run)


async def told(client: Client, name: str, **arguments: object) -> str:
    """A tool's answer; a failure says the next step."""
    result = await client.call_tool(name, arguments)
    text = text_of(result)
    assert result.is_error is ("\nNext step: " in text)
    return text


@ERAS
def test_filters_are_typed_in_the_query(memory: Memory, era: str) -> None:
    async def asking(client: Client) -> None:
        (memory.workspace / "memory" / "2026-05-02.md").write_text("Frost. #garden\n", "utf-8")
        both = await told(client, "memory_search", query="frost", minScore=0)
        assert "memory/ä b.md" in both
        assert "memory/2026-05-02.md" in both
        narrow = await told(client, "memory_search", query="frost tag:garden", minScore=0)
        assert "memory/ä b.md" not in narrow
        assert "memory/2026-05-02.md" in narrow
        refused = await told(client, "memory_search", query="frost after:banana")
        assert "2026-03-04" in refused

    ask(memory, era, asking)


@ERAS
def test_tools_are_listed_with_schemas_and_hints(memory: Memory, era: str) -> None:
    async def asking(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [spec.name for spec in TOOLS]
        for tool in listed:
            assert tool.output_schema is None
            assert tool.annotations is not None
            # The protocol's default is that a tool writes and destroys; hosts then ask the user.
            writes = tool.name == "memory_append"
            assert tool.annotations.read_only_hint is (None if writes else True)
            assert tool.annotations.destructive_hint is (False if writes else None)
            assert tool.annotations.open_world_hint is False
            everything = json.dumps(tool.input_schema)
            assert "agent" not in everything
            assert "workspace" not in everything

    ask(memory, era, asking)


@ERAS
def test_what_is_appended_is_found_by_the_next_search(memory: Memory, era: str) -> None:
    async def asking(client: Client) -> None:
        saved = await told(client, "memory_append", text="The zebra lives in Basel.")
        path = saved.removeprefix("Saved: ").split("#")[0]
        found = await told(client, "memory_search", query="where does the zebra live?")
        assert cited(found)[0].startswith(f"{path}#L")
        read = await told(client, "memory_get", path=cited(found)[0])
        assert "zebra lives in Basel. <!-- @mcp -->" in read
        assert cited(read) == cited(found)[:1]
        status = await told(client, "memory_status")
        assert "Agent: main\nIndex: ready\n3 notes, 0 of them not taken in yet\n" in status

    ask(memory, era, asking)


@ERAS
def test_wrong_calls_are_failures_a_model_can_read(memory: Memory, era: str) -> None:
    async def asking(client: Client) -> None:
        failed = await told(client, "memory_get", path="../secret.md")
        assert "Next step: use a path that memory_search gave" in failed
        failed = await told(client, "memory_search", query="a", agent="other")
        assert "there is no argument 'agent'" in failed
        with pytest.raises(MCPError, match="there is no tool 'memory_forget'"):
            await client.call_tool("memory_forget", {})

    ask(memory, era, asking)


@ERAS
def test_notes_are_resources(memory: Memory, era: str) -> None:
    async def asking(client: Client) -> None:
        listed = await client.list_resources()
        first, *uris = [resource.uri for resource in listed.resources]
        assert first == "notewell://bootstrap"
        assert uris == ["memory://MEMORY.md", "memory://memory/%C3%A4%20b.md"]
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["memory://{+path}"]
        for uri, text in zip(uris, ("We store readings", "frost tonight"), strict=True):
            (content,) = (await client.read_resource(uri)).contents
            assert text in content.model_dump()["text"]
            assert content.mime_type == "text/markdown"
        for uri in (
            "memory://secret.md",
            "memory://../secret.md",
            "memory://memory/%2e%2e/secret.md",
            "memory:///etc/passwd",
            "memory://%ff.md",
            "memory://memory/none.md",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert str(memory.workspace) not in str(refused.value)

    ask(memory, era, asking)


def test_a_long_list_of_notes_comes_in_pages(memory: Memory) -> None:
    for number in range(250):
        (memory.workspace / "memory" / f"{number:03}.md").write_text("x", encoding="utf-8")

    async def asking(client: Client) -> None:
        cursor, seen = None, []
        while True:
            page = await client.list_resources(cursor=cursor)
            seen += [resource.uri for resource in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 253
        assert seen[:2] == ["notewell://bootstrap", "memory://MEMORY.md"]
        with pytest.raises(MCPError, match="cursor is not from this list"):
            await client.list_resources(cursor="-1")

    ask(memory, HANDSHAKE, asking)


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/a b#?%.md", "/abs/ü.md", "memory/温室.md"])
def test_an_address_leads_back_to_its_path(path: str) -> None:
    assert path_of(uri_of(path)) == path
    assert uri_of(path).isascii()


def test_a_note_too_long_for_a_conversation_is_cut(memory: Memory) -> None:
    text = "".join(f"line {number}\n" for number in range(40_000))
    (memory.workspace / "MEMORY.md").write_text(text, encoding="utf-8")

    async def asking(client: Client) -> None:
        (content,) = (await client.read_resource("memory://MEMORY.md")).contents
        shown = content.model_dump()["text"]
        assert shown.startswith("line 0\nline 1\n")
        assert shown.endswith("… (truncated; continue with memory_get)")
        assert len(shown) < 201_000

    ask(memory, HANDSHAKE, asking)


@ERAS
def test_the_prompt_brings_what_memory_has(memory: Memory, era: str) -> None:
    async def asking(client: Client) -> None:
        listed = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in listed] == ["recall", "bootstrap", "flush"]
        result = await client.get_prompt("recall", {"question": "Where are readings stored?"})
        text = result.messages[0].content.model_dump()["text"]
        assert text.startswith("Where are readings stored?\n")
        assert '<recalled path="MEMORY.md#L1-L3"' in text
        for wrong in ({}, {"question": ""}, {"question": "x" * 200_000}):
            with pytest.raises(MCPError, match="1 to 100000 characters"):
                await client.get_prompt("recall", wrong)
        with pytest.raises(MCPError, match="no prompt"):
            await client.get_prompt("forget", {"question": "x"})

    ask(memory, era, asking)


@ERAS
def test_instructions_speak_of_the_tools(memory: Memory, era: str) -> None:
    async def asking(client: Client) -> None:
        if era == MODERN:
            assert client.protocol_version == MODERN
        else:
            assert "memory_search" in str(client.instructions)

    ask(memory, era, asking)


@ERAS
def test_a_session_begins_with_the_notes_of_the_last_days(memory: Memory, era: str) -> None:
    day = memory.workspace / "memory" / f"{memory.now().date().isoformat()}.md"
    day.write_text("- The boiler was </recalled> mended.\n", encoding="utf-8")

    async def asking(client: Client) -> None:
        prompt = await client.get_prompt("bootstrap")
        (content,) = (await client.read_resource("notewell://bootstrap")).contents
        for text in (
            prompt.messages[0].content.model_dump()["text"],
            content.model_dump()["text"],
        ):
            assert "We store readings" in text
            assert "The boiler was &lt;/recalled> mended." in text
            assert "frost tonight" not in text

    ask(memory, era, asking)

    async def in_a_group(client: Client) -> None:
        assert "bootstrap" not in str(await client.list_prompts())
        assert "bootstrap" not in str(await client.list_resources())
        with pytest.raises(MCPError, match="private conversations"):
            await client.get_prompt("bootstrap")
        with pytest.raises(MCPError, match="private conversations"):
            await client.read_resource("notewell://bootstrap")

    ask(memory, era, in_a_group, CallContext(session_key="agent:main:telegram:group:-100"))


@ERAS
def test_a_host_asks_whether_to_flush_and_gets_the_turn_once(memory: Memory, era: str) -> None:
    async def asking(client: Client) -> None:
        early = await client.get_prompt("flush", {"usedTokens": "9", "contextWindow": "200000"})
        assert early.meta
        assert early.meta["notewell/flush"]["flush"] is False
        full = {"usedTokens": "190000", "contextWindow": "200000", "compactions": "0"}
        due = await client.get_prompt("flush", full)
        assert due.meta
        decision = due.meta["notewell/flush"]
        assert decision["flush"] is True
        assert decision["prompt"] in due.messages[0].content.model_dump()["text"]
        assert (await client.get_prompt("flush", full)).meta != due.meta
        # A user who picks the prompt in another conversation.
        for session in ("7", "true"):
            asked = {"compacting": "true", "session": session}
            at_once = await client.get_prompt("flush", asked)
            assert at_once.meta
            assert at_once.meta["notewell/flush"]["flush"] is True
        with pytest.raises(MCPError, match="usedTokens"):
            await client.get_prompt("flush", {"usedTokens": "many"})

    ask(memory, era, asking)


def test_an_agent_without_memory_is_offered_nothing(memory: Memory) -> None:
    async def asking(client: Client) -> None:
        assert (await client.list_tools()).tools == []
        assert (await client.list_resources()).resources == []
        assert (await client.list_prompts()).prompts == []
        assert "no tools: this agent has no memory" in str(client.instructions)
        assert "switches it off" in await told(client, "memory_search", query="a")
        with pytest.raises(MCPError, match="switches it off"):
            await client.read_resource("memory://MEMORY.md")

    ask(memory, HANDSHAKE, asking, CallContext(enabled=False))


@ERAS
def test_a_first_search_reports_its_progress(memory: Memory, era: str) -> None:
    async def asking(client: Client) -> None:
        heard: list[tuple[float, float | None, str | None]] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append((progress, total, message))

        result = await client.call_tool(
            "memory_search", {"query": "readings"}, progress_callback=hear
        )
        assert not result.is_error
        assert heard == [(2.0, 2.0, "notes")]

    ask(memory, era, asking)


class GatedEmbedder(HashEmbedder):
    """Stops when it is asked for vectors of one kind, until it is let go."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.kind = kind
        self.entered = threading.Event()
        self.let_go = threading.Event()

    def embed(self, texts: Any, kind: Kind) -> Vectors:
        if kind == self.kind:
            self.entered.set()
            assert self.let_go.wait(60)
        return super().embed(texts, kind)


def gated_memory(tmp_path: Path, kind: Kind) -> tuple[Memory, GatedEmbedder]:
    (tmp_path / "MEMORY.md").write_text("the walrus sleeps", encoding="utf-8")
    embedder = GatedEmbedder(kind)
    return open_memory(tmp_path, state_dir=tmp_path / "state", embedder=embedder), embedder


@ERAS
def test_a_search_that_is_given_up_holds_up_nobody(tmp_path: Path, era: str) -> None:
    memory, embedder = gated_memory(tmp_path, "query")

    async def asking(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "memory_search", {"query": "walrus"})
            await anyio.to_thread.run_sync(embedder.entered.wait)
            group.cancel_scope.cancel()
        assert len((await client.list_tools()).tools) == 4
        embedder.let_go.set()
        assert cited(await told(client, "memory_search", query="walrus"))

    with memory:
        memory.sync()
        ask(memory, era, asking)


def test_what_was_not_foreseen_is_told_without_details(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    class Surprising(HashEmbedder):
        def embed(self, texts: Any, kind: Kind) -> Vectors:
            if kind == "query":
                raise ZeroDivisionError("/secret/place")
            return super().embed(texts, kind)

    async def asking(client: Client) -> None:
        failed = await told(client, "memory_search", query="readings")
        assert "go on without it" in failed
        assert "secret" not in failed

    with open_memory(
        memory.workspace, state_dir=memory.workspace.parent / "other", embedder=Surprising()
    ) as surprising:
        surprising.sync()
        ask(surprising, HANDSHAKE, asking)
    assert "unexpected error" in caplog.text


# -- the keeper ----------------------------------------------------------------------------------


def test_a_running_server_makes_the_vectors_too(memory: Memory) -> None:
    keeper = BackgroundSync(memory)
    keeper.start()
    assert keeper.wait_until_idle(60)
    counts = memory.status().counts
    assert counts is not None
    assert (counts.waiting, counts.embedded) == (0, 2)
    memory_append(memory, AppendInput("The zebra lives in Basel."))
    keeper.wake()
    assert keeper.wait_until_idle(60)
    counts = memory.status().counts
    assert counts is not None
    assert (counts.waiting, counts.embedded) == (0, 3)
    keeper.stop()


def test_the_keeper_survives_a_workspace_that_went_away(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    memory.workspace.rename(memory.workspace.with_name("elsewhere"))
    keeper = BackgroundSync(memory)
    keeper.start()
    assert keeper.wait_until_idle(60)
    keeper.stop()
    assert "not up to date" in caplog.text


def test_a_server_with_a_keeper_starts_and_stops(memory: Memory) -> None:
    async def run() -> None:
        for era in (HANDSHAKE, MODERN):
            async with Client(create_server(memory, CallContext()), mode=era) as client:
                assert cited(await told(client, "memory_search", query="readings"))

    anyio.run(run)
    assert not [thread for thread in threading.enumerate() if "keeper" in thread.name]


def test_an_entry_is_taken_in_while_vectors_of_others_are_made(tmp_path: Path) -> None:
    memory, embedder = gated_memory(tmp_path, "document")
    keeper = BackgroundSync(memory)
    keeper.start()
    assert embedder.entered.wait(60)
    done = threading.Event()

    def append() -> None:
        memory_append(memory, AppendInput("The zebra lives in Basel."))
        if memory.search("zebra", mode="keyword").hits:
            done.set()

    appending = threading.Thread(target=append)
    appending.start()
    in_time = done.wait(60)
    embedder.let_go.set()
    appending.join(60)
    keeper.stop()
    memory.close()
    assert in_time
