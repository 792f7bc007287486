"""Agents that are added and removed while the service runs, if they are kept in a database."""

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from notewell.http_service import problems
from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import Caller, CallerDep
from notewell.http_service.ports import AgentRegistry
from notewell.http_service.problems import Problem

AGENT_ID = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"

router = APIRouter(prefix="/v1/agents", tags=["agents"], route_class=GuardedRoute)

AgentId = Annotated[str, Path(pattern=AGENT_ID, description="Letters, digits, `-` and `_`.")]


class AgentBody(BaseModel, extra="forbid"):
    id: str = Field(pattern=AGENT_ID, description="Letters, digits, `-` and `_`.")


class AgentAnswer(BaseModel):
    id: str
    added: bool = Field(description="False if it was there already.")


class RemovedAnswer(BaseModel):
    id: str
    removed: bool


class AgentList(BaseModel):
    agents: list[str] = Field(description="Those that this token opens, the default first.")


@router.get("", **needs("read"))
async def list_agents(caller: CallerDep) -> AgentList:
    """The agents that this service serves and the token opens."""
    await caller.require_scope()
    await caller.context.pools.run("quick", "", caller.context.agents.look_again)
    return AgentList(agents=list(caller.agents))


@router.post(
    "",
    status_code=201,
    response_model=AgentAnswer,
    **needs("admin", {200: AgentAnswer, 409: None}),
)
async def add_agent(body: AgentBody, caller: CallerDep) -> JSONResponse:
    """Add an agent. Every replica serves it from its next request on."""
    registry, id_ = await _registry(caller), body.id.lower()

    def add() -> bool:
        is_new = registry.add(id_)
        if is_new:
            caller.context.audit.record(caller, "add agent", id=id_)
        caller.context.agents.look_again()
        return is_new

    added = await caller.context.pools.run("write", "", add)
    return JSONResponse({"id": id_, "added": added}, 201 if added else 200)


@router.delete("/{id}", **needs("admin", {404: None, 409: None}))
async def remove_agent(id: AgentId, caller: CallerDep) -> RemovedAnswer:  # noqa: A002 - the name in the API
    """Serve an agent no more. Its notes stay in the database."""
    registry, id_ = await _registry(caller), id.lower()

    def remove() -> bool:
        is_removed = registry.remove(id_)
        if is_removed:
            caller.context.audit.record(caller, "remove agent", id=id_)
        caller.context.agents.look_again()
        return is_removed

    if not await caller.context.pools.run("write", "", remove):
        raise Problem(
            404,
            "no-agent",
            "There is no such agent",
            "no agent of this service has this id",
            "GET /v1/agents lists them",
        )
    return RemovedAnswer(id=id_, removed=True)


async def _registry(caller: Caller) -> AgentRegistry:
    await caller.require_scope()
    registry = caller.context.registry
    if registry is None:
        raise Problem(
            409,
            "agents-in-settings",
            "The agents of this service are those of its settings",
            "this service keeps its agents in a settings file, or serves one that was named",
            "change the settings file; the service follows it",
        )
    if not caller.token.is_for_all:
        # An admin of some agents has no say in which others there are.
        raise problems.not_allowed(
            "the token is not for all agents", "use a token that was made with --agent '*'"
        )
    return registry
