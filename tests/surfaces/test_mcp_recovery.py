"""A server whose memory cannot be opened when it starts: it says why, and recovers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from tests.surfaces.test_mcp_greeting import (
    LISTS,
    META,
    answers_of_greeter,
    answers_of_sdk,
    hello,
    modern,
    request,
)
from tests.surfaces.tool_text import cited, text_of

from notewell.errors import WorkspaceMissing
from notewell.mcp_server import (
    OpenedServer,
    create_recovering_server,
    waiting_greeting,
)

SERVE = (
    "import sys; from notewell.cli import main; sys.exit(main(['mcp', 'serve', *sys.argv[1:]]))"
)
WORDS_ONLY = {"agents": {"defaults": {"memorySearch": {"provider": "none"}}}}


class Place:
    """A folder of notes and a settings file, either of which may be missing or broken."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes = folder / "notes"
        self.config = folder / "settings.json"
        self.write_notes()
        self.write_config(json.dumps(WORDS_ONLY))

    def write_notes(self) -> None:
        self.notes.mkdir()
        (self.notes / "MEMORY.md").write_text("We store readings in SQLite.\n", encoding="utf-8")

    def write_config(self, text: str) -> None:
        self.config.write_text(text, encoding="utf-8")

    def break_(self, what: str) -> None:
        if what == "folder":
            self.notes.rename(self.folder / "elsewhere")
        else:
            self.write_config('{"agents": ')

    def mend(self, what: str) -> None:
        if what == "folder":
            (self.folder / "elsewhere").rename(self.notes)
        else:
            self.write_config(json.dumps(WORDS_ONLY))

    def arguments(self, *more: str) -> list[str]:
        place = ["-w", str(self.notes), "--state-dir", str(self.folder / "state")]
        return ["-c", SERVE, *place, "--config", str(self.config), *more]

    @asynccontextmanager
    async def client(self, era: str, changes: list[str]) -> AsyncIterator[Client]:
        """`changes` gets the methods of the server's notifications."""

        async def heard(message: object) -> None:
            if isinstance(message, CHANGES):
                changes.append(message.method)

        server = StdioServerParameters(
            command=sys.executable, args=self.arguments(), env=dict(os.environ)
        )
        mode = "legacy" if era == "handshake" else "2026-07-28"
        with anyio.fail_after(120):
            async with Client(server, mode=mode, message_handler=heard) as client:
                yield client


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


CHANGES = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)
KINDS = ("tools", "prompts", "resources")
REASONS = {"folder": "the notes cannot be opened", "settings": "notewell config check"}


@pytest.mark.parametrize("era", ["handshake", "envelope"])
@pytest.mark.parametrize("broken", REASONS)
def test_the_server_starts_says_why_and_recovers(place: Place, broken: str, era: str) -> None:
    place.break_(broken)

    async def asking() -> None:
        changes: list[str] = []
        async with place.client(era, changes) as client:
            if era == "handshake":
                assert REASONS[broken] in str(client.instructions)
                assert str(place.folder) not in str(client.instructions)
            assert [tool.name for tool in (await client.list_tools()).tools] == ["memory_status"]
            assert (await client.list_prompts()).prompts == []
            assert (await client.list_resources()).resources == []
            status = await client.call_tool("memory_status", {})
            assert status.is_error
            assert REASONS[broken] in text_of(status)
            assert str(place.folder) not in text_of(status)
            place.mend(broken)
            await recover(client)
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert {"memory_search", "memory_get", "memory_append", "memory_status"} <= tools
            found = await client.call_tool("memory_search", {"query": "readings"})
            assert cited(text_of(found)) == ["MEMORY.md#L1-L1"]
            prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
            assert prompts == ["recall", "bootstrap", "flush"]
            resources = [one.name for one in (await client.list_resources()).resources]
            assert resources == ["bootstrap", "MEMORY.md"]
            prompt = await client.get_prompt("bootstrap")
            assert "readings" in prompt.model_dump_json()
            note = await client.read_resource("memory://MEMORY.md")
            assert "readings" in note.model_dump_json()
        assert {f"notifications/{kind}/list_changed" for kind in KINDS} == set(changes)

    async def recover(client: Client) -> None:
        if era == "handshake":
            check(await client.call_tool("memory_status", {}))
            return
        async with client.listen(
            tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
        ) as subscription:
            check(await client.call_tool("memory_status", {}))
            count = 0
            async for _ in subscription:
                count += 1
                if count == len(KINDS):
                    break

    def check(status: types.CallToolResult) -> None:
        """The client read the instructions before there was a memory."""
        assert not status.is_error
        assert "You remember only what you look up." in text_of(status)

    anyio.run(asking)


def test_a_tool_that_a_client_knows_from_before_recovers_the_memory(place: Place) -> None:
    place.break_("folder")

    async def asking() -> None:
        async with place.client("handshake", []) as client:
            assert (await client.call_tool("memory_search", {"query": "readings"})).is_error
            place.mend("folder")
            found = await client.call_tool("memory_search", {"query": "readings"})
            assert "The memory is open now" in text_of(found)
            assert cited(text_of(found)) == ["MEMORY.md#L1-L1"]

    anyio.run(asking)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--agent", "no/agent"], "is not an id"),
        (["--http", "--port", "0"], "no such folder"),
    ],
)
def test_a_wrong_option_and_a_service_end_with_the_reason(
    place: Place, options: list[str], reason: str
) -> None:
    if "--http" in options:
        place.break_("folder")
    ended = subprocess.run(
        [sys.executable, *place.arguments(*options)],
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert ended.returncode in (1, 2)
    assert ended.stdout == ""
    assert reason in ended.stderr


@pytest.mark.parametrize("era", ["handshake", "envelope"])
def test_its_first_answers_are_those_of_the_sdk(era: str) -> None:
    greeting = waiting_greeting(WorkspaceMissing("/srv/notes"))

    def reopen() -> OpenedServer:
        raise WorkspaceMissing("/srv/notes")

    server = create_recovering_server(greeting, reopen)
    lists = ("tools/list", *LISTS)
    messages = [modern(number, method) for number, method in enumerate(lists, 2)]
    messages.insert(0, modern(1, "server/discover"))
    if era == "handshake":
        messages = [hello(1), *(request(one["id"], one["method"]) for one in messages[1:])]
    answers = answers_of_greeter(greeting, messages)
    assert answers == answers_of_sdk(server, messages)
    assert answers[0]["result"]["capabilities"] == {
        "tools": {"listChanged": True},
        "prompts": {"listChanged": True},
        "resources": {"subscribe": False, "listChanged": True},
    }
    assert META + "serverInfo" in json.dumps(answers) or era == "handshake"


def test_prompts_and_resources_open_the_memory_or_say_why_not(place: Place) -> None:
    place.break_("folder")

    async def asking() -> None:
        changes: list[str] = []
        async with place.client("handshake", changes) as client:
            for ask in (partial(client.get_prompt, "bootstrap"), read_note(client)):
                with pytest.raises(MCPError, match="the notes cannot be opened"):
                    await ask()
            place.mend("folder")
            assert "readings" in (await client.get_prompt("bootstrap")).model_dump_json()
            assert len((await client.list_tools()).tools) > 1
        assert len(changes) == len(KINDS)

    def read_note(client: Client) -> Callable[[], Awaitable[object]]:
        return partial(client.read_resource, "memory://MEMORY.md")

    anyio.run(asking)
