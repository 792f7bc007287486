"""How much of everything: rates, bodies, seats."""

from __future__ import annotations

import math
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.http_service.served import COOKIE, PLENTY, Served, serving

from notewell.http_service.limits import (
    MAX_BUCKETS,
    MAX_WAITING,
    PoolSizes,
    RateLimiter,
    ServiceLimits,
    TooBusy,
    WorkerPools,
)
from notewell.records import replace

SLOW = ServiceLimits(requests_a_minute=60, burst=5)


def test_a_token_that_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    now = [0.0]
    with serving(tmp_path, limits=SLOW, monotonic_s=lambda: now[0]) as served:

        def asked(token: str = "read") -> Any:
            return served.ask("GET", "/v1/status", token)

        assert [asked().status_code for _ in range(7)] == [200] * 5 + [429] * 2
        refused = asked()
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["type"].endswith("too-many-requests")
        # Another token has a bucket of its own, and so has nobody.
        assert asked("append").status_code == 200
        assert served.ask("GET", "/healthz", "").status_code == 200
        now[0] += 1.0
        assert [asked().status_code for _ in range(2)] == [200, 429]
        # The same bucket, whichever way is asked.
        assert served.ask("POST", "/mcp", "read", json={}).status_code == 429


def test_who_may_not_is_not_counted(tmp_path: Path) -> None:
    with serving(tmp_path, limits=SLOW, monotonic_s=lambda: 0.0) as served:
        for _ in range(20):
            assert served.ask("POST", "/v1/append", "read", json={}).status_code == 403
        assert served.ask("GET", "/v1/status", "read").status_code == 200


@given(st.lists(st.floats(0, 10), max_size=200), st.integers(1, 600), st.integers(1, 50))
def test_over_any_stretch_no_more_than_the_burst_and_the_rate(
    pauses: list[float], a_minute: int, burst: int
) -> None:
    now = [0.0]
    rates = RateLimiter(a_minute, burst, lambda: now[0])
    let_in = 0
    for pause in pauses:
        now[0] += pause
        wait_s = rates.take("a")
        assert wait_s >= 0
        if not wait_s:
            let_in += 1
        assert let_in <= burst + now[0] * a_minute / 60 + 1e-6


@given(st.integers(1, 600), st.integers(1, 20))
def test_who_waits_as_told_is_let_in(a_minute: int, burst: int) -> None:
    now = [0.0]
    rates = RateLimiter(a_minute, burst, lambda: now[0])
    for _ in range(burst):
        assert rates.take("a") == 0
    now[0] += rates.take("a") + 1e-6
    assert rates.take("a") == 0


def test_only_so_many_tokens_are_remembered_and_the_idle_go_first() -> None:
    rates = RateLimiter(1, 3, lambda: 0.0)
    for _ in range(3):
        rates.take("busy")
    for number in range(MAX_BUCKETS + 10):
        rates.take(f"t{number}")
    assert rates.take("busy") > 0
    assert len(rates._buckets) <= MAX_BUCKETS


@given(st.integers(1, 600), st.integers(2, 60), st.integers(2, 100))
def test_who_waits_as_told_is_let_in_with_a_request_that_costs_more(
    a_minute: int, burst: int, cost: int
) -> None:
    now = [0.0]
    rates = RateLimiter(a_minute, burst, lambda: now[0])
    for _ in range(burst):
        rates.take("a")
    rest = rates.take("a", cost - 1, again=1)
    now[0] += rest + 1e-6
    assert rates.take("a") == 0
    assert rates.take("a", cost - 1, again=1) == 0


def test_a_long_question_counts_as_much_as_it_costs(tmp_path: Path) -> None:
    limits = ServiceLimits(requests_a_minute=60, burst=20)
    long = "reading " * 490
    with serving(tmp_path, limits=limits, monotonic_s=lambda: 0.0) as served:

        def asked(path: str, body: Any) -> Any:
            return served.ask("POST", path, json=body)

        assert asked("/v1/search", {"query": long}).status_code == 200
        assert asked("/v1/search", {"query": "short"}).status_code == 429
    with serving(tmp_path, limits=limits, monotonic_s=lambda: 0.0) as served:
        assert asked("/v1/search", {"query": "short"}).status_code == 200
        for path, body in (
            ("/v1/search", {"query": long}),
            ("/v1/page/search", {"query": long}),
            ("/v1/page/absent", {"query": long, "path": "MEMORY.md"}),
            ("/v1/page/near", {"query": long}),
        ):
            refused = asked(path, body)
            assert refused.status_code == 429, path
            assert refused.json()["detail"] == "the request costs as much as 20 short ones"
        call = {"query": long * 2}
        assert asked("/mcp", {"jsonrpc": "2.0", "method": "x", "params": call}).status_code == 429


# -- requests without a token --------------------------------------------------------------------


def test_a_flood_without_a_token_is_refused_and_leaves_the_others_alone(tmp_path: Path) -> None:
    limits = replace(PLENTY, stranger_cost_a_minute=60, stranger_burst=35)
    with serving(tmp_path, limits=limits, monotonic_s=lambda: 0.0) as served:
        logins = [served.ask("GET", "/open?code=x", "").status_code for _ in range(5)]
        assert logins == [403] * 3 + [429] * 2
        refusals = [served.ask("GET", "/v1/status", "garbage") for _ in range(4)]
        assert [answer.status_code for answer in refusals] == [401] * 2 + [429] * 2
        assert refusals[-1].headers["retry-after"] == "1"
        assert "this address" in refusals[-1].json()["detail"]
        assert [served.ask("GET", "/", "").status_code for _ in range(2)] == [200, 429]
        # Whoever has a token, and those who watch over the service, are not concerned.
        assert served.ask("POST", "/v1/append", "append", json={"text": "x"}).status_code == 201
        cookie = {"Cookie": f"{COOKIE}={served.tokens['page']}"}
        assert served.ask("GET", "/", "", headers=cookie).status_code == 200
        for path in ("/healthz", "/readyz"):
            assert served.ask("GET", path, "").status_code == 200


