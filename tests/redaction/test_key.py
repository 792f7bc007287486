"""One key a state folder, made once, for its owner only."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from notewell.errors import StateNotWritable
from notewell.redaction import load_mask_key


def test_the_key_is_made_once_and_then_stays(tmp_path: Path) -> None:
    state = tmp_path / "state"
    key = load_mask_key(state)
    assert len(key) == 32
    assert load_mask_key(state) == key
    assert load_mask_key(tmp_path / "other") != key


@pytest.mark.skipif(os.name != "posix", reason="permission bits")
def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    load_mask_key(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["redaction.key"]
    assert stat.S_IMODE((tmp_path / "redaction.key").stat().st_mode) == 0o600


def test_all_who_ask_at_once_get_the_same_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(load_mask_key, [tmp_path / "state"] * 64))
    assert len(keys) == 1


def test_a_broken_key_is_told_with_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "redaction.key").write_bytes(b"short")
    with pytest.raises(StateNotWritable, match="no key of 32 bytes; remove it"):
        load_mask_key(tmp_path)


def test_a_state_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StateNotWritable):
        load_mask_key(tmp_path / "file" / "state")
