"""What a server must be and have; for `notewell db status` and `notewell doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.postgres.database import APP_ROLE
from notewell.postgres.migrations import schema_state
from notewell.postgres.prerequisites import OLDEST_SERVER
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.postgres.database import Database, Transaction

OLDEST_VECTOR = (0, 8)


class ServerFinding(NamedTuple):
    """One result. Without an action it is no problem."""

    message: str
    action: str | None = None


def inspect_server(database: Database) -> list[ServerFinding]:
    """Everything that is checked, problems and not. Changes nothing; raises `DatabaseTrouble` if
    the server does not answer."""
    with database.as_owner() as transaction:
        return [
            *_versions(transaction),
            *_migrations(transaction),
            *_roles(transaction),
            *_tables(transaction),
            *_policies(transaction),
            *_durability(transaction),
            *_connections(transaction),
        ]


def _versions(transaction: Transaction) -> Iterator[ServerFinding]:
    ((number, text),) = transaction.rows(
        "SELECT current_setting('server_version_num')::int, current_setting('server_version')"
    )
    old = f"upgrade the server to PostgreSQL {OLDEST_SERVER} or newer"
    yield ServerFinding(f"PostgreSQL {text}", old if number // 10_000 < OLDEST_SERVER else None)
    rows = transaction.rows("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if not rows:
        can = transaction.rows("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
        action = "run `notewell db init`" if can else "install pgvector on the server"
        yield ServerFinding("the extension pgvector is not in this database", action)
        return
    version = tuple(int(part) for part in rows[0][0].split(".")[:2])
    action = "run `ALTER EXTENSION vector UPDATE` after an upgrade of pgvector"
    yield ServerFinding(f"pgvector {rows[0][0]}", action if version < OLDEST_VECTOR else None)


def _migrations(transaction: Transaction) -> Iterator[ServerFinding]:
    state = schema_state(transaction)
    if problem := state.problem():
        yield ServerFinding(f"the database {problem[0]}", problem[1])
        return
    yield ServerFinding(f"schema {max(state.numbers)}, {len(state.applied)} migrations")
    if state.newer:
        names = ", ".join(one.name for one in state.newer)
        yield ServerFinding(
            f"a newer version has added: {names}; this version works and does not use it"
        )


def _roles(transaction: Transaction) -> Iterator[ServerFinding]:
    rows = transaction.rows(
        "SELECT rolsuper OR rolbypassrls, pg_has_role(rolname, 'SET') FROM pg_roles "
        "WHERE rolname = %s",
        (APP_ROLE,),
    )
    if not rows:
        yield ServerFinding(f"there is no role {APP_ROLE}", "run `notewell db init`")
        return
    ((passes, is_ours),) = rows
    if passes:
        yield ServerFinding(
            f"the role {APP_ROLE} can pass row-level security",
            f"run `ALTER ROLE {APP_ROLE} NOSUPERUSER NOBYPASSRLS`",
        )
    if not is_ours:
        yield ServerFinding(
            f"this user cannot become {APP_ROLE}", f"run `GRANT {APP_ROLE} TO` this user"
        )
    ((user, is_super, is_owner),) = transaction.rows(
        "SELECT rolname, rolsuper OR rolbypassrls, EXISTS (SELECT 1 FROM pg_namespace "
        "WHERE nspname = 'notewell' AND nspowner = pg_roles.oid) "
        "FROM pg_roles WHERE rolname = session_user"
    )
    if is_super:
        # Not a problem of what Notewell does, which becomes `notewell_app` first.
        yield ServerFinding(
            f"the user {user} can pass row-level security, and becomes {APP_ROLE}, which cannot; "
            "a user without that right is safer"
        )
    elif is_owner:
        yield ServerFinding(
            f"the user {user} owns the tables and could open them; let services run as a user "
            f"that was granted {APP_ROLE} and owns nothing"
        )
    elif not passes and is_ours:
        yield ServerFinding(f"the user {user} becomes {APP_ROLE} for each transaction")


def _tables(transaction: Transaction) -> Iterator[ServerFinding]:
    rows = transaction.rows(
        "SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class "
        "JOIN pg_namespace ON pg_namespace.oid = relnamespace "
        "WHERE nspname = %s AND relkind IN ('r', 'p') ORDER BY relname",
        ("notewell",),
    )
    open_ones = [name for name, is_forced in rows if not is_forced]
    if open_ones:
        yield ServerFinding(
            f"without forced row-level security: {', '.join(open_ones)}",
            "run `ALTER TABLE … ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY` for each",
        )
    elif rows:
        yield ServerFinding(f"row-level security is forced on all {len(rows)} tables")


def _policies(transaction: Transaction) -> Iterator[ServerFinding]:
    """A policy that somebody has added opens a table, however strict the others are."""
    rows = transaction.rows(
        "SELECT DISTINCT tablename || ' (' || policyname || ')' FROM pg_policies "
        "JOIN pg_attribute ON attrelid = format('%%I.%%I', schemaname, tablename)::regclass "
        "AND attname = 'tenant' WHERE schemaname = %s AND permissive = 'PERMISSIVE' "
        "AND (coalesce(qual, with_check) NOT LIKE %s OR with_check NOT LIKE %s) ORDER BY 1",
        ("notewell", "%app.tenant%", "%app.tenant%"),
    )
    if rows:
        names = ", ".join(name for (name,) in rows)
        yield ServerFinding(
            f"policies that do not compare the tenant: {names}", "run `DROP POLICY` for each"
        )


def _durability(transaction: Transaction) -> Iterator[ServerFinding]:
    ((standby, read_only, fsync, pages, commit, standbys),) = transaction.rows(
        "SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only'), "
        "current_setting('fsync'), current_setting('full_page_writes'), "
        "current_setting('synchronous_commit'), current_setting('synchronous_standby_names')"
    )
    if standby:
        yield ServerFinding("the server is a standby", "name the primary in the connection string")
    elif read_only == "on":
        yield ServerFinding(
            "the database is read-only: nothing can be written",
            "set default_transaction_read_only to off",
        )
    values = {"fsync": fsync, "full_page_writes": pages, "synchronous_commit": commit}
    off = [name for name, value in values.items() if value == "off"]
    for name in off:
        yield ServerFinding(
            f"{name} is off: a crash can lose what was acknowledged", f"set {name} to on"
        )
    if standbys and commit in ("local", "remote_write"):
        yield ServerFinding(
            f"synchronous_commit is {commit}: a failover can lose what was acknowledged",
            "set synchronous_commit to on",
        )
    elif not off:
        also = f" and of a standby ({standbys})" if standbys else "; no standby is waited for"
        yield ServerFinding(f"a commit returns when it is on the disk of the server{also}")


def _connections(transaction: Transaction) -> Iterator[ServerFinding]:
    ((used, most),) = transaction.rows(
        "SELECT count(*), current_setting('max_connections')::int "
        "- current_setting('superuser_reserved_connections')::int "
        "FROM pg_stat_activity WHERE backend_type = 'client backend'"
    )
    action = "raise max_connections, or put PgBouncer in front of the server"
    is_full = used * 10 >= most * 9
    yield ServerFinding(f"{used} of {most} connections are in use", action if is_full else None)
