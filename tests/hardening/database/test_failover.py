"""A primary and a standby: which of them answers what, and what a failover keeps."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date

import psycopg
import pytest
from tests.hardening.database.test_bad_days import append, begin, numbers_in
from tests.postgres_server import LOGIN, PASSWORD, PostgresServer, running_server

from notewell.core import Secret
from notewell.errors import DatabaseUnavailable, NoteBusy
from notewell.index.postgres import PostgresStore
from notewell.notes import Entry
from notewell.notes.postgres import PostgresNotes
from notewell.postgres import Address, Database, Scope, inspect_server
from notewell.postgres.connections import Limits

DAY = date(2026, 11, 15)
KEY = "memory/2026-11-15.md"
WRITERS = 4
SCOPE = Scope("t", "failover")


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[PostgresServer, PostgresServer]]:
    """The standby has every commit before its writer gets an answer."""
    with running_server() as primary:
        primary.create_database("notewell")
        with running_server(standby_of=primary) as standby:
            wait_for_standby(primary)
            yield primary, standby


def wait_for_standby(primary: PostgresServer) -> None:
    with psycopg.connect(primary.owner_url("postgres"), autocommit=True) as owner:
        owner.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        owner.execute("SELECT pg_reload_conf()")


@contextmanager
def database_of(*servers: PostgresServer, limits: Limits | None = None) -> Iterator[Database]:
    """Several servers: the one that can write is chosen."""
    hosts = ",".join(str(server.folder) for server in servers)
    choice = "&target_session_attrs=read-write" if servers[1:] else ""
    url = f"postgresql://{LOGIN}:{PASSWORD}@/notewell?host={hosts}{choice}"
    database = Database(Address(Secret(url)), limits)
    try:
        yield database
    finally:
        database.close()


def lines(notes: PostgresNotes) -> list[str]:
    return [line.split()[1].decode() for line in (notes.read_bytes(KEY) or b"").splitlines()]


# In this order: the last test ends the primary.


def test_a_standby_answers_questions_and_refuses_writes(
    servers: tuple[PostgresServer, PostgresServer],
) -> None:
    primary, standby = servers
    with database_of(primary) as there, database_of(standby) as here:
        begin(PostgresStore(there, SCOPE, "notes"))
        append(PostgresStore(there, SCOPE, "notes"), 1)
        PostgresNotes(there, SCOPE).append(Entry("first", "test"), DAY)
        with psycopg.connect(primary.owner_url("postgres")) as owner:
            ((place,),) = owner.execute("SELECT pg_current_wal_flush_lsn()::text").fetchall()
        with psycopg.connect(standby.owner_url("postgres")) as owner:
            replayed(owner, place)
        store, notes = PostgresStore(here, SCOPE, "notes"), PostgresNotes(here, SCOPE)
        assert numbers_in(store) == {1}
        assert lines(notes) == ["first"]
        with pytest.raises(DatabaseUnavailable, match="is read-only: a standby answered"):
            notes.append(Entry("second", "test"), DAY)
        actions = [one.action for one in inspect_server(here)]
        assert "name the primary in the connection string" in actions


def replayed(standby: psycopg.Connection[tuple[object, ...]], place: str) -> None:
    """Wait until a standby shows what was committed up to there."""
    sql = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
    while standby.execute(sql, (place,)).fetchall() != [(True,)]:
        standby.rollback()


def test_what_only_the_primary_has_is_not_acknowledged(
    servers: tuple[PostgresServer, PostgresServer],
) -> None:
    primary, standby = servers
    standby.stop()
    with database_of(primary, limits=Limits(write_s=2.0, network_s=3)) as database:
        notes = PostgresNotes(database, SCOPE)
        with pytest.raises(DatabaseUnavailable, match="does not answer in time"):
            notes.append(Entry("lonely", "test"), DAY)
        with pytest.raises(NoteBusy):  # The server still waits for its standby.
            notes.append(Entry("lonely", "test"), DAY, wait_s=0.1)
    # An operator ends the wait: the server says "COMMIT" then, with a warning.
    with database_of(primary) as database, ThreadPoolExecutor(1) as pool:
        cancel_commit(primary)
        other = PostgresNotes(database, Scope("t", "another"))
        pending = pool.submit(other.append, Entry("lonely", "test"), DAY)
        cancel_commit(primary)
        with pytest.raises(DatabaseUnavailable, match="did not confirm"):
            pending.result(60)
    standby.start()
    with database_of(primary) as database:
        for scope in (SCOPE, Scope("t", "another")):
            notes = PostgresNotes(database, scope)
            assert not notes.append(Entry("lonely", "test"), DAY).added
            assert lines(notes).count("lonely") == 1


def cancel_commit(primary: PostgresServer) -> None:
    """Of whoever waits for the standby, as soon as somebody does."""
    deadline = time.monotonic() + 60
    with psycopg.connect(primary.owner_url("postgres"), autocommit=True) as owner:
        while not owner.execute(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        ).fetchall():
            assert time.monotonic() < deadline


def test_a_failover_loses_nothing_that_was_acknowledged_and_doubles_nothing(
    servers: tuple[PostgresServer, PostgresServer],
) -> None:
    primary, standby = servers
    acknowledged: list[list[str]] = [[] for _ in range(WRITERS)]
    troubles: list[DatabaseUnavailable] = []
    enough, is_promoted = threading.Event(), threading.Event()

    def write(writer: int, notes: PostgresNotes) -> None:
        after = 0
        for number in range(10_000):
            text = f"{writer}.{number}"
            while True:  # As a client does: the same entry until it is acknowledged.
                try:
                    notes.append(Entry(text, "test"), DAY)
                    break
                except DatabaseUnavailable as trouble:
                    troubles.append(trouble)
                    assert is_promoted.wait(120)
            acknowledged[writer].append(text)
            if all(len(one) >= 5 for one in acknowledged):
                enough.set()
            after += is_promoted.is_set()
            if after == 3:
                return

    with database_of(primary, standby, limits=Limits(connection_wait_s=10.0)) as database:
        notes = PostgresNotes(database, SCOPE)
        threads = [threading.Thread(target=write, args=(one, notes)) for one in range(WRITERS)]
        for thread in threads:
            thread.start()
        assert enough.wait(120)
        primary.kill()
        with psycopg.connect(standby.owner_url("postgres"), autocommit=True) as owner:
            assert owner.execute("SELECT pg_promote(true, 60)").fetchall() == [(True,)]
        is_promoted.set()
        for thread in threads:
            thread.join(120)
        assert troubles
        assert PASSWORD not in repr(troubles)
        stored = [line for line in lines(notes) if "." in line]
        assert sorted(stored) == sorted(text for one in acknowledged for text in one)
        append(PostgresStore(database, SCOPE, "notes"), 2)
        assert numbers_in(PostgresStore(database, SCOPE, "notes")) == {1, 2}
