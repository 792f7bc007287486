"""The size and the form of what an MCP server sends: a model reads it, and pays for it.

Each test starts the program and counts the bytes of its answers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.tool_text import cited, text_in

Message = dict[str, Any]

NOTES = {
    "MEMORY.md": "# Memory\n\n## Decisions\n- The office espresso machine is the Rancilio Silvia "
    "Pro X, chosen on 2026-10-02 by Marta and Jonas.\n",
    "memory/kitchen.md": "# Kitchen\n\nMarta and Jonas compared three espresso machines for the "
    "office kitchen.\nThe Rancilio Silvia Pro X won: two boilers, quiet enough for the office, "
    "spare parts in Basel.\nThe Linea Micra was 1400 francs more.\n",
    "memory/suppliers.md": "# Suppliers\n\n## Coffee\nThe espresso machine of the office is "
    "serviced by Kaffeewerk twice a year; contract until 2028.\nBeans come from Miro, 4 kg a "
    "month.\n",
}
QUERY = "Which espresso machine did we choose for the office?"

# What the server sent for these notes while each answer was a text and JSON, and what the hosts
# that pass on only the JSON gave to their model (Claude Code, Codex).
BOTH_BYTES = 2393
JSON_BYTES = 1333
SPEC_BYTES = 2500

# Gemini CLI 0.61 adds a prefix to each name, and this to each schema.
GEMINI_PREFIX = "mcp_notewell_"
GEMINI_PROPERTY = {
    "wait_for_previous": {
        "type": "boolean",
        "description": "Set to true to wait for all previously requested tools in this turn to "
        "complete before starting. Set to false (or omit) to run in parallel. Use true when this "
        "tool depends on the output of previous tools.",
    }
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def indexed(workspace: Path) -> Path:
    """The server indexes too, in the background; a test of sizes does not wait for it."""
    command, environ = started(workspace, "index")
    subprocess.run(command, env=environ, check=True, capture_output=True, timeout=120)
    return workspace


def request(number: int, method: str, **params: object) -> Message:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def tool(number: int, name: str, **arguments: object) -> Message:
    return request(number, "tools/call", name=name, arguments=arguments)


def hello(version: str = "2025-11-25") -> Message:
    client = {"name": "by hand", "version": "1"}
    return request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=client)


def in_envelope(message: Message) -> Message:
    meta = "io.modelcontextprotocol/"
    envelope = {meta + "protocolVersion": "2026-07-28", meta + "clientCapabilities": {}}
    return {**message, "params": {**message["params"], "_meta": envelope}}


def started(workspace: Path, *command: str) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment of a program; its settings are the test's own."""
    config = workspace.parent / "settings.json"
    if not config.exists():
        configure(workspace, provider="none")
    state = ["--state-dir", str(workspace.parent / "state")]
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    environ = {**kept, "NOTEWELL_CONFIG": str(config)}
    return [sys.executable, "-m", "notewell", *command, "-w", str(workspace), *state], environ


def configure(workspace: Path, **search: object) -> None:
    settings = {"agents": {"defaults": {"memorySearch": search}}}
    (workspace.parent / "settings.json").write_text(json.dumps(settings), encoding="utf-8")


def answers(workspace: Path, messages: Sequence[Message], *options: str) -> dict[object, Message]:
    """One after the other: the next request is sent when the last one is answered."""
    command, environ = started(workspace, "mcp", "serve")
    lines: dict[object, Message] = {}
    with subprocess.Popen(
        [*command, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            while message["id"] not in lines:
                answer = json.loads(server.stdout.readline())
                lines[answer.get("id")] = answer
        server.stdin.close()
    return lines


def size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


# -- answers --------------------------------------------------------------------------------------


def test_three_hits_cost_at_most_six_tenths_of_what_they_cost_as_text_and_json(
    indexed: Path,
) -> None:
    result = answers(indexed, [hello(), tool(1, "memory_search", query=QUERY)])[1]["result"]
    text = text_in({"result": result})
    assert len(cited(text)) == 3
    assert size(result) <= 0.6 * BOTH_BYTES
    assert len(text.encode()) <= 0.6 * JSON_BYTES
    for path in cited(text):
        assert text.count(path) == 1
    for note in NOTES.values():
        assert text.count(note.strip()) == 1


@pytest.mark.parametrize("era", ["handshake", "envelope"])
def test_every_answer_is_one_text_in_both_eras(indexed: Path, era: str) -> None:
    calls = [
        tool(1, "memory_search", query=QUERY),
        tool(2, "memory_get", path="memory/kitchen.md#L3-L4"),
        tool(3, "memory_append", text="The grinder is a Niche Zero."),
        tool(4, "memory_status"),
        tool(5, "memory_get", path="nothing.md"),
        tool(6, "memory_search", query="zeppelin"),
    ]
    talk = [hello(), *calls] if era == "handshake" else [in_envelope(call) for call in calls]
    got = answers(indexed, talk)
    texts = {number: text_in(got[number]) for number in range(1, 7)}
    assert [got[number]["result"].get("isError", False) for number in texts] == [
        *([False] * 4),
        True,
        False,
    ]
    assert '<recalled path="memory/kitchen.md#L3-L4" total="5">\nMarta and' in texts[2]
    assert "To read on, call memory_get with from=5." in texts[2]
    assert texts[3].startswith("Saved: memory/")
    assert "\nNext step: " in texts[5]
    assert texts[6].startswith("Nothing found: ")


@pytest.mark.parametrize(
    ("options", "says", "silent"),
    [
        (["--citations", "on"], "Cite as Source: path.", "Do not mention paths."),
        (["--citations", "off"], "Do not mention paths.", "Cite as Source: path."),
    ],
)
def test_the_setting_of_citations_is_said_in_the_answer(
    indexed: Path, options: list[str], says: str, silent: str
) -> None:
    search = tool(1, "memory_search", query=QUERY)
    text = text_in(answers(indexed, [hello(), search], *options)[1])
    assert text.count(says) == 1
    assert silent not in text


def test_an_answer_that_may_lack_something_says_so(indexed: Path) -> None:
    search = tool(1, "memory_search", query=QUERY)
    configure(indexed, provider="openai")
    text = text_in(answers(indexed, [hello(), search])[1])
    assert len(cited(text)) == 3
    # What follows depends on whether the sync of the server has ended.
    assert "\nNote: the index holds vectors of words alone: " in text


# -- the list of tools ----------------------------------------------------------------------------

VARIANTS: dict[str, list[Message]] = {
    "handshake": [hello(), request(1, "tools/list")],
    "envelope": [in_envelope(request(1, "tools/list"))],
}


@pytest.mark.parametrize("messages", VARIANTS.values(), ids=VARIANTS)
def test_the_list_of_tools_is_short_for_every_client(
    workspace: Path, messages: list[Message]
) -> None:
    answer = answers(workspace, messages)[1]
    specs = answer["result"]["tools"]
    assert len(specs) == 4
    assert size(answer) < SPEC_BYTES
    # Also in the host that adds most to it.
    assert sum(size(as_gemini_sends(spec)) for spec in specs) < SPEC_BYTES


def as_gemini_sends(spec: Message) -> Message:
    schema = spec["inputSchema"]
    properties = {**schema["properties"], **GEMINI_PROPERTY}
    return {
        "name": GEMINI_PREFIX + spec["name"],
        "description": spec["description"],
        "parametersJsonSchema": {**schema, "properties": properties},
    }
