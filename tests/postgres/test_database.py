"""Transactions belong to one tenant and agent, and errors say nothing that is secret."""

from __future__ import annotations

import threading
import traceback
from contextlib import ExitStack, closing, suppress

import psycopg
import pytest
from tests.postgres_server import LOGIN, PASSWORD, PostgresServer

from notewell.core import Secret
from notewell.errors import (
    BadRequest,
    BadSetting,
    DatabaseNotReady,
    DatabaseTrouble,
    DatabaseUnavailable,
)
from notewell.postgres import Address, AdvisoryLease, Database, LeaseTimeout, Scope, hold_lease
from notewell.postgres import lease_holder as holder_of
from notewell.postgres.connections import Limits
from notewell.postgres.failures import trouble_of

WHO = "SELECT current_user::text, current_setting('app.tenant'), current_setting('app.agent')"
NEW_FILE = (
    "INSERT INTO notewell.files (tenant, agent, generation, path, source, digest, size, mtime, "
    "ctime, inode) VALUES (%s, %s, 1, %s, 'memory', 'd', 1, 1, 1, '1')"
)


def paths(database: Database, scope: Scope) -> list[str]:
    with database.reading(scope) as transaction:
        return [path for (path,) in transaction.rows("SELECT path FROM files ORDER BY path")]


# -- transactions --------------------------------------------------------------------------------


def test_every_transaction_names_its_agent_and_leaves_no_trace(
    postgres: Database, postgres_scope: Scope
) -> None:
    with postgres.reading(postgres_scope) as transaction:
        assert transaction.rows(WHO) == [("notewell_app", *postgres_scope)]
    with postgres.as_owner() as transaction:  # The same connection, as the pool has no other.
        assert transaction.rows(
            "SELECT current_user::text, coalesce(current_setting('app.tenant', true), ''), "
            "coalesce(current_setting('app.agent', true), '')"
        ) == [(LOGIN, "", "")]


@pytest.mark.parametrize(
    "name",
    [
        "'; RESET ROLE; --",
        "a'; END $$; SET app.agent = 'b",
        "back\\slash\\",
        "E'\\''",
        "$$ $body$",
        "100 %s %(x)s",
        "línea\nзаметка 笔记",
    ],
)
def test_a_name_of_any_characters_is_only_a_name(
    postgres: Database, postgres_scope: Scope, name: str
) -> None:
    """Names are literals in the text that opens a transaction."""
    for scope in (Scope(name, "agent"), Scope("tenant", name)):
        with postgres.writing(scope) as transaction:
            assert transaction.rows(WHO) == [("notewell_app", *scope)]
            transaction.execute(NEW_FILE, (*scope, "MEMORY.md"))
        assert paths(postgres, scope) == ["MEMORY.md"]
    assert paths(postgres, postgres_scope) == []


def test_a_transaction_that_raises_leaves_the_state_from_before(
    postgres: Database, postgres_scope: Scope
) -> None:
    with postgres.writing(postgres_scope) as transaction:
        transaction.execute(NEW_FILE, (*postgres_scope, "kept.md"))
    with suppress(ZeroDivisionError), postgres.writing(postgres_scope) as transaction:
        transaction.execute(NEW_FILE, (*postgres_scope, "lost.md"))
        raise ZeroDivisionError
    assert paths(postgres, postgres_scope) == ["kept.md"]


def test_a_reader_sees_one_snapshot_and_cannot_write(
    postgres: Database, postgres_scope: Scope
) -> None:
    with postgres.reading(postgres_scope) as transaction:
        assert transaction.rows("SELECT path FROM files") == []
        with postgres.writing(postgres_scope) as writer:
            writer.execute(NEW_FILE, (*postgres_scope, "later.md"))
        assert transaction.rows("SELECT path FROM files") == []
    assert paths(postgres, postgres_scope) == ["later.md"]
    with (
        pytest.raises(DatabaseUnavailable, match="read-only"),
        postgres.reading(postgres_scope) as transaction,
    ):
        transaction.execute(NEW_FILE, (*postgres_scope, "never.md"))


@pytest.mark.parametrize("scope", [Scope("", "a"), Scope("t", ""), Scope("t", "a\x00")])
def test_a_transaction_without_a_tenant_or_an_agent_is_refused(
    postgres: Database, scope: Scope
) -> None:
    with pytest.raises(BadRequest), postgres.reading(scope):
        pass


# -- isolation -----------------------------------------------------------------------------------


