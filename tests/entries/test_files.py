"""What lies on the disk: few fragments, clear words where it cannot be used, nothing at import."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from notewell.entries import (
    EntriesBusy,
    EntriesSettings,
    EntriesUnreadable,
    EntryStore,
    MemoryEntry,
)
from notewell.entries.durability import writer_lock
from notewell.entries.table import MAX_FRAGMENTS, Tables
from notewell.errors import BadSetting
from notewell.testing import HashEmbedder

Open = Callable[..., EntryStore]


class ByHundreds(HashEmbedder):
    @property
    def texts_at_once(self) -> int:
        return 500


def made_up(count: int) -> list[MemoryEntry]:
    return [
        MemoryEntry(str(uuid.UUID(int=n)), f"thing{n} is at place{n * 7}", 0.5, "fact", n, "main")
        for n in range(count)
    ]


def test_many_single_stores_stay_few_fragments(store: EntryStore, folder: Path) -> None:
    for number in range(MAX_FRAGMENTS + 10):
        store.store(f"thing{number} is at place{number * 7}")
    tables = Tables(folder)
    (name,) = tables.names()
    assert tables.fragments(name) <= 11
    assert len([path for path in folder.rglob("*") if path.is_file()]) < 2 * MAX_FRAGMENTS
    assert store.count() == MAX_FRAGMENTS + 10


def test_a_few_thousand_entries_come_in_at_once_and_are_told_apart(opened: Open) -> None:
    store = opened("main", ByHundreds(256, model="hash-256"))
    done = store.import_entries(made_up(3000))
    assert (done.added, done.there) == (3000, 0)
    assert store.count() == 3000
    assert store.recall("thing1234").results[0].entry.text.startswith("thing1234 ")


def test_what_is_forgotten_is_gone_from_the_disk_among_many_others_too(
    opened: Open, folder: Path
) -> None:
    store = opened("main", ByHundreds(256, model="hash-256"))
    store.import_entries(made_up(300))
    entry = store.entries()[123]
    assert store.forget(entry.id).entry == entry
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert any(b"thing124 is at" in data for data in files)
    assert not any(b"thing123 is at" in data for data in files)


def test_a_reader_goes_on_while_others_tidy_up(opened: Open) -> None:
    reader, writer = opened(), opened()
    first = writer.store("The anchor is red").entry
    for number in range(20):
        assert reader.recall("red anchor").results[0].entry == first
        gone = writer.store(f"thing{number} is at place{number * 7}").entry
        if number % 4 == 0:
            writer.forget(gone.id)


def test_who_cannot_have_the_lock_is_told_and_nothing_changes(opened: Open, folder: Path) -> None:
    store = opened("main", wait_s=0.01)
    store.store("The anchor is red")
    with writer_lock(folder):
        with pytest.raises(EntriesBusy, match="try again later"):
            store.store("The anchor is blue")
        assert len(store.recall("anchor").results) == 1, "readers need no lock"
    assert store.count() == 1
    assert store.store("The anchor is blue").added


def test_a_folder_that_cannot_be_used_is_named_with_the_reason(opened: Open, folder: Path) -> None:
    folder.write_text("a file", encoding="utf-8")
    with pytest.raises(EntriesUnreadable, match="cannot use the entries in"):
        opened().store("The anchor is red")


def test_a_table_whose_making_was_cut_short_is_made_again(opened: Open, folder: Path) -> None:
    opened().store("The anchor is red")
    (copy,) = folder.glob("entries-*.commits/*.manifest")
    copy.unlink()
    store = opened()
    assert (store.recall("anchor").results, store.count()) == ((), 0)
    assert store.store("The anchor is blue").added
    assert [entry.text for entry in opened().entries()] == ["The anchor is blue"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="tells by /proc what was forced")
def test_new_files_are_forced_to_the_disk_before_old_ones_go(
    opened: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced: set[str] = set()
    real = os.fsync

    def noting(fd: int) -> None:
        forced.add(str(Path(f"/proc/self/fd/{fd}").resolve()))
        real(fd)

    monkeypatch.setattr(os, "fsync", noting)
    store = opened()
    gone = store.store("The anchor is red").entry
    store.store("The sail is white")
    store.forget(gone.id)
    there = {str(path) for path in folder.rglob("*") if path.is_file()}
    forced |= {str(path) for path in folder.glob("*.commits/*")}  # Renamed after the fsync.
    assert there - {str(folder / "notewell.lock")} <= forced


def test_damaged_files_are_our_error_and_not_a_stranger_s(opened: Open, folder: Path) -> None:
    opened().store("The anchor is red")
    for path in folder.rglob("*.lance"):
        if path.is_file():
            path.write_bytes(b"not what it was")
    with pytest.raises(EntriesUnreadable):
        opened().recall("anchor")


@pytest.mark.parametrize("path", ["s3://bucket/entries", "relative/folder"])
def test_only_a_folder_of_this_machine_is_taken(tmp_path: Path, path: str) -> None:
    with pytest.raises(BadSetting, match="absolute or with ~"):
        EntriesSettings(db_path=path).folder(tmp_path)
    assert EntriesSettings().folder(tmp_path) == tmp_path / "lancedb"


def in_python(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    return done.stdout


def test_importing_the_rooms_loads_no_lancedb() -> None:
    program = (
        "import sys, notewell.entries, notewell.tools.entry_tools, notewell.entries.markdown; "
        "print([name for name in ('lancedb', 'pyarrow', 'numpy') if name in sys.modules])"
    )
    assert in_python(program) == "[]\n"


def test_without_the_package_the_next_step_is_said(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
sys.modules["lancedb"] = None
from notewell.entries import EntryStore, LanceMissing
from notewell.testing import HashEmbedder
store = EntryStore(Path(sys.argv[1]), "main", HashEmbedder(), redact=str)
print(store.recall("tea").results)
try:
    store.store("The user drinks tea")
except LanceMissing as error:
    print(error)
"""
    nothing, told = in_python(program, str(tmp_path / "lancedb")).splitlines()
    assert nothing == "()"
    assert "pip install '.[lancedb]'" in told
