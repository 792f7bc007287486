"""The pool of connections to one server, on which no wait is for ever.

A pool does not say why nobody gets a connection: all are in use, or none can be made. So after a
short wait one connection is tried outside of it. While the server refuses, a caller has its answer
at once.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from notewell.errors import DatabaseNotReady, DatabaseTrouble
from notewell.postgres.failures import trouble_of
from notewell.records import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Generator

    from notewell.postgres.address import Address

_FIRST_WAIT_S = 0.5
"""Most connections are made in milliseconds. After this time we look whether waiting can help."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Nothing waits for ever: each of these waits ends with `DatabaseUnavailable`."""

    connections: int = 16
    """Of one process. A server allows 100 by default, for all of them."""
    connection_wait_s: float = 5.0
    """For a connection that another thread of this process uses, or for a new one."""
    leases: int = 3
    """Of each kind, held by this process at the same time. A lease keeps a connection, and its
    holder needs a second one to do its work: if leases had all of them, nobody would go on."""
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
    pool: ConnectionPool[BoundedConnection]
    """Where it came from: the database may be closed and opened again meanwhile."""

    def put_back(self) -> None:
        """One that is broken, or in the middle of an answer, is closed by its pool."""
        self.pool.putconn(self)

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


class Connections:
    """Safe to use from several threads; nothing is opened before the first one is taken."""

    def __init__(self, address: Address, limits: Limits) -> None:
        self._address = address
        self._limits = limits
        self._pool: ConnectionPool[BoundedConnection] | None = None
        self._lock = threading.Lock()
        self._refusal: _Refusal | None = None
        """Set while no connection can be made: a caller then gets its answer at once."""

    def take(self) -> BoundedConnection:
        """The caller must put it back."""
        pool = self._opened()
        connection = self._taken(pool)
        connection.pool = pool
        return connection

    def _taken(self, pool: ConnectionPool[BoundedConnection]) -> BoundedConnection:
        if self._refusal is not None:
            self._try_connection()
        failures = _failed_attempts(pool)
        try:
            return pool.getconn(min(_FIRST_WAIT_S, self._limits.connection_wait_s))
        except PoolTimeout:
            if _failed_attempts(pool) > failures:
                self._try_connection(DatabaseNotReady)  # A wrong password stays wrong.
        try:
            return pool.getconn()
        except PoolTimeout as timeout:
            # The pool does not say why: all are in use, or none can be made.
            self._try_connection()
            raise trouble_of(timeout, self._address) from None

    def _try_connection(self, trouble: type[DatabaseTrouble] = DatabaseTrouble) -> None:
        """Raises `trouble` if that is why the server accepts no new connection."""
        refusal, begun = self._refusal, time.monotonic()
        if refusal is None or begun >= refusal.until:
            try:
                psycopg.connect(self._address.reveal(), **self._options(connect_s=2)).close()
            except psycopg.Error as error:
                now = time.monotonic()
                refusal = self._refusal = _Refusal(error, 2 * now - begun)
            else:
                self._refusal = None
                return
        reason = trouble_of(refusal.error, self._address)
        if isinstance(reason, trouble):
            raise reason from None

    def _opened(self) -> ConnectionPool[BoundedConnection]:
        with self._lock:
            if self._pool is None:
                # Each failed attempt would be a line of libpq on the terminal, with the name of
                # the user in it. What a caller has to know is raised.
                logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
                self._pool = ConnectionPool(
                    self._address.reveal(),
                    min_size=0,
                    max_size=self._limits.connections,
                    timeout=self._limits.connection_wait_s,
                    # Longer than a caller waits: the next one starts a new attempt.
                    reconnect_timeout=self._limits.connection_wait_s,
                    connection_class=BoundedConnection,
                    kwargs=self._options(connect_s=max(2, int(self._limits.connection_wait_s))),
                    open=True,
                    name="notewell",
                )
            return self._pool

    def _options(self, connect_s: int) -> dict[str, Any]:
        network_s = self._limits.network_s
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

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


def _failed_attempts(pool: ConnectionPool[BoundedConnection]) -> int:
    return pool.get_stats().get("connections_errors", 0)