def test_rows_of_others_can_be_neither_read_nor_written(
    postgres: Database, postgres_scope: Scope
) -> None:
    tenant, agent = postgres_scope
    for other in (Scope("another", agent), Scope(tenant, f"{agent}-2")):
        with postgres.writing(other) as transaction:
            transaction.execute(NEW_FILE, (*other, "canary.md"))
        assert paths(postgres, postgres_scope) == []
        with postgres.writing(postgres_scope) as transaction:
            assert transaction.execute("UPDATE files SET path = 'mine.md'") == 0
            assert transaction.execute("DELETE FROM files") == 0
        with (
            pytest.raises(DatabaseNotReady, match="does not let this user"),
            postgres.writing(postgres_scope) as transaction,
        ):
            transaction.execute(NEW_FILE, (*other, "planted.md"))
        assert paths(postgres, other) == ["canary.md"]


def test_a_session_without_a_tenant_sees_nothing(
    postgres_server: PostgresServer, postgres: Database, postgres_scope: Scope
) -> None:
    with postgres.writing(postgres_scope) as transaction:
        transaction.execute(NEW_FILE, (*postgres_scope, "canary.md"))
    url = postgres_server.login_url("notewell")
    with psycopg.connect(url, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM notewell.files_p00")
        connection.execute("SET ROLE notewell_app")
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'p' "
            "AND relnamespace = 'notewell'::regnamespace"
        ).fetchall()
        assert len(tables) >= 6
        for (table,) in tables:
            assert connection.execute(f"SELECT * FROM notewell.{table}".encode()).fetchall() == []


def test_every_table_has_forced_row_level_security(postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.owner_url("notewell")) as connection:
        open_ones = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') "
            "AND relnamespace = 'notewell'::regnamespace "
            "AND NOT (relrowsecurity AND relforcerowsecurity)"
        ).fetchall()
        assert open_ones == []
        role = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcanlogin FROM pg_roles "
            "WHERE rolname = 'notewell_app'"
        ).fetchall()
        assert role == [(False, False, False)]


# -- leases --------------------------------------------------------------------------------------


def test_a_lease_has_one_holder_who_is_named(postgres: Database, postgres_scope: Scope) -> None:
    lease = AdvisoryLease(postgres_scope, "writer", "notes")
    with hold_lease(postgres, lease, wait_s=0):
        assert "process" in str(holder_of(postgres, lease))
        assert holder_of(postgres, AdvisoryLease(postgres_scope, "embedder", "notes")) is None
        with (
            pytest.raises(LeaseTimeout, match="process"),
            hold_lease(postgres, lease, wait_s=0.05),
        ):
            pass
        with hold_lease(postgres, AdvisoryLease(postgres_scope, "embedder", "notes"), wait_s=0):
            pass
    assert holder_of(postgres, lease) is None


def test_a_lease_does_not_keep_vacuum_from_its_work(
    postgres_server: PostgresServer, postgres: Database, postgres_scope: Scope
) -> None:
    with (
        hold_lease(postgres, AdvisoryLease(postgres_scope, "embedder", "notes"), wait_s=0),
        psycopg.connect(postgres_server.owner_url("notewell")) as owner,
    ):
        held = owner.execute(
            "SELECT state, backend_xmin, backend_xid FROM pg_stat_activity "
            "WHERE application_name LIKE 'process%'"
        ).fetchall()
    assert held == [("idle in transaction", None, None)]


def test_a_lease_is_free_when_the_connection_of_its_holder_ends(
    postgres_server: PostgresServer, postgres: Database, postgres_scope: Scope
) -> None:
    lease = AdvisoryLease(postgres_scope, "writer", "notes")

    def loses_it() -> None:
        with hold_lease(postgres, lease, wait_s=0):
            with psycopg.connect(postgres_server.owner_url("notewell")) as killer:
                killer.execute(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                    "WHERE application_name LIKE 'process%'"
                )
            with hold_lease(postgres, lease, wait_s=30):
                pass

    with pytest.raises(DatabaseUnavailable):  # The first holder learns that it was not alone.
        loses_it()
    with hold_lease(postgres, lease, wait_s=0):
        pass


