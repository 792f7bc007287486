"""Someone swaps files and folders for links while we read: nothing outside may ever be seen."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from notewell.errors import NotANote, NoteUnreadable
from notewell.notes.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

READS_AT_LEAST = 500
READS_AT_MOST = 200_000
"""On a busy machine many reads can pass before one of them meets a link."""


class Swapping:
    """Calls the swap in a thread for as long as the block runs."""

    def __init__(self, swap: Callable[[], None]) -> None:
        self._swap = swap
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._swap()

    def __enter__(self) -> Swapping:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@pytest.fixture
def house(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.md").write_text("secret", encoding="utf-8")
    (tmp_path / "outside/only-outside.md").write_text("secret", encoding="utf-8")
    (tmp_path / "ws/memory/x").mkdir(parents=True)
    (tmp_path / "ws/memory/x/a.md").write_text("note", encoding="utf-8")
    return tmp_path


def leaf_swap(house: Path) -> Callable[[], None]:
    leaf, spare = house / "ws/memory/x/a.md", house / "spare"

    def swap() -> None:
        spare.symlink_to(house / "outside/a.md")
        spare.replace(leaf)
        spare.write_text("note", encoding="utf-8")
        spare.replace(leaf)

    return swap


def parent_swap(house: Path) -> Callable[[], None]:
    folder, aside = house / "ws/memory/x", house / "aside"

    def swap() -> None:
        folder.rename(aside)
        folder.symlink_to(house / "outside")
        folder.unlink()
        aside.rename(folder)

    return swap


@pytest.mark.parametrize("swap", [leaf_swap, parent_swap])
def test_a_read_never_leaks_what_a_swapped_link_points_to(
    house: Path, swap: Callable[[Path], Callable[[], None]]
) -> None:
    workspace = Workspace.open(house / "ws")
    seen = {"note": 0, "refused": 0, "not there": 0}
    with Swapping(swap(house)):
        for count in range(READS_AT_MOST):
            try:
                text = workspace.read("memory/x/a.md").text
            except NotANote:
                seen["refused"] += 1
            except NoteUnreadable as unreadable:
                seen[unreadable.why] += 1
            else:
                assert text in {"note", ""}  # an empty one is being written
                seen["note"] += 1
            if count >= READS_AT_LEAST and seen["note"] and seen["refused"]:
                break
    assert seen["note"]
    assert seen["refused"]  # else nobody tried to trick us


def test_a_scan_never_walks_into_a_swapped_folder(house: Path) -> None:
    workspace = Workspace.open(house / "ws")
    linked = 0
    with Swapping(parent_swap(house)):
        for count in range(READS_AT_MOST):
            scan = workspace.scan()
            assert set(scan.notes) <= {"memory/x/a.md"}
            assert scan.unreadable == ()
            linked += any(entry.path == "memory/x" for entry in scan.ignored)
            if count >= READS_AT_LEAST and linked:
                break
    assert linked
