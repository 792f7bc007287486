"""A state folder on a file system without locks: the published index answers, and nobody is blamed
who is not there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from notewell import open_memory
from notewell.testing import HashEmbedder

if sys.platform != "linux" or shutil.which("gcc") is None:
    pytest.skip("needs Linux and gcc", allow_module_level=True)


@pytest.fixture(scope="module")
def no_locks(quick_path: Path) -> Path:
    library = quick_path / "no_locks.so"
    source = Path(__file__).with_name("no_locks.c")
    words = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    subprocess.run(words, check=True, capture_output=True)
    return library


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "ws"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "a.md").write_text("the walrus sleeps\n", encoding="utf-8")
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=HashEmbedder()) as memory:
        memory.sync()
    return workspace


def notewell(no_locks: Path, workspace: Path, *words: str) -> subprocess.CompletedProcess[str]:
    place = ["-w", str(workspace), "--state-dir", str(workspace.with_name("state"))]
    return subprocess.run(
        [sys.executable, "-m", "notewell", *words, *place],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "LD_PRELOAD": str(no_locks), "HOME": str(workspace.parent)},
        timeout=120,
        check=False,
    )


def test_the_published_index_answers(no_locks: Path, workspace: Path) -> None:
    told = notewell(no_locks, workspace, "search", "--mode", "keyword", "walrus")
    assert "the walrus sleeps" in told.stdout
    assert "another process" not in told.stdout + told.stderr


def test_a_change_that_cannot_be_indexed_is_named(no_locks: Path, workspace: Path) -> None:
    (workspace / "memory" / "b.md").write_text("a new giraffe\n", encoding="utf-8")
    told = notewell(no_locks, workspace, "search", "--mode", "keyword", "walrus")
    assert told.returncode == 5
    assert "the walrus sleeps" in told.stdout
    assert "No locks available" in told.stderr
    assert "another process" not in told.stderr


def test_an_index_that_needs_its_log_is_refused_with_the_cause(
    no_locks: Path, workspace: Path
) -> None:
    (index,) = (workspace.with_name("state")).rglob("index-*.sqlite")
    index.with_name(f"{index.name}-wal").write_bytes(b"not copied into the file yet")
    told = notewell(no_locks, workspace, "search", "--mode", "keyword", "walrus")
    assert told.returncode not in (0, 75)
    assert "its file system has no locks" in told.stderr
