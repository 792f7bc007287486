"""The schema: made once, by one process, and compared with what a version knows."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.postgres_server import PostgresServer

from notewell.core import Secret
from notewell.errors import DatabaseNotReady, DatabaseTrouble
from notewell.postgres import (
    Address,
    Database,
    Scope,
    inspect_server,
    migrate,
    schema_state,
    unknown_parts,
)
from notewell.postgres.connections import Limits
from notewell.postgres.migrations import MIGRATIONS


@pytest.fixture
def empty(postgres_server: PostgresServer, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database without our tables."""
    name = f"empty_{zlib.crc32(request.node.name.encode())}"
    postgres_server.create_database(name, migrated=False)
    database = postgres_server.as_owner(name)
    yield database
    database.close()


def test_a_database_without_tables_says_what_to_run(empty: Database) -> None:
    with pytest.raises(DatabaseNotReady, match="notewell db init"), empty.reading(Scope("t", "a")):
        pass
    actions = [one.action for one in inspect_server(empty)]
    assert "run `notewell db init`" in actions


def test_migrations_run_once_however_many_begin_them(empty: Database) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: migrate(empty), range(4)))
    assert sorted(map(len, done)) == [0, 0, 0, len(MIGRATIONS)]
    with empty.as_owner() as transaction:
        assert schema_state(transaction).problem() is None


def test_a_migration_that_fails_leaves_nothing_behind(empty: Database) -> None:
    with psycopg.connect(empty.address.reveal()) as connection:
        connection.execute("CREATE SCHEMA notewell")
        connection.execute("CREATE TABLE notewell.vector_cache_p07 (a integer)")
    with pytest.raises(DatabaseTrouble, match="42P07"):
        migrate(empty)
    with empty.as_owner() as transaction:
        assert transaction.rows("SELECT to_regclass('notewell.chunks') IS NULL") == [(True,)]
        assert schema_state(transaction).applied == ()


def test_an_owner_who_is_no_superuser_creates_the_tables(
    postgres_server: PostgresServer,
) -> None:
    """As with a managed service, whose operator has created the extension."""
    name = "managed"
    with psycopg.connect(postgres_server.owner_url("postgres"), autocommit=True) as superuser:
        superuser.execute("CREATE ROLE database_owner LOGIN CREATEROLE PASSWORD 'x'")
        # The role is there already, from the database of the other tests.
        superuser.execute("GRANT notewell_app TO database_owner WITH ADMIN OPTION")
    postgres_server.create_database(name, migrated=False, options="OWNER database_owner")
    with psycopg.connect(postgres_server.owner_url(name)) as superuser:
        superuser.execute("CREATE EXTENSION vector")
    url = postgres_server.owner_url(name).replace("postgres@", "database_owner:x@")
    database = Database(Address(Secret(url)))
    migrate(database)
    assert [one for one in inspect_server(database) if one.action] == []
    assert any("owns the tables" in one.message for one in inspect_server(database))
    database.close()


def test_a_user_without_a_right_is_told_each_statement_that_an_administrator_has_to_run(
    postgres_server: PostgresServer,
) -> None:
    name = "not_prepared"
    postgres_server.create_database(name, migrated=False)
    with psycopg.connect(postgres_server.owner_url("postgres"), autocommit=True) as superuser:
        superuser.execute("CREATE ROLE newcomer LOGIN PASSWORD 'x'")
    url = postgres_server.owner_url(name).replace("postgres@", "newcomer:x@")
    database = Database(Address(Secret(url)))
    # This server has the role already, from the database of the other tests.
    for missing, instead in (
        ("the extension pgvector", "CREATE EXTENSION vector"),
        ("a member of the role notewell_app", "GRANT notewell_app TO newcomer"),
        ("a schema in this database", "CREATE SCHEMA notewell AUTHORIZATION newcomer"),
    ):
        with pytest.raises(DatabaseNotReady) as refused:
            migrate(database)
        assert f"does not let this user create {missing}" in str(refused.value)
        assert instead.removesuffix(" newcomer") in str(refused.value)
        with psycopg.connect(postgres_server.owner_url(name)) as superuser:
            superuser.execute(instead.encode())
    assert len(migrate(database)) == len(MIGRATIONS)
    database.close()


