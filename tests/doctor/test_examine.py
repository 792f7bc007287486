"""Every finding, with its condition made for real."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.doctor.conftest import told

from notewell.capture import capture_dir, record_hook_run
from notewell.doctor import Finding, Subject, examine, machine
from notewell.doctor.finding import RepairStore
from notewell.embedders.embedded import EmbeddedEmbedder
from notewell.embedders.weights import IN_PACKAGE
from notewell.entries import EntriesSettings
from notewell.errors import EmbedderMissing, EmbedderRefused
from notewell.index import size_text
from notewell.index.sqlite import open_writer
from notewell.index.sqlite.maintenance import sqlite_finding
from notewell.records import replace
from notewell.testing import BrokenEmbedder

if TYPE_CHECKING:
    from tests.doctor.conftest import Ward


def test_a_memory_that_is_well_has_nothing_to_do(ward: Ward) -> None:
    ward.sync()
    assert ward.todo() == []
    findings = ward.examine()
    assert "all match their checksums" in told(findings, "index", "pages").message
    assert "last written on" in told(findings, "index", "notes").message
    assert told(findings, "cache", "vectors").remedy is None


# -- the machine ---------------------------------------------------------------------------------


def test_remote_readers_are_shown_no_folder_of_this_machine(ward: Ward) -> None:
    """A check says what they may see; without that, the text stays with the owner."""
    ward.sync()
    (ward.index / "CURRENT").chmod(0o644)
    (ward.index / "index-99.sqlite").write_bytes(b"")
    (ward.workspace / "memory" / "2999-01-01.md").write_text("later", encoding="utf-8")
    findings = [*ward.examine(), Finding("state", f"{ward.state} is odd", f"rm {ward.state}")]
    assert any(str(ward.state) in finding.message for finding in findings)
    assert any(finding.public_message == finding.message for finding in findings)
    for finding in findings:
        shown = f"{finding.public_message} {finding.public_todo}"
        assert str(ward.state.parent) not in shown


@pytest.mark.parametrize(
    ("version", "said"),
    [("3.51.3", "sound"), ("3.51.2", "can lose a commit"), ("3.44.0", "can lose a commit")],
)
def test_an_sqlite_that_can_lose_commits_is_told(tmp_path: Path, version: str, said: str) -> None:
    (tmp_path / "cksumvfs.so").touch()
    finding = sqlite_finding(version, tmp_path)
    assert said in finding.message
    assert bool(finding.action) == (said != "sound")


def test_an_sqlite_without_checksums_is_told(tmp_path: Path) -> None:
    finding = sqlite_finding("3.54.1", tmp_path)
    assert "without page checksums" in finding.message
    assert finding.action


def test_an_extra_that_the_settings_need_and_is_missing_is_told(ward: Ward) -> None:
    ward.own_settings(store={"vector": {"driver": "sqlite-vec"}})
    settings = ward.open().settings
    assert settings.store.vector_driver == "sqlite-vec"
    findings = list(machine.packages(settings, installed=lambda _: False))
    assert told(findings, "python", "'sqlite-vec' is not installed").todo
    assert list(machine.packages(settings))[1:] == []


def test_entries_without_their_extra_are_told(ward: Ward) -> None:
    settings = replace(ward.open().settings, entries=EntriesSettings())
    findings = list(machine.packages(settings, installed=lambda _: False))
    assert told(findings, "python", "memory-lancedb.enabled is true").todo


@pytest.mark.parametrize(("watches", "is_enough"), [(100, True), (19, False)])
def test_more_folders_than_half_of_the_watches_are_told(
    tmp_path: Path, watches: int, is_enough: bool
) -> None:
    (tmp_path / "max_user_watches").write_text(f"{watches}\n", encoding="ascii")
    (finding,) = machine.inotify(10, tmp_path)
    assert (finding.todo is None) == is_enough


def test_no_inotify_instance_is_told(tmp_path: Path) -> None:
    for name, limit in (("max_user_watches", 9999), ("max_user_instances", 0)):
        (tmp_path / name).write_text(f"{limit}\n", encoding="ascii")
    (finding,) = machine.inotify(10, tmp_path)
    assert finding.todo
    assert "max_user_instances" in finding.todo


# -- index and cache -----------------------------------------------------------------------------


def test_every_damaged_page_is_found(ward: Ward, flip: Callable[[Path, int], None]) -> None:
    ward.sync()
    ward.close()
    pages = ward.current.stat().st_size // 8192
    for page in range(1, pages + 1):
        flip(ward.current, page)
        findings = [
            one for one in ward.examine() if one.remedy == RepairStore(ward.index, "set-aside")
        ]
        assert len(findings) == 1, page
        flip(ward.current, page)
        (ward.index / "SUSPECT").unlink(missing_ok=True)
    assert ward.todo() == []


def test_a_damaged_cache_is_told(ward: Ward, flip: Callable[[Path, int], None]) -> None:
    ward.sync()
    ward.close()
    flip(ward.index / "cache.sqlite", 2)
    assert told(ward.examine(), "cache", "is damaged").is_fixable


@pytest.mark.parametrize(("schema", "fixable"), [(1, True), (99, False)])
def test_an_index_of_another_version_is_told(
    ward: Ward,
    schema: int,
    fixable: bool,
) -> None:
    ward.sync()
    ward.close()
    db = open_writer(ward.current)
    db.pragma("user_version", schema)
    db.close()
    (finding,) = [one for one in ward.examine() if one.what == "index"]
    assert finding.todo
    assert finding.is_fixable == fixable
    assert ("newer Notewell" in finding.message) != fixable


@pytest.mark.parametrize("pointer", ["index-77.sqlite\n", "../elsewhere\n"])
def test_a_pointer_to_nothing_is_told(ward: Ward, pointer: str) -> None:
    ward.sync()
    (ward.index / "CURRENT").write_text(pointer, encoding="ascii")
    findings = ward.todo()
    assert any(one.what == "index" and one.is_fixable for one in findings)
    assert not any(one.what == "orphans" for one in findings)  # Who knows which one was meant.


def test_notes_that_the_index_has_not_caught_up_with_are_told(ward: Ward) -> None:
    ward.sync()
    (ward.workspace / "memory" / "new.md").write_text("more\n", encoding="utf-8")
    assert told(ward.todo(), "index", "1 to catch up with").is_fixable


# -- notes ---------------------------------------------------------------------------------------


def test_a_conflict_copy_is_something_to_do(ward: Ward) -> None:
    name = "2026-10-02.sync-conflict-20261003-120000-ABCDEFG.md"
    (ward.workspace / "memory" / name).write_text("- snow\n", encoding="utf-8")
    ward.sync()
    finding = told(ward.todo(), "conflict", name)
    assert not finding.is_fixable


def test_notes_of_days_to_come_put_the_clock_in_doubt(ward: Ward) -> None:
    note = ward.workspace / "memory" / "2999-01-01.md"
    note.write_text("from the future\n", encoding="utf-8")
    os.utime(note, (4e10, 4e10))
    ward.sync()
    told(ward.todo(), "clock", "2999-01-01.md: its date is in the future")
    told(ward.todo(), "clock", "2999-01-01.md: it was changed in the future")


def test_notes_we_cannot_read_or_write_are_told(
    ward: Ward,
    shared_path: Path,
    unprivileged: Callable[[], AbstractContextManager[None]],
) -> None:
    shutil.copytree(ward.workspace, shared_path / "workspace")
    ward.workspace, ward.state = shared_path / "workspace", shared_path / "state"
    ward.workspace.chmod(0o777)
    (ward.workspace / "MEMORY.md").chmod(0o000)
    (ward.workspace / "memory" / "2026-10-02.md").chmod(0o444)
    (ward.workspace / "memory" / "closed").mkdir(0o000)
    with unprivileged():
        findings = ward.todo()
        told(findings, "notes", "MEMORY.md: permission denied")
        told(findings, "notes", "2026-10-02.md: cannot be appended to")
        told(findings, "notes", "memory/closed: permission denied")
    ward.workspace.chmod(0o555)
    with unprivileged():
        assert told(ward.examine(), "notes", "is read-only").todo is None


def test_a_long_list_ends_with_how_many_more_there_are(ward: Ward) -> None:
    for number in range(25):
        link = ward.workspace / "memory" / f"link{number:02}.md"
        link.symlink_to("elsewhere.md")
        copy = ward.workspace / "memory" / f"n{number:02} (conflicted copy).md"
        copy.write_text("twice\n", encoding="utf-8")
    findings = ward.examine()
    assert told(findings, "notes", "left out: 5 more").todo is None
    assert told(findings, "conflict", "5 more: a sync-conflict copy").todo


def test_an_empty_workspace_is_shown_how_to_start(ward: Ward) -> None:
    shutil.rmtree(ward.workspace / "memory")
    (ward.workspace / "MEMORY.md").unlink()
    assert "notewell init" in (told(ward.todo(), "notes", "0 notes").todo or "")


# -- embedder and captures -----------------------------------------------------------------------


def test_an_embedder_that_fails_is_told_with_the_next_step(ward: Ward) -> None:
    ward.embedder = BrokenEmbedder(EmbedderMissing("voyage", "no key", "set VOYAGE_API_KEY"))
    assert told(ward.examine(), "embedder", "set VOYAGE_API_KEY").todo


def test_one_flipped_byte_of_the_embedded_model_is_told(ward: Ward, tmp_path: Path) -> None:
    folder = shutil.copytree(IN_PACKAGE, tmp_path / "model")
    ward.embedder = EmbeddedEmbedder(folder)
    assert told(ward.examine(), "embedder", "384 dimensions").todo is None
    content = bytearray((folder / "vocab.txt").read_bytes())
    content[-2] ^= 1
    (folder / "vocab.txt").write_bytes(content)
    ward.embedder = EmbeddedEmbedder(folder)
    assert told(ward.examine(), "embedder", "vocab.txt is damaged").todo


def test_a_sync_that_failed_is_told_until_one_works(ward: Ward) -> None:
    working = ward.embedder
    trouble = EmbedderRefused("voyage", "no such key", "set another", http_status=401)
    ward.embedder = BrokenEmbedder(trouble)
    ward.sync()
    # Another process, in which the embedder works, still knows it.
    ward.embedder = working
    assert told(ward.examine(), "sync", "no such key").todo
    ward.sync()
    assert not [finding for finding in ward.examine() if finding.what == "sync"]


def settings_say(ward: Ward, **told: str) -> None:
    ward.own_settings(**told)
    ward.embedder = None


def test_a_key_that_is_missing_is_told(ward: Ward) -> None:
    settings_say(ward, provider="voyage", fallback="none")
    assert told(ward.examine(), "embedder", "VOYAGE_API_KEY").todo


def test_a_fallback_that_is_in_force_is_told(ward: Ward) -> None:
    settings_say(ward, provider="voyage", fallback="embedded")
    ward.sync()
    findings = ward.examine()
    assert told(findings, "embedder", "voyage was asked for and embedded is used").todo
    assert told(findings, "embedder", "384 dimensions").todo is None


def test_without_an_embedder_nothing_waits_for_vectors(ward: Ward) -> None:
    settings_say(ward, provider="none")
    ward.sync()
    assert ward.todo() == []


def test_what_failed_in_a_hook_is_told(ward: Ward) -> None:
    folder = capture_dir(ward.state, "main", ward.workspace.resolve())
    record_hook_run(folder, "SessionEnd", "codex", datetime.now(UTC), trouble="no transcript")
    assert told(ward.examine(), "capture", "no transcript").todo


# -- when nothing works --------------------------------------------------------------------------


def test_a_patient_without_a_memory_is_visit_all_the_same(ward: Ward) -> None:
    ward.sync()
    (ward.workspace / "notewell.json").write_text("{not json", encoding="utf-8")
    patient = Subject.without_memory("main", ward.workspace, ward.state, "bad settings")
    findings = examine(patient)
    assert told(findings, "memory", "bad settings").todo
    assert told(findings, "settings", "notewell.json:1").todo
    told(findings, "index", "all match their checksums")
    told(findings, "cache", "vectors")


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 bytes"), (1500, "1.5 kB"), (2.5e6, "2.5 MB"), (7e9, "7.0 GB")]
)
def test_sizes_are_told_as_people_say_them(count: float, said: str) -> None:
    assert size_text(int(count)) == said
