"""Searches of several threads share one comparison of notes and index, and a watch saves most."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from notewell import Settings, open_memory
from notewell.sync import FileNotifier, Heard, Synced, WatchEvent
from notewell.sync.look import LOOK_SHARE, WATCHED_SHARE, LookSchedule, NotesCompared
from notewell.testing import HashEmbedder
from notewell.types import Notice

BOUND_S = 60.0  # Far above what it takes; a test that waits so long has failed.


class NoticedLock:
    """Tells when somebody wants it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.wanted = threading.Event()

    def __enter__(self) -> None:
        self.wanted.set()
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()


def schedule(clock: Callable[[], float] = lambda: 0.0) -> LookSchedule:
    return LookSchedule(lambda: 0, clock, None)


def looks_of_two_threads(
    meanwhile: Callable[[LookSchedule], None],
) -> tuple[int, int | Notice | None]:
    """How often two threads look if the second one comes while the first one looks, and what the
    second one learns."""
    looks, turn = schedule(), NoticedLock()
    looks._turn = turn  # type: ignore[assignment]
    counted: list[int] = []
    learned: list[int | Notice | None] = []
    second = threading.Thread(target=lambda: learned.append(looks.compare(found).changed))

    def found() -> int:
        counted.append(len(counted) + 1)
        if len(counted) == 1:
            turn.wanted.clear()
            second.start()
            assert turn.wanted.wait(BOUND_S)
            meanwhile(looks)
        return counted[-1]

    looks.compare(found)
    second.join(BOUND_S)
    return len(counted), learned[0]


def test_a_thread_that_waited_for_a_look_shares_what_it_found() -> None:
    assert looks_of_two_threads(lambda _: None) == (1, 1)


def test_a_note_that_was_saved_meanwhile_is_looked_for_again() -> None:
    assert looks_of_two_threads(lambda looks: looks.request()) == (2, 2)


def test_who_shares_a_look_does_not_take_a_later_change_for_seen() -> None:
    """A note is written while the first thread looks and the second one waits."""
    looks, turn, mark = schedule(), NoticedLock(), [1]
    looks._turn = turn  # type: ignore[assignment]
    shared: list[NotesCompared] = []
    second = threading.Thread(
        target=lambda: shared.append(looks.compare(lambda: 0, lambda: mark[0]))
    )

    def write_meanwhile() -> int:
        turn.wanted.clear()
        mark[0] = 2
        second.start()
        assert turn.wanted.wait(BOUND_S)
        return 0

    first = looks.compare(write_meanwhile, lambda: mark[0])
    second.join(BOUND_S)
    assert shared == [first]
    assert first.mark == 1


def test_who_comes_after_a_look_looks_again() -> None:
    looks = schedule()
    numbers = iter((3, 4))
    assert [looks.compare(lambda: next(numbers)).changed for _ in range(2)] == [3, 4]


def test_while_a_watch_hears_nothing_notes_are_compared_less_often() -> None:
    now_s = [0.0]
    looks = schedule(lambda: now_s[0])

    def look() -> int:
        now_s[0] += 1
        return 0

    looks.compare(look)
    now_s[0] += LOOK_SHARE
    assert not looks.is_recent()
    looks.watched(quiet=True)
    looks.compare(look)
    now_s[0] += WATCHED_SHARE - 1
    assert looks.is_recent()
    looks.watched(quiet=False)  # It has heard something.
    assert not looks.is_recent()
    looks.compare(look)
    now_s[0] += LOOK_SHARE
    assert not looks.is_recent()


def test_a_change_that_the_watch_hears_is_found_by_the_next_search(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("The boat is green.\n", encoding="utf-8")
    said: queue.Queue[WatchEvent] = queue.Queue()
    stop = threading.Event()

    def until(kind: type[WatchEvent]) -> None:
        while not isinstance(said.get(timeout=BOUND_S), kind):
            pass

    with open_memory(
        workspace, state_dir=tmp_path / "state", settings=Settings(), embedder=HashEmbedder()
    ) as memory:
        ear = FileNotifier(step_s=0.02)
        watch = threading.Thread(
            target=lambda: memory.watch(stop, on_event=said.put, notifier=ear)
        )
        watch.start()
        until(Synced)
        memory.indexer.looks._again_at = float("inf")  # As after a look at very many notes.
        (workspace / "memory" / "new.md").write_text("The zebra is Ada.\n", encoding="utf-8")
        until(Heard)
        assert "memory/new.md" in [hit.path for hit in memory.search("zebra").hits]
        stop.set()
        watch.join(BOUND_S)
        assert not watch.is_alive()
