"""Notes in PostgreSQL: revisions, isolation, many writers, and a writer that is killed.

What every store of notes does is in `tests/contracts/test_note_store.py`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.postgres_server import PostgresServer

from notewell.errors import DatabaseNotReady, NotANote, NoteNotWritable, NoteUnreadable
from notewell.limits import MAX_NOTE_BYTES
from notewell.notes import Entry, ExtraPath, Section
from notewell.notes.postgres import PostgresNotes, agents_with_notes
from notewell.postgres import Database, Scope

DAY = date(2026, 11, 15)
KEY = "memory/2026-11-15.md"
CANARY = "canaryzz"


@pytest.fixture
def notes(postgres: Database, postgres_scope: Scope) -> PostgresNotes:
    return PostgresNotes(postgres, postgres_scope)


# -- revisions -----------------------------------------------------------------------------------


def test_every_write_keeps_the_bytes_that_it_replaces(notes: PostgresNotes) -> None:
    states: list[bytes | None] = [b"- one\r\n", b"- one\r\n- two\n", b"\xff\x00", b"", b"- three"]
    notes.put(KEY, b"- one\r\n", expected=None)
    for state in (*states[1:], None):
        notes.rewrite(KEY, lambda _, now=state: now)  # type: ignore[misc]
    notes.append(Entry("four", "test"), DAY)
    notes.append(Entry("five", "test"), DAY)
    revisions = notes.revisions(KEY)
    assert list(revisions) == [1, 2, 3, 4, 5, 7]  # 6: it was removed.
    kept = [notes.read_revision(KEY, number) for number in revisions]
    assert kept == [*states, b"- four <!-- @test -->\n"]
    assert notes.read_revision(KEY, 6) is None
    assert notes.read_revision(KEY, 99) is None


def test_an_append_keeps_no_copy_of_the_whole_note(
    postgres: Database, postgres_scope: Scope, notes: PostgresNotes
) -> None:
    for number in range(5):
        notes.append(Entry(f"entry {number}", "test"), DAY)
    with postgres.reading(postgres_scope) as transaction:
        rows = transaction.rows("SELECT count(*), count(data) FROM note_revisions")
    assert rows == [(4, 0)]
    assert notes.read_revision(KEY, 1) == b"- entry 0 <!-- @test -->\n"


def test_equal_bytes_are_no_new_revision(notes: PostgresNotes) -> None:
    notes.put(KEY, b"- one\n", expected=None)
    before = notes.scan()
    notes.rewrite(KEY, lambda data: data)
    assert notes.scan() == before
    assert notes.revisions(KEY) == {}


def test_a_note_that_comes_back_has_another_stat(notes: PostgresNotes) -> None:
    notes.put(KEY, b"- one\n", expected=None)
    before = notes.scan().notes[KEY]
    notes.rewrite(KEY, lambda _: None)
    notes.put(KEY, b"- two\n", expected=None)
    assert notes.scan().notes[KEY].stat.ctime_ns > before.stat.ctime_ns


def test_a_note_is_put_only_over_what_the_caller_has_seen(notes: PostgresNotes) -> None:
    assert notes.put(KEY, b"- one\n", expected=None)
    assert not notes.put(KEY, b"- other\n", expected=None)
    digest = notes.stored()[KEY].digest
    assert notes.put(KEY, b"- two\n", expected=digest)
    assert not notes.put(KEY, b"- three\n", expected=digest)
    assert not notes.put("memory/none.md", b"- three\n", expected=digest)
    assert notes.read_bytes(KEY) == b"- two\n"
    assert list(notes.stored()) == [KEY]


# -- which paths ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "a.md",
        "memory/a.txt",
        "/notes/memory/a.md",
        "memory/../a.md",
        "memory/.git/a.md",
        "memory/a\nb.md",
        "memory/a (conflicted copy).md",
        "",
    ],
)
def test_the_rules_of_a_folder_decide_what_a_note_is(notes: PostgresNotes, path: str) -> None:
    with pytest.raises(NotANote):
        notes.put(path, b"x", expected=None)
    with pytest.raises(NotANote):
        notes.read(path)
    assert notes.read_bytes(path) is None


def test_what_is_too_large_is_refused_and_changes_nothing(notes: PostgresNotes) -> None:
    notes.put(KEY, b"- one\n", expected=None)
    large = bytes(MAX_NOTE_BYTES + 1)
    with pytest.raises(NoteNotWritable, match="32 MiB"):
        notes.put("memory/large.md", large, expected=None)
    with pytest.raises(NoteNotWritable, match="32 MiB"):
        notes.rewrite(KEY, lambda _: large)
    assert {path: notes.read_bytes(path) for path in notes.stored()} == {KEY: b"- one\n"}


def test_extra_paths_are_reported_and_not_followed(
    postgres: Database, postgres_scope: Scope
) -> None:
    notes = PostgresNotes(postgres, postgres_scope, [ExtraPath("~/docs")])
    assert [one.path for one in notes.scan().ignored] == ["~/docs"]


def test_a_name_with_every_number_in_use_is_refused(
    notes: PostgresNotes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.notes.rewrite.MAX_NUMBER", 1)
    assert [notes.create("talk", b"x") for _ in range(2)] == ["memory/talk.md", "memory/talk-2.md"]
    with pytest.raises(NoteNotWritable, match="every number"):
        notes.create("talk", b"x")


# -- isolation -----------------------------------------------------------------------------------


def others(scope: Scope) -> tuple[Scope, Scope]:
    return Scope("another", scope.agent), Scope(scope.tenant, f"{scope.agent}-2")


@pytest.fixture
def canaries(postgres: Database, postgres_scope: Scope) -> list[PostgresNotes]:
    """Notes of another tenant with the same agent, and of another agent of the same tenant."""
    stores = [PostgresNotes(postgres, other) for other in others(postgres_scope)]
    for store in stores:
        for path in (KEY, "memory.md", "memory/talk.md"):
            store.put(path, f"- {CANARY}\n".encode(), expected=None)
        store.rewrite(KEY, lambda data: data + b"- more\n")
    return stores


def content(notes: PostgresNotes) -> dict[str, bytes | None]:
    return {path: notes.read_bytes(path) for path in notes.stored()}


def test_notes_of_others_are_never_read_changed_or_in_the_way(
    notes: PostgresNotes, canaries: list[PostgresNotes]
) -> None:
    before = [content(one) for one in canaries]
    assert notes.scan().notes == {}
    assert notes.stored() == {}
    assert notes.read_bytes(KEY) is None
    assert notes.revisions(KEY) == {}
    assert notes.read_revision(KEY, 1) is None
    with pytest.raises(NoteUnreadable, match="not there"):
        notes.read(KEY)
    with pytest.raises(NoteNotWritable, match="not there"):
        notes.rewrite(KEY, lambda _: None)
    # Their memory.md does not decide the name of mine, nor their entry whether mine is there.
    assert notes.append(Entry(CANARY, "test"), Section("Likes")).path == "MEMORY.md"
    assert notes.append(Entry(CANARY, "test"), DAY).added
    assert notes.create("talk", b"mine\n") == "memory/talk.md"
    assert [content(one) for one in canaries] == before


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.one_of(st.text(max_size=30), st.just(KEY), st.from_regex(r"memory/.*\.md")))
def test_no_path_leads_to_the_notes_of_others(
    notes: PostgresNotes, canaries: list[PostgresNotes], path: str
) -> None:
    assert notes.read_bytes(path) is None
    with pytest.raises((NotANote, NoteUnreadable)):
        notes.read(path)


def test_a_tenant_sees_the_names_of_its_agents_and_can_change_none_but_its_own(
    postgres: Database, postgres_scope: Scope, notes: PostgresNotes, canaries: list[PostgresNotes]
) -> None:
    notes.put(KEY, b"x", expected=None)
    names = agents_with_notes(postgres, postgres_scope)
    assert {postgres_scope.agent, f"{postgres_scope.agent}-2"} <= set(names)
    assert agents_with_notes(postgres, Scope("a third", "agent")) == []
    with postgres.writing(postgres_scope) as transaction:
        assert transaction.execute("DELETE FROM note_agents") == 1  # its own
    with (
        pytest.raises(DatabaseNotReady, match="does not let"),
        postgres.writing(postgres_scope) as transaction,
    ):
        transaction.execute("INSERT INTO note_agents VALUES (%s, %s)", others(postgres_scope)[1])


# -- writers -------------------------------------------------------------------------------------

WRITERS, ENTRIES = 8, 10


def entry_lines(notes: PostgresNotes) -> list[bytes]:
    return (notes.read_bytes(KEY) or b"").splitlines()


def test_entries_of_eight_writers_are_all_there_once(
    notes: PostgresNotes, postgres: Database, postgres_scope: Scope
) -> None:
    def write(writer: int) -> None:
        own = PostgresNotes(postgres, postgres_scope)
        for number in range(ENTRIES):
            own.append(Entry(f"entry {writer}.{number}", "test"), DAY)
            own.append(Entry(f"entry for all {number}", "test"), DAY)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = [f"{writer}.{number}" for writer in range(WRITERS) for number in range(ENTRIES)]
    names += [f"for all {number}" for number in range(ENTRIES)]
    assert sorted(entry_lines(notes)) == sorted(
        f"- entry {name} <!-- @test -->".encode() for name in names
    )


_APPENDING = """
import sys
from datetime import date
from notewell.core import Secret
from notewell.notes import Entry
from notewell.notes.postgres import PostgresNotes
from notewell.postgres import Address, Database, Scope

