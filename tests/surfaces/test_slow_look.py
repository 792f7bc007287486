"""A command does not wait for a comparison of very many notes with the index, and says so."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from notewell.cli import main
from notewell.sync import look
from notewell.sync.look import LONGEST_S, LookSchedule

SLOW_S = 300.0
NOT_COMPARED = "not for this search"
Search = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    rewrite(folder, "The boat is green.")
    return folder


@pytest.fixture
def search(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Search:
    place = ["-w", str(workspace), "--state-dir", str(tmp_path / "state")]

    def run(question: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["search", *place, "--mode", "keyword", question])
        return code, *capsys.readouterr()

    assert main(["index", *place, "--text-only"]) == 0
    return run


def rewrite(workspace: Path, fact: str) -> None:
    (workspace / "MEMORY.md").write_text(f"# Facts\n\n{fact}\n", encoding="utf-8")


def record_look(tmp_path: Path, seconds_ago: float, took_s: float = SLOW_S) -> Path:
    """What a look at very many notes would have left."""
    (pointer,) = (tmp_path / "state" / "memory").glob("*/CURRENT")
    looked = pointer.with_name("LOOKED")
    looked.write_text(f"{time.time() - seconds_ago:.3f} {took_s}\n", encoding="ascii")
    return looked


def test_a_search_says_when_the_notes_were_compared_if_it_did_not_do_it(
    workspace: Path, tmp_path: Path, search: Search
) -> None:
    record_look(tmp_path, seconds_ago=7)
    rewrite(workspace, "The boat is red.")
    code, out, err = search("boat")
    assert code == 5
    assert "green" in out
    # How long ago depends on the machine, too; the schedule below has a clock.
    assert re.search(r"compared with the index \d+ s ago", err)
    assert NOT_COMPARED in err
    assert "takes 300.0 s" in err


def test_the_comparison_follows_the_answer_and_the_next_search_knows_its_result(
    workspace: Path, tmp_path: Path, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = record_look(tmp_path, seconds_ago=10 * SLOW_S + 1)
    monkeypatch.setattr(look, "LOOK_WAIT_S", 60.0)  # Of a busy machine, 0.2 s are not enough.
    rewrite(workspace, "The boat is red.")
    _, out, err = search("boat")
    assert "green" in out
    assert NOT_COMPARED in err
    assert "1 note had changed; now indexed, search again" in err
    # It took less time than a search waits, so the next one does it first again.
    assert not looked.exists()
    _, out, err = search("boat")
    assert "red" in out
    assert NOT_COMPARED not in err


def test_too_many_changes_are_named_after_the_answer(
    workspace: Path, tmp_path: Path, search: Search
) -> None:
    looked = record_look(tmp_path, seconds_ago=10 * SLOW_S + 1)
    (workspace / "memory").mkdir()
    for number in range(40):
        (workspace / "memory" / f"n{number}.md").write_text("a boat\n", encoding="utf-8")
    code, _, err = search("boat")
    assert code == 5
    assert "40 notes have changed since the last sync: run `notewell index`" in err
    # Index and notes are not equal, so nothing says that they were.
    assert re.search(r"\d+ (s|min) ago", search("boat")[2])
    assert looked.exists()


def test_an_answer_is_never_empty_because_it_is_old(
    workspace: Path, tmp_path: Path, search: Search
) -> None:
    record_look(tmp_path, seconds_ago=7)
    rewrite(workspace, "The zebra is Ada.")
    code, out, err = search("zebra")
    assert code == 0
    assert "Ada" in out
    assert NOT_COMPARED not in err


@pytest.mark.parametrize("seconds_ago", [LONGEST_S + 1, -60], ids=["an hour", "the future"])
def test_a_comparison_of_long_ago_or_of_the_future_is_done_again_before_the_answer(
    workspace: Path, tmp_path: Path, search: Search, seconds_ago: float
) -> None:
    record_look(tmp_path, seconds_ago=seconds_ago)
    rewrite(workspace, "The boat is red.")
    assert "red" in search("boat")[1]


@pytest.mark.parametrize("text", ["", "nonsense", "1 2 3", "\udcff"])
def test_a_damaged_record_counts_as_none(
    workspace: Path, tmp_path: Path, search: Search, text: str
) -> None:
    looked = record_look(tmp_path, seconds_ago=7)
    looked.write_bytes(text.encode(errors="surrogateescape"))
    rewrite(workspace, "The boat is red.")
    assert "red" in search("boat")[1]


def test_what_we_append_is_found_whatever_the_record_says(
    workspace: Path, tmp_path: Path, search: Search
) -> None:
    looked = record_look(tmp_path, seconds_ago=7)
    place = ["-w", str(workspace), "--state-dir", str(tmp_path / "state")]
    assert main(["append", *place, "the boat has a new sail"]) == 0
    assert not looked.exists()
    assert "sail" in search("boat")[1]


def test_an_index_run_is_a_comparison(workspace: Path, tmp_path: Path, search: Search) -> None:
    record_look(tmp_path, seconds_ago=1000)
    place = ["-w", str(workspace), "--state-dir", str(tmp_path / "state")]
    assert main(["index", *place, "--text-only"]) == 0
    err = search("boat")[2]
    assert NOT_COMPARED in err
    assert re.search(r"index \d{1,2} s ago", err)


# -- the schedule --------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_700_000_000.0

    def schedule(self, file: Path, wait_s: float | None = None) -> LookSchedule:
        return LookSchedule(lambda: int(self.now_s * 1e9), lambda: self.now_s, file, wait_s)


def test_a_slow_look_is_recorded_for_other_processes_and_a_fast_one_is_not(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "LOOKED"
    schedule = clock.schedule(file)
    schedule.confirm(schedule.begin(), took_s=0.9)
    clock.now_s += 5
    other = clock.schedule(file, wait_s=0.2)
    last = other.postpone()
    assert last is not None
    assert "5 s ago" in last.notice(clock.now_s).text
    assert not other.is_due
    clock.now_s += 5
    assert other.is_due
    assert other.wait()
    assert other.postpone() is None
    # A program that lives longer waits.
    assert clock.schedule(file).postpone() is None
    schedule.confirm(schedule.begin(), took_s=0.1)
    assert not file.exists()


def test_a_request_during_a_look_is_not_lost(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "LOOKED"
    schedule = clock.schedule(file)
    begun = schedule.begin()
    schedule.request()
    clock.now_s += 1
    schedule.confirm(begun, took_s=1.0)
    assert not schedule.is_recent()
    assert not file.exists()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    schedule = Clock().schedule(tmp_path / "missing" / "LOOKED")
    schedule.confirm(schedule.begin(), took_s=1.0)
    schedule.request()
    assert not schedule.wait()
