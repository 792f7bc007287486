"""Leases: advisory locks of the server, which frees them when the connection of the holder ends.

A lease is the lock of a transaction, not of a session: behind a pooler no session is ours alone.
Its holder keeps one connection with an open transaction that has neither a snapshot nor a
transaction id, so vacuum does not wait for it. The transaction has the name of the holder as its
`application_name`, where those who wait can read it.
"""

from __future__ import annotations

import hashlib
import os
import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.postgres.database import Database, Scope, Transaction

NAME_BYTES = 63  # PostgreSQL cuts `application_name` there.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.01, 0.1
"""A sync holds its lease for seconds; an append for milliseconds."""


_HOLDER_SETTINGS = (
    "SELECT set_config('application_name', %s, true), "
    # A machine that loses its power says no goodbye. The server would believe for two hours that
    # the holder is there; so it asks after 15 s, and frees the lease 15 s later.
    "set_config('tcp_keepalives_idle', '15', true), "
    "set_config('tcp_keepalives_interval', '5', true), "
    "set_config('tcp_keepalives_count', '3', true)"
)


class AdvisoryLease(NamedTuple):
    """What at most one holder may do at a time, in one agent."""

    scope: Scope
    kind: str
    """What the holder does, such as `index writer`."""
    name: str
    """To what."""

    def key(self) -> tuple[int, int]:
        """The two numbers of the lock, as `pg_locks` shows them."""
        # The parts are quoted by their lengths, so that no two leases have one key by their names.
        parts = "".join(
            f"{len(part)}:{part}" for part in (*self.scope, f"{self.kind} {self.name}")
        )
        digest = hashlib.sha256(parts.encode()).digest()
        return (
            int.from_bytes(digest[:4], "big", signed=True),
            int.from_bytes(digest[4:8], "big", signed=True),
        )


class LeaseTimeout(Exception):
    """Another one held the lease for the whole wait."""

    def __init__(self, holder: str, waited_s: float) -> None:
        super().__init__(f"{holder} holds the lease; waited {waited_s:.0f} s")
        self.holder = holder
        self.waited_s = waited_s


@contextmanager
def hold_lease(database: Database, lease: AdvisoryLease, *, wait_s: float) -> Iterator[None]:
    """Hold a lease. Raises `LeaseTimeout` after waiting `wait_s`, and `DatabaseUnavailable` at the
    end if the connection was lost meanwhile, for another one may have had the lease."""
    deadline, pause_s = time.monotonic() + wait_s, _FIRST_PAUSE_S
    while True:
        # Each try has a seat and a transaction of its own: who waits keeps neither from others.
        with database.lease_seat(lease.kind, deadline - time.monotonic()) as is_free:
            if not is_free:
                raise LeaseTimeout("this process, for other agents", wait_s)
            with database.writing(lease.scope) as transaction:
                if _is_taken(transaction, lease):
                    yield
                    return
                holder = _holder(transaction.rows(_HOLDER, _locked(lease)))
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise LeaseTimeout(holder or "a process that has just finished", wait_s)
        time.sleep(min(pause_s, left_s))
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _is_taken(transaction: Transaction, lease: AdvisoryLease) -> bool:
    transaction.execute(_HOLDER_SETTINGS, (_own_name(),))
    if transaction.rows("SELECT pg_try_advisory_xact_lock(%s, %s)", lease.key()) != [(True,)]:
        return False
    # The last statement has no values: one with values keeps its snapshot until the next
    # statement, and vacuum would wait as long as the lease is held.
    transaction.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    return True


def lease_holder(database: Database, lease: AdvisoryLease) -> str | None:
    """Who holds a lease now; None if nobody does."""
    with database.reading(lease.scope) as transaction:
        return _holder(transaction.rows(_HOLDER, _locked(lease)))


_HOLDER = (
    "SELECT activity.application_name FROM pg_locks AS locks "
    "JOIN pg_stat_activity AS activity USING (pid) WHERE locks.locktype = 'advisory' "
    "AND locks.granted AND locks.objsubid = 2 "
    "AND locks.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND locks.classid = %s AND locks.objid = %s"
)


def _locked(lease: AdvisoryLease) -> tuple[int, int]:
    """The key as `pg_locks` has it: unsigned."""
    one, other = lease.key()
    return one % (1 << 32), other % (1 << 32)


def _holder(rows: list[tuple[str]]) -> str | None:
    return rows[0][0] or "a process without a name" if rows else None


def _own_name() -> str:
    name = f"process {os.getpid()} on {socket.gethostname()}"
    return name.encode("ascii", "replace").decode()[:NAME_BYTES]
