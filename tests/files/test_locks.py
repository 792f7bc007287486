from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from notewell.files import LockFailed, LockTimeout, file_lock, inspect_lock, locked_fd

if TYPE_CHECKING:
    from pathlib import Path

HOLD = """
import sys
from pathlib import Path
from notewell.files import file_lock

with file_lock(Path(sys.argv[1]), wait_s=0):
    print("held", flush=True)
    input()
"""


def test_a_lock_excludes_and_names_its_holder(tmp_path: Path) -> None:
    lock = tmp_path / "a.lock"
    with file_lock(lock, wait_s=0):
        with pytest.raises(LockTimeout) as busy, file_lock(lock, wait_s=0):
            pytest.fail("two hold the lock")
        holder = busy.value.holder
        assert holder is not None
        assert holder.pid == os.getpid()
        assert holder.since.tzinfo is not None
        assert str(holder).startswith(f"process {os.getpid()}, since 2")
    with file_lock(lock, wait_s=0):
        assert lock.stat().st_mode & 0o777 == 0o600


def test_a_holder_that_is_killed_frees_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "a.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        state = inspect_lock(lock)
        assert state is not None
        assert state.is_held
        assert state.holder is not None
        assert state.holder.pid == child.pid
        child.kill()
    with file_lock(lock, wait_s=0):
        pass


def test_a_free_lock_still_names_its_last_holder(tmp_path: Path) -> None:
    lock = tmp_path / "a.lock"
    assert inspect_lock(lock) is None
    with file_lock(lock, wait_s=0):
        pass
    state = inspect_lock(lock)
    assert state is not None
    assert state.is_held is False
    assert state.holder is not None
    assert state.holder.pid == os.getpid()


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"[1]", b'{"pid": 1}', b'{"pid": 1, "since": "now"}']
)
def test_a_holder_without_a_readable_name_is_none(tmp_path: Path, content: bytes) -> None:
    lock = tmp_path / "a.lock"
    with lock.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(content)
        file.flush()
        with pytest.raises(LockTimeout) as busy, file_lock(lock, wait_s=0.01):
            pytest.fail("two hold the lock")
    assert busy.value.holder is None
    assert busy.value.waited_s >= 0.01


def test_a_lock_that_cannot_be_opened_is_not_a_timeout(tmp_path: Path) -> None:
    with pytest.raises(LockFailed), file_lock(tmp_path / "missing" / "a.lock", wait_s=0):
        pytest.fail("a lock on nothing")


def test_a_link_in_place_of_a_lock_is_refused_and_its_target_is_untouched(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("not ours", encoding="utf-8")
    (tmp_path / "a.lock").symlink_to(target)
    with pytest.raises(LockFailed), file_lock(tmp_path / "a.lock", wait_s=0):
        pytest.fail("a link was followed")
    assert target.read_text(encoding="utf-8") == "not ours"


def test_an_error_of_the_body_is_not_taken_for_one_of_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "a.lock"
    with pytest.raises(FileNotFoundError), file_lock(lock, wait_s=0):
        (tmp_path / "missing").read_bytes()
    with file_lock(lock, wait_s=0):
        assert json.loads(lock.read_bytes())["pid"] == os.getpid()


def test_the_lock_of_an_open_file_writes_nothing_into_it_and_closes_it(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("text", encoding="utf-8")
    fd = os.open(note, os.O_RDWR)
    with locked_fd(fd, wait_s=0):
        other = os.open(note, os.O_RDWR)
        with pytest.raises(LockTimeout), locked_fd(other, wait_s=0):
            pytest.fail("two hold the lock")
    assert note.read_text(encoding="utf-8") == "text"
    for closed in (fd, other):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(closed)