notes = PostgresNotes(Database(Address(Secret(sys.argv[1]))), Scope(*sys.argv[2:4]))
for number in range(100_000):
    notes.append(Entry(f"entry {number} " + "long " * 200, "test"), date(2026, 11, 15))
    print(number, flush=True)
"""


@pytest.mark.parametrize("acknowledged", [1, 7, 20])
def test_a_writer_that_is_killed_leaves_whole_entries_and_all_that_it_acknowledged(
    postgres_server: PostgresServer,
    notes: PostgresNotes,
    postgres_scope: Scope,
    acknowledged: int,
) -> None:
    words = [sys.executable, "-c", _APPENDING, postgres_server.login_url("notewell")]
    with subprocess.Popen([*words, *postgres_scope], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(acknowledged):
            assert process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        told = acknowledged + len(process.stdout.read().splitlines())
    # The lock of the dead writer ends with its connection, so this append is not refused.
    notes.append(Entry("after", "test"), DAY)
    *lines, last = entry_lines(notes)
    assert last == b"- after <!-- @test -->"
    assert len(lines) in {told, told + 1}  # The last one may have been committed, unacknowledged.
    for number, line in enumerate(lines):
        text = f"entry {number} " + "long " * 200
        assert line == f"- {text.strip()} <!-- @test -->".encode()
