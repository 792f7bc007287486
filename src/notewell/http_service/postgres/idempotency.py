"""Idempotency keys that all replicas share: the same request at two of them is executed once.

    pending     a row, committed before anything is done: the time, and the digest of the request
    running     a transaction that holds the lock of the row; it ends with the replica
    completed   the response is in the row

A replica that dies in the middle leaves a pending row without a lock. The repeated request is
executed again, at any replica; an entry that is there already is not added twice.
"""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.errors import DatabaseLocked, DatabaseTrouble
from notewell.http_service.idempotency import (
    SWEEP_EVERY,
    TTL,
    Completed,
    Pending,
    in_progress,
    key_reused,
    require_key,
)
from notewell.postgres import Scope
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.http_service.idempotency import IdempotentRequest, RequestState
    from notewell.postgres import Database, Transaction

_OWN = "WHERE tenant = %s AND agent = %s AND name = %s"


class _Running(NamedTuple):
    """The transaction that has the lock of a row."""

    transaction: Transaction
    ending: ExitStack


class PostgresIdempotency:
    """See `IdempotencyKeys`. Each request that runs holds one connection."""

    def __init__(
        self,
        database: Database,
        tenant: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._tenant = tenant
        self._now = now
        self._lock = threading.Lock()
        self._running: dict[str, _Running] = {}
        self._begun = 0

    def begin(self, request: IdempotentRequest) -> RequestState:
        require_key(request)
        now, scope = self._now(), Scope(self._tenant, request.agent)
        with self._database.writing(scope) as transaction:
            if self._is_sweep_due():
                transaction.execute(
                    "DELETE FROM notewell.idempotency WHERE (tenant, agent, name) IN (SELECT "
                    "tenant, agent, name FROM notewell.idempotency WHERE tenant = %s "
                    "AND agent = %s AND begun < %s FOR UPDATE SKIP LOCKED)",
                    (*scope, now - TTL),
                )
            transaction.execute(
                "INSERT INTO notewell.idempotency (tenant, agent, name, request, begun) "
                "VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (*scope, request.name, request.digest, now),
            )
        with ExitStack() as ending:
            transaction = ending.enter_context(self._database.writing(scope))
            state = self._state(transaction, request, now)
            if isinstance(state, Pending):
                # The lock of the row stays until `complete` or `discard`.
                with self._lock:
                    self._running[request.name] = _Running(transaction, ending.pop_all())
        return state

    def _is_sweep_due(self) -> bool:
        with self._lock:
            self._begun += 1
            return self._begun % SWEEP_EVERY == 1

    def _state(
        self, transaction: Transaction, request: IdempotentRequest, now: datetime
    ) -> RequestState:
        key = (self._tenant, request.agent, request.name)
        try:
            rows = transaction.rows(
                "SELECT request, begun, status, body FROM notewell.idempotency "  # noqa: S608
                f"{_OWN} FOR UPDATE NOWAIT",
                key,
            )
        except DatabaseLocked:
            raise in_progress() from None
        if not rows:  # The request that had it failed at this moment: the client tries again.
            raise in_progress()
        ((digest, begun, status, body),) = rows
        if now - begun > TTL:
            transaction.execute(
                "UPDATE notewell.idempotency SET request = %s, begun = %s, status = NULL, "  # noqa: S608
                f"body = NULL {_OWN}",
                (request.digest, now, *key),
            )
            return Pending(now)
        if digest != request.digest:
            raise key_reused()
        # Without a response, a replica died before it was stored: the first time counts.
        return Pending(begun.astimezone(UTC)) if status is None else Completed(status, body)

    def complete(self, request: IdempotentRequest, pending: Pending, answer: Completed) -> None:
        running = self._ended(request)
        with running.ending:
            running.transaction.execute(
                "UPDATE notewell.idempotency SET begun = %s, status = %s, body = %s "  # noqa: S608
                f"{_OWN}",
                (
                    pending.at,
                    answer.status,
                    json.dumps(answer.body),
                    *(self._tenant, request.agent, request.name),
                ),
            )

    def discard(self, request: IdempotentRequest) -> None:
        running = self._ended(request)
        # The caller raises why the write failed. A row that stays is a pending one.
        with suppress(DatabaseTrouble), running.ending:
            running.transaction.execute(
                f"DELETE FROM notewell.idempotency {_OWN}",  # noqa: S608
                (self._tenant, request.agent, request.name),
            )

    def _ended(self, request: IdempotentRequest) -> _Running:
        with self._lock:
            return self._running.pop(request.name)
