"""When a watch syncs, told by a clock that only the ear moves: nothing here waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.errors import EmbedderUnreachable, WorkspaceMissing
from notewell.sync import SyncReport
from notewell.sync.notifier import NoNotifier, NotifierUnavailable
from notewell.sync.schedule import MAX_SAFETY_S, Timing
from notewell.sync.watch import (
    Failed,
    Heard,
    Listening,
    Scanning,
    StopAskedFor,
    Synced,
    Watcher,
    WatchEvent,
)

HERE = Path("/nowhere/workspace/memory")
NOTE = str(HERE / "a.md")


@dataclass
class ScriptedEar:
    """Hears what the script says when it says so; listening is what makes time go by."""

    script: Sequence[tuple[float, list[str] | NotifierUnavailable]] = ()
    until_s: float = 1000.0
    deaf_until_s: float = 0.0
    now_s: float = 0.0
    opened: int = 0
    closed: bool = False
    _next: int = 0

    def open(self, folders: Collection[str]) -> None:
        assert folders
        self.opened += 1
        if self.now_s < self.deaf_until_s:
            raise NotifierUnavailable("no watches left")

    def listen(self, timeout_s: float, stop: threading.Event) -> Collection[str]:
        assert timeout_s > 0
        at_s, said = self._coming()
        if at_s <= self.now_s + timeout_s:
            self._next += 1
            self.now_s = max(self.now_s, at_s)
            if isinstance(said, NotifierUnavailable):
                raise said
            return said
        self.now_s += timeout_s
        if self.now_s >= self.until_s:
            stop.set()
        return []

    def _coming(self) -> tuple[float, list[str] | NotifierUnavailable]:
        return self.script[self._next] if self._next < len(self.script) else (float("inf"), [])

    def close(self) -> None:
        self.closed = True


@dataclass
class Watch:
    """A watcher with everything around it made up."""

    ear: ScriptedEar
    timing: Timing = field(default_factory=Timing)
    answer: Callable[[int], SyncReport] = lambda _: SyncReport()
    takes_s: float = 0.0
    synced_at: list[float] = field(default_factory=list)
    told: list[WatchEvent] = field(default_factory=list)

    def run(self) -> Watch:
        Watcher(
            self._sync,
            [HERE],
            timing=self.timing,
            on_event=self.told.append,
            notifier=self.ear,
            monotonic_s=lambda: self.ear.now_s,
        ).run(threading.Event())
        assert self.ear.closed
        return self

    def _sync(self) -> SyncReport:
        self.synced_at.append(self.ear.now_s)
        self.ear.now_s += self.takes_s
        return self.answer(len(self.synced_at))

    def of(self, kind: type[WatchEvent]) -> list[WatchEvent]:
        return [one for one in self.told if isinstance(one, kind)]


def test_it_syncs_at_once_and_then_when_the_writing_has_stopped() -> None:
    writing = [(20.0 + 0.5 * step, [NOTE]) for step in range(8)]
    watch = Watch(ScriptedEar(writing, until_s=50)).run()
    assert watch.synced_at == [0.0, 25.0]
    first, second = watch.of(Synced)
    assert isinstance(first, Synced)
    assert isinstance(second, Synced)
    assert (first.why, second.why) == ("start", "change")
    assert second.paths == (NOTE,)
    assert watch.of(Heard) == [Heard((NOTE,))]
    assert watch.told[0] == Listening(1)


def test_a_file_that_is_written_without_end_is_taken_in_all_the_same() -> None:
    writing = [(1.0 * step, [NOTE]) for step in range(1, 60)]
    watch = Watch(ScriptedEar(writing, until_s=55)).run()
    gaps = [later - earlier for earlier, later in pairwise(watch.synced_at)]
    assert len(gaps) >= 4
    assert max(gaps) <= 12


def test_a_debounce_longer_than_the_bound_is_kept() -> None:
    watch = Watch(ScriptedEar([(5.0, [NOTE])], until_s=50), Timing(debounce_s=30)).run()
    assert watch.synced_at == [0.0, 35.0]


def test_what_is_no_note_of_ours_is_not_heard() -> None:
    noise = [str(HERE / "a.md.swp"), "/nowhere/workspace/package.json", "/nowhere/other.md"]
    watch = Watch(ScriptedEar([(5.0, noise)], until_s=50)).run()
    assert watch.synced_at == [0.0]
    assert not watch.of(Heard)


def test_a_folder_above_that_comes_back_is_heard() -> None:
    watch = Watch(ScriptedEar([(5.0, ["/nowhere/workspace"])], until_s=50)).run()
    assert watch.synced_at == [0.0, 6.5]


def test_without_a_sound_it_looks_seldom() -> None:
    assert Watch(ScriptedEar(until_s=200)).run().synced_at == [0.0, 60.0, 120.0, 180.0]


def test_a_slow_look_is_done_less_often() -> None:
    watch = Watch(ScriptedEar(until_s=400), takes_s=1.0).run()
    assert watch.synced_at == [0.0, 101.0, 202.0, 303.0]
    watch = Watch(ScriptedEar(until_s=2 * MAX_SAFETY_S), takes_s=30.0).run()
    assert watch.synced_at == [0.0, 630.0]


def test_the_time_that_new_notes_took_says_nothing_about_looking() -> None:
    watch = Watch(
        ScriptedEar(until_s=200), answer=lambda _: SyncReport(written=1), takes_s=30.0
    ).run()
    assert watch.synced_at == [0.0, 90.0, 180.0]


def test_an_interval_is_kept_whatever_was_heard() -> None:
    timing = Timing(interval_s=20)
    watch = Watch(ScriptedEar([(30.0, [NOTE])], until_s=60), timing).run()
    assert watch.synced_at == [0.0, 20.0, 31.5, 51.5]
    assert [one.why for one in watch.of(Synced) if isinstance(one, Synced)] == [
        "start",
        "interval",
        "change",
        "interval",
    ]


def test_who_cannot_listen_looks_often_and_says_so_once() -> None:
    watch = Watch(ScriptedEar(until_s=22, deaf_until_s=1e9)).run()
    assert watch.synced_at == [0.0, 5.0, 10.0, 15.0, 20.0]
    assert watch.of(Scanning) == [Scanning("no watches left", 5.0)]
    assert watch.ear.opened == 1


def test_listening_is_tried_again_and_told_when_it_works() -> None:
    watch = Watch(ScriptedEar([(130.0, [NOTE])], until_s=150, deaf_until_s=70)).run()
    assert watch.ear.opened == 3
    assert watch.of(Listening) == [Listening(1)]
    assert watch.synced_at[-2:] == [120.0, 131.5]


def test_an_ear_that_breaks_down_is_replaced_without_a_word() -> None:
    watch = Watch(
        ScriptedEar([(5.0, NotifierUnavailable("caf\\xe9.md")), (20.0, [NOTE])], until_s=50)
    ).run()
    assert watch.synced_at == [0.0, 6.5, 21.5]
    assert (watch.of(Listening), watch.of(Scanning)) == ([Listening(1)], [])
    assert watch.ear.opened == 2


def test_a_sync_that_fails_is_told_once_and_tried_again_later_and_later() -> None:
    def answer(number: int) -> SyncReport:
        if number < 8:
            raise WorkspaceMissing("/nowhere")
        return SyncReport()

    watch = Watch(ScriptedEar(until_s=300), answer=answer).run()
    assert watch.synced_at == [0.0, 5.0, 15.0, 35.0, 75.0, 135.0, 195.0, 255.0]
    (failed,) = watch.of(Failed)
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, WorkspaceMissing)
    assert failed.retry_s == 5.0
    assert len(watch.of(Synced)) == 1


def test_a_change_after_a_failure_does_not_wait_for_the_retry() -> None:
    def answer(number: int) -> SyncReport:
        if number < 5:
            raise OSError("the disk is gone")
        return SyncReport()

    watch = Watch(ScriptedEar([(40.0, [NOTE])], until_s=60), answer=answer).run()
    assert watch.synced_at == [0.0, 5.0, 15.0, 35.0, 41.5]


def test_vectors_that_wait_are_asked_for_again() -> None:
    def answer(number: int) -> SyncReport:
        trouble = EmbedderUnreachable("openai", "no answer") if number < 3 else None
        return SyncReport(trouble=trouble)

    assert Watch(ScriptedEar(until_s=60), answer=answer).run().synced_at == [0.0, 5.0, 15.0]


def test_a_sync_can_ask_for_the_end() -> None:
    def answer(_: int) -> SyncReport:
        raise StopAskedFor

    assert Watch(ScriptedEar(), answer=answer).run().told == [Listening(1)]


def test_what_nobody_foresaw_ends_the_watch_and_the_listening() -> None:
    def answer(_: int) -> SyncReport:
        raise ZeroDivisionError

    watch = Watch(ScriptedEar(), answer=answer)
    with pytest.raises(ZeroDivisionError):
        watch.run()
    assert watch.ear.closed


def test_a_watch_that_was_stopped_before_it_began_does_nothing() -> None:
    ear, stop, told = ScriptedEar(), threading.Event(), list[WatchEvent]()
    stop.set()
    Watcher(SyncReport, [HERE], notifier=ear, on_event=told.append).run(stop)
    assert (ear.opened, ear.closed, told) == (0, True, [])


def test_who_is_told_not_to_listen_only_looks() -> None:
    stop, told = threading.Event(), list[WatchEvent]()

    def sync() -> SyncReport:
        stop.set()
        return SyncReport()

    Watcher(sync, [HERE], notifier=NoNotifier(), on_event=told.append).run(stop)
    assert told[0] == Scanning("notices of changes are switched off", 5.0)


@given(st.lists(st.floats(0.1, 8.0), max_size=40), st.floats(0.0, 3.0))
def test_every_change_is_visit_soon_and_no_sooner_than_it_may(
    pauses: list[float], debounce_s: float
) -> None:
    changes, now = list[float](), 0.0
    for pause in pauses:
        now += pause
        changes.append(now)
    ear = ScriptedEar([(at, [NOTE]) for at in changes], until_s=now + 30)
    timing = Timing(debounce_s=debounce_s)
    watch = Watch(ear, timing).run()
    for change in changes:
        after = min(at for at in watch.synced_at if at >= change)
        assert after - change <= timing.longest_s + 1e-6
    for at in watch.synced_at[1:]:
        before = [change for change in changes if change <= at]
        quiet = at - before[-1] if before else at
        waited = at - min((c for c in before if c > _previous(watch, at)), default=at)
        assert quiet >= debounce_s - 1e-6 or waited >= timing.longest_s - 1e-6


def _previous(watch: Watch, at: float) -> float:
    return max((one for one in watch.synced_at if one < at), default=0.0)
