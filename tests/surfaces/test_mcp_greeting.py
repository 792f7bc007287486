"""The first answers of an MCP server, which it gives before the SDK is imported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.server import Server
from mcp.shared.message import SessionMessage
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    KNOWN_PROTOCOL_VERSIONS,
    MODERN_PROTOCOL_VERSIONS,
)
from tests.surfaces.tool_text import cited, text_in

from notewell import open_memory
from notewell.config import Settings
from notewell.core import ConversationScope
from notewell.entries import EntryStore
from notewell.errors import WorkspaceNotSet
from notewell.mcp_server import (
    Greeting,
    create_empty_server,
    create_server,
    empty_greeting,
    greeting_of,
)
from notewell.mcp_server.greeting import ENVELOPE_VERSION, HANDSHAKE_VERSIONS, Greeter
from notewell.tools import DISABLED, CallContext, failure_of

Message = dict[str, Any]

META = "io.modelcontextprotocol/"
READY: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(id_: int | str, method: str, **params: object) -> Message:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def hello(id_: int | str = 1, version: str = "2025-11-25", **capabilities: object) -> Message:
    client = {"name": "by hand", "version": "1"}
    return request(
        id_, "initialize", protocolVersion=version, capabilities=capabilities, clientInfo=client
    )


def modern(id_: int | str, method: str, **params: object) -> Message:
    envelope = {
        META + "protocolVersion": "2026-07-28",
        META + "clientInfo": {"name": "by hand", "version": "1"},
        META + "clientCapabilities": {},
    }
    return request(id_, method, _meta=envelope, **params)


def search(id_: int | str, text: str = "readings") -> Message:
    return request(id_, "tools/call", name="memory_search", arguments={"query": text})


# -- the same answers as the SDK's ---------------------------------------------------------------


def answers_of_sdk(server: Server[Any], messages: Iterable[Message]) -> list[Message]:
    """What the SDK's own loop answers, one message after the other."""
    answers: list[Message] = []

    async def asking() -> None:
        to_server, server_in = anyio.create_memory_object_stream[SessionMessage | Exception]()
        server_out, from_server = anyio.create_memory_object_stream[SessionMessage]()
        async with anyio.create_task_group() as group:
            options = server.create_initialization_options()
            group.start_soon(server.run, server_in, server_out, options)
            for message in messages:
                parsed = types.jsonrpc_message_adapter.validate_python(message)
                await to_server.send(SessionMessage(parsed))
                if "id" in message:
                    sent = (await from_server.receive()).message
                    text = sent.model_dump_json(by_alias=True, exclude_unset=True)
                    answers.append(json.loads(text))
            await to_server.aclose()
            await from_server.aclose()

    anyio.run(asking)
    return answers


def answers_of_greeter(greeting: Greeting, messages: Iterable[Message]) -> list[Message]:
    greeter = Greeter(greeting)
    replies = [greeter.reply(json.dumps(message).encode()) for message in messages]
    answers = [reply.later() if reply.later else reply.answer for reply in replies]
    return [json.loads(answer) for answer in answers if answer is not None]


CONVERSATIONS: dict[str, Sequence[Message]] = {
    **{
        version: (hello(1, version), READY, request("b", "tools/list"), request(3, "ping"))
        for version in (*KNOWN_PROTOCOL_VERSIONS, "1999-01-01")
        if version not in MODERN_PROTOCOL_VERSIONS or version == "1999-01-01"
    },
    "newer than a handshake": (hello(1, "2026-07-28"), request(2, "tools/list")),
    "envelope": (modern(1, "server/discover"), modern(2, "tools/list")),
    "progress token": (hello(), request(2, "tools/list", _meta={"progressToken": 5})),
}


LISTS = ("prompts/list", "resources/list", "resources/templates/list")


