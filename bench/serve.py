"""`notewell serve` under load: how long many clients at once wait, and that nobody is let down.

    python bench/serve.py [--seconds 60] [--clients 64] [--notes 300] [--slow-s 1] [--json]

A real server in a process of its own, on a workspace of made-up notes, with two embedders: the
embedded model, and a remote one that takes `--slow-s` seconds for every call. Each client has a
token and a connection and asks again as soon as it is answered: 90 in 100 requests are searches
(half of them hybrid, half by words), 8 read a note, 2 append. In the middle the index is rebuilt
by force. First one client asks alone, so that one sees what the company costs.

Clients that never pause are harder on a server than agents, who think between two questions: with
64 of them on two cores a wait of some thirty times the lone client's is what arithmetic asks for.
`--pause-s` lets each think that long on average.

A service that has too much to do refuses a request after two seconds (503 and `Retry-After`). A
client waits as long as it says and asks again; its time counts from the first attempt. Another
answer that is not as it should be is an error, and one error exits with 1.
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
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.load import questions, write_notes
from tests.embedders.fake_server import FakeProvider

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notewell.http_service import Scope

Kind: TypeAlias = Literal["hybrid", "keyword", "get", "append"]

MIX: dict[Kind, int] = {"hybrid": 45, "keyword": 45, "get": 8, "append": 2}
ALONE_S = 5.0
TIMEOUT_S = 120.0
"""A client that hears nothing for so long gives up, and that is an error."""
IDLE_S = 20.0
"""A connection that was silent for longer may be closed by the server at any moment."""
ATTEMPTS = 20
QUESTIONS = 500
DIMS = 384
NEVER = 1_000_000
"""Requests a minute: what a token may ask is not what is measured here."""


# -- the server ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Server:
    port: int
    workspace: Path
    state: Path

    def token(self, name: str, *scopes: Scope) -> str:
        from notewell.http_service import TokenRequest, TokenStore

        book = TokenStore(self.state / "tokens.json")
        return book.create(TokenRequest(name, ("main",), scopes))[1]


@contextmanager
def serving(folder: Path, settings: dict[str, Any], *more: str) -> Iterator[Server]:
    """A server that has said where it listens; what it says after that goes into a file."""
    workspace, state, config = folder / "workspace", folder / "state", folder / "config.json"
    config.write_text(json.dumps(settings), encoding="utf-8")
    options = ["-w", str(workspace), "--state-dir", str(state), "--port", "0"]
    environment = {**os.environ, "NOTEWELL_CONFIG": str(config)}
    program = [sys.executable, "-m", "notewell"]
    subprocess.run(
        [*program, "index", *options[:4]], check=True, env=environment, stdout=subprocess.DEVNULL
    )
    with (
        (folder / "serve.log").open("wb") as log,
        subprocess.Popen(
            [*program, "serve", *options, *more, "--requests-a-minute", str(NEVER), "--json"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        try:
            yield Server(_port(process), workspace, state)
        finally:
            process.terminate()
            process.wait(60)


def _port(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout
    for line in process.stdout:
        if found := re.search(rb"http://127\.0\.0\.1:(\d+)", line):
            return int(found[1])
    raise SystemExit("the server did not start")


@dataclass(frozen=True)
class Topics:
    """What there is to ask for."""

    notes: list[str]
    questions: list[str]

    @classmethod
    def of(cls, workspace: Path) -> Topics:
        notes = sorted(workspace.glob("memory/*/*.md"))[:QUESTIONS]
        names = [one.relative_to(workspace).as_posix() for one in notes]
        return cls(names, questions(workspace, QUESTIONS))


# -- a client ------------------------------------------------------------------------------------


@dataclass
class Seen:
    """What clients saw, by kind of request."""

    took_ms: dict[Kind, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    refused: int = 0

    def add(self, other: Seen) -> None:
        for kind, took in other.took_ms.items():
            self.took_ms[kind] += took
        self.errors += other.errors
        self.refused += other.refused

    @property
    def all_ms(self) -> list[float]:
        return [one for took in self.took_ms.values() for one in took]


class Client:
    """One token, one connection, one question after the other."""

    def __init__(self, server: Server, number: int, topics: Topics) -> None:
        self.seen = Seen()
        self._draw = random.Random(number)
        self._number = number
        self._topics = topics
        self._count = 0
        self._retry_after_s = 0.0
        self._token = server.token(f"client {number}", "read", "append")
        self._link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)

    def ask_until(self, until_s: float, pause_s: float = 0.0) -> None:
        """With pauses the first request comes after one too, or all would begin at once."""
        while True:
            pause = self._draw.expovariate(1 / pause_s) if pause_s else 0.0
            left_s = until_s - time.monotonic()
            if left_s <= pause:
                return
            time.sleep(pause)
            if pause > IDLE_S:
                self._link.close()  # The server has; the next request opens it again.
            (kind,) = self._draw.choices(list(MIX), weights=list(MIX.values()))
            self.ask(kind)

    def ask(self, kind: Kind) -> None:
        method, path, body = self._request(kind)
        started = time.perf_counter()
        try:
            status, told = self._send_until_answered(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            self._link.close()
            self.seen.errors[f"{kind}: {type(error).__name__}"] += 1
            return
        self.seen.took_ms[kind].append(1000 * (time.perf_counter() - started))
        if why := _wrong(kind, status, told):
            self.seen.errors[f"{kind}: {why}"] += 1

    def _send_until_answered(self, method: str, path: str, body: object) -> tuple[int, Any]:
        for _ in range(ATTEMPTS):
            status, told = self.send(method, path, body)
            if status != 503:
                break
            self.seen.refused += 1
            time.sleep(self._retry_after_s)
        return status, told

    def send(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body)
        self._link.request(method, path, data, headers)
        answer = self._link.getresponse()
        self._retry_after_s = float(answer.headers.get("Retry-After", 1))
        return answer.status, json.loads(answer.read())

    def _request(self, kind: Kind) -> tuple[str, str, object]:
        self._count += 1
        if kind == "get":
            return "GET", f"/v1/notes/{self._draw.choice(self._topics.notes)}", None
        # A number of its own makes the question a new one: no cache answers it.
        query = f"{self._draw.choice(self._topics.questions)} {self._number}x{self._count}"
        if kind == "append":
            return "POST", "/v1/append", {"text": query}
        return "POST", "/v1/search", {"query": query, "mode": kind}


def _wrong(kind: Kind, status: int, told: Any) -> str | None:
    if status not in (200, 201):
        return f"{status} {told.get('title', '')}".strip()
    if kind == "hybrid" and told["mode"] not in ("hybrid", "partial"):
        return f"answered by {told['mode']}: {told.get('notice', '')}"
    if kind in ("hybrid", "keyword") and not (told["results"] or told.get("reason")):
        return "an empty answer without a reason"
    return None


# -- one run -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figures:
    kind: str
    count: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


def figures(kind: str, took_ms: Sequence[float]) -> Figures:
    if len(took_ms) < 2:
        return Figures(kind, len(took_ms), *(list(took_ms) or [0.0]) * 3)
    cuts = statistics.quantiles(took_ms, n=100, method="inclusive")
    return Figures(kind, len(took_ms), cuts[49], cuts[94], cuts[98])


@dataclass(frozen=True)
class Run:
    embedder: str
    clients: int
    seconds: float
    alone: list[Figures]
    together: list[Figures]
    rebuild: str
    rebuild_s: float
    refused: int
    errors: dict[str, int]

    @property
    def requests_a_s(self) -> float:
        return self.together[-1].count / self.seconds

    def __str__(self) -> str:
        lines = [f"{self.embedder}: one client, then {self.clients} for {self.seconds:.0f} s"]
        lines.append(
            f"  {'':10}{'alone p50':>10}{'count':>9}{'p50':>9}{'p95':>9}{'p99':>9}  p95/alone"
        )
        known = {one.kind: one.p50_ms for one in self.alone}
        for one in self.together:
            alone = known.get(one.kind, 0.0)
            times = f"{one.p95_ms / alone:9.1f} x" if alone else ""
            lines.append(
                f"  {one.kind:10}{alone:10.1f}{one.count:9}{one.p50_ms:9.1f}{one.p95_ms:9.1f}"
                f"{one.p99_ms:9.1f}{times}"
            )
        lines.append(
            f"  {self.requests_a_s:.0f} requests a second; refused: {self.refused}; "
            f"errors: {self.errors or 0}"
        )
        lines.append(f"  rebuild by force: {self.rebuild}, {self.rebuild_s:.1f} s")
        return "\n".join(lines)


def measured(
    server: Server, embedder: str, clients: int, seconds: float, pause_s: float = 0.0
) -> Run:
    topics = Topics.of(server.workspace)
    lone = Client(server, 0, topics)
    for kind in MIX:
        lone.ask(kind)  # Loads what is loaded once; these four are not counted.
    lone.seen = Seen()
    lone.ask_until(time.monotonic() + ALONE_S)
    many = [Client(server, number, topics) for number in range(1, clients + 1)]
    owner = Rebuilding(server)
    until = time.monotonic() + seconds
    threads = [
        threading.Thread(target=one.ask_until, args=(until, pause_s), daemon=True) for one in many
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    owner.rebuild_after(seconds / 2)
    for thread in threads:
        thread.join()
    took = time.monotonic() - started
    return _told(embedder, took, lone.seen, many, owner)


def _told(embedder: str, took: float, lone: Seen, many: list[Client], owner: Rebuilding) -> Run:
    together = Seen()
    for one in many:
        together.add(one.seen)
    errors = lone.errors + together.errors
    if owner.status != 200:
        errors["rebuild: " + owner.said] += 1
    return Run(
        embedder,
        len(many),
        took,
        [*(figures(kind, lone.took_ms[kind]) for kind in MIX), figures("all", lone.all_ms)],
        [
            *(figures(kind, together.took_ms[kind]) for kind in MIX),
            figures("all", together.all_ms),
        ],
        owner.said,
        owner.took_s,
        together.refused,
        dict(errors),
    )


class Rebuilding:
    """The owner, who has the index built anew while everybody asks."""

    def __init__(self, server: Server) -> None:
        self._link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
        self._token = server.token("owner of the load", "admin")
        self.status, self.said, self.took_s = 0, "not asked for", 0.0

    def rebuild_after(self, seconds: float) -> None:
        time.sleep(seconds)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        started = time.monotonic()
        while self.status in (0, 202):  # 202: it goes on, ask again.
            self._link.request("POST", "/v1/sync?wait=30", '{"force": true}', headers)
            answer = self._link.getresponse()
            self.status, told = answer.status, json.loads(answer.read())
        self.took_s = time.monotonic() - started
        self.said = f"{told['notes']} notes" if self.status == 200 else str(told)


# -- the whole of it -----------------------------------------------------------------------------


def search_settings(**search: object) -> dict[str, Any]:
    return {"agents": {"defaults": {"memorySearch": search}}}


def run_embedded(folder: Path, told: argparse.Namespace) -> Run:
    with serving(folder, search_settings(provider="embedded")) as server:
        return measured(server, "embedded", told.clients, told.seconds, told.pause_s)


def run_slow(folder: Path, told: argparse.Namespace) -> Run:
    with FakeProvider(dims=DIMS) as provider:
        remote = {"baseUrl": provider.url("openai-compatible"), "apiKey": "none"}
        settings = search_settings(provider="openai-compatible", model="slow", remote=remote)
        with serving(folder, settings) as server:
            provider.latency_s = told.slow_s  # Not before: the index was to be made first.
            name = f"an embedder that takes {told.slow_s:g} s"
            return measured(server, name, told.clients, told.seconds, told.pause_s)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--notes", type=int, default=300, help="about ten chunks each")
    parser.add_argument("--pause-s", type=float, default=0.0)
    parser.add_argument("--slow-s", type=float, default=1.0)
    parser.add_argument("--only", choices=("embedded", "slow"))
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    runs = []
    for name, run in (("embedded", run_embedded), ("slow", run_slow)):
        if told.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                write_notes(Path(folder) / "workspace", told.notes)
                runs.append(run(Path(folder), told))
                print(runs[-1], file=sys.stderr if told.json else sys.stdout, flush=True)
    if told.json:
        print(json.dumps([asdict(run) for run in runs], indent=2))
    return 1 if any(run.errors for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
