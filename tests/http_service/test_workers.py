"""`notewell serve --workers N`: several processes search, and a client does not notice."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.http_service.test_serve import WAIT_S, Running, started
from tests.search.test_same_answers import answers, require_recorded
from tests.surfaces.tool_text import text_of

from notewell import open_memory
from notewell.cli import main
from notewell.errors import IndexUnreadable
from notewell.http_service import workers as workers_module
from notewell.http_service.tokens import TOKENS_FILE, TokenRequest, TokenStore
from notewell.http_service.workers import SearchWorkers, WorkersLost
from notewell.testing import HashEmbedder

OFTEN = ("--requests-a-minute", "100000")
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="/proc")


def until(is_so: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def pids(served: Running) -> list[int]:
    """Its worker processes."""
    children = Path(f"/proc/{served.process.pid}/task").glob("*/children")
    return [int(pid) for file in children for pid in file.read_text(encoding="ascii").split()]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def figures(served: Running) -> dict[str, float]:
    page = served.ask("GET", "/metrics").text
    return {
        name: float(value)
        for name, value in re.findall(r"^(notewell_worker\S+) (\S+)$", page, re.MULTILINE)
    }


def until_running(served: Running, count: int = 2) -> None:
    until(lambda: figures(served)["notewell_workers_running"] == count)


def search(served: Running, query: str, **options: Any) -> httpx2.Response:
    body = {"query": query, "mode": "keyword"}
    return served.ask("POST", "/v1/search", json=body, **options)


def together(work: Callable[[], httpx2.Response], count: int = 4) -> list[httpx2.Response]:
    with ThreadPoolExecutor(count) as threads:
        return [one.result() for one in [threads.submit(work) for _ in range(count)]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """For tests that leave it as it was."""
    with started(tmp_path_factory.mktemp("served"), "--workers", "2", *OFTEN) as one:
        threading.Thread(target=one.process.stderr.read, daemon=True).start()  # type: ignore[union-attr]
        until_running(one)
        yield one


# -- as one service ------------------------------------------------------------------------------


@needs_proc
def test_every_worker_finds_what_was_just_appended(served: Running) -> None:
    # Without an index a search makes one and asks once more, so the first one is not counted.
    search(served, "walrus")
    before = figures(served)
    appended = served.ask("POST", "/v1/append", json={"text": "The walrus is called Ole."})
    assert appended.status_code == 201
    for pid in pids(served):
        os.kill(pid, signal.SIGSTOP)  # So that neither can answer both searches.
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(search, served, "walrus") for _ in range(2)]
        until(lambda: figures(served)["notewell_workers_busy"] == 2)
        for pid in pids(served):
            os.kill(pid, signal.SIGCONT)
        answers = [one.result().json() for one in asked]
    for answer in answers:
        assert "The walrus is called Ole." in answer["results"][0]["snippet"]
    after = figures(served)
    for number in range(2):
        name = f'notewell_worker_searches{{worker="{number}"}}'
        assert after[name] == before[name] + 1


@needs_proc
def test_the_model_is_loaded_once(served: Running) -> None:
    # The vectors follow in the background, and a question without any needs no model.
    assert served.ask("POST", f"/v1/sync?wait={WAIT_S}", json={}).status_code == 200
    found = served.ask("POST", "/v1/search", json={"query": "Where do we keep readings?"})
    assert found.json()["mode"] == "hybrid"

    def maps(pid: int) -> str:
        return Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")

    assert "onnxruntime" in maps(served.process.pid)
    assert not any("onnxruntime" in maps(pid) for pid in pids(served))


def test_a_revoked_token_is_refused_at_once(served: Running) -> None:
    book = TokenStore(served.state / TOKENS_FILE)
    token, secret = book.create(TokenRequest("short", ("main",)))
    shown = {"Authorization": f"Bearer {secret}"}
    assert {one.status_code for one in together(lambda: search(served, "x", headers=shown))} == {
        200
    }
    book.revoke(token.id)
    assert {one.status_code for one in together(lambda: search(served, "x", headers=shown))} == {
        401
    }


def test_mcp_clients_are_served_by_workers(served: Running) -> None:
    async def work() -> str:
        shown = {"Authorization": f"Bearer {served.token}"}
        url = f"{served.url}/mcp"
        async with (
            httpx2.AsyncClient(headers=shown, timeout=WAIT_S) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            await client.call_tool("memory_append", {"text": "The yak is called Ole."})
            return text_of(await client.call_tool("memory_search", {"query": "yak"}))

    before = sum(figures(served).values())
    assert "The yak is called Ole." in anyio.run(work)
    assert sum(figures(served).values()) > before


def test_a_stream_of_events_tells_of_searches_in_workers(served: Running) -> None:
    headers = {"Authorization": f"Bearer {served.token}"}
    with (
        httpx2.Client(timeout=WAIT_S) as client,
        client.stream("GET", f"{served.url}/v1/page/events", headers=headers) as stream,
    ):
        lines = stream.iter_lines()
        next(lines)
        search(served, "readings")
        assert any("recall" in line for line in lines)


def test_the_rate_limit_is_one_for_all_workers(tmp_path: Path) -> None:
    with started(tmp_path, "--workers", "2", "--requests-a-minute", "1") as served:
        until_running(served)
        _, secret = TokenStore(served.state / TOKENS_FILE).create(TokenRequest("x", ("main",)))
        shown = {"Authorization": f"Bearer {secret}"}
        statuses: Counter[int] = Counter()
        for _ in range(20):
            answered = together(lambda: search(served, "readings", headers=shown))
            statuses.update(one.status_code for one in answered)
        # The burst is 60; a minute adds one.
        assert 60 <= statuses[200] <= 65
        assert set(statuses) == {200, 429}
        served.end()


# -- processes -----------------------------------------------------------------------------------


@needs_proc
def test_a_killed_worker_is_replaced_and_no_request_fails(tmp_path: Path) -> None:
    with started(tmp_path, "--workers", "2", *OFTEN) as served:
        threading.Thread(target=served.process.stderr.read, daemon=True).start()  # type: ignore[union-attr]
        until_running(served)
        first = set(pids(served))
        statuses: Counter[int] = Counter()
        done = threading.Event()

        def ask() -> None:
            while not done.is_set():
                statuses[search(served, "readings").status_code] += 1

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number, pid in enumerate(first, 1):
            until(lambda number=number: statuses.total() > 20 * number)  # type: ignore[misc]
            os.kill(pid, signal.SIGKILL)
            until(lambda number=number: figures(served)["notewell_workers_ended"] == number)  # type: ignore[misc]
            until_running(served)
        done.set()
        for thread in threads:
            thread.join(WAIT_S)
        assert set(statuses) == {200}
        assert not first & set(pids(served))


@needs_proc
def test_without_workers_the_service_searches_itself(tmp_path: Path) -> None:
    with started(tmp_path, "--workers", "2", *OFTEN) as served:
        until_running(served)
        killed = pids(served)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        until(lambda: not any(is_running(pid) for pid in killed))
        assert search(served, "readings").json()["results"]
        until_running(served)
        log = served.end()
    assert sum("is replaced" in line["event"] for line in log) == 2


@needs_proc
def test_no_worker_outlives_a_killed_service(tmp_path: Path) -> None:
    with started(tmp_path, "--workers", "3") as served:
        until_running(served, 3)
        orphans = pids(served)
        assert len(orphans) == 3
        served.process.kill()
        until(lambda: not any(is_running(pid) for pid in orphans))


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_the_service_and_not_before(tmp_path: Path, number: int) -> None:
    with started(tmp_path, "--workers", "2") as served:
        until_running(served)
        children = pids(served)
        for pid in children:  # As a terminal and systemd do.
            os.kill(pid, number)
        assert search(served, "readings").status_code == 200
        assert pids(served) == children
        log = served.end(number)
    assert not any(is_running(pid) for pid in children)
    assert not any("ended" in line["event"] for line in log)


@pytest.mark.parametrize("count", ["0", "65"])
def test_a_number_of_workers_that_makes_no_sense_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: str
) -> None:
    assert main(["serve", "-w", str(tmp_path), "--port", "0", "--workers", count]) == 2
    assert "1 to 64" in capsys.readouterr().err


# -- one search ----------------------------------------------------------------------------------


@pytest.fixture
def two_workers() -> Iterator[SearchWorkers]:
    workers = SearchWorkers(2)
    workers.start()
    yield workers
    workers.close()


def test_a_worker_gives_the_same_answers(tmp_path: Path, two_workers: SearchWorkers) -> None:
    until(lambda: two_workers.facts().running == 2)
    require_recorded(answers(tmp_path, two_workers))
    assert sum(two_workers.facts().searches) > 0


def remembered(folder: Path, workers: SearchWorkers) -> Any:
    (folder / "w").mkdir()
    (folder / "w" / "MEMORY.md").write_text("Readings are in SQLite.\n", encoding="utf-8")
    memory = open_memory(
        folder / "w", state_dir=folder / "s", embedder=HashEmbedder(), searcher=workers
    )
    memory.sync()
    return memory


def test_a_damaged_index_is_reported_as_it_is_without_workers(
    tmp_path: Path, two_workers: SearchWorkers
) -> None:
    with remembered(tmp_path, two_workers) as memory:
        until(lambda: two_workers.facts().running == 2)
        assert memory.search("readings").hits
        memory.indexer.store.close()
        (index,) = (tmp_path / "s").rglob("index-*.sqlite")
        index.write_bytes(b"x" * 8192)
        os.utime(index)
        with pytest.raises(IndexUnreadable):
            memory.search("readings")


@needs_proc
def test_a_worker_that_hangs_is_replaced(
    tmp_path: Path, two_workers: SearchWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with remembered(tmp_path, two_workers) as memory:
        until(lambda: two_workers.facts().running == 2)
        memory.search("readings")
        first = max((0, 1), key=lambda number: two_workers.facts().searches[number])
        monkeypatch.setattr(workers_module, "ANSWER_S", 4.0)
        pid = two_workers._running[first].process.pid
        os.kill(pid, signal.SIGSTOP)
        assert memory.search("readings").hits
        until(lambda: not is_running(pid) and two_workers.facts().running == 2)


DIES = """
import sys
from notewell import __version__
from notewell.http_service.worker_process import packed, receive
sys.stdout.buffer.write(packed(sys.argv[1] or __version__))
sys.stdout.flush()
receive(sys.stdin.buffer)
"""


def test_a_question_that_ends_workers_does_not_end_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_module, "COMMAND", (sys.executable, "-c", DIES, ""))
    workers = SearchWorkers(2)
    with remembered(tmp_path, workers) as memory:
        workers.start()
        until(lambda: workers.facts().running == 2)
        with pytest.raises(WorkersLost, match="ask again"):
            memory.search("readings")
    workers.close()


def test_a_worker_of_another_version_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(workers_module, "COMMAND", (sys.executable, "-c", DIES, "0.0.0"))
    workers = SearchWorkers(1)
    with remembered(tmp_path, workers) as memory:
        workers.start()
        until(lambda: workers.facts().ended > 0)
        assert memory.search("readings").hits
        assert workers.facts().searches == (0,)
    workers.close()
    assert "0.0.0 is installed: restart the service" in caplog.text
