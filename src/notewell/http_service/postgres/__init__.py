"""The state of a service whose replicas share one database. Imported only if there is one.

agents.py        which agents there are
tokens.py        bearer tokens, browser cookies and login links
events.py        what other replicas have changed, as hints
idempotency.py   a repeated write is executed once, at whatever replica
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.http_service.ports import ServiceState
from notewell.http_service.postgres.agents import PostgresAgents
from notewell.http_service.postgres.idempotency import PostgresIdempotency
from notewell.http_service.postgres.tokens import PostgresLinks, PostgresTokens

if TYPE_CHECKING:
    from notewell.postgres import Database


def shared_state(database: Database, tenant: str) -> ServiceState:
    """For the services of one tenant."""
    return ServiceState(
        PostgresTokens(database, tenant),
        PostgresLinks(database, tenant),
        PostgresIdempotency(database, tenant),
        PostgresAgents(database, tenant),
    )
