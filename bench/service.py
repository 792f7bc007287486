"""What `notewell serve` costs beside an empty uvicorn route, and what 256 agents take.

    python -m bench.service [--notes 3000] [--agents 256] [--seconds 8]

A request without a search: CPU time of the server, over that of a route of uvicorn that answers
with two bytes. A hybrid search asked by 1, 8 and 64 clients: CPU time beside its limit, which is
for a core that nobody else uses. Every question is a new one, so the model runs; the vectors of
the notes are mixed ones (`bench.mixed`). The clients never pause; who is refused with 503 waits as
`Retry-After` says and asks again. All other answers than 200 and 503 are errors, and one error
exits with 1.

The wait of 64 clients is measured as agents ask: with pauses in between, so that all of them
together ask half as often as the service could answer. Clients without pauses would only measure
their number: each waits for the 63 others. The lone client and the 64 take turns, because the
machine may be busier in one minute than in the next.

Two workers (`--workers 2`) beside one process: the time for a search with 64 clients, in turns and
over the same index. The clients run on the same cores.

256 agents with one note each: the start until the address is printed, the first answer of
`/readyz`, the time until it is 200, and the memory after each agent was searched; these are
compared with their limits. Linux only.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.load import questions, write_notes
from bench.mixed import mixed
from bench.rows import Row
from bench.serve import NEVER, Server, search_settings, serving

from notewell import Settings, open_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EMPTY_ROUTE = """
import uvicorn
headers = [(b"content-length", b"2")]
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})
config = uvicorn.Config(app, port=0, lifespan="off", ws="none", access_log=False, log_level="info")
uvicorn.Server(config).run()
"""
ROUTE_LIMIT = 4.0
"""Headers, checks of host and token, a log line and metrics."""
SEARCH_MS = 10.0
"""100 searches a second on one core. Not a multiple of the empty route: most of a search is the
model and the index, which cost the same behind any route."""
WAIT_LIMIT = 12.0
START_S, READY_S, OPENED_S, MEMORY_MB = 3.0, 1.0, 5.0, 300.0
WORKERS_LIMIT = 1.25
"""On two cores that the clients use too, one process already keeps both busy, so workers can only
cost: 5 % more CPU time a search, and turns of the scheduler. They are for more cores."""
TURNS = 3
NOTES = 3000
WARM_UP = 10
REQUESTS = 1000
LONE_S = 2.0


class Target(NamedTuple):
    port: int
    pid: int
    token: str = ""

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
        return sum(int(ticks) for ticks in fields.split()[11:13]) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found[1]) / 1024 if found else 0.0


# -- clients -------------------------------------------------------------------------------------


class Asked(NamedTuple):
    took_s: list[float]
    refused: list[int]
    errors: list[int]


class Asker:
    """One connection; what it asks is new each time, so that no cache answers."""

    def __init__(self, target: Target, number: int, topics: Sequence[str]) -> None:
        self._link = http.client.HTTPConnection("127.0.0.1", target.port, timeout=120)
        self._draw = random.Random(number)
        self._headers = {
            "Authorization": f"Bearer {target.token}",
            "Content-Type": "application/json",
        }
        self._topics = topics
        self._number, self._count = number, 0

    def ask(self, path: str, agent: str | None = None) -> tuple[int, float]:
        """The status, and how long to wait before the next request."""
        headers = {**self._headers, **({"Notewell-Agent": agent} if agent else {})}
        if path == "/v1/search":
            self._count += 1
            query = f"{self._draw.choice(self._topics)} {self._number}x{self._count}"
            self._link.request("POST", path, json.dumps({"query": query}), headers)
        else:
            self._link.request("GET", path, headers=headers)
        answer = self._link.getresponse()
        answer.read()
        return answer.status, float(answer.headers.get("retry-after", 0))

    def ask_until(self, until_s: float, pause_s: float, asked: Asked) -> None:
        while (left_s := until_s - time.monotonic()) > 0:
            # Who would ask after the end does not ask: else all of them would, in one moment.
            pause = self._draw.expovariate(1 / pause_s) if pause_s else 0.0
            if pause > left_s:
                return
            time.sleep(pause)
            started = time.monotonic()
            status, wait_s = self.ask("/v1/search")
            if status == 200:
                asked.took_s.append(time.monotonic() - started)
            elif status == 503:
                asked.refused.append(status)
                time.sleep(wait_s)
            else:
                asked.errors.append(status)


def ask_together(
    target: Target, topics: Sequence[str], clients: int, seconds: float, pause_s: float = 0.0
) -> Asked:
    asked = Asked([], [], [])
    until_s = time.monotonic() + seconds
    threads = [
        threading.Thread(
            target=Asker(target, number, topics).ask_until, args=(until_s, pause_s, asked)
        )
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return asked


def cpu_ms(target: Target, path: str, topics: Sequence[str] = ()) -> float:
    """CPU time of the server for one request of a single client."""
    client = Asker(target, 0, topics)
    for _ in range(WARM_UP):
        client.ask(path)
    before_s = target.cpu_s()
    for _ in range(REQUESTS):
        client.ask(path)
    return 1000 * (target.cpu_s() - before_s) / REQUESTS


# -- one service ---------------------------------------------------------------------------------


@contextmanager
def empty_route() -> Iterator[Target]:
    with subprocess.Popen(
        [sys.executable, "-c", EMPTY_ROUTE], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        assert process.stderr
        for line in process.stderr:
            if found := re.search(rb"127\.0\.0\.1:(\d+)", line):
                break
        else:
            raise SystemExit("uvicorn did not start")
        # Its further lines are few, and fit into the pipe.
        yield Target(int(found[1]), process.pid)
        process.terminate()


def write_indexed(folder: Path, notes: int) -> list[str]:
    """Notes and their index; returns questions about them. For a folder that has both already,
    the questions alone."""
    workspace = folder / "workspace"
    if not workspace.exists():
        write_notes(workspace, notes)
        with open_memory(
            workspace, state_dir=folder / "state", settings=Settings(), embedder=mixed(workspace)
        ) as memory:
            memory.sync()
    return questions(workspace, 200)


def target_of(server: Server) -> Target:
    running = json.loads((server.state / "serve.json").read_text(encoding="utf-8"))
    return Target(server.port, running["pid"], server.token("bench", "read"))


def service_rows(folder: Path, notes: int, seconds: float) -> Iterator[Row]:
    topics = write_indexed(folder, notes)
    with serving(folder, search_settings(provider="embedded")) as server, empty_route() as empty:
        target = target_of(server)
        floor_ms = cpu_ms(empty, "/")
        yield Row(
            "a request, CPU over an empty route", cpu_ms(target, "/healthz"), floor_ms, ROUTE_LIMIT
        )
        lone = ask_together(target, topics, 1, 1.0)  # Loads the model.
        for clients in (1, 8, 64):
            before_s, started_s = target.cpu_s(), time.monotonic()
            asked = ask_together(target, topics, clients, seconds)
            _require_no_errors(asked, lone)
            each_ms = 1000 * (target.cpu_s() - before_s) / len(asked.took_s)
            rate = len(asked.took_s) / (time.monotonic() - started_s)
            aside = f"{rate:.0f}/s, {len(asked.refused)} refused"
            yield Row(f"a search, {clients} clients ({aside})", each_ms, SEARCH_MS, 1.0)
        yield wait_row(target, topics, seconds)


def wait_row(target: Target, topics: Sequence[str], seconds: float) -> Row:
    ratios, p95s, refused = [], [], 0
    for _ in range(TURNS):
        lone = ask_together(target, topics, 1, LONE_S)
        p50_s = statistics.median(lone.took_s)
        # A lone client keeps the service as busy as one core can be.
        many = ask_together(target, topics, 64, seconds, pause_s=64 * 2 * p50_s)
        _require_no_errors(lone, many)
        p95s.append(statistics.quantiles(many.took_s, n=20, method="inclusive")[-1])
        ratios.append(p95s[-1] / p50_s)
        refused += len(many.refused)
    what = f"64 clients at half load, p95 over lone p50 ({refused} refused)"
    p95_ms = 1000 * statistics.median(p95s)
    return Row(what, p95_ms, p95_ms / statistics.median(ratios), WAIT_LIMIT)


def worker_rows(folder: Path, notes: int, seconds: float) -> Iterator[Row]:
    topics = write_indexed(folder, notes)
    settings = search_settings(provider="embedded")
    with serving(folder, settings) as one, serving(folder, settings, "--workers", "2") as two:
        # The second one does not publish its address, as long as the first one runs.
        token = one.token("bench", "read")
        targets = Target(one.port, 0, token), Target(two.port, 0, token)
        rates: tuple[list[float], list[float]] = [], []
        for _ in range(TURNS):
            for target, rate in zip(targets, rates, strict=True):
                ask_together(target, topics, 1, 1.0)
                asked = ask_together(target, topics, 64, seconds / 2)
                _require_no_errors(asked)
                rate.append(2 * len(asked.took_s) / seconds)
        alone, shared = map(statistics.median, rates)
        what = f"64 clients, 2 workers over 1 process ({shared:.0f}/s, {alone:.0f}/s)"
        yield Row(what, 1000 / shared, 1000 / alone, WORKERS_LIMIT)


def _require_no_errors(*runs: Asked) -> None:
    errors = [status for asked in runs for status in asked.errors]
    if errors:
        raise SystemExit(f"errors: {errors}")


# -- many agents ---------------------------------------------------------------------------------


def agent_rows(folder: Path, count: int) -> Iterator[Row]:
    ids = [f"a{number}" for number in range(count)]
    config = _write_agents(folder, ids)
    environment = {**os.environ, "NOTEWELL_CONFIG": str(config)}
    command = [sys.executable, "-m", "notewell", "serve", "--state-dir", str(folder / "state")]
    command += ["--port", "0", "--json", "--requests-a-minute", str(NEVER)]
    started_s = time.monotonic()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert process.stdout
            lines = iter(process.stdout.readline, b"}\n")
            address = re.search(rb":(\d+)\"", b"".join(lines))
            assert address
            took_s = time.monotonic() - started_s
            owner = (folder / "state" / "owner.token").read_text(encoding="utf-8").strip()
            target = Target(int(address[1]), process.pid, owner)
            client = Asker(target, 0, ["gateway port"])
            asked_s = time.monotonic()
            client.ask("/readyz")
            ready_s = time.monotonic() - asked_s
            while client.ask("/readyz")[0] != 200:
                time.sleep(0.1)
            opened_s = time.monotonic() - asked_s
            yield Row(f"{count} agents: start", took_s, START_S, 1.0, "s")
            yield Row(f"{count} agents: first /readyz", ready_s, READY_S, 1.0, "s")
            yield Row(f"{count} agents: all open, /readyz 200", opened_s, OPENED_S, 1.0, "s")
            for agent in ids:
                _require_200(client.ask("/v1/search", agent))
            yield Row(
                f"{count} agents: memory, all searched", target.memory_mb(), MEMORY_MB, 1.0, "MB"
            )
        finally:
            process.terminate()


def _require_200(answer: tuple[int, float]) -> None:
    if answer[0] != 200:
        raise SystemExit(f"error: status {answer[0]}")


def _write_agents(folder: Path, ids: Sequence[str]) -> Path:
    """Each has one note, which is indexed: a start that embeds is another measurement."""
    from notewell.http_service import Agents, ServedAgent

    for id_ in ids:
        memory = folder / "agents" / id_ / "memory"
        memory.mkdir(parents=True)
        text = f"# Network\n\nThe gateway of {id_} listens on port {8000 + len(id_)}.\n"
        (memory / "2026-10-01.md").write_text(text, encoding="utf-8")
    places = {id_: str(folder / "agents" / id_) for id_ in ids}
    listed = [{"id": id_, "workspace": place} for id_, place in places.items()]
    config = folder / "config.json"
    config.write_text(json.dumps({"agents": {"list": listed}}), encoding="utf-8")
    served = {id_: ServedAgent(place) for id_, place in places.items()}
    agents = Agents(served, folder / "state", watch=False)
    for id_ in ids:
        agents.sync(id_)
    agents.close()
    return config


def rows(notes: int = NOTES, agents: int = 256, seconds: float = 8.0) -> list[Row]:
    with (
        tempfile.TemporaryDirectory() as first,
        tempfile.TemporaryDirectory() as second,
    ):
        return [
            *service_rows(Path(first), notes, seconds),
            *worker_rows(Path(first), notes, seconds),
            *agent_rows(Path(second), agents),
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--notes", type=int, default=NOTES, help="about ten chunks each")
    parser.add_argument("--agents", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    measured = rows(options.notes, options.agents, options.seconds)
    for row in measured:
        print(row)
    return 0 if all(row.is_kept for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