# -- bodies --------------------------------------------------------------------------------------


def test_a_body_that_is_too_large_is_refused_by_its_length(served: Served) -> None:
    limit = 1024 * 1024
    fits = b'{"query": "' + b"x" * 100 + b'"}' + b" " * (limit - 113)
    assert len(fits) == limit
    kind = {"Content-Type": "application/json"}
    assert served.ask("POST", "/v1/search", content=fits, headers=kind).status_code == 200
    refused = served.ask("POST", "/v1/search", content=fits + b" ", headers=kind)
    assert refused.status_code == 413
    for wrong in ("-1", "x", "1e9", "99999999999999999999"):
        headers = {**kind, "Content-Length": wrong}
        answer = served.ask("POST", "/v1/search", content=b"{}", headers=headers)
        assert answer.status_code == 413, wrong


def test_a_body_that_hides_its_length_is_cut_off_while_it_comes(served: Served) -> None:
    sent = [0]

    async def endless() -> AsyncIterator[bytes]:
        while sent[0] < 100 * 2**20:
            sent[0] += 65536
            yield b" " * 65536

    for path in ("/v1/search", "/mcp"):
        sent[0] = 0
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        answer = served.ask("POST", path, content=endless(), headers=headers)
        assert answer.status_code == 413, path


def test_brackets_without_end_are_survived(served: Served) -> None:
    for body in (b"[" * 500_000, b'{"query":' * 100_000, b'{"query": ' + b"9" * 5000 + b"}"):
        headers = {"Content-Type": "application/json"}
        answer = served.ask("POST", "/v1/search", content=body, headers=headers)
        assert answer.status_code in (400, 422), body[:10]
        assert answer.headers["content-type"] == "application/problem+json"


# -- seats ---------------------------------------------------------------------------------------


def test_kinds_of_work_have_seats_of_their_own() -> None:
    release = threading.Event()
    held = partial(release.wait, 20)

    async def main() -> None:
        pools = WorkerPools(PoolSizes(quick=1, search=1, write=1, slow=1), wait_s=math.inf)
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                for kind in ("search", "write", "slow"):
                    group.start_soon(pools.run, kind, "main", held)
                assert await pools.run("quick", "main", lambda: 1) == 1
                # A search of another agent does not wait either.
                assert await pools.run("search", "work", lambda: 2) == 2
                group.start_soon(pools.run, "slow", "work", held)
                while not pools.waiting()["slow"]:
                    await anyio.lowlevel.checkpoint()
                release.set()

    anyio.run(main)


def test_when_enough_wait_the_next_is_told_at_once() -> None:
    release = threading.Event()
    held = partial(release.wait, 20)

    async def main() -> None:
        pools = WorkerPools(PoolSizes(quick=1), wait_s=math.inf)
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                for _ in range(MAX_WAITING + 1):
                    group.start_soon(pools.run, "quick", "main", held)
                while pools.waiting()["quick"] < MAX_WAITING:
                    await anyio.lowlevel.checkpoint()
                with pytest.raises(TooBusy):
                    await pools.run("quick", "main", lambda: 1)
                release.set()

    anyio.run(main)


def test_requests_that_arrive_in_one_cycle_of_the_event_loop_see_each_other() -> None:
    release = threading.Event()
    refused: list[int] = []

    async def ask(pools: WorkerPools, number: int) -> None:
        try:
            await pools.run("quick", "main", partial(release.wait, 20))
        except TooBusy:
            refused.append(number)

    async def main() -> None:
        pools = WorkerPools(PoolSizes(quick=2), wait_s=math.inf)
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                # All of them are ready to run before the first one runs.
                for number in range(2 + MAX_WAITING + 3):
                    group.start_soon(ask, pools, number)
                while not refused:
                    await anyio.lowlevel.checkpoint()
                assert pools.waiting()["quick"] == MAX_WAITING
                release.set()

    anyio.run(main)
    assert len(refused) == 3


def test_who_has_waited_long_enough_for_a_seat_is_refused_and_the_seat_is_not_lost() -> None:
    release = threading.Event()

    async def main() -> None:
        pools = WorkerPools(PoolSizes(search=1), wait_s=0.01)
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(pools.run, "search", "main", partial(release.wait, 20))
                await anyio.lowlevel.checkpoint()
                with pytest.raises(TooBusy):
                    await pools.run("search", "main", lambda: 1)
                assert pools.waiting()["search"] == 0
                release.set()
            assert await pools.run("search", "main", lambda: 2) == 2

    anyio.run(main)


def test_a_request_that_finds_no_seat_in_time_gets_503_and_is_told_when_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path, limits=replace(PLENTY, wait_s=0.5)) as served:
        refused = _first_of(PoolSizes().quick + 1, served, monkeypatch)
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "2"
    assert refused.json()["type"].endswith("too-busy")


def test_a_server_with_too_much_to_do_says_so(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = _first_of(MAX_WAITING + 20, served, monkeypatch)
    assert refused.status_code == 503
    assert refused.headers["retry-after"]


def _first_of(requests: int, served: Served, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The first answer while no request comes to its end."""
    release = threading.Event()
    memory = served.agents.memory("main")
    monkeypatch.setattr(memory, "status", lambda: release.wait(30) and None)
    with ThreadPoolExecutor(requests) as pool:
        asked = [pool.submit(served.ask, "GET", "/v1/status") for _ in range(requests)]
        first = next(as_completed(asked, timeout=30)).result()
        release.set()
    return first