def test_leases_never_have_all_connections(
    postgres_server: PostgresServer, postgres_scope: Scope
) -> None:
    """Whoever holds one needs a second connection to do its work: with eight agents that were
    indexed at once, every holder waited for the others, and so did every other request."""
    address = Address(Secret(postgres_server.login_url("notewell")))
    limits = Limits(connections=5, leases=2)
    with closing(Database(address, limits)) as database, ExitStack() as held:
        for kind in ("writer", "embedder"):
            leases = [AdvisoryLease(postgres_scope, kind, str(number)) for number in range(3)]
            for lease in leases[:2]:
                held.enter_context(hold_lease(database, lease, wait_s=0))
            with (
                pytest.raises(LeaseTimeout, match="this process"),
                hold_lease(database, leases[2], wait_s=0),
            ):
                pass
        assert paths(database, postgres_scope) == []
        held.close()
        with hold_lease(database, leases[2], wait_s=0):
            pass


# -- trouble -------------------------------------------------------------------------------------


def test_connections_that_ended_are_replaced(
    postgres_server: PostgresServer, postgres_scope: Scope
) -> None:
    database = postgres_server.as_login("notewell")
    try:
        assert paths(database, postgres_scope) == []
        with psycopg.connect(postgres_server.owner_url("notewell")) as killer:
            killer.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE application_name = 'notewell'"
            )
        assert paths(database, postgres_scope) == []
    finally:
        database.close()


def test_when_all_connections_are_in_use_the_wait_ends(
    postgres_server: PostgresServer, postgres_scope: Scope
) -> None:
    address = Address(Secret(postgres_server.login_url("notewell")))
    database = Database(address, Limits(connections=1, connection_wait_s=2.0))
    in_use, done = threading.Event(), threading.Event()

    def occupy() -> None:
        with database.reading(postgres_scope):
            in_use.set()
            done.wait(30)

    thread = threading.Thread(target=occupy)
    thread.start()
    try:
        assert in_use.wait(30)
        with pytest.raises(DatabaseUnavailable, match="no connection free"):
            paths(database, postgres_scope)
    finally:
        done.set()
        thread.join()
        database.close()


def test_a_statement_that_takes_too_long_ends(
    postgres_server: PostgresServer, postgres_scope: Scope
) -> None:
    address = Address(Secret(postgres_server.login_url("notewell")))
    database = Database(address, Limits(read_s=2.0))
    try:
        with (
            pytest.raises(DatabaseUnavailable, match="too long"),
            database.reading(postgres_scope) as transaction,
        ):
            transaction.rows("SELECT pg_sleep(60)")
        assert paths(database, postgres_scope) == []
    finally:
        database.close()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql://{login}:{password}@/notewell?host=/nowhere", "has no socket"),
        ("postgresql://{login}:{password}@127.0.0.1:1/notewell", "refuses the connection"),
        ("postgresql://{login}:{password}-wrong@/notewell?host={folder}", "user or the password"),
        ("postgresql://{login}:{password}@/nothing?host={folder}", "does not exist"),
    ],
)
def test_no_message_has_a_password(postgres_server: PostgresServer, url: str, why: str) -> None:
    filled = url.format(login=LOGIN, password=PASSWORD, folder=postgres_server.folder)
    database = Database(Address(Secret(filled)), Limits(connection_wait_s=0.2))
    with pytest.raises(DatabaseTrouble, match=why) as raised:
        paths(database, Scope("tests", "a"))
    database.close()
    error = raised.value
    shown = "".join(traceback.format_exception(error)) + error.public_text() + repr(database)
    assert PASSWORD not in shown
    assert LOGIN not in str(error)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:pass-word@[/x",
        "http://u:pass-word@x",
        "host=x password=pass-word",
        "postgresql://u:a/pass-word@host/x",
        "postgresql://u:a@pass-word@host/x",
        "postgresql://u:1/pass-word@host/x",
        "postgresql:///?dbname=password%3Dpass-word",
    ],
)
def test_a_bad_connection_string_is_not_repeated(url: str) -> None:
    with pytest.raises(BadSetting) as raised:
        Address(Secret(url))
    assert "pass-word" not in "".join(traceback.format_exception(raised.value))


def test_every_error_of_psycopg_becomes_one_of_ours() -> None:
    address = Address(Secret(f"postgresql://u:{PASSWORD}@h/d"))
    kinds = {one for one in vars(psycopg.errors).values() if isinstance(one, type)}
    kinds = {one for one in kinds if issubclass(one, psycopg.Error)}
    assert len(kinds) > 200
    for kind in kinds:
        trouble = trouble_of(kind(f"a value and {PASSWORD}"), address)
        assert isinstance(trouble, DatabaseTrouble)
        assert PASSWORD not in str(trouble)
