"""64 clients of three replicas on one PostgreSQL, of which one is killed and started again.

    python -m bench.replicas [--seconds 60] [--clients 64] [--agents 8] [--provider embedded]

A real server (`tests/postgres_server.py`) and three processes of `notewell serve -w postgres:`.
After a quarter of the time one of them is killed with -9, after half of it started again. Each
client has a token of one agent and asks without a pause. In turns it appends an entry with a word
that no other entry has, and searches for such a word of its own, whose entry was acknowledged:
half the time the newest one. Each request goes to any replica. What fails is sent again to the
next one, an append with the same idempotency key. No connection is used twice, so that an error
belongs to the moment of its request.

lost       acknowledged, and at the end not in the notes of its agent (`notewell pull --all`)
doubled    there more than once
wrong      an answer without the entry that does not say that changes are missing in it;
           an entry of another agent in a hit or in the notes
unnamed    an answer other than 200, 201, or 409, 429 and 503 with the type of their problem;
           a transport error, unless the replica was down

Exits with 1 if one of them is not 0.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.serve import NEVER, search_settings
from tests.postgres_server import running_server

from notewell.databases import tenant_database
from notewell.http_service import TokenRequest
from notewell.http_service.postgres import shared_state
from notewell.postgres.address import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = [sys.executable, "-m", "notewell"]
REPLICAS = 3
KILLED = 1
TIMEOUT_S = 60.0
"""For one answer; also how long after the end a client goes on with what nobody has answered."""
PASSING = (409, 429, 503)
"""The client may send the request again."""
FAULTS = ("lost", "doubled", "wrong", "unnamed")
BEHIND = re.compile(
    "could not be indexed|not found yet|changed since the last sync"
    "|nothing is indexed yet|ask again in a moment"
)
"""How an answer says that changes are missing in it."""
ENTRY = re.compile(r"The parcel (\w+) of (agent-\d+) ")


# -- a replica -----------------------------------------------------------------------------------


class Replica:
    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self._killed_at = self._back_at = float("inf")

    def start(self) -> None:
        """Returns when it listens."""
        options = ["--port", str(self.port), "--state-dir", str(self._folder / self._name)]
        options += ["--requests-a-minute", str(NEVER)]
        with (self._folder / f"{self._name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*PROGRAM, "serve", "-w", "postgres:", *options, "--json"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdout
        if b"}\n" not in iter(self._process.stdout.readline, b""):
            raise SystemExit(f"replica {self._name} did not start")
        self._back_at = time.monotonic()

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        assert self._process
        assert self._process.stdout
        self._killed_at, self._back_at = time.monotonic(), float("inf")
        self._process.send_signal(how)
        self._process.wait(TIMEOUT_S)
        self._process.stdout.close()

    def was_down(self, begun: float) -> bool:
        """At some moment between then and now."""
        return self._killed_at < float("inf") and begun <= self._back_at


# -- a client ------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """What a client saw."""

    counts: Counter[str]
    errors: Counter[str]
    took_s: list[float]


class Client:
    """Appends and searches in turns."""

    def __init__(
        self, number: int, agent: str, token: str, replicas: Sequence[Replica], until: float
    ) -> None:
        self.agent = agent
        self.seen = Seen(Counter(), Counter(), [])
        self.sent: list[str] = []
        self.acknowledged: list[str] = []
        self._number, self._replicas, self._until = number, replicas, until
        self._draw = random.Random(number)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def work(self) -> None:
        while time.monotonic() < self._until:
            self._append()
            if self.acknowledged:
                newest = self.acknowledged[-1]
                self._search(self._draw.choice((newest, self._draw.choice(self.acknowledged))))

    def _append(self) -> None:
        word = hashlib.sha256(f"{self._number} {len(self.sent)}".encode()).hexdigest()[:12]
        self.sent.append(word)
        text = f"The parcel {word} of {self.agent} waits in room {self._number}."
        number, key = self._draw.randrange(REPLICAS), {"Idempotency-Key": word}
        if self._ask("/v1/append", {"text": text}, key, number) is not None:
            self.acknowledged.append(word)
            self.seen.counts["appends"] += 1

    def _search(self, word: str) -> None:
        """An answer that says that changes are missing in it is asked for again."""
        number = self._draw.randrange(REPLICAS)
        while told := self._ask("/v1/search", {"query": f"parcel {word}"}, {}, number):
            found = dict(ENTRY.findall("\n".join(hit["snippet"] for hit in told["results"])))
            said = told.get("notice") or told.get("reason") or ""
            behind = BEHIND.search(said)
            is_foreign = bool(set(found.values()) - {self.agent})
            if is_foreign or (word not in found and behind is None):
                self.seen.counts["wrong"] += 1
                what = "with an entry of another agent" if is_foreign else "without the entry"
                self.seen.errors[f"200 {what}: {said}"] += 1
                return
            if word in found:
                self.seen.counts["searches"] += 1
                return
            assert behind
            self.seen.errors[f"200 {behind[0]}"] += 1
            number += 1

    def _ask(self, path: str, body: object, headers: dict[str, str], number: int) -> Any | None:
        """The answer of the first replica that gives one, from this one on; None if none does."""
        asked_at = time.monotonic()
        while time.monotonic() < self._until + TIMEOUT_S:
            replica, begun = self._replicas[number % REPLICAS], time.monotonic()
            number += 1
            try:
                status, told, retry_s = self._sent(replica, path, json.dumps(body), headers)
            except (OSError, http.client.HTTPException) as error:
                name = f"{type(error).__name__} at the replica that is down"
                if not replica.was_down(begun):
                    name = f"{type(error).__name__} at a replica that runs"
                    self.seen.counts["unnamed"] += 1
                self.seen.errors[name] += 1
                continue
            if status in (200, 201):
                self.seen.took_s.append(time.monotonic() - asked_at)
                return told
            self.seen.errors[f"{status} {told.get('type')}: {told.get('detail')}"] += 1
            if status not in PASSING or "type" not in told:
                self.seen.counts["unnamed"] += 1
                return None
            time.sleep(retry_s)
        self.seen.errors["nobody answered"] += 1
        self.seen.counts["unnamed"] += 1
        return None

    def _sent(
        self, replica: Replica, path: str, body: str, headers: dict[str, str]
    ) -> tuple[int, Any, float]:
        link = http.client.HTTPConnection("127.0.0.1", replica.port, timeout=TIMEOUT_S)
        try:
            link.request("POST", path, body, {**self._headers, **headers})
            answer = link.getresponse()
            told = json.loads(answer.read())
            return answer.status, told, float(answer.headers.get("Retry-After", 0.2))
        finally:
            link.close()


# -- the run -------------------------------------------------------------------------------------


def tokens_of(agents: Sequence[str]) -> dict[str, str]:
    """Makes the agents, and a token for each."""
    kept = shared_state(*tenant_database())
    assert kept.registry
    for agent in agents:
        kept.registry.add(agent)
    requests = [TokenRequest(agent, (agent,), ("read", "append")) for agent in agents]
    return {one.name: kept.tokens.create(one)[1] for one in requests}


def run(clients: Sequence[Client], doomed: Replica, seconds: float) -> None:
    threads = [threading.Thread(target=client.work, daemon=True) for client in clients]
    for thread in threads:
        thread.start()
    time.sleep(seconds / 4)
    doomed.end(signal.SIGKILL)
    time.sleep(seconds / 4)
    doomed.start()
    for thread in threads:
        thread.join()


def faults_in_notes(folder: Path, clients: Sequence[Client]) -> Counter[str]:
    """Compares the notes with what the clients know."""
    subprocess.run([*PROGRAM, "pull", "--all", str(folder)], check=True, stdout=sys.stderr)
    faults: Counter[str] = Counter()
    written: Counter[tuple[str, str]] = Counter()
    for note in folder.rglob("*.md"):
        for word, agent in ENTRY.findall(note.read_text(encoding="utf-8")):
            written[agent, word] += 1
            faults["wrong"] += agent not in note.relative_to(folder).parts
    for client in clients:
        faults["lost"] += sum(not written[client.agent, word] for word in client.acknowledged)
        faults["doubled"] += sum(written[client.agent, word] > 1 for word in client.sent)
    return faults


def report(clients: Sequence[Client], faults: Counter[str]) -> int:
    counts, errors, took_s = faults, Counter[str](), list[float]()
    for client in clients:
        counts += client.seen.counts
        errors += client.seen.errors
        took_s += client.seen.took_s
    cuts = statistics.quantiles(took_s, n=100)
    print(f"{counts['appends']} appends acknowledged, {counts['searches']} searches answered")
    print(f"an answer after {cuts[49]:.2f} s (p50), {cuts[94]:.2f} s (p95), all attempts together")
    print(", ".join(f"{counts[fault]} {fault}" for fault in FAULTS))
    for name, count in errors.most_common():
        print(f"{count:7} {name}")
    return 1 if any(counts[fault] for fault in FAULTS) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--provider", choices=("embedded", "none"), default="embedded")
    told = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(running_server(("max_connections=200",)))
        server.create_database("notewell")
        settings = json.dumps(search_settings(provider=told.provider))
        (folder / "config.json").write_text(settings, encoding="utf-8")
        os.environ["NOTEWELL_CONFIG"] = str(folder / "config.json")
        os.environ["NOTEWELL_STATE_DIR"] = str(folder / "state")
        os.environ[VARIABLE] = server.login_url("notewell")
        agents = [f"agent-{number}" for number in range(told.agents)]
        tokens = tokens_of(agents)
        replicas = [Replica(folder, f"replica-{number}") for number in range(REPLICAS)]
        for replica in replicas:
            replica.start()
            stack.callback(replica.end)
        until = time.monotonic() + told.seconds
        clients = [
            Client(number, agent, tokens[agent], replicas, until)
            for number in range(told.clients)
            for agent in [agents[number % told.agents]]
        ]
        run(clients, replicas[KILLED], told.seconds)
        return report(clients, faults_in_notes(folder / "notes", clients))


if __name__ == "__main__":
    sys.exit(main())
