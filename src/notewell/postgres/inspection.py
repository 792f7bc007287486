"""What a server must be and have; for `notewell db status` and `notewell doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.postgres.database import APP_ROLE
from notewell.postgres.migrations import schema_state
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.postgres.database import Database, Transaction

OLDEST_SERVER = 16
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
            *_durability(transaction),
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
    newest = max(state.numbers)
    also = f", {len(state.newer)} of them of a newer version" if state.newer else ""
    yield ServerFinding(f"schema {newest}, {len(state.applied)} migrations{also}")


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
    ((user, is_super),) = transaction.rows(
        "SELECT rolname, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = session_user"
    )
    if is_super:
        # Not a problem of what Notewell does, which becomes `notewell_app` first.
        yield ServerFinding(
            f"the user {user} can pass row-level security, and becomes {APP_ROLE}, which cannot; "
            "a user without that right is safer"
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


def _durability(transaction: Transaction) -> Iterator[ServerFinding]:
    ((fsync, commit, pages, standby),) = transaction.rows(
        "SELECT current_setting('fsync'), current_setting('synchronous_commit'), "
        "current_setting('full_page_writes'), pg_is_in_recovery()"
    )
    if standby:
        yield ServerFinding("the server is a standby", "name the primary in the connection string")
    for name, value in (
        ("fsync", fsync),
        ("synchronous_commit", commit),
        ("full_page_writes", pages),
    ):
        if value == "off":
            yield ServerFinding(
                f"{name} is off: a crash can lose what was acknowledged", f"set {name} to on"
            )
