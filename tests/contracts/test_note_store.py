"""What every store of notes does: the folder on disk, PostgreSQL, and the one in memory."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import TypeAlias

import pytest

from notewell.errors import (
    BadEntry,
    NotANote,
    NoteBusy,
    NoteNotWritable,
    NotesNotInFolder,
    NoteUnreadable,
)
from notewell.notes import Entry, NoteStore, Section, folder_of
from notewell.notes.postgres import PostgresNotes
from notewell.notes.workspace import Workspace
from notewell.testing import InMemoryNotes

DAY = date(2026, 11, 15)
KEY = "memory/2026-11-15.md"

OpenNotes: TypeAlias = Callable[[Mapping[str, str]], NoteStore]


@pytest.fixture(params=["folder", "in memory", "postgres"])
def open_notes(request: pytest.FixtureRequest, tmp_path: Path) -> OpenNotes:
    if request.param == "in memory":
        return InMemoryNotes

    def open_postgres(notes: Mapping[str, str]) -> NoteStore:
        store = PostgresNotes(
            request.getfixturevalue("postgres"), request.getfixturevalue("postgres_scope")
        )
        for path, text in notes.items():
            assert store.put(path, text.encode(), expected=None)
        return store

    if request.param == "postgres":
        return open_postgres

    def open_folder(notes: Mapping[str, str]) -> NoteStore:
        (tmp_path / "memory").mkdir()
        for path, text in notes.items():
            (tmp_path / path).write_text(text, encoding="utf-8", newline="")
        return Workspace.open(tmp_path)

    return open_folder


def test_a_scan_names_every_note_in_order(open_notes: OpenNotes) -> None:
    notes = open_notes({"memory/b.md": "b\n", "MEMORY.md": "# Mine\n", "memory/a.md": "a\n"})
    scan = notes.scan()
    assert list(scan.notes) == ["MEMORY.md", "memory/a.md", "memory/b.md"]
    assert scan.notes["MEMORY.md"].stat.size == 7
    assert scan.ignored == scan.unreadable == ()


def test_an_empty_store_has_an_empty_scan(open_notes: OpenNotes) -> None:
    assert open_notes({}).scan().notes == {}


def test_the_stat_of_a_note_changes_with_its_content_only(open_notes: OpenNotes) -> None:
    notes = open_notes({"memory/a.md": "a\n", KEY: "- one\n"})
    before = notes.scan().notes
    assert notes.scan().notes == before
    notes.append(Entry("two", "test"), DAY)
    after = notes.scan().notes
    assert after["memory/a.md"] == before["memory/a.md"]
    assert after[KEY] != before[KEY]


def test_a_note_is_read_as_clean_text_with_the_stat_of_its_scan(open_notes: OpenNotes) -> None:
    notes = open_notes({"memory/a.md": "\ufeffone\r\ntwo\n"})
    note = notes.read("memory/a.md")
    assert note.text == "one\ntwo\n"
    assert note.digest == hashlib.sha256(b"one\ntwo\n").hexdigest()
    assert note.stat == notes.scan().notes["memory/a.md"].stat
    assert notes.read_bytes("memory/a.md") == "\ufeffone\r\ntwo\n".encode()


def test_a_note_that_is_missing_is_told_apart_from_a_path_that_is_no_note(
    open_notes: OpenNotes,
) -> None:
    notes = open_notes({})
    assert notes.read_bytes("memory/a.md") is None
    with pytest.raises(NoteUnreadable, match="not there"):
        notes.read("memory/a.md")
    for path in ("other/a.md", "memory/../a.md", "memory//a.md"):
        with pytest.raises(NotANote):
            notes.read(path)


def test_an_append_tells_where_the_entry_is_and_what_was_added(open_notes: OpenNotes) -> None:
    notes = open_notes({KEY: "# Day"})
    done = notes.append(Entry("one", "test"), DAY)
    data = notes.read_bytes(KEY)
    assert data == b"# Day\n\n- one <!-- @test -->\n"
    assert (done.path, done.span, done.added) == (KEY, (3, 3), True)
    added = data[done.start_byte : done.end_byte]
    assert added == b"\n\n- one <!-- @test -->\n"
    assert done.digest == hashlib.sha256(added).hexdigest()
    assert done.digest_before == hashlib.sha256(b"# Day").hexdigest()
    assert done.digest_after == hashlib.sha256(data).hexdigest()


def test_an_entry_that_is_there_is_not_added_again(open_notes: OpenNotes) -> None:
    notes = open_notes({})
    first = notes.append(Entry("one", "test"), DAY)
    before = notes.read_bytes(KEY)
    again = notes.append(Entry("one", "test"), DAY)
    assert (again.path, again.span, again.added) == (first.path, first.span, False)
    assert again.start_byte == again.end_byte
    assert notes.read_bytes(KEY) == before


def test_a_section_belongs_to_the_curated_note_the_user_has(open_notes: OpenNotes) -> None:
    notes = open_notes({"memory.md": "# Mine\n"})
    done = notes.append(Entry("coffee", "test"), Section("Likes"))
    assert done.path == "memory.md"
    assert notes.read_bytes("memory.md") == b"# Mine\n\n## Likes\n\n- coffee <!-- @test -->\n"


def test_a_curated_note_is_made_when_there_is_none(open_notes: OpenNotes) -> None:
    notes = open_notes({})
    assert notes.append(Entry("coffee", "test"), Section("Likes")).path == "MEMORY.md"


def test_a_refused_append_changes_nothing(open_notes: OpenNotes) -> None:
    notes = open_notes({"MEMORY.md": "```\nopen\n"})
    with pytest.raises(BadEntry):
        notes.append(Entry("", "test"), DAY)
    with pytest.raises(BadEntry):
        notes.append(Entry("one", "test"), Section(""))
    with pytest.raises(NoteNotWritable, match="code fence"):
        notes.append(Entry("one", "test"), Section("Likes"))
    assert notes.read_bytes("MEMORY.md") == b"```\nopen\n"
    assert list(notes.scan().notes) == ["MEMORY.md"]


def test_appends_of_many_threads_are_all_there_and_whole(open_notes: OpenNotes) -> None:
    notes = open_notes({})
    threads = [
        threading.Thread(target=notes.append, args=(Entry(f"entry {number}", "test"), DAY))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    data = notes.read_bytes(KEY)
    assert data is not None
    assert sorted(data.splitlines()) == [
        f"- entry {number} <!-- @test -->".encode() for number in range(8)
    ]


def test_a_new_note_never_overwrites_one_that_is_there(open_notes: OpenNotes) -> None:
    notes = open_notes({"memory/2026-11-15-talk.md": "mine\n"})
    assert notes.create("2026-11-15-talk", b"one\n") == "memory/2026-11-15-talk-2.md"
    assert notes.create("2026-11-15-talk", b"two\n") == "memory/2026-11-15-talk-3.md"
    assert notes.read_bytes("memory/2026-11-15-talk.md") == b"mine\n"
    assert notes.read_bytes("memory/2026-11-15-talk-2.md") == b"one\n"
    assert notes.read("memory/2026-11-15-talk-3.md").text == "two\n"


def test_a_new_note_may_be_in_folders_of_its_own(open_notes: OpenNotes) -> None:
    notes = open_notes({})
    assert notes.create("imported/mem0/2026-11-15", b"one\n") == (
        "memory/imported/mem0/2026-11-15.md"
    )
    path = notes.create("imported/mem0/2026-11-15", b"two\n")
    assert (path, notes.read(path).text) == ("memory/imported/mem0/2026-11-15-2.md", "two\n")


def test_a_note_is_rewritten_or_removed_as_a_whole(open_notes: OpenNotes) -> None:
    notes = open_notes({KEY: "- one\n- two\n"})
    notes.rewrite(KEY, lambda data: data.removesuffix(b"- two\n"))
    assert notes.read_bytes(KEY) == b"- one\n"
    notes.rewrite(KEY, lambda _: b"")
    assert notes.read_bytes(KEY) == b""
    notes.rewrite(KEY, lambda _: None)
    assert notes.read_bytes(KEY) is None
    with pytest.raises(NoteNotWritable, match="not there"):
        notes.rewrite(KEY, lambda data: data)
    assert notes.scan().notes == {}


def test_what_decides_a_rewrite_may_refuse_it(open_notes: OpenNotes) -> None:
    notes = open_notes({KEY: "- one\n"})

    def refuse(data: bytes) -> bytes:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        notes.rewrite(KEY, refuse)
    assert notes.read_bytes(KEY) == b"- one\n"
    assert list(notes.scan().notes) == [KEY]
    notes.append(Entry("two", "test"), DAY)


def test_a_rewrite_excludes_an_append(open_notes: OpenNotes) -> None:
    notes = open_notes({KEY: "- one\n"})

    def append_meanwhile(data: bytes) -> bytes:
        with pytest.raises(NoteBusy):
            notes.append(Entry("two", "test"), DAY, wait_s=0.01)
        return data + b"- three\n"

    notes.rewrite(KEY, append_meanwhile)
    assert notes.read_bytes(KEY) == b"- one\n- three\n"


def test_only_notes_on_this_disk_have_paths_to_watch(open_notes: OpenNotes) -> None:
    notes = open_notes({})
    paths = notes.local_paths()
    assert notes.location
    assert all(str(path).startswith(notes.location) for path in paths)
    assert bool(paths) is (notes.folder is not None)


def test_what_needs_files_gets_the_folder_or_an_error_that_names_the_place(
    open_notes: OpenNotes,
) -> None:
    notes = open_notes({"MEMORY.md": "# Mine\n"})
    if notes.folder is not None:
        assert folder_of(notes) == notes.folder == Path(notes.location)
        return
    with pytest.raises(NotesNotInFolder, match=rf"a folder.*'{re.escape(notes.location)}'") as no:
        folder_of(notes)
    assert no.value.location == notes.location
    assert notes.location not in no.value.public_text()
