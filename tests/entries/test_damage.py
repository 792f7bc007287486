"""Entries on a disk with bad sectors: what is damaged is said, the rest is there, an export
restores them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import lancedb
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from notewell.cli import main
from notewell.entries import (
    EntriesUnreadable,
    EntryStore,
    audit_entries,
    from_markdown,
    set_damaged_aside,
    to_markdown,
)
from notewell.entries.integrity import COLUMNS

Open = Callable[..., EntryStore]
TOLD = ("The user drinks tea", "The anchor is red", "Deploys are on Friday")


@pytest.fixture
def full(opened: Open) -> EntryStore:
    store = opened()
    for text in TOLD:
        store.store(text)
    return store


def texts(store: EntryStore) -> list[str]:
    return [entry.text for entry in store.entries()]


def newest_manifest(folder: Path) -> Path:
    # LanceDB counts its names down.
    return min(folder.glob("entries-*.lance/_versions/*.manifest"))


def newest_copy(folder: Path) -> Path:
    return min(folder.glob("entries-*.commits/*.manifest"))


def zero_a_sector(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(b"\0" * min(512, len(data)) + data[512:])


def flip(folder: Path, old: bytes, new: bytes) -> None:
    """In place of some letters others, as after flipped bits."""
    for path in folder.glob("entries-*.lance/data/*.lance"):
        path.write_bytes(path.read_bytes().replace(old, new))


def test_a_bad_sector_in_the_newest_manifest_loses_nothing(
    full: EntryStore, opened: Open, folder: Path
) -> None:
    before = newest_manifest(folder).read_bytes()
    zero_a_sector(newest_manifest(folder))
    assert texts(opened()) == list(TOLD)
    assert newest_manifest(folder).read_bytes() == before
    opened().store("The sail is white")
    assert texts(opened()) == [*TOLD, "The sail is white"]


def test_if_its_copy_is_damaged_too_the_version_before_is_used(
    full: EntryStore, opened: Open, folder: Path
) -> None:
    zero_a_sector(newest_manifest(folder))
    zero_a_sector(newest_copy(folder))
    assert texts(opened()) == list(TOLD[:2])
    opened().store("The sail is white")
    assert texts(opened()) == [*TOLD[:2], "The sail is white"]


def test_after_a_deletion_there_is_still_a_copy_of_the_only_manifest(
    full: EntryStore, opened: Open, folder: Path
) -> None:
    full.forget(full.entries()[0].id)
    assert len(list(folder.glob("entries-*.commits/*.manifest"))) == 1
    zero_a_sector(newest_manifest(folder))
    assert texts(opened()) == list(TOLD[1:])


def test_a_flipped_bit_is_never_shown_as_an_entry(
    full: EntryStore, opened: Open, folder: Path
) -> None:
    flip(folder, b"drinks tea", b"drinks pea")
    store = opened()
    assert texts(store) == list(TOLD[1:])
    assert store.damage == "1 entry is damaged and not shown: `notewell doctor` says which"
    answer = store.recall("what does the user drink? tea")
    assert all("pea" not in result.entry.text for result in answer.results)
    assert answer.notice == store.damage
    (message,) = audit_entries(folder).damaged
    assert "is not as it was written" in message


def test_a_file_that_cannot_be_read_hides_only_its_own_entries(
    full: EntryStore, opened: Open, folder: Path
) -> None:
    (data,) = (path for path in folder.rglob("data/*.lance") if b"anchor" in path.read_bytes())
    data.write_bytes(data.read_bytes()[:40])
    store = opened()
    assert texts(store) == [TOLD[0], TOLD[2]]
    assert store.recall("deploys on Friday").results[0].entry.text == TOLD[2]
    assert "1 entries are in a file that cannot be read" in audit_entries(folder).damaged


def test_an_export_restores_what_is_damaged(full: EntryStore, opened: Open, folder: Path) -> None:
    exported = to_markdown(full.entries(), "main")
    entries = full.entries()
    flip(folder, b"drinks tea", b"drinks pea")
    (data,) = (path for path in folder.rglob("data/*.lance") if b"anchor" in path.read_bytes())
    data.write_bytes(b"")
    counts = opened().import_entries(from_markdown(exported))
    assert (counts.added, counts.there) == (2, 1)
    assert opened().entries() == entries
    assert audit_entries(folder).damaged == ()
    assert list(folder.glob("damaged-entries-*"))


@pytest.mark.parametrize("is_gone", ["the newest", "all"])
def test_the_doctor_goes_on_with_what_can_be_read(
    full: EntryStore, opened: Open, folder: Path, *, is_gone: str
) -> None:
    if is_gone == "all":
        for path in folder.rglob("*.manifest"):
            path.write_bytes(bytes(path.stat().st_size))
        with pytest.raises(EntriesUnreadable, match="doctor --fix"):
            opened().entries()
    else:
        flip(folder, b"drinks tea", b"drinks pea")
    (aside,) = set_damaged_aside(folder)
    assert aside.is_dir()
    assert texts(opened()) == ([] if is_gone == "all" else list(TOLD[1:]))
    assert set_damaged_aside(folder) == []
    assert opened().store("The sail is white").added


def test_tables_of_an_older_release_are_read_and_get_digests(
    full: EntryStore, opened: Open, folder: Path
) -> None:
    (table,) = folder.glob("entries-*.lance")
    rows = lancedb.connect(folder).open_table(table.stem).to_arrow()
    shutil.rmtree(folder)
    old = lancedb.connect(folder)
    old.create_table(table.stem, rows.select([*COLUMNS, "vector"]))
    assert texts(opened()) == list(TOLD)
    assert not list(folder.glob("*.commits"))
    opened().store("The sail is white")
    assert texts(opened()) == [*TOLD, "The sail is white"]
    now = lancedb.connect(folder).open_table(table.stem).to_arrow()
    assert pa.types.is_string(now.schema.field("digest").type)
    assert audit_entries(folder).entries == 4


def test_doctor_and_verify_look_at_the_entries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "MEMORY.md").write_text("A note.\n", encoding="utf-8")
    place = ["--workspace", str(tmp_path / "ws"), "--state-dir", str(tmp_path / "state")]
    assert main(["index", *place]) == 0
    assert main(["entries", "store", "The user drinks tea", *place]) == 0
    assert main(["verify", *place]) == 0
    assert "entries: 1" in capsys.readouterr().out
    flip(tmp_path / "state" / "lancedb", b"drinks tea", b"drinks pea")
    assert main(["entries", "list", *place]) == 5
    assert main(["entries", "export", *place]) == 5
    assert main(["verify", *place]) == 5
    assert "is not as it was written" in capsys.readouterr().out
    assert main(["doctor", *place]) == 5
    assert "is not as it was written" in capsys.readouterr().out
    main(["doctor", "--fix", *place])
    assert "went on with the others" in capsys.readouterr().out
    assert main(["verify", *place]) == 0


class PowerCut(OSError):
    pass


@pytest.mark.parametrize("left", ["nothing", "an empty file", "half"])
@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_power_cut_before_the_sync_shows_the_entries_as_they_were(
    full: EntryStore,
    opened: Open,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    left: str,
    lost: int,
) -> None:
    """LanceDB has committed, nothing of it is on disk yet: of its files some are gone."""
    before = set(folder.rglob("*"))

    def cut(_path: str, _flags: int) -> None:
        raise PowerCut

    with monkeypatch.context() as patched:
        patched.setattr("notewell.entries.durability._fsync", cut)
        with pytest.raises(EntriesUnreadable):
            opened().store("The sail is white")
    new = sorted(path for path in set(folder.rglob("*")) - before if path.is_file())
    assert any(path.suffix == ".manifest" for path in new)
    for number, path in enumerate(new):
        if number % lost == 0:
            data = {"nothing": None, "an empty file": b""}.get(left, path.read_bytes()[:60])
            path.unlink() if data is None else path.write_bytes(data)
    assert texts(opened()) == list(TOLD)
    assert audit_entries(folder).damaged == ()
    opened().store("The sail is blue")
    assert texts(opened()) == [*TOLD, "The sail is blue"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="tells by /proc what was forced")
def test_a_version_counts_only_when_all_of_it_is_on_disk(
    opened: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced: list[Path] = []
    real = os.fsync

    def noting(fd: int) -> None:
        forced.append(Path(f"/proc/self/fd/{fd}").resolve())
        real(fd)

    monkeypatch.setattr(os, "fsync", noting)
    opened().store("The anchor is red")
    counted_at = forced.index(next(path for path in forced if path.name == ".commit.tmp"))
    (table,) = folder.resolve().glob("entries-*.lance")
    parts = {path for path in (table, *table.rglob("*")) if path != table}
    assert parts <= {*forced[:counted_at]}
