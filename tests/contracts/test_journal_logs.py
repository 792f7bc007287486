"""What every place does that keeps the journal of a memory."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path

import psycopg
import pytest
from tests.postgres_server import PostgresServer

from notewell.capture import FileLogs, Logs, NoteWriter, undo_write, writes
from notewell.capture.logs import GatheredLines
from notewell.capture.postgres import LINE_BYTES, TRIM_EVERY, PostgresLogs
from notewell.errors import StateNotWritable
from notewell.notes import Entry
from notewell.notes.postgres import PostgresNotes
from notewell.postgres import Database, Scope

PLENTY = 1024 * 1024
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.fixture(params=["files", "postgres"])
def open_logs(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Logs]:
    """Each call opens another one, as another process would."""
    if request.param == "files":
        return lambda: FileLogs(tmp_path / "state")
    database: Database = request.getfixturevalue("postgres")
    scope: Scope = request.getfixturevalue("postgres_scope")
    return lambda: PostgresLogs(database, scope)


def test_lines_come_back_in_their_order_and_as_they_were(open_logs: Callable[[], Logs]) -> None:
    odd = {
        "a": "\0 \ud800 \u00e9 \U0001f600 \u2028 '; DROP TABLE x --",
        "b": [1, None, {"c": 1.5}],
    }
    for number in range(5):
        line = {**odd, "number": number}
        open_logs().append("one", line, max_bytes=PLENTY, durable=number % 2 == 0)
    open_logs().append("two", {"number": 9}, max_bytes=PLENTY)
    found = list(open_logs().lines("one"))
    assert [line["number"] for line in found] == list(range(5))
    assert found[3]["b"] == odd["b"]
    assert "DROP TABLE" in found[3]["a"]
    assert list(open_logs().lines("none")) == []


def test_several_lines_are_written_at_once_and_records_can_be_gathered(
    open_logs: Callable[[], Logs],
) -> None:
    open_logs().append("one", {"number": 0}, {"number": 1}, max_bytes=PLENTY)
    gathered = GatheredLines(open_logs())
    gathered.append("other", {"number": 8}, max_bytes=PLENTY, durable=False)
    gathered.clear("other")
    for number in (2, 3):
        gathered.append("one", {"number": number}, max_bytes=PLENTY, durable=False)
    assert [line["number"] for line in open_logs().lines("one")] == [0, 1]
    gathered.write()
    assert [line["number"] for line in open_logs().lines("one")] == [0, 1, 2, 3]
    assert list(open_logs().lines("other")) == []


def test_lines_are_removed_and_a_mark_shows_each_change(open_logs: Callable[[], Logs]) -> None:
    logs = open_logs()
    marks = [logs.change_mark("log")]

    def changed() -> bool:
        marks.append(open_logs().change_mark("log"))
        return marks[-1] not in marks[:-1]

    for word in ("keep", "forget", "keep too"):
        logs.append("log", {"word": word}, max_bytes=PLENTY)
        assert changed()
    assert logs.mentions("log", "forget")
    logs.remove("log", lambda line: line["word"] == "forget")
    assert changed()
    assert [line["word"] for line in logs.lines("log")] == ["keep", "keep too"]
    assert not logs.mentions("log", "forget")
    logs.remove("none", lambda _: True)
    logs.clear("log")
    assert list(logs.lines("log")) == []


def test_a_log_never_outgrows_its_limit(open_logs: Callable[[], Logs]) -> None:
    logs, kept = open_logs(), 20
    for number in range(3 * TRIM_EVERY):
        line = {"number": number, "text": "x" * (LINE_BYTES - 50)}
        logs.append("log", line, max_bytes=kept * LINE_BYTES, durable=False)
    numbers = [line["number"] for line in logs.lines("log")]
    # The database looks for the oldest from time to time.
    assert numbers == list(range(3 * TRIM_EVERY))[-len(numbers) :]
    assert len(numbers) <= kept + 2 * TRIM_EVERY


def test_many_writers_lose_no_line(open_logs: Callable[[], Logs]) -> None:
    def write(number: int) -> None:
        open_logs().append("log", {"number": number}, max_bytes=PLENTY)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(40)))
    assert sorted(line["number"] for line in open_logs().lines("log")) == list(range(40))


# -- in the database alone -----------------------------------------------------------------------


def test_what_one_replica_wrote_another_undoes(
    postgres: Database, postgres_scope: Scope, tmp_path: Path
) -> None:
    def replica(name: str) -> NoteWriter:
        notes, logs = (
            PostgresNotes(postgres, postgres_scope),
            PostgresLogs(postgres, postgres_scope),
        )
        return NoteWriter(notes, tmp_path / name, str, logs)

    one, other = replica("one"), replica("other")
    for text in ("first", "second"):
        one.append(Entry(text, "test"), date(2026, 11, 15), now=NOW)
    assert other.logs is not None
    first, second = writes(other.logs, other.notes)
    undo_write(other.notes, other.logs, second.id, now=NOW)
    assert one.logs is not None
    assert [recorded.undone for recorded in writes(one.logs, one.notes)] == [False, True]
    assert one.notes.read_bytes(first.write.path) == b"- first <!-- @test -->\n"
    assert not (tmp_path / "one").exists()


def test_a_journal_that_cannot_be_written_says_so_and_shows_no_password(
    postgres_server: PostgresServer,
) -> None:
    database = postgres_server.as_login("nowhere")
    with pytest.raises(StateNotWritable) as failed:
        PostgresLogs(database, Scope("t", "a")).append("log", {}, max_bytes=PLENTY)
    assert "password" not in str(failed.value)
    database.close()


def test_no_agent_sees_the_journal_of_another(
    postgres: Database, postgres_server: PostgresServer, postgres_scope: Scope
) -> None:
    mine = PostgresLogs(postgres, postgres_scope)
    mine.append("log", {"word": "canaryzz"}, max_bytes=PLENTY)
    tenant, agent = postgres_scope
    for scope in (
        Scope(tenant, f"agent-{uuid.uuid4()}"),
        Scope("another", agent),
        Scope.service(tenant),
    ):
        theirs = PostgresLogs(postgres, scope)
        assert theirs.lines("log") == []
        assert not theirs.mentions("log", "canaryzz")
        assert theirs.change_mark("log") == (0, 0)
        theirs.remove("log", lambda _: True)
        theirs.clear("log")
        with postgres.writing(scope) as transaction:
            assert transaction.execute("DELETE FROM notewell.journal") == 0
    assert len(mine.lines("log")) == 1
    with psycopg.connect(postgres_server.owner_url("notewell")) as owner:
        owner.execute("SET ROLE notewell_app")
        assert owner.execute("SELECT * FROM notewell.journal").fetchall() == []
