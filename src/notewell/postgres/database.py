"""Connections to one database, and transactions that belong to one tenant and one agent.

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
import logging
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from notewell.errors import (
    BadRequest,
    DatabaseNotReady,
    DatabaseTrouble,
    DatabaseUnavailable,
)
from notewell.postgres.failures import our_errors, trouble_of
from notewell.records import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from psycopg import Connection

    from notewell.postgres.address import Address

APP_ROLE = "notewell_app"
"""Owns nothing, cannot log in, and is subject to row-level security."""
SERVICE = "*"
"""In place of an agent: the service of a tenant. No agent can have this id."""
NAME_CHARS = 200
"""The longest name of a tenant or an agent; an entry of an index has room for 2700 bytes."""
_FIRST_WAIT_S = 0.5
"""Most connections are made in milliseconds. After this time we look whether waiting can help."""
_SEARCH_PATH = "notewell, public, extensions"
"""pgvector is in `public`, or in `extensions` with some managed services."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Nothing waits for ever: each of these waits ends with `DatabaseUnavailable`."""

    connections: int = 16
    """Of one process. A server allows 100 by default, for all of them."""
    connection_wait_s: float = 5.0
    """For a connection that another thread of this process uses, or for a new one."""
    read_s: float = 15.0
    write_s: float = 60.0
    """One statement. Removing an index of a hundred thousand chunks takes seconds."""
    lock_s: float = 10.0
    idle_s: float = 60.0
    """Between two statements of a transaction that writes: the network may have lost its client,
    and nobody else can write what it has locked."""
    schema_s: float = 10.0
    """How long a process may go on before it notices a migration of a newer version."""
    network_s: int = 15
    """Without a sign of life from the server's machine; also how much later than the server we
    give up a statement that takes too long."""


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


class _Refusal(NamedTuple):
    """A connection that could not be made."""

    error: psycopg.Error
    until: float
    """Nobody tries again before that: a try takes as long as the last one did."""


