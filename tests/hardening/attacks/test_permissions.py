"""A careless umask opens nothing of ours: what we keep is its owner's, whoever made it.

Notes are the user's own files: like those of an editor they are as open as the umask says, which
is why the folders and files of the workspace are looked at apart.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from notewell.embedders.batch.store import JobFolder, StoredJob
from notewell.embedders.downloads import _sole_writer, _write
from notewell.embedders.remote_plan import DimsCache
from notewell.redaction import load_mask_key

SAID = '{"type":"user","sessionId":"s","message":{"content":"we ship on Friday"}}\n'


@pytest.fixture(autouse=True)
def careless() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def run(home: Path, *words: str, told: str = "") -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "xdg" / "state"),
        "XDG_CONFIG_HOME": str(home / "xdg" / "config"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-m", "notewell", *words],
        input=told,
        env=environment,
        cwd=home / "ws",
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, 3, 5), done.stderr


def modes(folder: Path) -> dict[str, int]:
    found = (folder, *folder.rglob("*"))
    return {str(one): stat.S_IMODE(one.lstat().st_mode) for one in found}


def open_to_others(folder: Path) -> list[str]:
    return [f"{path} {mode:o}" for path, mode in modes(folder).items() if mode & 0o077]


def test_whatever_a_command_keeps_is_its_owners(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "ws").mkdir(parents=True)
    run(home, "init")
    run(home, "index", "--text-only")
    run(home, "append", "we ship on Friday")
    run(home, "search", "--mode", "keyword", "ship")
    run(home, "index", "--force", "--text-only")
    (home / "s.jsonl").write_text(SAID, encoding="utf-8")
    told = json.dumps({"session_id": "s", "transcript_path": str(home / "s.jsonl")})
    run(home, "hook", "session-start", told=told)
    run(home, "hook", "stop", "--host", "codex", told=told)
    run(home, "hook", "session-end", told=told)
    run(home, "mcp", "install", "claude")
    run(home, "mcp", "install", "codex")
    run(home, "hook", "install", "claude")
    run(home, "review")
    state = home / "xdg" / "state"
    assert len(modes(state)) > 8
    assert open_to_others(state) == []
    for made in (".claude", ".claude.json", ".codex"):
        assert (home / made).exists()
        assert open_to_others(home / made) == []


def test_notes_are_as_open_as_the_users_umask_says(tmp_path: Path) -> None:
    """Pinned as it is: a note that others may write was made so by the umask, not by us."""
    home = tmp_path / "home"
    (home / "ws").mkdir(parents=True)
    run(home, "init")
    run(home, "append", "we ship on Friday")
    notes = modes(home / "ws" / "memory")
    assert set(notes.values()) <= {0o666, 0o777}
    os.umask(0o077)
    (tmp_path / "private" / "ws").mkdir(parents=True)
    run(tmp_path / "private", "init")
    run(tmp_path / "private", "append", "we ship on Friday")
    assert open_to_others(tmp_path / "private" / "ws") == []


def test_keys_jobs_and_what_is_known_of_models_are_their_owners(tmp_path: Path) -> None:
    state = tmp_path / "a" / "state"
    load_mask_key(state)
    DimsCache(state / "b" / "dims.json").put("model", 8)
    JobFolder(state / "c" / "jobs").put(StoredJob("key", 8, ("digest",), "job"))
    assert len(modes(tmp_path / "a")) > 6
    assert open_to_others(tmp_path / "a") == []


def test_nobody_else_may_write_what_is_downloaded(tmp_path: Path) -> None:
    class Answer:
        def iter_raw(self) -> Iterator[bytes]:
            yield b"weights"

    class Wanted:
        size = 7

    target = tmp_path / "model.gguf"
    with _sole_writer(target):
        _write(Answer(), Wanted(), target, 0, lambda _, __: None)  # type: ignore[arg-type]
    assert stat.S_IMODE(target.stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "model.gguf.lock").stat().st_mode) == 0o600
