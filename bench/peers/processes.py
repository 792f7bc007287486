"""Processes of peers: run to the end, spoken to line by line, and measured. Linux only."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bench.peers.peer import PeerFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Command: TypeAlias = "Sequence[str | Path]"

RUN_LIMIT_S = 3600.0
"""For one command: the largest installation and the slowest index, on a machine that is busy."""
START_LIMIT_S = 180.0
ANSWER_LIMIT_S = 180.0
LOG_CHARS = 600


def run(
    command: Command,
    environ: Mapping[str, str],
    cwd: Path,
    limit_s: float = RUN_LIMIT_S,
) -> str:
    """What the command prints; `PeerFailed` with the end of its output if it fails."""
    try:
        done = subprocess.run(
            command, env=environ, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=limit_s, check=False, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerFailed(f"{_named(command)}: {error}") from error
    if done.returncode:
        end = (done.stderr or done.stdout).strip()[-LOG_CHARS:]
        raise PeerFailed(f"{_named(command)} ended with {done.returncode}: {end}")
    return done.stdout


def _named(command: Command) -> str:
    """The program and its first argument, without folders."""
    return " ".join([Path(command[0]).name, *map(str, command[1:2])])


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def started(
    command: Command, environ: Mapping[str, str], cwd: Path, *, lines: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """A process in a group of its own, which is ended as a whole. Its log is `cwd/serve.log`;
    with `lines`, its input and output are pipes."""
    pipe = subprocess.PIPE if lines else None
    with (cwd / "serve.log").open("a", encoding="utf-8") as log:
        process = subprocess.Popen(
            command, env=environ, cwd=cwd, stdin=pipe or subprocess.DEVNULL, stdout=pipe or log,
            stderr=log, start_new_session=True, encoding="utf-8",
        )  # fmt: skip
        try:
            yield process
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    for name in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, name)
            process.wait(10.0)
        except ProcessLookupError:
            process.wait()
        except subprocess.TimeoutExpired:
            continue
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()


class LineProcess:
    """Speaks JSON, one object in each line, with a process: the drivers here, and MCP."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def tell(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise PeerFailed("the process has ended: see serve.log") from error

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The next object with the `id` of the message; other lines are passed over."""
        self.tell(message)
        assert self._process.stdout
        for line in self._process.stdout:
            if not line.startswith("{"):
                continue
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise PeerFailed(str(answer["error"])[:LOG_CHARS])
                return answer
        raise PeerFailed("the process ended without an answer: see serve.log")


class McpProcess:
    """A client of an MCP server on standard input and output."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._lines = LineProcess(process)
        self._count = 0
        self.pid = process.pid
        client = {"name": "bench", "version": "1"}
        self._ask(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client},
        )
        self._lines.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The text for the model, and the structured content."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise PeerFailed(text[:LOG_CHARS])
        return text, result.get("structuredContent") or {}

    def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._count += 1
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        result: dict[str, Any] = self._lines.ask(message)["result"]
        return result


def ask_http(url: str, body: object = None, headers: Mapping[str, str] | None = None) -> Any:
    """The JSON of an answer: of GET, or of POST if there is a body."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url, data, {"Content-Type": "application/json", **(headers or {})}
    )
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_LIMIT_S) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise PeerFailed(f"{error}: {error.read(LOG_CHARS).decode(errors='replace')}") from error
    except (OSError, ValueError) as error:
        raise PeerFailed(f"{url.partition('?')[0]}: {error}") from error


def await_http(url: str, process: subprocess.Popen[str]) -> None:
    """Until a server answers at all."""
    end = time.monotonic() + START_LIMIT_S
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2.0).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise PeerFailed(f"{url} did not answer: see serve.log")


# -- measures ------------------------------------------------------------------------------------


def tree(pid: int) -> list[int]:
    """The process and all that it has started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    except OSError:
        return []
    return [pid, *(each for child in children for each in tree(int(child)))]


def cpu_s(pid: int) -> float:
    """CPU time of a tree, with children that have ended."""
    ticks = 0
    for each in tree(pid):
        try:
            fields = Path(f"/proc/{each}/stat").read_text(encoding="utf-8").rpartition(")")[2]
        except OSError:
            continue
        ticks += sum(map(int, fields.split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    """Resident memory of a tree; what processes share is counted for each of them."""
    total = 0
    for each in tree(pid):
        try:
            status = Path(f"/proc/{each}/status").read_text(encoding="utf-8")
        except OSError:
            continue
        found = re.search(r"VmRSS:\s+(\d+)", status)
        total += int(found[1]) if found else 0
    return total / 1024
