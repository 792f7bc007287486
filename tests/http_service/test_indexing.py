"""While notes are indexed, the service says so, and answers from what is indexed by then."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.http_service.served import Served, serving

from notewell.sync import Progress, apply

WAIT_S = 60
NOTES = 60


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(apply, "NOTES_AT_ONCE", 20)
    with serving(tmp_path) as one:
        for number in range(NOTES):
            file = one.workspaces["main"] / "memory" / f"{number:02}.md"
            file.write_text(f"# Note {number}\n\nA reading of sensor {number}.\n", "utf-8")
        yield one


@contextmanager
def held_sync(served: Served, label: str, calls: int = 1) -> Iterator[None]:
    """A sync that stops after the given step, until the end of the block."""
    reached, may_go_on = threading.Event(), threading.Event()
    seen = []

    def hold(progress: Progress) -> None:
        if progress.label == label:
            seen.append(progress)
            if len(seen) == calls:
                reached.set()
                assert may_go_on.wait(WAIT_S)

    memory = served.agents.memory("main")
    thread = threading.Thread(target=lambda: memory.sync(progress=hold))
    thread.start()
    try:
        assert reached.wait(WAIT_S)
        yield
    finally:
        may_go_on.set()
        thread.join(WAIT_S)


def asked(served: Served, path: str) -> Any:
    return served.ask("GET", path, "admin").json()


def test_words_answer_before_all_notes_are_indexed_and_the_service_says_how_far_it_is(
    served: Served,
) -> None:
    with held_sync(served, "notes"):
        answer = served.search("reading of sensor 3")
        assert answer["results"]
        assert "41 notes are being indexed and are not found yet" in answer["notice"]
        assert "computed after the words (20 of 61 notes)" in answer["notice"]
        activity = {"what": "notes", "done": 20, "total": 61}
        assert asked(served, "/v1/status")["activity"] == activity
        ready = served.ask("GET", "/readyz", "")
        counts = {"agents": 2, "ready": 1, "opening": 0, "indexing": 1, "failed": 0}
        assert (ready.status_code, ready.json()) == (200, {"status": "indexing", **counts})
    assert served.search("reading of sensor 59")["results"][0]["path"] == "memory/59.md"
    assert asked(served, "/v1/status")["activity"] is None


def test_before_the_first_notes_it_says_that_they_are_coming(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, may_go_on = threading.Event(), threading.Event()
    plan = apply.TextSync._plan

    def held(self: apply.TextSync, *args: Any) -> Any:
        reached.set()
        assert may_go_on.wait(WAIT_S)
        return plan(self, *args)

    monkeypatch.setattr(apply.TextSync, "_plan", held)
    monkeypatch.setattr("notewell.memory.FIRST_WORDS_S", 0.01)
    memory = served.agents.memory("main")
    thread = threading.Thread(target=memory.sync)
    thread.start()
    try:
        assert reached.wait(WAIT_S)
        answer = served.search("reading")
        assert answer["results"] == []
        assert answer["reason"] == "the notes are being indexed now: ask again in a moment"
        ready = served.ask("GET", "/readyz", "")
        assert (ready.status_code, ready.json()["status"]) == (200, "indexing")
    finally:
        may_go_on.set()
        thread.join(WAIT_S)


def test_health_says_one_thing_about_an_index_that_is_being_written(served: Served) -> None:
    def about_index() -> list[dict[str, Any]]:
        findings = asked(served, "/v1/page/health")["findings"]
        return [one for one in findings if one["what"] in ("index", "lease", "orphans")]

    (before,) = [one for one in about_index() if one.get("todo")]
    assert before["told"] == "there is none yet"
    with held_sync(served, "notes", calls=2):
        (only,) = about_index()
        assert only["told"] == "notes are indexed: 40 of 61 so far"
        assert only["level"] == "ok"
        assert asked(served, "/v1/page/health")["activity"]["done"] == 40
    # Not what was true a moment ago.
    after = [one for one in about_index() if one["what"] == "index"]
    assert all(one["level"] == "ok" for one in after)
    assert any("61 notes" in one["told"] for one in after)
    assert asked(served, "/v1/page/health")["activity"] is None


def test_while_vectors_are_computed_the_words_are_all_there(served: Served) -> None:
    with held_sync(served, "vectors"):
        assert served.ask("GET", "/readyz", "").json()["status"] == "ready"
        answer = served.search("reading of sensor 59")
        assert answer["results"][0]["path"] == "memory/59.md"
        activity = asked(served, "/v1/status")["activity"]
        assert activity["what"] == "vectors"
