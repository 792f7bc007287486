from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from notewell.files import Directory, DirHandle, NotPlain, PathDir, descend, disk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def swap_for_a_link(house: Path) -> None:
    (house / "ws").rename(house / "aside")
    (house / "ws").symlink_to("outside")


def swap_for_another_folder(house: Path) -> None:
    (house / "ws").rename(house / "aside")
    (house / "outside").rename(house / "ws")


@pytest.fixture(params=[swap_for_a_link, swap_for_another_folder])
def swap(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], None]:
    for path in ["outside/memory", "ws/memory"]:
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "a.md").write_text(path, encoding="utf-8")
    (tmp_path / "outside/memory/b.md").touch()
    return lambda: request.param(tmp_path)


def test_here_folders_are_held() -> None:
    assert isinstance(disk(), DirHandle)


def test_a_held_folder_stays_the_one_it_was(tmp_path: Path, swap: Callable[[], None]) -> None:
    with descend(DirHandle(None), [str(tmp_path / "ws"), "memory"]) as folder:
        swap()
        assert [entry.name for entry in folder.entries()] == ["a.md"]
        fd = folder.file("a.md")
        assert os.read(fd, 100) == b"ws/memory"
        os.close(fd)


def test_a_checked_folder_notices_that_it_was_swapped(
    tmp_path: Path, swap: Callable[[], None]
) -> None:
    with descend(PathDir("", None), [str(tmp_path / "ws"), "memory"]) as folder:
        swap()
        with pytest.raises(NotPlain):
            folder.entries()
        with pytest.raises(NotPlain):
            folder.file("a.md")


@pytest.mark.parametrize("start", [DirHandle(None), PathDir("", None)])
def test_a_file_on_the_way_is_no_folder(start: Directory, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError), descend(start, [str(tmp_path), "file"]):
        pass


def test_the_names_in_a_folder_are_forced_to_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_ino))
    with descend(DirHandle(None), [str(tmp_path)]) as folder:
        folder.sync()
    assert synced == [tmp_path.stat().st_ino]
