"""Two processes, of which one cannot load sqlite-vec, share an index and do not rebuild it for
each other. Each step starts `notewell` as a process; the provider is a server on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.embedders.fake_server import FakeProvider
from tests.embedders.machine import Machine

from notewell.ports import PROBE_TEXT

pytest.importorskip("sqlite_vec")

WITH = {"driver": "sqlite-vec"}
SEGMENTS = {"driver": "segments"}


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider(dims=1536) as running:
        yield running


class SharedIndex:
    def __init__(self, home: Path, server: FakeProvider) -> None:
        self.machine = Machine(home)
        self.server = server

    def run(self, vector: Mapping[str, object], *arguments: str) -> dict[str, Any]:
        """As in an environment with these settings of `store.vector`."""
        remote = {"baseUrl": self.server.url("openai"), "apiKey": "sk-0123456789"}
        self.machine.configure(
            {"provider": "openai", "remote": remote, "store": {"vector": vector}}
        )
        payload: dict[str, Any] = json.loads(self.machine.run(*arguments, "--json").stdout)
        return payload

    def index(self, vector: Mapping[str, object], *arguments: str) -> tuple[bool, int]:
        """Whether a new index was built, and how many requests had texts of notes."""
        before = len(self.server.seen)
        report = self.run(vector, "index", *arguments)
        assert report["vectorsWaiting"] == 0
        # An `index` that embeds nothing asks once whether the key is accepted.
        sent = [seen.texts for seen in self.server.seen[before:]]
        return report["rebuilt"] is not None, len(sent) - sent.count([PROBE_TEXT])

    def stored_by(self, vector: Mapping[str, object]) -> str:
        driver: str = self.run(vector, "status")["vector"]["driver"]
        return driver

    def mode(self, vector: Mapping[str, object]) -> tuple[str, bool]:
        """The mode of a search, and whether it has a notice."""
        answer = self.run(vector, "search", "router")
        assert answer["results"]
        return answer["mode"], bool(answer.get("notice"))


@pytest.mark.parametrize(
    "without",
    [
        {"driver": "sqlite-vec", "enabled": False},
        {"driver": "sqlite-vec", "extensionPath": "/nowhere/vec0"},
    ],
)
def test_an_index_is_not_rebuilt_in_turns(
    tmp_path: Path, server: FakeProvider, without: Mapping[str, object]
) -> None:
    shared = SharedIndex(tmp_path, server)
    assert shared.index(WITH) == (True, 1)
    assert (shared.stored_by(WITH), shared.mode(WITH)) == ("sqlite-vec", ("hybrid", False))
    assert shared.mode(without) == ("keyword", True)
    # Once, and without a request: the vectors are in the cache.
    assert shared.index(without) == (True, 0)
    assert shared.mode(without) == ("hybrid", True)
    for vector in (WITH, without, WITH):
        assert shared.index(vector) == (False, 0)
        assert (shared.stored_by(vector), shared.mode(vector)[0]) == ("segments", "hybrid")
    shared.machine.write_note("2026-11-02.md", "# Boat\n\nThe boat is green.\n")
    assert shared.index(WITH) == (False, 1)
    assert shared.index(without) == (False, 0)
    assert "`notewell index --force` stores them with sqlite-vec" in _text(shared, WITH)
    assert shared.index(WITH, "--force") == (True, 0)
    assert shared.stored_by(WITH) == "sqlite-vec"


def test_another_driver_in_the_settings_is_used_and_costs_no_request(
    tmp_path: Path, server: FakeProvider
) -> None:
    shared = SharedIndex(tmp_path, server)
    assert shared.index(SEGMENTS) == (True, 1)
    assert shared.index(WITH) == (True, 0)
    assert (shared.stored_by(WITH), shared.mode(WITH)) == ("sqlite-vec", ("hybrid", False))
    assert shared.index(SEGMENTS) == (True, 0)
    assert (shared.stored_by(SEGMENTS), shared.mode(SEGMENTS)) == ("segments", ("hybrid", False))


def _text(shared: SharedIndex, vector: Mapping[str, object]) -> str:
    shared.run(vector, "status")
    return shared.machine.run("status").stdout
