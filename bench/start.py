"""What it costs to start: whole commands, CPU time, side by side with a bare Python.

    python -m bench.start [--json]

A command starts from nothing: interpreter, modules, settings, index, and for a hybrid search the
model. An MCP client has the answers of `initialize` and `tools/list` (Linux only).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.rows import Row

ROUNDS = 15
BARE = "python -c pass"
MCP_ROW = "mcp serve, tools listed"
LIMITS = {"keyword search": 6.0, "hybrid search": 15.0, MCP_ROW: 15.0}
CLIENT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
SAMPLE = Path(__file__).parents[1] / "examples" / "workspace"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = figures_of_commands()
    bare = figures[BARE]
    ratios = {name: seconds / bare for name, seconds in figures.items()}
    if arguments.json:
        print(json.dumps({"cpu_ms": {k: v * 1000 for k, v in figures.items()}, "ratio": ratios}))
    else:
        for name, seconds in figures.items():
            print(f"{name:24} {seconds * 1000:7.1f} ms CPU  {ratios[name]:5.1f} x {BARE}")
    return 0 if all(ratios[name] <= limit for name, limit in LIMITS.items()) else 1


def rows() -> list[Row]:
    figures = figures_of_commands()
    bare = figures[BARE] * 1000
    return [
        Row(f"cold: {name}", figures[name] * 1000, bare, limit) for name, limit in LIMITS.items()
    ]


def figures_of_commands() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as state:
        place = ["-w", str(SAMPLE), "--state-dir", state]
        notewell = [str(Path(sys.executable).parent / "notewell")]
        subprocess.run([*notewell, "index", *place], check=True, stdout=subprocess.DEVNULL)
        question = "which database did we choose?"
        commands = {
            BARE: [sys.executable, "-c", "pass"],
            "notewell --version": [*notewell, "--version"],
            "keyword search": [*notewell, "search", *place, "--mode", "keyword", question],
            "hybrid search": [*notewell, "search", *place, question],
            "get": [*notewell, "get", *place, "MEMORY.md"],
            "status": [*notewell, "status", *place],
            "index, nothing changed": [*notewell, "index", *place],
        }
        figures = measure(commands)
        server = [*notewell, "mcp", "serve", *place]
        figures[MCP_ROW] = min(mcp_cpu_seconds(server) for _ in range(ROUNDS))
    return figures


def measure(commands: dict[str, list[str]]) -> dict[str, float]:
    """The least of several rounds, the commands taking turns: noise only ever adds."""
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(ROUNDS):
        for name, command in commands.items():
            best[name] = min(best[name], cpu_seconds(command))
    return best


def cpu_seconds(command: list[str]) -> float:
    # Compiled modules are what an installed command starts from.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def mcp_cpu_seconds(command: list[str]) -> float:
    """Until a client has the list of tools, asking as hosts do: one request after the other."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin
        assert server.stdout
        for number, (method, params) in enumerate((("initialize", CLIENT), ("tools/list", {}))):
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            server.stdin.write(json.dumps(request).encode() + b"\n")
            server.stdin.flush()
            if "result" not in json.loads(server.stdout.readline()):
                raise SystemExit(f"{method} was refused")
        # The kernel's name of the CPU clock of another process (MAKE_PROCESS_CPUCLOCK).
        used = time.clock_gettime((~server.pid << 3) | 2)
        server.stdin.close()
    return used


if __name__ == "__main__":
    sys.exit(main())
