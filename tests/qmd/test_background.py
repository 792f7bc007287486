"""The thread that keeps an index up: what it does, in which order, and that it stops."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.qmd.conftest import MakeQmd

from notewell.errors import IndexTrouble, NotewellError
from notewell.qmd import BackgroundUpdater, QmdFailed, QmdSettings

WAIT_S = 60.0


class Work:
    """Jobs that raise what they are told to, and say when they were done."""

    def __init__(self) -> None:
        self.raises: list[NotewellError | None] = []
        self.done: list[str] = []
        self._changed = threading.Condition()

    def job(self, name: str) -> Callable[[], None]:
        def do() -> None:
            with self._changed:
                self.done.append(name)
                self._changed.notify_all()
                trouble = self.raises.pop(0) if self.raises else None
            if trouble:
                raise trouble

        return do

    def until(self, count: int) -> list[str]:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.done) >= count, WAIT_S)
            return list(self.done)


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def keep(work: Work) -> Iterator[Callable[..., BackgroundUpdater]]:
    made: list[BackgroundUpdater] = []

    def make(**settings: Any) -> BackgroundUpdater:
        jobs = {"update": work.job("update"), "embed": work.job("embed")}
        made.append(BackgroundUpdater(QmdSettings(**settings), jobs))  # type: ignore[arg-type]
        made[-1].start()
        return made[-1]

    yield make
    for one in made:
        one.close(lambda: None)


def ended(updater: BackgroundUpdater) -> bool:
    updater.close(lambda: None)
    return not any(one.name == "notewell-qmd-updater" for one in threading.enumerate())


def test_it_updates_at_the_start_and_then_waits(
    keep: Callable[..., BackgroundUpdater], work: Work
) -> None:
    updater = keep()
    assert work.until(1) == ["update"]
    updater.start()
    assert ended(updater)
    assert work.done == ["update"]


def test_it_computes_vectors_after_the_first_update(
    keep: Callable[..., BackgroundUpdater], work: Work
) -> None:
    keep(search_mode="vsearch")
    assert work.until(2) == ["update", "embed"]


def test_a_change_brings_an_update(keep: Callable[..., BackgroundUpdater], work: Work) -> None:
    updater = keep(debounce_s=0.0)
    work.until(1)
    updater.mark_dirty()
    assert work.until(2) == ["update", "update"]


def test_the_first_update_is_tried_again_where_somebody_was_busy(
    keep: Callable[..., BackgroundUpdater], work: Work
) -> None:
    work.raises = [QmdFailed("busy", "x"), None]
    updater = keep(search_mode="vsearch")
    assert work.until(3) == ["update", "update", "embed"]
    assert updater.failure("update") is None


@pytest.mark.parametrize("trouble", [QmdFailed("exit", "x"), IndexTrouble("x")], ids=repr)
def test_trouble_is_kept_for_the_status(
    keep: Callable[..., BackgroundUpdater], work: Work, trouble: NotewellError
) -> None:
    work.raises = [None, trouble]
    updater = keep(search_mode="vsearch", debounce_s=0.0)
    work.until(2)
    updater.mark_dirty()
    work.until(3)
    assert updater.failure("embed") is trouble
    updater.record("embed", None)
    assert updater.failure("embed") is None


def test_it_stops_while_it_rests_between_two_tries(
    keep: Callable[..., BackgroundUpdater], work: Work
) -> None:
    work.raises = [QmdFailed("busy", "x")] * 9
    updater = keep()
    work.until(1)
    assert ended(updater)


def test_it_ends_a_command_that_is_under_way(make_fake: MakeQmd, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    qmd = make_fake(f"open({str(tmp_path / 'begun')!r}, 'w').close(); time.sleep(600)")
    updater = BackgroundUpdater(qmd.settings, {"update": qmd.update, "embed": qmd.embed})
    updater.start()
    (tmp_path / "begun").open(encoding="utf-8").close()  # waits until the program opens it too
    updater.close(qmd.close)
    assert ended(updater)
    assert updater.failure("update") is None
