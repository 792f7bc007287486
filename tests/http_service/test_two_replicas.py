"""Two real processes of `notewell serve -w postgres:`, of which one is killed while it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
from tests.postgres_server import PASSWORD

WAIT_S = 60
WRITERS = 4


class Process(NamedTuple):
    process: subprocess.Popen[str]
    url: str
    token: str

    def ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return httpx2.request(
            method, f"{self.url}{path}", headers=headers, timeout=WAIT_S, **options
        )


@contextmanager
def started(folder: Path, name: str, token: str = "") -> Iterator[Process]:
    command = [sys.executable, "-m", "notewell", "serve", "-w", "postgres:", "--json"]
    options = ["--port", "0", "--state-dir", str(folder / name), "--requests-a-minute", "100000"]
    with (
        (folder / f"{name}.log").open("wb") as log,
        subprocess.Popen(
            [*command, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
        ) as process,
    ):
        try:
            lines = []
            for line in process.stdout or ():
                lines.append(line)
                if line == "}\n":
                    break
            assert lines, (folder / f"{name}.log").read_text(encoding="utf-8")
            said = json.loads("".join(lines))
            if said["ownerTokenFile"]:
                token = Path(said["ownerTokenFile"]).read_text(encoding="utf-8").strip()
            yield Process(process, said["url"], token)
        finally:
            process.kill()


@pytest.fixture
def replicas(tenant: str, tmp_path: Path) -> Iterator[tuple[Process, Process]]:
    # By words alone: no process has to load a model.
    search = {"store": {"tenant": tenant}, "provider": "none"}
    whole = {"agents": {"defaults": {"memorySearch": search}}}
    (tmp_path / "own.json").write_text(json.dumps(whole), encoding="utf-8")
    with ExitStack() as stack:
        one = stack.enter_context(started(tmp_path, "one"))
        other = stack.enter_context(started(tmp_path, "other", one.token))
        yield one, other
    for name in ("one", "other"):
        assert PASSWORD not in (tmp_path / f"{name}.log").read_text(encoding="utf-8")


def test_what_is_written_at_one_replica_is_found_at_the_other_and_in_its_history(
    replicas: tuple[Process, Process],
) -> None:
    one, other = replicas
    assert one.ask("GET", "/readyz").json()["status"] == "ready"
    for number in range(3):
        text = f"Giraffe number {number} moved to the router room."
        assert one.ask("POST", "/v1/append", json={"text": text}).status_code == 201
        found = other.ask("POST", "/v1/search", json={"query": f"giraffe number {number}"}).json()
        assert text in found["results"][0]["snippet"]
        one, other = other, one
    for process in replicas:
        process.process.terminate()
        assert process.process.wait(WAIT_S) == 0


def test_what_a_killed_replica_acknowledged_is_kept_and_what_is_repeated_is_there_once(
    replicas: tuple[Process, Process],
) -> None:
    doomed, other = replicas
    # Each writer has sent some before the replica is killed, and most are in the middle of one.
    are_writing = threading.Barrier(WRITERS + 1, timeout=WAIT_S)
    acknowledged: list[str] = []

    def write(writer: int) -> None:
        for number in range(12):
            if number == 3:
                are_writing.wait()
            text = f"Entry {number} of writer {writer} ends here."
            append(text)
            acknowledged.append(text)

    def append(text: str) -> None:
        key = {"Idempotency-Key": text.replace(" ", "-")}
        deadline, replica = time.monotonic() + WAIT_S, doomed
        while time.monotonic() < deadline:
            try:
                answer = replica.ask("POST", "/v1/append", json={"text": text}, headers=key)
            except httpx2.TransportError:
                replica = other
                continue
            # 409: the server has not noticed yet that the replica is gone, and the client comes
            # back. 200: the entry was written before that, and its answer was lost.
            if answer.status_code != 409:
                assert answer.status_code in (200, 201), answer.text
                return
        raise AssertionError("nobody has answered")

    with ThreadPoolExecutor(WRITERS + 1) as pool:
        writers = [pool.submit(write, writer) for writer in range(WRITERS)]
        are_writing.wait()
        os.kill(doomed.process.pid, 9)
        for writer in writers:
            writer.result()
    listed = other.ask("GET", "/v1/notes").json()["notes"]
    note = "".join(
        other.ask("GET", f"/v1/notes/{one['path']}", params={"lines": 1000}).json()["text"]
        for one in listed
    )
    assert len(acknowledged) == WRITERS * 12
    assert {text: note.count(text) for text in acknowledged} == dict.fromkeys(acknowledged, 1)
    found = other.ask("POST", "/v1/search", json={"query": "entry 11 of writer 0"}).json()
    assert found["results"]
