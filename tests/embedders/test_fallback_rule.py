"""When a fallback takes over an index that has vectors, and when the first provider is back.

A fallback replaces vectors of another model only if the cache keeps them. The providers are
servers on loopback sockets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.embedders.fake_server import FakeProvider
from tests.embedders.machine import Machine

from notewell import Memory, open_memory
from notewell.engines.switching import FIRST_PAUSE_S, LONGEST_PAUSE_S, ReturnPause

OFF = {"cache": {"enabled": False}}
MODEL = "text-embedding-3-small"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider(dims=1536) as running:
        yield running


def openai(server: FakeProvider, **more: Any) -> dict[str, Any]:
    remote = {"baseUrl": server.url("openai"), "apiKey": "sk-0123456789"}
    return {"provider": "openai", "remote": remote, "fallback": "embedded", **more}


def add_boat(machine: Machine) -> None:
    machine.write_note("2026-11-02.md", "# Boat\n\nThe boat is green.\n")


def reported(machine: Machine, *arguments: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(machine.run(*arguments, "--json").stdout)
    return payload


def texts_since(server: FakeProvider, start: int) -> list[str]:
    return [text for seen in server.seen[start:] for text in seen.texts]


# -- the command line ----------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["401", "500", "hang"])
def test_without_a_cache_a_failure_loses_no_vectors(
    machine: Machine, server: FakeProvider, fault: str
) -> None:
    machine.configure(openai(server, **OFF))
    assert machine.run("index").returncode == 0
    server.always(fault)
    if fault == "hang":
        machine.configure(openai(server, **OFF, sync={"embeddingBatchTimeoutSeconds": 1}))
    add_boat(machine)
    indexed = machine.run("index")
    assert indexed.returncode == 5
    assert "built a new index" not in indexed.stderr
    assert "1 written, 0 forgotten, 1 unchanged" in indexed.stdout
    assert "the 'embedded' embedder is not used: it would replace the vectors" in indexed.stderr
    assert "no cache keeps them (cache.enabled, cache.maxEntries)" in indexed.stderr
    assert f"The index keeps its vectors of {MODEL}" in indexed.stderr
    searched = machine.run("search", "boat")  # The words are up to date, and the answer says why.
    assert searched.returncode == 5
    assert "memory/2026-11-02.md" in searched.stdout
    assert "keyword: the 'openai' embedder" in searched.stderr
    server.always(None)
    machine.configure(openai(server, **OFF))
    start = len(server.seen)
    report = reported(machine, "index")
    assert (report["rebuilt"], report["vectorsAdded"]) == (None, 1)
    assert ["boat" in text for text in texts_since(server, start)] == [True]


def test_without_a_cache_not_even_force_loses_vectors_after_a_failure(
    machine: Machine, server: FakeProvider
) -> None:
    machine.configure(openai(server, **OFF))
    assert machine.run("index").returncode == 0
    server.always("401")
    add_boat(machine)
    assert machine.run("index", "--force").returncode == 5
    status = reported(machine, "status")
    assert (status["provider"], status["vector"]["embedded"]) == ("openai", 1)


def test_without_a_cache_a_key_that_is_gone_loses_no_vectors(
    machine: Machine, server: FakeProvider
) -> None:
    settings = openai(server, **OFF)
    settings["remote"]["apiKey"] = "env:LAB_TOKEN"
    machine.configure(settings)
    machine.variables["LAB_TOKEN"] = "sk-0123456789"
    assert machine.run("index").returncode == 0
    del machine.variables["LAB_TOKEN"]
    add_boat(machine)
    # Before the sync: a search of another process takes in what was saved a moment ago.
    searched = machine.run("search", "boat")
    assert (searched.returncode, "memory/2026-11-02.md" in searched.stdout) == (5, True)
    indexed = machine.run("index")
    assert indexed.returncode == 5
    assert "LAB_TOKEN" in indexed.stderr
    assert f"The index keeps its vectors of {MODEL}" in indexed.stderr
    machine.variables["LAB_TOKEN"] = "sk-0123456789"
    report = reported(machine, "index")
    assert (report["rebuilt"], report["vectorsAdded"]) == (None, 1)


def test_without_a_cache_a_fallback_builds_a_first_index(
    machine: Machine, server: FakeProvider
) -> None:
    machine.configure(openai(server, **OFF))
    server.always("401")
    assert machine.run("index").returncode == 5
    assert reported(machine, "status")["provider"] == "embedded"


def test_a_cache_without_room_for_both_models_counts_as_none(
    machine: Machine, server: FakeProvider
) -> None:
    machine.configure(openai(server, cache={"maxEntries": 2}))
    assert machine.run("index").returncode == 0
    server.always("401")
    add_boat(machine)
    indexed = machine.run("index")
    assert "the cache has no room for them and 2 vectors of another model" in indexed.stderr
    assert "cache.maxEntries is 2" in indexed.stderr
    machine.configure(openai(server, cache={"maxEntries": 3}))
    assert reported(machine, "index")["fallback"]["to"] == "embedded"


def test_vectors_that_the_cache_did_not_have_survive_a_fallback(
    machine: Machine, server: FakeProvider
) -> None:
    machine.configure(openai(server))
    assert machine.run("index").returncode == 0
    (cache,) = machine.state.rglob("cache.sqlite")
    cache.unlink()
    server.always("401")
    add_boat(machine)
    assert reported(machine, "index")["fallback"]["to"] == "embedded"
    server.always(None)
    start = len(server.seen)
    assert reported(machine, "index")["fallback"] is None
    texts = texts_since(server, start)
    assert sum("boat" in text for text in texts) == 1
    assert not any("router" in text for text in texts)  # It is known, and not paid for again.


# -- a process that goes on ----------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def opened(machine: Machine, clock: Clock) -> Memory:
    memory = open_memory(
        machine.workspace, state_dir=machine.state, environment=machine.environment
    )
    memory.indexer.monotonic_s = clock
    return memory


def test_a_process_that_fell_back_asks_again_after_a_pause_and_goes_back(
    machine: Machine, server: FakeProvider
) -> None:
    machine.configure(openai(server))
    clock = Clock()
    with opened(machine, clock) as memory:
        assert memory.sync().trouble is None
        # Not retried and no cool-down of its own, so that only the pause decides.
        server.always("400")
        add_boat(machine)
        report = memory.sync()
        assert report.fallback is not None
        requests = len(server.seen)
        clock.now += FIRST_PAUSE_S - 1
        assert memory.sync().fallback is not None
        assert memory.search("boat").mode == "hybrid"
        assert len(server.seen) == requests  # Neither a sync nor a search has asked.
        clock.now += 1
        assert memory.sync().fallback is not None
        assert len(server.seen) == requests + 1
        server.always(None)
        clock.now += 2 * FIRST_PAUSE_S - 1
        assert memory.sync().fallback is not None
        assert len(server.seen) == requests + 1
        clock.now += 1
        assert memory.search("boat").fallback is not None  # A question never asks.
        assert len(server.seen) == requests + 1
        report = memory.sync()
        assert (report.fallback, report.trouble, report.vectors_waiting) == (None, None, 0)
        # One short question, and the only note that the first provider has not seen.
        assert len(server.seen) == requests + 3
        assert not any("router" in text for text in texts_since(server, requests))
        answer = memory.search("boat")
        assert (answer.mode, answer.provider, answer.fallback) == ("hybrid", "openai", None)


def test_words_alone_ask_no_provider(machine: Machine, server: FakeProvider) -> None:
    machine.configure(openai(server))
    server.always("401")
    machine.run("index")
    requests = len(server.seen)
    assert machine.run("index", "--text-only").returncode == 0
    assert len(server.seen) == requests


def test_an_old_failure_does_not_count_with_a_new_one(
    machine: Machine, server: FakeProvider
) -> None:
    machine.configure(openai(server))
    with opened(machine, Clock()) as memory:
        for name in ("a.md", "b.md"):
            server.misbehave("400")  # One failure; the second attempt of the same sync succeeds.
            machine.write_note(name, f"Note {name}.\n")
            report = memory.sync()
            assert (report.fallback, report.vectors_waiting) == (None, 0)


def test_the_pause_doubles_up_to_an_hour_and_starts_over_after_a_good_hour() -> None:
    pause, now = ReturnPause(), 0.0
    assert pause.is_over(now)
    waited = []
    for _ in range(6):
        pause.failed(now)
        start = now
        while not pause.is_over(now):
            now += 60
        waited.append((now - start) / 60)
    assert waited == [5, 10, 20, 40, 60, 60]
    pause.returned(now)
    pause.failed(now + LONGEST_PAUSE_S - 1)
    assert not pause.is_over(now + 2 * LONGEST_PAUSE_S - 2)
    pause.returned(now)
    pause.failed(now + LONGEST_PAUSE_S)
    assert pause.is_over(now + LONGEST_PAUSE_S + FIRST_PAUSE_S)
