"""The MCP server as clients start it: a process, its standard input and its standard output."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from tests.surfaces.tool_text import cited, text_in, text_of

PROGRAM = (
    "import argparse, sys; from notewell.cli import mcp; parser = argparse.ArgumentParser(); "
    "mcp.add_options(parser); sys.exit(mcp.run(parser.parse_args()))"
)

NOISY = """
import os, subprocess, sys
from notewell import open_memory
from notewell.mcp_server import create_server, greeting_of, serve_stdio
from notewell.testing import HashEmbedder
from notewell.tools import CallContext

class Noisy(HashEmbedder):
    def embed(self, texts, kind):
        print("a library prints")
        os.write(1, b"so does its C code\\n")
        subprocess.run(["echo", "and its children"], check=True)
        return super().embed(texts, kind)

workspace, state = sys.argv[1:]
with open_memory(workspace, state_dir=state, embedder=Noisy()) as memory:
    context = CallContext(origin="mcp")
    greeting = greeting_of(memory, context, has_entries=False)
    serve_stdio(greeting, lambda: create_server(memory, context))
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    text = "# Decisions\n\nWe store readings in SQLite.\n"
    (folder / "MEMORY.md").write_text(text, encoding="utf-8")
    return folder


def arguments_for(workspace: Path) -> list[str]:
    state = str(workspace.parent / "state")
    return ["-c", PROGRAM, "serve", "-w", str(workspace), "--state-dir", state]


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_client_lists_searches_gets_appends_and_finds(workspace: Path, era: str) -> None:
    async def asking() -> None:
        started = StdioServerParameters(command=sys.executable, args=arguments_for(workspace))
        with anyio.fail_after(120):
            async with Client(started, mode=era) as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                assert names[0] == "memory_search"
                text = f"The {era} zebra lives in Basel."
                saved = await client.call_tool("memory_append", {"text": text})
                found = await client.call_tool("memory_search", {"query": f"{era} zebra"})
                path = text_of(saved).removeprefix("Saved: ").split("#")[0]
                hit = cited(text_of(found))[0]
                assert hit.startswith(f"{path}#L")
                read = await client.call_tool("memory_get", {"path": hit})
                assert text in text_of(read)

    anyio.run(asking)


def request(number: int, method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


HELLO = request(
    1,
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "by hand", "version": "1"},
)
READY = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})


def talk_by_hand(command: list[str], *lines: str) -> tuple[list[dict[str, Any]], str]:
    """Line by line, waiting for each answer; then the input is closed and the server ends.

    Half of a surrogate pair is not JSON to the SDK, so such a line may stay unanswered.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # What is printed must wait in a buffer here, as it does for users.
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        answers = []
        for line in (HELLO, READY, *lines):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            if '"id": ' in line and "\\ud800" not in line:
                answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest, errors = process.stdout.read(), process.stderr.read()
        assert process.wait(60) == 0
    answers += [json.loads(line) for line in rest.splitlines()]
    return answers, errors


def test_standard_output_carries_the_protocol_and_nothing_else(workspace: Path) -> None:
    answers, errors = talk_by_hand(
        [sys.executable, "-c", NOISY, str(workspace), str(workspace.parent / "state")],
        request(2, "tools/call", name="memory_search", arguments={"query": "readings"}),
        request(3, "tools/call", name="memory_append", arguments={"text": "a zebra"}),
        request(4, "tools/call", name="memory_search", arguments={"query": "a zebra"}),
    )
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"
    assert "a library prints" in errors
    assert "so does its C code" in errors
    assert "and its children" in errors


def test_what_is_no_message_costs_nobody_the_connection(workspace: Path) -> None:
    answers, errors = talk_by_hand(
        [sys.executable, *arguments_for(workspace)],
        "this is not JSON",
        '{"jsonrpc": "2.0", "method": 5}',
        request(2, "tools/call", name="memory_get", arguments={"path": "\ud800.md"}),
        request(3, "tools/call", name="memory_search", arguments={"query": "x" * 1_000_000}),
        request(4, "no/such/method"),
        request(5, "tools/call", name="memory_search", arguments={"query": "readings"}),
    )
    by_id = {answer.get("id"): answer for answer in answers}
    assert cited(text_in(by_id[5]))
    assert "100000 characters at most" in json.dumps(by_id[3])
    assert "error" in by_id[4]
    assert "Traceback" not in json.dumps(answers) + errors


def started(workspace: Path, content: Mapping[str, object]) -> StdioServerParameters:
    """The server with these settings in the user's own file."""
    file = workspace.parent / "settings.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    environment = {**os.environ, "NOTEWELL_CONFIG": str(file)}
    return StdioServerParameters(
        command=sys.executable, args=arguments_for(workspace), env=environment
    )


