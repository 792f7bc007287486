"""A key that lies in the environment decides nothing, unless the user said so.

Hosts set `OPENAI_API_KEY` for themselves. Each test starts a process with one, behind a proxy on
a loopback socket that refuses every connection and logs to which address it should have led.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.embedders.machine import Machine

KEY = "sk-canary-0123456789"
OPENAI = "api.openai.com:443"
Use: TypeAlias = Callable[[Machine], None]
CONSENT = {"useEnvironmentKeys": True}
PATIENT_HOST = """
import sys
from notewell.cli import hook_setup, main
from notewell.cli.hook_call import HookTime
hook_setup.time_of = lambda *_, **__: HookTime(600, 600)
sys.exit(main(sys.argv[1:]))
"""
"""Hosts grant a hook 10 s, and no setting can make that longer: a busy machine would decide."""


class ProxyLog:
    """A proxy that refuses everything, and remembers which addresses it was asked for."""

    def __init__(self) -> None:
        self.targets: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as incoming:
                self.targets.append(incoming.readline().decode("latin-1").split()[1])
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")


@pytest.fixture
def proxy() -> Iterator[ProxyLog]:
    log = ProxyLog()
    yield log
    log.close()


@pytest.fixture
def machine(tmp_path: Path, proxy: ProxyLog) -> Machine:
    variables = {"OPENAI_API_KEY": KEY, "HTTPS_PROXY": proxy.address, "NO_PROXY": ""}
    return Machine(tmp_path, variables)


def ask_over_mcp(machine: Machine) -> None:
    """`mcp serve` as a host starts it, with one search and one status."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    search = {"name": "memory_search", "arguments": {"query": "router"}}
    requests: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": search},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in requests)
    with subprocess.Popen(
        [sys.executable, "-m", "notewell", "mcp", "serve"],
        cwd=machine.workspace,
        env=machine.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(lines)
        server.stdin.flush()
        # The answer to the second request is the end of the search.
        while '"id":2' not in server.stdout.readline().replace(" ", ""):
            assert server.poll() is None
        server.stdin.close()
        server.wait(60)


def run_hooks(machine: Machine) -> None:
    payload = json.dumps(
        {"session_id": "s", "cwd": str(machine.workspace), "prompt": "when was the router shipped"}
    )
    for action in (["session-start"], ["prompt", "--recall"]):
        machine.run("hook", *action, "--host", "claude", stdin=payload)


def run_entry_hooks(machine: Machine) -> None:
    """The end of a turn in which the user has said something that becomes an entry."""
    said = {"role": "user", "content": "I prefer dark mode in every editor"}
    record = {"type": "user", "sessionId": "s", "uuid": "1", "message": said}
    transcript = machine.home / "s.jsonl"
    transcript.write_text(json.dumps(record) + "\n", encoding="utf-8")
    payload = json.dumps({"session_id": "s", "transcript_path": str(transcript)})
    subprocess.run(
        [sys.executable, "-c", PATIENT_HOST, "hook", "stop", "--host", "claude"],
        cwd=machine.workspace,
        env=machine.environment,
        input=payload,
        encoding="utf-8",
        timeout=240,
        check=True,
    )
    assert said["content"] in machine.run("entries", "list").stdout


def run_library(machine: Machine) -> None:
    program = (
        "import sys; from notewell import open_memory\n"
        "with open_memory(sys.argv[1]) as memory:\n"
        "    memory.sync(); memory.search('router')"
    )
    command = [sys.executable, "-c", program, str(machine.workspace)]
    subprocess.run(command, env=machine.environment, check=True, timeout=120)


def run_commands(machine: Machine) -> None:
    machine.run("index")
    machine.run("search", "router")


STARTED_BY_HOSTS = [ask_over_mcp, run_hooks, run_library]


@pytest.mark.parametrize("use", [run_commands, *STARTED_BY_HOSTS])
def test_without_settings_no_key_of_the_environment_is_used(
    machine: Machine, proxy: ProxyLog, use: Use
) -> None:
    use(machine)
    assert proxy.targets == []


def test_status_says_that_there_is_a_key_and_how_to_use_it(machine: Machine) -> None:
    machine.run("index")
    status = machine.run("status")
    assert "a key for openai is in the environment (OPENAI_API_KEY)" in status.stdout
    assert "no note is sent there" in status.stdout
    embedder = json.loads(machine.run("status", "--json").stdout)["embedder"]
    assert embedder["used"] == "embedded"
    assert embedder["unusedKeys"] == [{"provider": "openai", "variable": "OPENAI_API_KEY"}]
    assert KEY not in status.stdout


def test_a_user_who_says_so_lets_the_command_line_use_it(
    machine: Machine, proxy: ProxyLog
) -> None:
    machine.configure(CONSENT)
    machine.run("index")
    assert set(proxy.targets) == {OPENAI}


@pytest.mark.parametrize("use", [*STARTED_BY_HOSTS, run_entry_hooks])
def test_what_a_host_starts_never_uses_it(machine: Machine, proxy: ProxyLog, use: Use) -> None:
    plugin = {"enabled": True, "config": {"autoCapture": True}}
    machine.configure(CONSENT, plugins={"entries": {"memory-lancedb": plugin}})
    use(machine)
    assert proxy.targets == []


@pytest.mark.parametrize("use", [run_commands, ask_over_mcp, run_library])
def test_a_provider_that_the_settings_name_uses_its_variable_everywhere(
    machine: Machine, proxy: ProxyLog, use: Use
) -> None:
    machine.configure({"provider": "openai"})
    use(machine)
    assert set(proxy.targets) == {OPENAI}


def test_a_workspace_cannot_consent_for_its_user(machine: Machine, proxy: ProxyLog) -> None:
    content = {"agents": {"defaults": {"memorySearch": CONSENT}}}
    (machine.workspace / "notewell.json").write_text(json.dumps(content), encoding="utf-8")
    machine.run("index")
    assert proxy.targets == []
    assert "useEnvironmentKeys" in machine.run("config", "check").stdout
