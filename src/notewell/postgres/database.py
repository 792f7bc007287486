"""Transactions in one database, each for one tenant and one agent.

    with database.reading(scope) as transaction:      one snapshot; writes are refused
    with database.writing(scope) as transaction:      committed at the end, or not at all
    with database.as_owner() as transaction:          for migrations: no tenant, no agent's rows

Each transaction becomes the role `notewell_app`, which cannot pass row-level security, and names
its tenant and agent, all with SET LOCAL. A session that was not opened here names neither, and the
policies of the tables then show it nothing. Statements are never prepared on the server: behind a
pooler the next transaction may run on another connection.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.sql import Literal

from notewell.errors import BadRequest, DatabaseUnavailable
from notewell.postgres.connections import Connections, Limits, StalledAnswer
from notewell.postgres.failures import our_errors, trouble_of
from notewell.postgres.seats import Seats
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from psycopg import Connection

    from notewell.postgres.address import Address
    from notewell.postgres.connections import BoundedConnection

APP_ROLE = "notewell_app"
"""Owns nothing, cannot log in, and is subject to row-level security."""
SERVICE = "*"
"""In place of an agent: the service of a tenant. No agent can have this id."""
NAME_CHARS = 200
"""The longest name of a tenant or an agent; an entry of an index has room for 2700 bytes."""
_SEARCH_PATH = "notewell, public, extensions"
"""pgvector is in `public`, or in `extensions` with some managed services."""


class Scope(NamedTuple):
    """Whose rows a transaction can see."""

    tenant: str
    agent: str

    @classmethod
    def service(cls, tenant: str) -> Scope:
        """What belongs to the tenant and to no agent: tokens, the list of agents, the queue."""
        return cls(tenant, SERVICE)


class _Opening(NamedTuple):
    """The statements that open a transaction."""

    sql: str
    values: tuple[Any, ...]
    statement_s: float
    """How long each statement of the transaction may take."""


class Transaction:
    """One open transaction. Values are always bound, never part of the statement."""

    __slots__ = ("_address", "_connection")

    def __init__(self, connection: Connection[Any], address: Address) -> None:
        self._connection = connection
        self._address = address

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with our_errors(self._address):
            # Binary: a vector or a list of positions is sent as it is stored.
            cursor = self._connection.execute(sql.encode(), values or None, binary=True)
            return cursor.fetchall()

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """How many rows it has changed."""
        with our_errors(self._address):
            return self._connection.execute(sql.encode(), values or None).rowcount


class Database:
    """Safe to use from several threads; nothing is opened before the first transaction."""

    def __init__(self, address: Address, limits: Limits | None = None) -> None:
        self.address = address
        self.limits = limits or Limits()
        self._connections = Connections(address, self.limits)
        self._seats: defaultdict[str, Seats] = defaultdict(lambda: Seats(self.limits.leases))
        self._checked_at: float | None = None
        """When the schema was last compared with the one that this version knows."""

    def __repr__(self) -> str:
        return f"Database({self.address})"

    # -- transactions ----------------------------------------------------------------------------

    @contextmanager
    def reading(self, scope: Scope) -> Iterator[Transaction]:
        """One snapshot: every statement sees the state of the first."""
        opening = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._transaction(_opened(opening, scope, self.limits.read_s, self.limits)) as one:
            self._check_schema(one)
            yield one

    @contextmanager
    def writing(
        self, scope: Scope, *, lock_s: float | None = None, idle_s: float | None = None
    ) -> Iterator[Transaction]:
        """`lock_s` is how long a statement waits for a lock; `idle_s`: see `Limits`."""
        limits = self.limits
        idle_s = limits.idle_s if idle_s is None else idle_s
        # Not with SET LOCAL: see `_naming`.
        idle = f"set_config('idle_in_transaction_session_timeout', '{_ms(idle_s)}', true)"
        opening = _opened(f"BEGIN; SELECT {idle}", scope, limits.write_s, limits, lock_s)
        with self._transaction(opening, is_kept=True) as one:
            self._check_schema(one)
            yield one

    @contextmanager
    def as_owner(self) -> Iterator[Transaction]:
        """The user of the connection string itself. For migrations and inspection alone: whether
        row-level security holds depends on that user."""
        limits = self.limits
        opening = _Opening(
            "BEGIN; SELECT set_config('search_path', %s, true), "
            "set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)",
            (_SEARCH_PATH, _ms(limits.write_s), _ms(limits.lock_s)),
            limits.write_s,
        )
        with self._transaction(opening, is_kept=True) as one:
            yield one

    @contextmanager
    def _transaction(self, opening: _Opening, *, is_kept: bool = False) -> Iterator[Transaction]:
        connection = self._begun(opening)
        connection.answer_s = opening.statement_s + self.limits.network_s
        try:
            yield Transaction(connection, self.address)
            with our_errors(self.address):
                if is_kept:
                    _commit(connection, self.address)
                else:
                    connection.execute("ROLLBACK")
        # Also for KeyboardInterrupt: half a transaction must not stay.
        except BaseException:
            _roll_back(connection)
            raise
        finally:
            connection.put_back()

    def _begun(self, opening: _Opening) -> BoundedConnection:
        """A connection with an open transaction. A connection that has ended since its last use is
        replaced, once: nothing was asked on it yet."""
        for is_last in (False, True):
            connection = self._connections.take()
            connection.answer_s = self.limits.network_s
            try:
                # One message to the server: client-side binding allows several statements.
                psycopg.ClientCursor(connection).execute(opening.sql.encode(), opening.values)
            except psycopg.OperationalError as error:
                connection.put_back()
                is_stalled = isinstance(error, StalledAnswer)  # Another try would stall, too.
                if is_last or is_stalled or not connection.closed:
                    raise trouble_of(error, self.address) from None
                connection.pool.check()  # The others have probably ended, too.
            except psycopg.Error as error:
                _roll_back(connection)
                connection.put_back()
                raise trouble_of(error, self.address) from None
            else:
                return connection
        raise AssertionError("the last try returns or raises")

    def lease_seat(self, kind: str, wait_s: float) -> AbstractContextManager[bool]:
        """Whether one more lease of this kind may be held; see `Limits.leases`."""
        return self._seats[kind].seat(wait_s)

    def _check_schema(self, transaction: Transaction) -> None:
        """Now and then, as a newer version may migrate the database while this process runs: an
        older replica must not write what a newer one cannot read."""
        now = time.monotonic()
        if self._checked_at is None or now - self._checked_at >= self.limits.schema_s:
            from notewell.postgres.migrations import require_schema

            require_schema(transaction, self.address)
            self._checked_at = now

    def close(self) -> None:
        self._connections.close()


def _opened(
    begin: str, scope: Scope, statement_s: float, limits: Limits, lock_s: float | None = None
) -> _Opening:
    """For one agent."""
    for name, value in zip(("tenant", "agent"), scope, strict=True):
        # An empty name would match the rows of nobody; the error says more than an empty answer.
        if not value or len(value) > NAME_CHARS or "\x00" in value:
            raise BadRequest(f"a name of 1 to {NAME_CHARS} characters is needed as {name}")
    return _Opening(
        f"{begin}; SELECT set_config('role', %s, true), set_config('search_path', %s, true), "
        "set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true); DO %s",
        (
            APP_ROLE,
            _SEARCH_PATH,
            _ms(statement_s),
            _ms(limits.lock_s if lock_s is None else lock_s),
            _naming(scope),
        ),
        statement_s,
    )


def _naming(scope: Scope) -> str:
    """The text of a block that names tenant and agent.

    Citus tells its workers of SET LOCAL, not of `set_config`, and repeats to them the whole text
    of the message: so each SET is a statement of its own, inside a block. A block has no
    parameters; names are quoted as libpq quotes them, once as a value and once as a statement.
    """
    tenant, agent = (
        _quoted(f"SET LOCAL app.{name} = {_quoted(value)}")
        for name, value in zip(Scope._fields, scope, strict=True)
    )
    return f"BEGIN EXECUTE {tenant}; EXECUTE {agent}; END"


def _quoted(text: str) -> str:
    return Literal(text).as_string(None)


def _ms(seconds: float) -> str:
    return str(max(1, round(seconds * 1000)))  # 0 would be no limit.


def _commit(connection: Connection[Any], address: Address) -> None:
    """Raises if the server does not promise that everything is kept."""
    warnings: list[psycopg.errors.Diagnostic] = []
    connection.add_notice_handler(warnings.append)
    try:
        status = connection.execute("COMMIT").statusmessage
    finally:
        connection.remove_notice_handler(warnings.append)
    # A server that gives up waiting for its standby says so in a warning, and then "COMMIT".
    if status != "COMMIT" or warnings:
        why = "did not confirm that it has kept what was written"
        raise DatabaseUnavailable(str(address), why, "try again, and ask whoever runs the server")


def _roll_back(connection: Connection[Any]) -> None:
    try:
        connection.execute("ROLLBACK")
    except psycopg.Error:
        connection.close()  # The server rolls back what was not committed.


# -- one pool for a process ----------------------------------------------------------------------

_databases: dict[Address, Database] = {}
_databases_lock = threading.Lock()


def shared_database(address: Address) -> Database:
    """The database of this process for an address: the stores of all its agents share one pool.
    It stays open until the process ends."""
    with _databases_lock:
        if not _databases:
            atexit.register(close_shared)
        if address not in _databases:
            _databases[address] = Database(address)
        return _databases[address]


def close_shared() -> None:
    """Close the connections of all stores of this process."""
    with _databases_lock:
        opened = list(_databases.values())
        _databases.clear()
    for database in opened:
        database.close()
