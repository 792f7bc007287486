"""What must be there before the tables: a new server, pgvector, the role, the schema.

Often an administrator has to create one of them. So each is made if the user may do it, left alone
if it is there, and otherwise named with the statement that is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.errors import DatabaseForbidden, DatabaseNotReady
from notewell.postgres.database import APP_ROLE

if TYPE_CHECKING:
    from notewell.postgres.address import Address
    from notewell.postgres.database import Transaction

OLDEST_SERVER = 16
_THEN = "then run `notewell db init` again"


def create_prerequisites(transaction: Transaction, address: Address) -> None:
    """Raises `DatabaseNotReady` for what this user may not create."""
    _require_version(transaction, address)
    make = _Maker(transaction, address)
    make.unless(
        "SELECT 1 FROM pg_extension WHERE extname = 'vector'",
        "CREATE EXTENSION IF NOT EXISTS vector",
        "the extension pgvector",
        "`CREATE EXTENSION vector` in this database",
    )
    # Roles belong to the whole server: another database may create it at the same moment.
    make.unless(
        f"SELECT 1 FROM pg_roles WHERE rolname = '{APP_ROLE}'",  # noqa: S608
        f"DO $$ BEGIN CREATE ROLE {APP_ROLE} NOLOGIN NOBYPASSRLS; "
        "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$",
        f"the role {APP_ROLE}",
        f"`CREATE ROLE {APP_ROLE} NOLOGIN NOBYPASSRLS` and `GRANT {APP_ROLE} TO` this user",
    )
    make.unless(
        f"SELECT 1 WHERE pg_has_role('{APP_ROLE}', 'SET')",
        f"GRANT {APP_ROLE} TO CURRENT_USER",
        f"a member of the role {APP_ROLE}, which is there already",
        f"`GRANT {APP_ROLE} TO` this user",
    )
    make.unless(
        "SELECT 1 FROM pg_namespace WHERE nspname = 'notewell'",
        "CREATE SCHEMA IF NOT EXISTS notewell",
        "a schema in this database",
        "`CREATE SCHEMA notewell AUTHORIZATION` this user",
    )


def _require_version(transaction: Transaction, address: Address) -> None:
    ((number, version, can),) = transaction.rows(
        "SELECT current_setting('server_version_num')::int, current_setting('server_version'), "
        "EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')"
    )
    if number // 10_000 < OLDEST_SERVER:
        why = f"is PostgreSQL {version}, which is too old"
        action = f"use PostgreSQL {OLDEST_SERVER} or newer"
        raise DatabaseNotReady(str(address), why, action)
    if not can:
        why = "is on a server without pgvector"
        raise DatabaseNotReady(str(address), why, f"install pgvector on the server, {_THEN}")


class _Maker:
    def __init__(self, transaction: Transaction, address: Address) -> None:
        self._transaction = transaction
        self._place = str(address)

    def unless(self, question: str, statement: str, what: str, instead: str) -> None:
        """Run a statement if the question has no answer. An administrator can run `instead`."""
        if self._transaction.rows(question):
            return
        try:
            self._transaction.execute(statement)
        except DatabaseForbidden:
            why = f"does not let this user create {what}"
            action = f"let an administrator run {instead}, {_THEN}"
            raise DatabaseNotReady(self._place, why, action) from None
