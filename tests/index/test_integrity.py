"""Whether a file is sound is decided by the pages that SQLite would read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from notewell.index.sqlite.connect import PAGE_BYTES, open_new
from notewell.index.sqlite.integrity import bad_pages, condition, logged_pages, opened, read_pages
from notewell.index.sqlite.schema import CACHE_TABLE

ROW = "INSERT INTO embedding_cache VALUES ('p', 'm', 'k', ?, zeroblob(3000), 750, 1)"


@pytest.fixture
def with_log(tmp_path: Path) -> Path:
    """A copy of a file while a writer has pages in its log, as a crash would leave it."""
    file, copy = tmp_path / "cache.sqlite", tmp_path / "copy" / "cache.sqlite"
    copy.parent.mkdir()
    db = open_new(file)
    db.execute(CACHE_TABLE)
    db.executemany(ROW, ((str(number),) for number in range(20)))
    db.wal_checkpoint()
    db.wal_autocheckpoint(0)
    db.execute("UPDATE embedding_cache SET dims = 7 WHERE hash < '15'")
    for suffix in ("", "-wal"):
        shutil.copy(f"{file}{suffix}", f"{copy}{suffix}")
    db.close()
    return copy


def tear(file: Path, page: int) -> None:
    """The second half of a page is from another write."""
    with file.open("r+b") as opened:
        opened.seek((page - 1) * PAGE_BYTES + PAGE_BYTES // 2)
        opened.write(b"torn" * 16)


def test_a_page_that_is_in_the_log_may_be_torn_in_the_file(with_log: Path) -> None:
    logged = logged_pages(with_log)
    assert len(logged) > 1
    for page in logged - {1}:
        tear(with_log, page)
    assert condition(with_log, is_index=False).kind == "sound"


def test_a_page_that_is_not_in_the_log_may_not(with_log: Path) -> None:
    pages = with_log.stat().st_size // PAGE_BYTES
    other = max(set(range(2, pages + 1)) - logged_pages(with_log))
    tear(with_log, other)
    found = condition(with_log, is_index=False)
    assert (found.kind, found.detail) == (
        "damaged",
        f"a page does not match the checksum: page {other}",
    )


def test_the_pages_of_a_file_that_a_writer_removes_are_read_all_the_same(with_log: Path) -> None:
    with opened(with_log) as db, read_pages(with_log) as content:
        with_log.unlink()
        assert bad_pages(db, content) == (os.fstat(content.fileno()).st_size // PAGE_BYTES, [])


@pytest.mark.parametrize("cut", [0, 10, 31, 40])
def test_a_log_without_a_commit_has_no_page(with_log: Path, cut: int) -> None:
    log = with_log.with_name(f"{with_log.name}-wal")
    log.write_bytes(log.read_bytes()[:cut])
    assert logged_pages(with_log) == frozenset()


def test_frames_behind_a_damaged_one_do_not_count(with_log: Path) -> None:
    log = with_log.with_name(f"{with_log.name}-wal")
    data = bytearray(log.read_bytes())
    data[32 + 24 + 5] ^= 1
    log.write_bytes(data)
    assert logged_pages(with_log) == frozenset()
