from __future__ import annotations

import errno
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from notewell.clients.install import update_file
from notewell.files import create_file, replace_file

if TYPE_CHECKING:
    from pathlib import Path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_replaced_and_nothing_is_left_beside_it(
    tmp_path: Path, *, durable: bool
) -> None:
    file = tmp_path / "a.json"
    for data in (b"one", b"two"):
        replace_file(file, data, durable=durable)
        assert file.read_bytes() == data
        assert names(tmp_path) == ["a.json"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_who_asks_for_it_gets_both_fsyncs_and_others_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []

    def record(fd: int) -> None:
        synced.append(os.fstat(fd).st_ino)

    monkeypatch.setattr(os, "fsync", record)
    replace_file(tmp_path / "a", b"x", durable=False)
    assert create_file(tmp_path / "b", b"x", durable=False)
    assert synced == []
    replace_file(tmp_path / "a", b"y", durable=True)
    assert synced == [(tmp_path / "a").stat().st_ino, tmp_path.stat().st_ino]


def test_a_mode_is_given_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        replace_file(tmp_path / "a", b"x", durable=False, mode=0o644)
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_a_check_before_the_rename_can_stop_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def stop() -> None:
        raise ValueError("changed meanwhile")

    with pytest.raises(ValueError, match="changed meanwhile"):
        replace_file(tmp_path / "a", b"new", durable=True, before_rename=stop)
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_a_leftover_under_the_fixed_name_is_removed_and_a_link_is_not_followed(
    tmp_path: Path,
) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"not ours")
    left = tmp_path / ".a.tmp"
    left.symlink_to(target)
    replace_file(tmp_path / "a", b"new", durable=False, temporary=left)
    assert names(tmp_path) == ["a", "target"]
    assert target.read_bytes() == b"not ours"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path / "a", b"new", durable=True)
    assert names(tmp_path) == ["a"]


def test_of_two_that_create_a_file_the_first_wins(tmp_path: Path) -> None:
    assert create_file(tmp_path / "key", b"one", durable=True)
    assert not create_file(tmp_path / "key", b"two", durable=True)
    assert (tmp_path / "key").read_bytes() == b"one"
    assert names(tmp_path) == ["key"]


def test_a_file_system_without_hard_links_makes_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    assert create_file(tmp_path / "key", b"one", durable=True, mode=0o640)
    assert not create_file(tmp_path / "key", b"two", durable=True)
    assert (tmp_path / "key").read_bytes() == b"one"
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["key"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_root_who_changes_the_file_of_a_user_leaves_it_to_the_user(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}", encoding="utf-8")
    os.chown(file, 1234, 4321)
    file.chmod(0o600)
    done = update_file(file, lambda text: '{"a": 1}')
    assert done.backup is not None
    for path in (file, done.backup):
        status = path.stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 4321, 0o600)


def test_what_a_killed_writer_left_beside_a_file_goes_with_the_next_change(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}", encoding="utf-8")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for pid in (ended.pid, os.getpid()):
        (tmp_path / f".settings.json-{pid}-0a1b2c3d").touch()
    (tmp_path / f".other.json-{ended.pid}-0a1b2c3d").touch()
    update_file(file, lambda text: '{"a": 1}')
    assert {path.name for path in tmp_path.iterdir()} == {
        "settings.json",
        "settings.json.notewell-backup",
        f".settings.json-{os.getpid()}-0a1b2c3d",
        f".other.json-{ended.pid}-0a1b2c3d",
    }