def test_a_server_without_pgvector_is_told_to_install_it(postgres_server: PostgresServer) -> None:
    postgres_server.create_database("no_vector", migrated=False)
    with psycopg.connect(postgres_server.owner_url("postgres"), autocommit=True) as superuser:
        superuser.execute("ALTER DATABASE no_vector SET extension_control_path = '/nowhere'")
    database = postgres_server.as_owner("no_vector")
    with pytest.raises(DatabaseNotReady, match="install pgvector on the server, then run"):
        migrate(database)
    database.close()


def test_a_version_says_that_the_database_is_too_old_or_too_new(empty: Database) -> None:
    migrate(empty)
    newer = "INSERT INTO notewell.migrations (number, name, breaks_older) VALUES (9001, 'x', %s)"
    with empty.as_owner() as transaction:
        transaction.execute(newer, (False,))
    other = Database(empty.address, Limits())
    with other.reading(Scope("t", "a")):  # It knows everything that it needs.
        pass
    assert unknown_parts(other, "t") == ("x",)
    other.close()
    for change, why in (
        ("UPDATE notewell.migrations SET breaks_older = true WHERE number = 9001", "is newer"),
        ("DELETE FROM notewell.migrations WHERE number < 9001", "is older"),
    ):
        with empty.as_owner() as transaction:
            transaction.execute(change)
        other = Database(Address(Secret(empty.address.reveal())))
        with pytest.raises(DatabaseNotReady, match=why), other.reading(Scope("t", "a")):
            pass
        other.close()


def test_a_process_that_runs_notices_a_migration_that_it_cannot_work_with(
    empty: Database,
) -> None:
    migrate(empty)
    older = Database(empty.address, Limits(schema_s=0))
    with older.writing(Scope("t", "a")):
        pass
    with empty.as_owner() as transaction:
        transaction.execute(
            "INSERT INTO notewell.migrations (number, name, breaks_older) "
            "VALUES (9001, 'signed notes', true)"
        )
    with (
        pytest.raises(DatabaseNotReady, match="does not know signed notes: upgrade Notewell"),
        older.writing(Scope("t", "a")),
    ):
        pass
    older.close()


def test_the_status_of_an_older_version_names_what_it_does_not_use(empty: Database) -> None:
    migrate(empty)
    with empty.as_owner() as transaction:
        transaction.execute(
            "INSERT INTO notewell.migrations (number, name, breaks_older) "
            "VALUES (9001, 'signed notes', false)"
        )
    found = inspect_server(empty)
    assert [one for one in found if one.action] == []
    assert any("has added: signed notes; this version works" in one.message for one in found)


def test_an_inspection_finds_what_loses_data_or_opens_tables(empty: Database) -> None:
    migrate(empty)
    messages = [one.message for one in inspect_server(empty)]
    assert any(message.startswith("PostgreSQL 18") for message in messages)
    assert any(message.startswith("pgvector 0.8") for message in messages)
    assert any("row-level security is forced" in message for message in messages)
    assert [one for one in inspect_server(empty) if one.action] == []
    with empty.as_owner() as transaction:
        transaction.execute("ALTER TABLE notewell.files NO FORCE ROW LEVEL SECURITY")
        transaction.execute("CREATE POLICY wide ON notewell.chunks FOR SELECT USING (true)")
        transaction.execute("ALTER ROLE CURRENT_USER SET synchronous_commit = off")
    other = Database(empty.address)
    problems = [one.message for one in inspect_server(other) if one.action]
    other.close()
    with empty.as_owner() as transaction:
        transaction.execute("ALTER ROLE CURRENT_USER RESET synchronous_commit")
    assert any("synchronous_commit is off" in one for one in problems)
    assert any("without forced row-level security: files" in one for one in problems)
    assert any("do not compare the tenant: chunks (wide)" in one for one in problems)
