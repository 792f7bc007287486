from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from notewell.errors import StateBusy, StateNotWritable
from notewell.files import (
    append_json_line,
    describe_os_error,
    open_resolved,
    read_json,
    read_json_lines,
    state_lock,
    write_json,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_value_comes_back_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "new" / "state.json"
    assert read_json(file) == {}
    write_json(file, {"name": "ä\udcff"})
    assert read_json(file) == {"name": "ä\udcff"}
    assert file.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff", b"[" * 100_000])
def test_a_file_that_cannot_be_read_counts_as_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.json").write_bytes(content)
    assert read_json(tmp_path / "state.json") == {}


def test_a_second_writer_is_told_that_the_file_is_busy(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    with state_lock(file), pytest.raises(StateBusy) as busy, state_lock(file, wait_s=0):
        pytest.fail("two hold the lock")
    assert busy.value.exit_code == 75


def test_a_log_that_grows_too_long_loses_its_older_half(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    for number in range(10):
        append_json_line(log, {"number": number}, max_bytes=100)
    numbers = [line["number"] for line in read_json_lines(log)]
    assert numbers[-1] == 9
    assert numbers == list(range(numbers[0], 10))
    assert numbers[0] > 0
    assert log.stat().st_size <= 100


def test_a_line_after_a_torn_one_stands_on_its_own(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"number": 1}\n{"numb')
    append_json_line(log, {"number": 2})
    assert [line["number"] for line in read_json_lines(log)] == [1, 2]


def test_a_link_in_place_of_a_log_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").symlink_to(tmp_path / "target")
    with pytest.raises(StateNotWritable, match="symbolic links"):
        append_json_line(tmp_path / "log.jsonl", {})
    assert not (tmp_path / "target").exists()


def test_errors_are_described_without_paths(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        (tmp_path / "missing").read_bytes()
    assert describe_os_error(missing.value) == "not there"
    assert describe_os_error(OSError(27, "File too large")) == "file too large"


def test_a_folder_the_user_named_may_lie_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").touch()
    (tmp_path / "link").symlink_to("real")
    folder = open_resolved(tmp_path / "link")
    try:
        assert [entry.name for entry in folder.entries()] == ["a"]
    finally:
        folder.close()