@pytest.mark.parametrize("messages", CONVERSATIONS.values(), ids=CONVERSATIONS)
@pytest.mark.parametrize("kind", ["all", "read only", "group", "entries", "off", "not set"])
def test_each_answer_is_the_one_of_the_sdk(
    tmp_path: Path, kind: str, messages: Sequence[Message]
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    if kind in ("off", "not set"):
        failure = DISABLED if kind == "off" else failure_of(WorkspaceNotSet("/config"))
        greeting, server = empty_greeting(failure), create_empty_server(failure)
        assert [spec.name for spec in greeting.tools] == ["memory_status"] * (kind == "not set")
        assert answers_of_greeter(greeting, messages) == answers_of_sdk(server, messages)
        return
    key = "agent:main:slack:group:g1" if kind == "group" else None
    context = CallContext(session_key=key, origin="mcp")
    # Neither of the two uses the store itself here.
    entries = EntryStore.__new__(EntryStore) if kind == "entries" else None
    read_only = kind == "read only"
    settings = Settings(scope=ConversationScope())  # Direct conversations only.
    with open_memory(notes, state_dir=tmp_path / "state", settings=settings) as memory:
        has_entries = entries is not None
        greeting = greeting_of(memory, context, has_entries=has_entries, read_only=read_only)
        server = create_server(
            memory, context, background_sync=False, entries=entries, read_only=read_only
        )
        answers = answers_of_greeter(greeting, messages)
        assert answers == answers_of_sdk(server, messages)
    listed = [len(answer["result"]["tools"]) for answer in answers if "tools" in answer["result"]]
    assert set(listed) == {{"all": 4, "read only": 3, "group": 0, "entries": 7}[kind]}


@pytest.mark.parametrize("kind", ["all", "read only", "group", "refused"])
@pytest.mark.parametrize("era", ["handshake", "envelope"])
def test_prompts_and_resources_are_those_of_the_sdk(tmp_path: Path, kind: str, era: str) -> None:
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "MEMORY.md").write_text("private\n", encoding="utf-8")
    for number in range(101):
        (notes / "memory" / f"{number:03} ü.md").write_text("x\n", encoding="utf-8")
    messages = [request(number, method) for number, method in enumerate(LISTS, 2)]
    if era == "envelope":
        messages = [modern(message["id"], message["method"]) for message in messages]
    messages = [hello(), READY, *messages] if era == "handshake" else messages
    key = "agent:main:slack:group:g1" if kind in ("group", "refused") else None
    context = CallContext(session_key=key, origin="mcp")
    allowed = Settings() if kind != "refused" else Settings(scope=ConversationScope())
    with open_memory(notes, state_dir=tmp_path / "state", settings=allowed) as memory:
        read_only = kind == "read only"
        greeting = greeting_of(memory, context, has_entries=False, read_only=read_only)
        server = create_server(memory, context, background_sync=False, read_only=read_only)
        answers = answers_of_greeter(greeting, messages)
        assert answers == answers_of_sdk(server, messages)
    prompts, resources = (
        next(answer["result"][key] for answer in answers if key in answer["result"])
        for key in ("prompts", "resources")
    )
    # A page has 100 notes; only a private conversation has MEMORY.md and the start of a session.
    expected = {"all": (3, 101), "read only": (2, 101), "group": (2, 100), "refused": (0, 0)}
    assert (len(prompts), len(resources)) == expected[kind]


def test_a_server_without_notes_leaves_the_other_lists_to_the_sdk() -> None:
    greeter = Greeter(empty_greeting(DISABLED))
    greeter.reply(json.dumps(hello()).encode())
    for method in LISTS:
        assert greeter.reply(json.dumps(request(2, method)).encode()) == (None, True, None)


def test_resources_of_a_host_with_many_conversations_are_left_to_the_sdk(tmp_path: Path) -> None:
    context = CallContext(origin="mcp")
    with open_memory(tmp_path, state_dir=tmp_path / "state") as memory:
        greeting = greeting_of(memory, context, has_entries=False, key_per_call=True)
    greeter = Greeter(greeting)
    greeter.reply(json.dumps(hello()).encode())
    line = json.dumps(request(2, "resources/list")).encode()
    assert greeter.reply(line) == (None, True, None)


def test_only_the_first_list_of_resources_starts_a_thread(command: list[str]) -> None:
    def conversation(pipe: Pipe) -> None:
        pipe.send(hello(1), READY, *(request(number, "resources/list") for number in (2, 3, 4)))
        answers = pipe.answers(4)
        assert answers[2]["result"] == answers[3]["result"] == answers[4]["result"]
        assert answers[2]["result"]["resources"][1]["uri"] == "memory://MEMORY.md"

    talk(command, conversation)


def test_a_list_that_fails_is_answered_by_the_sdk(command: list[str], tmp_path: Path) -> None:
    def conversation(pipe: Pipe) -> None:
        pipe.send(hello(1), READY)
        pipe.answers(1)  # It has opened the workspace by now.
        (tmp_path / "notes").rename(tmp_path / "gone")
        pipe.send(request(2, "resources/list"))
        assert "cannot be opened" in pipe.answers(1)[2]["error"]["message"]

    talk(command, conversation)