@pytest.mark.parametrize("watch", [True, False])
def test_many_new_notes_are_found_without_a_restart(workspace: Path, watch: bool) -> None:
    """More than a search indexes by itself; without a watch, a search starts the sync."""
    search = {"provider": "none", "sync": {"watch": watch, "watchDebounceMs": 50}}
    settings = {"agents": {"defaults": {"memorySearch": search}}}

    async def asking() -> None:
        with anyio.fail_after(120):
            async with Client(started(workspace, settings)) as client:
                first = await client.call_tool("memory_search", {"query": "readings"})
                assert cited(text_of(first))
                (workspace / "memory").mkdir()
                for number in range(40):
                    note = workspace / "memory" / f"plant-{number}.md"
                    note.write_text(f"The orchid of room {number} is in bloom.", encoding="utf-8")
                found = 0
                while found < 40:
                    asked = {"query": "orchid", "maxResults": 200}
                    text = text_of(await client.call_tool("memory_search", asked))
                    left_out = re.search(r"left out to keep this short: (\d+)", text)
                    found = len(set(cited(text))) + (int(left_out[1]) if left_out else 0)
                    await anyio.sleep(0.1)

    anyio.run(asking)


def test_an_index_that_cannot_be_written_is_named_in_the_answer(workspace: Path) -> None:
    """A user who may write everywhere still cannot make a folder below a file."""
    (workspace.parent / "state").write_text("not a folder\n", encoding="utf-8")

    async def asking() -> None:
        with anyio.fail_after(60):
            async with Client(started(workspace, {})) as client:
                text = text_of(await client.call_tool("memory_search", {"query": "readings"}))
        # Which of the two depends on the system.
        assert re.search("the index cannot be written: (File exists|Not a directory)", text)
        assert "nothing is indexed yet" not in text
        assert str(workspace.parent) not in text

    anyio.run(asking)


@pytest.mark.parametrize(
    "settings",
    [
        {"agents": {"defaults": {"memorySearch": {"enabled": False}}}},
        {"plugins": {"slots": {"memory": "none"}}},
    ],
)
def test_a_memory_that_is_switched_off_is_a_server_without_tools(
    workspace: Path, settings: dict[str, object]
) -> None:
    async def asking() -> None:
        with anyio.fail_after(60):
            async with Client(started(workspace, settings), mode="legacy") as client:
                assert (await client.list_tools()).tools == []
                assert "no tools: this agent has no memory" in str(client.instructions)
                assert str(workspace.parent) not in str(client.instructions)
                called = await client.call_tool("memory_search", {"query": "readings"})
                assert called.is_error
                assert "this agent has no memory" in text_of(called)

    anyio.run(asking)
    assert not (workspace.parent / "state").exists()


def test_bindings_decide_whose_memory_a_conversation_gets(workspace: Path) -> None:
    other = workspace.parent / "other"
    other.mkdir()
    (other / "MEMORY.md").write_text("The walrus is at work.\n", encoding="utf-8")
    settings = {
        "agents": {
            "defaults": {"memorySearch": {"provider": "none"}},
            "list": [
                {"id": "main", "default": True, "workspace": str(workspace)},
                {"id": "work", "workspace": str(other)},
            ],
        },
        "bindings": [{"agentId": "work", "match": {"channel": "slack"}}],
    }

    async def read(key: str) -> str:
        server = started(workspace, settings)
        program = [*server.args[:3], "--session-key", key]
        program += ["--state-dir", str(workspace.parent / "state")]
        # Elsewhere than in a workspace, which would be taken in place of the agent's own.
        away = workspace.parent / "away"
        away.mkdir(exist_ok=True)
        async with Client(server.model_copy(update={"args": program, "cwd": str(away)})) as client:
            (content,) = (await client.read_resource("memory://MEMORY.md")).contents
            return str(content.model_dump()["text"])

    async def asking() -> None:
        with anyio.fail_after(120):
            assert "walrus" in await read("agent:main:slack:dm:ada")
            assert "SQLite" in await read("agent:main:telegram:dm:ada")

    anyio.run(asking)
