"""The agents of a tenant, in the database: any replica serves each of them.

An agent is there as soon as it has a note, or was added. One that is removed is served no more;
its notes stay, and a backup still has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core import agent_id
from notewell.errors import BadRequest
from notewell.http_service.agents import Roster, ServedAgent
from notewell.notes import IN_DATABASE
from notewell.postgres import Scope
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from notewell.postgres import Database

MAIN = "main"
MAX_AGENTS = 1_000_000


class RegisteredAgent(NamedTuple):
    id: str
    since: datetime


class PostgresAgents:
    """See `AgentRegistry`."""

    def __init__(
        self,
        database: Database,
        tenant: str,
        route: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._database = database
        self._scope = Scope.service(tenant)
        self._route = route

    def mark(self) -> object:
        # Not the greatest number alone: a transaction with a smaller one may commit later.
        with self._database.reading(self._scope) as transaction:
            (mark,) = transaction.rows(
                "SELECT count(*), coalesce(sum(change), 0) FROM notewell.note_agents "
                "WHERE tenant = %s",
                (self._scope.tenant,),
            )
        return mark

    def read(self) -> Roster:
        # The default agent first: a token for all agents uses the first one.
        ids = sorted((agent.id for agent in self.agents()), key=lambda id_: id_ != MAIN)
        return Roster({id_: ServedAgent(IN_DATABASE) for id_ in ids}, self._route)

    def agents(self) -> list[RegisteredAgent]:
        with self._database.reading(self._scope) as transaction:
            rows = transaction.rows(
                "SELECT agent, since FROM notewell.note_agents WHERE tenant = %s "
                "AND removed_at IS NULL ORDER BY agent LIMIT %s",
                (self._scope.tenant, MAX_AGENTS),
            )
        return [RegisteredAgent(*row) for row in rows]

    def add(self, agent: str) -> bool:
        id_ = checked_agent(agent)
        with self._database.writing(self._scope) as transaction:
            changed = transaction.execute(
                "INSERT INTO notewell.note_agents (tenant, agent) VALUES (%s, %s) "
                "ON CONFLICT (tenant, agent) DO UPDATE SET removed_at = NULL, "
                "change = nextval('notewell.agent_changes') "
                "WHERE note_agents.removed_at IS NOT NULL",
                (self._scope.tenant, id_),
            )
        return bool(changed)

    def remove(self, agent: str) -> bool:
        with self._database.writing(self._scope) as transaction:
            changed = transaction.execute(
                "UPDATE notewell.note_agents SET removed_at = clock_timestamp(), "
                "change = nextval('notewell.agent_changes') "
                "WHERE tenant = %s AND agent = %s AND removed_at IS NULL",
                (self._scope.tenant, checked_agent(agent)),
            )
        return bool(changed)

    def is_new(self) -> bool:
        with self._database.reading(self._scope) as transaction:
            known = transaction.rows(
                "SELECT 1 FROM notewell.note_agents WHERE tenant = %s LIMIT 1",
                (self._scope.tenant,),
            )
        return not known


def checked_agent(agent: str) -> str:
    """The id in lower case. Raises `BadRequest`."""
    id_ = agent_id(agent)
    if id_ is None:
        raise BadRequest(
            f"{agent[:80]!r} is not an id: letters, digits, `-` and `_`, up to 64 of them"
        )
    return id_
