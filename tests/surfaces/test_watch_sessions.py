"""Under a watch, a conversation is indexed when enough of it is new, not with every message."""

from __future__ import annotations

import json
import queue
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.embedders.fake_server import FakeProvider
from tests.embedders.test_remote_memory import embedder_of

from notewell import SearchSettings, SessionSettings, Settings, SyncSettings, open_memory
from notewell.sync import NoNotifier, Synced, Timing
from notewell.sync.schedule import Due, Past, heard, next_sync

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from notewell import Memory
    from notewell.sync import WatchEvent

BOUND_S = 60.0
SETTINGS = Settings(
    sessions=SessionSettings(enabled=True, delta_messages=5),
    sync=SyncSettings(on_search=False),
    search=SearchSettings(cached_questions=0),
)


def message(text: str) -> str:
    return json.dumps({"type": "message", "message": {"role": "user", "content": text}}) + "\n"


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    path = tmp_path / "state" / "agents" / "main" / "sessions" / "talk.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(message("The boat is green."), encoding="utf-8")
    return path


@contextmanager
def watched(memory: Memory) -> Iterator[queue.Queue[Synced]]:
    """The syncs of a watch that scans all the time."""
    syncs: queue.Queue[Synced] = queue.Queue()
    stop = threading.Event()

    def on_event(event: WatchEvent) -> None:
        if isinstance(event, Synced):
            syncs.put(event)

    def watch() -> None:
        timing = Timing(scan_s=0.02)
        memory.watch(stop, on_event=on_event, timing=timing, notifier=NoNotifier())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield syncs
    finally:
        stop.set()
        thread.join(BOUND_S)
        assert not thread.is_alive()


def test_a_message_costs_no_request_and_enough_messages_are_found(
    tmp_path: Path, server: FakeProvider, transcript: Path
) -> None:
    with (
        open_memory(
            tmp_path / "workspace",
            state_dir=tmp_path / "state",
            settings=SETTINGS,
            embedder=embedder_of(server),
        ) as memory,
        watched(memory) as syncs,
    ):
        # The first sync takes what there is.
        assert syncs.get(timeout=BOUND_S).report.written == 1
        requests = len(server.seen)
        with transcript.open("a", encoding="utf-8") as file:
            file.write(message("The zebra is called Ada."))
        # Two syncs begin after the message was written.
        reports = [syncs.get(timeout=BOUND_S).report for _ in range(3)]
        assert [report.written for report in reports] == [0, 0, 0]
        assert len(server.seen) == requests
        assert "Ada" not in memory.search("zebra").hits[0].snippet
        with transcript.open("a", encoding="utf-8") as file:
            file.write("".join(message(f"line {number}") for number in range(4)))
        while not syncs.get(timeout=BOUND_S).report.written:
            pass
        assert "Ada" in memory.search("zebra").hits[0].snippet


def test_a_conversation_settles_later_than_a_note() -> None:
    timing, past = Timing(), Past(0.0)
    burst = heard(None, ("talk.jsonl",), 10.0, sessions=True)
    assert next_sync(timing, past, burst, listening=True) == Due(15.0, "change")
    # A note that is saved meanwhile does not wait for the conversation.
    burst = heard(burst, ("MEMORY.md",), 11.0)
    assert next_sync(timing, past, burst, listening=True) == Due(12.5, "change")
