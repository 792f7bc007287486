"""The agents whose index may be behind their notes, in the order in which somebody should look.

    a note is written   ──▶  a row for its agent, in the same transaction, unless one waits already
    a worker            ──▶  locks the first row that nobody has locked (SKIP LOCKED), syncs the
                             agent, and deletes the row

The lock is the claim: it ends with the connection of the worker, so a worker that dies frees its
work at once. Writers never wait for it: while a row is locked, a write adds another one, because
the worker may have looked already.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.postgres.database import Scope
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.postgres.database import Database, Transaction

_KEEPALIVE = (
    "SELECT set_config('tcp_keepalives_idle', '15', true), "
    "set_config('tcp_keepalives_interval', '5', true), "
    "set_config('tcp_keepalives_count', '3', true), "
    "set_config('idle_in_transaction_session_timeout', '0', true)"
)
"""The server then notices within half a minute that the machine of a worker is gone."""
_LONGEST_PAUSE_S = 300.0

_ENQUEUE = (
    "INSERT INTO notewell.sync_queue (tenant, agent) SELECT %s, %s WHERE NOT EXISTS (SELECT 1 "
    "FROM (SELECT 1 FROM notewell.sync_queue WHERE tenant = %s AND agent = %s LIMIT 1 "
    "FOR UPDATE SKIP LOCKED) AS waiting)"
)
"""A row that waits is locked until the end of the transaction: nobody takes it before what was
written can be seen."""

Outcome: TypeAlias = Literal["done", "again", "failed"]


def enqueue(transaction: Transaction, scope: Scope) -> None:
    """Somebody must index what this transaction writes for an agent."""
    transaction.execute(_ENQUEUE, (*scope, *scope))


@dataclass(slots=True)
class ClaimedSync:
    """One agent, which nobody else has at the moment."""

    agent: str
    number: int
    attempts: int
    """How often it has failed."""
    outcome: Outcome = "failed"
    """Set by the worker. `again`: something is left, for whoever comes next."""


class SyncQueue:
    """Of one tenant. Safe to use from several threads and processes."""

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self._scope = Scope.service(tenant)

    @contextmanager
    def claim(self) -> Iterator[ClaimedSync | None]:
        """The next agent; None if there is nothing to do. It is free again at the end of the
        block, or of the process."""
        with self._database.writing(self._scope) as transaction:
            transaction.rows(_KEEPALIVE)
            rows = transaction.rows(
                "SELECT agent, number, attempts FROM notewell.sync_queue WHERE tenant = %s "
                "AND not_before <= clock_timestamp() ORDER BY number LIMIT 1 "
                "FOR UPDATE SKIP LOCKED",
                (self._scope.tenant,),
            )
            claimed = ClaimedSync(*rows[0]) if rows else None
            yield claimed
            if claimed is not None:
                self._settle(transaction, claimed)

    def _settle(self, transaction: Transaction, claimed: ClaimedSync) -> None:
        key = (self._scope.tenant, claimed.agent, claimed.number)
        if claimed.outcome == "done":
            transaction.execute(
                "DELETE FROM notewell.sync_queue WHERE tenant = %s AND agent = %s AND number = %s",
                key,
            )
            return
        has_failed = claimed.outcome == "failed"
        pause_s = min(2.0 ** min(claimed.attempts, 16), _LONGEST_PAUSE_S) if has_failed else 0.0
        transaction.execute(
            # At the end of the queue: one agent must not keep the others waiting.
            "UPDATE notewell.sync_queue SET number = nextval('notewell.queue_numbers'), "
            "not_before = clock_timestamp() + make_interval(secs => %s), attempts = %s "
            "WHERE tenant = %s AND agent = %s AND number = %s",
            (pause_s, claimed.attempts + 1 if has_failed else 0, *key),
        )

    def add_all(self) -> int:
        """Every agent of the tenant, for example after the settings name another model."""
        with self._database.writing(self._scope) as transaction:
            return transaction.execute(
                "INSERT INTO notewell.sync_queue (tenant, agent) SELECT tenant, agent "
                "FROM notewell.note_agents WHERE tenant = %s AND removed_at IS NULL",
                (self._scope.tenant,),
            )

    def waiting(self) -> int:
        """How many are in the queue, or in work."""
        with self._database.reading(self._scope) as transaction:
            rows = transaction.rows(
                "SELECT count(*) FROM notewell.sync_queue WHERE tenant = %s",
                (self._scope.tenant,),
            )
        return int(rows[0][0])
