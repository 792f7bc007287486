"""What root makes in the folders of a user belongs to that user; what is there keeps its owner."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from notewell.files import create_file, file_lock, give_to_owner, make_private

if sys.platform == "win32" or os.geteuid() != 0:
    pytest.skip("only root can give files away", allow_module_level=True)

USER = (65534, 65533)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The home of a user."""
    folder = tmp_path / "home"
    (folder / "ws").mkdir(parents=True)
    for path in (folder, folder / "ws"):
        os.chown(path, *USER)
    return folder


def owners_below(folder: Path) -> set[tuple[int, int]]:
    return {(path.lstat().st_uid, path.lstat().st_gid) for path in folder.rglob("*")}


@pytest.mark.parametrize(
    "words",
    [
        ["append", "the walrus sleeps", "-w", "ws"],
        ["append", "the walrus sleeps", "--section", "Animals", "-w", "ws"],
        ["mcp", "install", "claude", "-w", "ws"],
        ["index", "--text-only", "-w", "ws"],
    ],
)
def test_a_command_run_as_root_leaves_nothing_of_roots(folder: Path, words: list[str]) -> None:
    (folder / "ws" / "MEMORY.md").write_text("a walrus\n", encoding="utf-8")
    os.chown(folder / "ws" / "MEMORY.md", *USER)
    before = len(list(folder.rglob("*")))
    environ = {name: os.environ[name] for name in os.environ if not name.startswith("XDG_")}
    done = subprocess.run(
        [sys.executable, "-m", "notewell", *words],
        cwd=folder,
        env={**environ, "HOME": str(folder)},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 5), done.stderr
    assert len(list(folder.rglob("*"))) > before
    assert owners_below(folder) == {USER}


def test_folders_files_and_locks_go_to_the_owner_of_their_folder(folder: Path) -> None:
    make_private(folder / "a" / "b")
    create_file(folder / "a" / "file", b"text", durable=False)
    with file_lock(folder / "a" / "lock", wait_s=0):
        pass
    assert owners_below(folder) == {USER}


def test_a_file_of_roots_that_has_content_or_another_name_keeps_its_owner(folder: Path) -> None:
    full, linked = folder / "full", folder / "linked"
    full.write_text("of root's", encoding="utf-8")
    linked.touch()
    linked.with_name("second").hardlink_to(linked)
    for path in (full, linked):
        with path.open("r+b") as file:
            give_to_owner(file.fileno(), folder.stat())
        assert path.stat().st_uid == 0