def test_the_versions_are_those_of_the_sdk() -> None:
    assert HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert (ENVELOPE_VERSION,) == MODERN_PROTOCOL_VERSIONS


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"this is not JSON",
        b"[]",
        b"[" * 100_000,
        b'"tools/list"',
        b'\xff{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": true, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"a": NaN}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "x"}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": 5}}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "server/discover"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize"}',
        json.dumps(request(1, "server/discover", _meta={META + "protocolVersion": 7})).encode(),
    ],
)
def test_the_sdk_decides_about_what_is_unusual(line: bytes) -> None:
    greeter = Greeter(Greeting("hello"))
    greeter.reply(json.dumps(hello()).encode())
    assert greeter.reply(line) == (None, True, None)


# -- the process ---------------------------------------------------------------------------------


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "MEMORY.md").write_text("We store readings in SQLite.\n", encoding="utf-8")
    place = ["-w", str(notes), "--state-dir", str(tmp_path / "state")]
    code = "import sys; from notewell.cli import main; sys.exit(main(sys.argv[1:]))"
    return [sys.executable, "-c", code, "mcp", "serve", *place]


class Pipe:
    """A client that writes what it likes, when it likes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self.input, self._output = process.stdin, process.stdout

    def send(self, *messages: Message) -> None:
        """All of them in one write."""
        self.input.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        self.input.flush()

    def answers(self, count: int) -> dict[int | str, Message]:
        """By their ids; a second answer to a request would be one too many."""
        answers = [json.loads(self._output.readline()) for _ in range(count)]
        by_id = {answer["id"]: answer for answer in answers}
        assert len(by_id) == count
        return by_id


def talk(command: list[str], conversation: Any) -> None:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pipe = Pipe(process)
        try:
            conversation(pipe)
        finally:
            pipe.input.close()
        # Nothing comes after the last answer that the conversation has read.
        assert process.stdout
        assert process.stdout.read() == b""
        assert process.wait(60) == 0


def test_everything_in_one_write_is_answered_once(command: list[str]) -> None:
    def conversation(pipe: Pipe) -> None:
        pipe.send(
            hello(1), READY, search(2), request(3, "tools/list"), request(4, "ping"), search(5)
        )
        answers = pipe.answers(5)
        assert set(answers) == {1, 2, 3, 4, 5}
        assert answers[1]["result"]["protocolVersion"] == "2025-11-25"
        for number in (2, 5):
            assert cited(text_in(answers[number]))

    talk(command, conversation)


def test_a_message_may_arrive_byte_by_byte(command: list[str]) -> None:
    def conversation(pipe: Pipe) -> None:
        lines = b"".join(json.dumps(each).encode() + b"\r\n" for each in (hello(), search("zwei")))
        for at in range(len(lines)):
            pipe.input.write(lines[at : at + 1])
            pipe.input.flush()
        assert cited(text_in(pipe.answers(2)["zwei"]))

    talk(command, conversation)


def test_what_is_no_json_costs_nobody_the_answer(command: list[str]) -> None:
    def conversation(pipe: Pipe) -> None:
        pipe.input.write(b'no JSON\n\n{"jsonrpc": "2.0"}\n\xff\xfe\n')
        pipe.send(hello(), search(2))
        assert set(pipe.answers(2)) == {1, 2}

    talk(command, conversation)


@pytest.mark.parametrize("before", [b"", json.dumps(hello()).encode()[:40]])
def test_a_client_that_leaves_at_once_ends_the_server(command: list[str], before: bytes) -> None:
    talk(command, lambda pipe: pipe.input.write(before))


def test_a_client_that_stops_reading_ends_the_server(command: list[str]) -> None:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pipe = Pipe(process)
        pipe.send(hello())
        pipe.answers(1)
        assert process.stdout
        process.stdout.close()
        pipe.send(search(2))
        assert process.wait(60) == 0


def test_a_process_without_standard_input_says_so(command: list[str]) -> None:
    program = ["sh", "-c", '"$@" <&-', "sh", *command]
    ended = subprocess.run(
        program, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )
    assert ended.returncode != 0
    assert b"standard input is closed" in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_an_interrupt_ends_the_server_while_it_waits(command: list[str]) -> None:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pipe = Pipe(process)
        pipe.send(hello(), search(2))
        pipe.answers(2)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


TAKES_INTERRUPT = """
import os, signal, sys, threading, time

def waits() -> bool:
    return sys._current_frames()[threading.main_thread().ident].f_code.co_name == "select"

def take() -> None:
    os.read(int(sys.argv[1]), 1)
    while not all([waits(), time.sleep(0.1) is None, waits()]):
        pass
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

