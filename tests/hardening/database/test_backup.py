"""A dump that is restored into a fresh database has the same notes and gives the same answers."""

from __future__ import annotations

import subprocess
from datetime import date

import psycopg
import pytest
from tests.hardening.database.test_bad_days import agrees, append, begin, numbers_in
from tests.postgres_server import PostgresServer, program_command

from notewell.index.postgres import PostgresStore
from notewell.notes import Entry
from notewell.notes.postgres import PostgresNotes
from notewell.postgres import Scope, inspect_server

DAY = date(2026, 11, 15)
KEY = "memory/2026-11-15.md"
SCOPES = (Scope("acme", "support"), Scope("acme", "sales"), Scope("other", "support"))


@pytest.fixture(scope="module")
def dump(postgres_server: PostgresServer) -> bytes:
    """Of a database with the notes of three agents, and the index of each."""
    postgres_server.create_database("before_disaster")
    database = postgres_server.as_login("before_disaster")
    for number, scope in enumerate(SCOPES):
        notes = PostgresNotes(database, scope)
        notes.append(Entry(f"first {number}", "test"), DAY)
        notes.append(Entry(f"second {number}", "test"), DAY)
        store = PostgresStore(database, scope, "notes")
        begin(store)
        append(store, number)
    database.close()
    words = ["pg_dump", "-Fc", "-d", postgres_server.owner_url("before_disaster")]
    return subprocess.run(program_command(words), check=True, capture_output=True).stdout


def test_a_dump_brings_everything_back_with_the_same_protection(
    postgres_server: PostgresServer, dump: bytes
) -> None:
    postgres_server.create_database("after_disaster", migrated=False)
    words = ["pg_restore", "--exit-on-error", "-d", postgres_server.owner_url("after_disaster")]
    subprocess.run(program_command(words), check=True, input=dump)
    there, here = (postgres_server.as_login(f"{when}_disaster") for when in ("before", "after"))
    for number, scope in enumerate(SCOPES):
        before, after = PostgresNotes(there, scope), PostgresNotes(here, scope)
        assert after.read_bytes(KEY) == before.read_bytes(KEY)
        assert after.revisions(KEY) == before.revisions(KEY)
        assert after.scan() == before.scan()
        store = PostgresStore(here, scope, "notes")
        assert numbers_in(store) == {number}
        assert agrees(store)
        append(store, 100 + number)  # It goes on: sequences and leases are there, too.
        assert after.append(Entry("third", "test"), DAY).added
    assert [one for one in inspect_server(here) if one.action] == []
    for database in (there, here):
        database.close()


def test_a_dump_by_a_user_whose_rows_are_hidden_fails_instead_of_being_empty(
    postgres_server: PostgresServer, dump: bytes
) -> None:
    with psycopg.connect(postgres_server.owner_url("before_disaster"), autocommit=True) as owner:
        owner.execute("CREATE ROLE tables_owner LOGIN PASSWORD 'x'")
        for table in ("notes", *(f"notes_p{number:02}" for number in range(16))):
            owner.execute(f"ALTER TABLE notewell.{table} OWNER TO tables_owner".encode())
        owner.execute("GRANT USAGE ON SCHEMA notewell TO tables_owner")
    url = postgres_server.owner_url("before_disaster").replace("postgres@", "tables_owner:x@")
    words = ["pg_dump", "-Fc", "-t", "notewell.notes*", "-d", url]
    done = subprocess.run(program_command(words), check=False, capture_output=True)
    assert done.returncode
    assert b"row-level security" in done.stderr
