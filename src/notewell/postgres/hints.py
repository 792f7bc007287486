"""Hints between processes: LISTEN and NOTIFY, on a channel of one tenant.

A hint says that it may be worth to look. It may be lost: a connection ends, a pooler in
transaction mode delivers none. So nothing may depend on it. Every user of the database can listen
on every channel: a hint must have no name and no text of anybody.
"""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING

import psycopg

from notewell.postgres.database import Scope
from notewell.postgres.failures import trouble_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable

    from notewell.postgres.database import Database

AGAIN_S = 5.0
"""How soon a lost connection is made again."""
_WAKE_S = 0.5
"""How soon a listener notices that it should end."""

_log = logging.getLogger(__name__)


class Hints:
    """The hints of one tenant."""

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self._scope = Scope.service(tenant)
        self._channel = f"notewell_{hashlib.sha256(tenant.encode()).hexdigest()[:32]}"

    def send(self, hints: Iterable[str]) -> None:
        """In one transaction: the server orders the commits of all that notify."""
        with self._database.writing(self._scope) as transaction:
            transaction.rows(
                "SELECT pg_notify(%s, hint) FROM unnest(%s::text[]) AS hint",
                (self._channel, list(hints)),
            )

    def listen(
        self,
        on_hint: Callable[[str], None],
        stop: threading.Event,
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        """Until `stop` is set, on a connection of its own. `on_ready` is called whenever hints
        begin to arrive."""
        is_logged = False
        while not stop.is_set():
            try:
                self._listen(on_hint, stop, on_ready)
                is_logged = False
            except psycopg.Error as error:
                # The cause stays out of the log: it may have the connection string.
                if not is_logged:
                    trouble = trouble_of(error, self._database.address)
                    _log.warning("no hints from other replicas: %s", trouble)
                is_logged = True
                stop.wait(AGAIN_S)

    def _listen(
        self, on_hint: Callable[[str], None], stop: threading.Event, on_ready: Callable[[], None]
    ) -> None:
        with psycopg.connect(
            self._database.address.reveal(),
            autocommit=True,
            connect_timeout=5,
            application_name="notewell hints",
        ) as connection:
            connection.execute(f"LISTEN {self._channel}".encode())
            on_ready()
            while not stop.is_set():
                for notice in connection.notifies(timeout=_WAKE_S):
                    on_hint(notice.payload)
