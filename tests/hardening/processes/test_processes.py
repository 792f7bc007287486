"""Real processes on one workspace: nobody pays twice, nobody is answered wrong or not at all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.hardening.processes.crew import Crew, entries_not_found, leftovers, make_workspace
from tests.hardening.processes.events import Events
from tests.hardening.processes.expected_answers import times_to_see, wrong_answers
from tests.hardening.processes.roles import memory, sync
from tests.hardening.processes.soak import soak

SEEN_WITHIN_S = 30.0
"""Mostly some hundredths; a machine with other work to do is not to fail a test."""


def test_four_indexers_at_once_embed_every_text_exactly_once(tmp_path: Path) -> None:
    make_workspace(tmp_path, indexed=False)
    with Crew(tmp_path) as crew:
        for _ in range(4):
            crew.start("index", rounds=1)
        crew.go()
        assert [worker.wait() for worker in crew.workers] == [0] * 4
        crew.workers.clear()
    with memory(tmp_path) as opened:
        chunks = opened.sync().chunks

    events = Events(tmp_path)
    paid = Counter(text for one in events.read("embedded") for text in one["texts"])
    assert (chunks, len(paid), paid.total()) == (31, 31, 31)
    assert events.read("failed") == []
    assert {one["trouble"] for one in events.read("synced")} <= {"", "IndexBusy"}
    assert leftovers(tmp_path) == []


def test_openers_and_readers_see_the_old_index_or_the_new_one_and_soon_the_new_one(
    tmp_path: Path,
) -> None:
    make_workspace(tmp_path, indexed=True)
    with Crew(tmp_path) as crew:
        publisher = crew.start("publish", rounds=15)
        for role in ("open_and_read", "open_and_read", "open_and_read", "read"):
            crew.start(role)
        crew.go()
        assert publisher.wait() == 0
        assert crew.stop() == []

    events = Events(tmp_path)
    assert wrong_answers(tmp_path) == []
    assert len(events.read("answered")) > 50
    assert len({one["number"] for one in events.read("answered")}) > 5
    seen = times_to_see(tmp_path)
    assert len(seen) > 10
    assert max(seen) < SEEN_WITHIN_S
    assert events.read("failed") == []
    sync(tmp_path, force=False)
    assert leftovers(tmp_path) == []


def test_an_entry_that_is_appended_while_an_index_is_rebuilt_is_found_afterwards(
    tmp_path: Path,
) -> None:
    make_workspace(tmp_path, indexed=True)
    with Crew(tmp_path) as crew:
        appender = crew.start("append", rounds=40)
        for role in ("rebuild", "read", "read"):
            crew.start(role)
        crew.go()
        assert appender.wait() == 0
        assert crew.stop() == []
    sync(tmp_path, force=False)

    assert len(Events(tmp_path).read("appended")) == 40
    assert entries_not_found(tmp_path) == []
    assert wrong_answers(tmp_path) == []
    assert leftovers(tmp_path) == []


def test_whoever_is_killed_whenever_leaves_nothing_wrong_behind(tmp_path: Path) -> None:
    soaked = soak(tmp_path, 8.0, seed=1)

    assert soaked.is_good, soaked
    assert soaked.kills > 5
    assert soaked.answers > 20