class StalledAnswer(psycopg.OperationalError):
    """The server or the network stopped in the middle of an answer."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection on which no wait is for ever.

    The server ends a statement that takes too long. That does not help if the network swallows the
    answer, and keepalives of TCP see nothing wrong with a proxy that stalls.
    """

    answer_s: float = 60.0
    """Set by each transaction."""

    def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        return super().wait(self._bounded(gen), *arguments, **options)

    def _bounded(self, gen: Any) -> Generator[Any, Any, Any]:
        """The same generator, ended after `answer_s`. psycopg sends 0 if nothing is ready after a
        tenth of a second."""
        deadline = time.monotonic() + self.answer_s
        try:
            state = next(gen)
            while True:
                ready = yield state
                # Also if something is there: a network that drips has always a byte more.
                if time.monotonic() > deadline:
                    self.close()
                    raise StalledAnswer("timeout")
                state = gen.send(ready)
        except StopIteration as end:
            return end.value


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
    """A pool of connections to one database. Safe to use from several threads; nothing is opened
    before the first transaction."""

    def __init__(self, address: Address, limits: Limits | None = None) -> None:
        self.address = address
        self.limits = limits or Limits()
        self._pool: ConnectionPool[BoundedConnection] | None = None
        self._lock = threading.Lock()
        self._refusal: _Refusal | None = None
        """Set while no connection can be made: a caller then gets its answer at once."""
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
        idle = f"BEGIN; SET LOCAL idle_in_transaction_session_timeout = {_ms(idle_s)}"
        opening = _opened(idle, scope, limits.write_s, limits, lock_s)
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
        pool = self._opened_pool()
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
            # A connection that is broken, or in the middle of an answer, is closed by the pool.
            pool.putconn(connection)

    def _begun(self, opening: _Opening) -> BoundedConnection:
        """A connection with an open transaction. A connection that has ended since its last use is
        replaced, once: nothing was asked on it yet."""
        pool = self._opened_pool()
        for is_last in (False, True):
            connection = self._connection(pool)
            connection.answer_s = self.limits.network_s
            try:
                # One message to the server: client-side binding allows several statements.
                psycopg.ClientCursor(connection).execute(opening.sql.encode(), opening.values)
            except psycopg.OperationalError as error:
                pool.putconn(connection)
                is_stalled = isinstance(error, StalledAnswer)  # Another try would stall, too.
                if is_last or is_stalled or not connection.closed:
                    raise trouble_of(error, self.address) from None
                pool.check()  # The others have probably ended, too.
            except psycopg.Error as error:
                _roll_back(connection)
                pool.putconn(connection)
                raise trouble_of(error, self.address) from None
            else:
                return connection
        raise AssertionError("the last try returns or raises")

    def _connection(self, pool: ConnectionPool[BoundedConnection]) -> BoundedConnection:
        if self._refusal is not None:
            self._try_connection()
        failures = _failed_attempts(pool)
        try:
            return pool.getconn(min(_FIRST_WAIT_S, self.limits.connection_wait_s))
        except PoolTimeout:
            if _failed_attempts(pool) > failures:
                self._try_connection(DatabaseNotReady)  # A wrong password stays wrong.
        try:
            return pool.getconn()
        except PoolTimeout as timeout:
            # The pool does not say why: all are in use, or none can be made.
            self._try_connection()
            raise trouble_of(timeout, self.address) from None

    def _try_connection(self, trouble: type[DatabaseTrouble] = DatabaseTrouble) -> None:
        """Raises `trouble` if that is why the server accepts no new connection."""
        refusal, begun = self._refusal, time.monotonic()
        if refusal is None or begun >= refusal.until:
            try:
                psycopg.connect(self.address.reveal(), **self._options(connect_s=2)).close()
            except psycopg.Error as error:
                now = time.monotonic()
                refusal = self._refusal = _Refusal(error, 2 * now - begun)
            else:
                self._refusal = None
                return
        reason = trouble_of(refusal.error, self.address)
        if isinstance(reason, trouble):
            raise reason from None

    # -- connections -----------------------------------------------------------------------------

    def _opened_pool(self) -> ConnectionPool[BoundedConnection]:
        with self._lock:
            if self._pool is None:
                # Each failed attempt would be a line of libpq on the terminal, with the name of
                # the user in it. What a caller has to know is raised.
                logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
                self._pool = ConnectionPool(
                    self.address.reveal(),
                    min_size=0,
                    max_size=self.limits.connections,
                    timeout=self.limits.connection_wait_s,
                    # Longer than a caller waits: the next one starts a new attempt.
                    reconnect_timeout=self.limits.connection_wait_s,
                    connection_class=BoundedConnection,
                    kwargs=self._options(connect_s=max(2, int(self.limits.connection_wait_s))),
                    open=True,
                    name="notewell",
                )
            return self._pool

    def _options(self, connect_s: int) -> dict[str, Any]:
        network_s = self.limits.network_s
        return {
            "autocommit": True,  # BEGIN and COMMIT are statements of ours.
            "prepare_threshold": None,
            "connect_timeout": connect_s,
            "application_name": "notewell",
            "keepalives_idle": network_s,
            "keepalives_interval": max(1, network_s // 3),
            "keepalives_count": 3,
            "tcp_user_timeout": network_s * 1000,
        }

    def _check_schema(self, transaction: Transaction) -> None:
        """Now and then, as a newer version may migrate the database while this process runs: an
        older replica must not write what a newer one cannot read."""
        now = time.monotonic()
        if self._checked_at is None or now - self._checked_at >= self.limits.schema_s:
            from notewell.postgres.migrations import require_schema

            require_schema(transaction, self.address)
            self._checked_at = now

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


def _opened(
    begin: str, scope: Scope, statement_s: float, limits: Limits, lock_s: float | None = None
) -> _Opening:
    """For one agent."""
    for name, value in zip(("tenant", "agent"), scope, strict=True):
        # An empty name would match the rows of nobody; the error says more than an empty answer.
        if not value or len(value) > NAME_CHARS or "\x00" in value:
            raise BadRequest(f"a name of 1 to {NAME_CHARS} characters is needed as {name}")
    return _Opening(
        f"{begin}; SELECT set_config('role', %s, true), set_config('app.tenant', %s, true), "
        "set_config('app.agent', %s, true), set_config('search_path', %s, true), "
        "set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)",
        (
            APP_ROLE,
            *scope,
            _SEARCH_PATH,
            _ms(statement_s),
            _ms(limits.lock_s if lock_s is None else lock_s),
        ),
        statement_s,
    )


def _failed_attempts(pool: ConnectionPool[BoundedConnection]) -> int:
    return pool.get_stats().get("connections_errors", 0)


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