threading.Thread(target=take, daemon=True).start()
from notewell.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="threads have no signals there")
def test_an_interrupt_that_another_thread_gets_ends_the_server_too(command: list[str]) -> None:
    told, tell = os.pipe()
    words = command[command.index("mcp") :]
    with (
        os.fdopen(tell, "wb", buffering=0) as teller,
        subprocess.Popen(
            [sys.executable, "-c", TAKES_INTERRUPT, str(told), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[told],
        ) as process,
    ):
        os.close(told)
        pipe = Pipe(process)
        pipe.send(hello(), search(2))
        pipe.answers(2)
        teller.write(b"x")
        assert process.wait(60) == 130


def test_before_the_handshake_only_the_sdk_answers(command: list[str]) -> None:
    def conversation(pipe: Pipe) -> None:
        pipe.send(request(1, "tools/list"), request(2, "ping"), request(3, "server/discover"))
        answers = pipe.answers(3)
        assert answers[1]["error"]["message"] == "Invalid request parameters"
        assert answers[2]["result"] == {}
        assert answers[3]["error"]["message"] == "Method not found"
        pipe.send(hello(4), search(5))
        assert cited(text_in(pipe.answers(2)[5]))

    talk(command, conversation)


def test_both_eras_work_on_one_pipe_in_any_order(command: list[str]) -> None:
    """A client may ask `server/discover`, hear nothing in time, and send `initialize`."""

    def conversation(pipe: Pipe) -> None:
        found = {"name": "memory_search", "arguments": {"query": "readings"}}
        pipe.send(modern(0, "server/discover"), hello(1), READY)
        first = pipe.answers(2)
        assert first[0]["result"]["supportedVersions"] == ["2026-07-28"]
        assert first[1]["result"]["protocolVersion"] == "2025-11-25"
        pipe.send(search(2), modern(3, "tools/call", **found), search(4))
        answers = pipe.answers(3)
        for number in (2, 3, 4):
            assert cited(text_in(answers[number]))
        assert answers[3]["result"]["resultType"] == "complete"
        assert "resultType" not in answers[2]["result"]

    talk(command, conversation)


def test_a_second_handshake_is_answered_once(command: list[str]) -> None:
    def conversation(pipe: Pipe) -> None:
        pipe.send(hello(1), hello(2, "2025-03-26"), search(3))
        answers = pipe.answers(3)
        assert answers[2]["result"]["protocolVersion"] == "2025-03-26"

    talk(command, conversation)


def test_capabilities_that_the_sdk_cannot_read_do_not_cost_the_session(command: list[str]) -> None:
    def conversation(pipe: Pipe) -> None:
        pipe.send(hello(1, roots="yes"), READY, search(2))
        assert cited(text_in(pipe.answers(2)[2]))

    talk(command, conversation)


def test_a_refused_handshake_may_be_sent_again(command: list[str]) -> None:
    def conversation(pipe: Pipe) -> None:
        pipe.send(request(1, "initialize", protocolVersion=5))
        assert "error" in pipe.answers(1)[1]
        pipe.send(hello(2), search(3))
        assert set(pipe.answers(2)) == {2, 3}

    talk(command, conversation)


def test_the_first_answers_do_not_need_the_sdk(command: list[str], tmp_path: Path) -> None:
    """Here the SDK cannot be imported at all before the client has its answers."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # In the loader: while a finder waits, no other thread can import anything.
    held = f"""
import importlib.abc, importlib.machinery, sys
class Held(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "pydantic" or name.startswith(("mcp.", "mcp_types", "anyio")):
            sys.meta_path.remove(self)
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            load = spec.loader.exec_module
            wait = lambda: open({str(gate)!r}, "rb").read()
            spec.loader.exec_module = lambda module: (wait(), load(module))
            return spec
sys.meta_path.insert(0, Held())
"""
    code = held + command[2]

    def conversation(pipe: Pipe) -> None:
        pipe.send(modern(0, "server/discover"), hello(1), READY, request(2, "tools/list"))
        pipe.send(search(3), request(4, "ping"))
        pipe.send(*(request(method, method) for method in LISTS))
        answers = pipe.answers(7)
        gate.write_bytes(b"")
        assert set(answers) == {0, 1, 2, 4, *LISTS}
        [bootstrap, note] = answers["resources/list"]["result"]["resources"]
        assert (bootstrap["name"], note["name"]) == ("bootstrap", "MEMORY.md")
        assert cited(text_in(pipe.answers(1)[3]))

    talk([command[0], "-c", code, *command[3:]], conversation)
