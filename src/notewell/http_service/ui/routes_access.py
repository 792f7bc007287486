"""Who may read and write: the tokens and the audit log, for admins.

An admin's token may be for some agents only. It then sees, makes and revokes only tokens for those
agents: with a token of its own making it must not reach the memory of another agent.
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Path

from notewell.files import read_json_lines
from notewell.http_service import problems
from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import Caller, CallerDep
from notewell.http_service.limits import WorkKind
from notewell.http_service.observability import AUDIT_FILE
from notewell.http_service.problems import Problem
from notewell.http_service.token_file import Token
from notewell.http_service.tokens import TokenRequest
from notewell.http_service.ui.schemas_access import (
    AuditItem,
    AuditList,
    MadeToken,
    TokenBody,
    TokenItem,
    TokenList,
)
from notewell.http_service.ui.state import run_visible

_T = TypeVar("_T")

AUDIT_LINES = 300
"""The newest; the file has the rest."""

router = APIRouter(route_class=GuardedRoute)
TokenId = Annotated[str, Path(pattern=r"^[0-9a-f]{8}$")]


@router.get("/tokens", response_model_exclude_none=True, **needs("admin"))
async def tokens(caller: CallerDep) -> TokenList:
    """The tokens and logged-in browsers for agents of the caller. Nobody sees a secret again."""

    def read() -> TokenList:
        items = [
            _token_json(token, caller)
            for token in caller.context.tokens.tokens()
            if _is_own(caller, token)
        ]
        can_change = caller.context.registry is not None and caller.token.is_for_all
        return TokenList(tokens=items, agents=list(caller.agents), can_change_agents=can_change)

    return await _run(caller, "quick", read)


@router.post("/tokens", status_code=201, response_model_exclude_none=True, **needs("admin"))
async def make_token(body: TokenBody, caller: CallerDep) -> MadeToken:
    """Make a token for agents of the caller. The secret is in this answer and nowhere else."""
    agents = tuple(body.agents) or (caller.agent,)

    def make() -> MadeToken:
        if not set(agents) <= _reach(caller):
            raise problems.not_allowed(
                "you are not an admin of all these agents", "name agents that you administer"
            )
        request = TokenRequest(body.name, agents, tuple(body.scopes), body.days)
        token, secret = caller.context.tokens.create(request)
        caller.context.audit.record(caller, "token made", made=token.id, called=token.name)
        return MadeToken(token=_token_json(token, caller), secret=secret)

    return await _run(caller, "write", make)


@router.delete("/tokens/{id}", response_model_exclude_none=True, **needs("admin", {404: None}))
async def revoke_token(
    id: TokenId,  # noqa: A002 - the name in the API
    caller: CallerDep,
) -> TokenItem:
    """Revoke a token or log a browser out. It takes effect at once."""

    def revoke() -> TokenItem:
        token = next((one for one in caller.context.tokens.tokens() if one.id == id), None)
        # The same answer for a token of another agent: its existence is none of our business.
        if token is None or not _is_own(caller, token):
            raise Problem(
                404, "not-found", "Not found", "there is no such token", "list the tokens again"
            )
        caller.context.tokens.revoke(id)
        caller.context.audit.record(caller, "token revoked", revoked=id, called=token.name)
        return _token_json(token, caller)

    return await _run(caller, "write", revoke)


@router.get("/audit", response_model_exclude_none=True, **needs("admin"))
async def audit(caller: CallerDep) -> AuditList:
    """Who wrote what and where, the newest first; for agents of the caller."""

    def read() -> AuditList:
        reach = _reach(caller)
        lines = read_json_lines(caller.context.agents.state / AUDIT_FILE)
        own = [line for line in lines if line.get("agent") in reach]
        return AuditList(lines=[_audit_json(line) for line in own[: -AUDIT_LINES - 1 : -1]])

    return await _run(caller, "quick", read)


async def _run(caller: Caller, kind: WorkKind, work: Callable[[], _T]) -> _T:
    # A token of one conversation is the agent's. Others need no memory: one of them may be broken.
    if caller.token.session_key is not None:
        await run_visible(caller, "quick", lambda _: None)
    return await caller.context.pools.run(kind, "", work)


def _reach(caller: Caller) -> frozenset[str]:
    """The agents that the caller administers; with `*`, if all are."""
    return frozenset((*caller.token.agents, *caller.agents))


def _is_own(caller: Caller, token: Token) -> bool:
    return caller.token.is_for_all or set(token.agents) <= _reach(caller)


def _token_json(token: Token, caller: Caller) -> TokenItem:
    return TokenItem(
        id=token.id,
        name=token.name,
        agents=list(token.agents),
        scopes=list(token.scopes),
        kind=token.kind,
        created=token.created,
        expires=token.expires,
        last_used=token.last_used,
        own=token.id == caller.token.id,
    )


def _audit_json(line: dict[str, Any]) -> AuditItem:
    return AuditItem(
        at=str(line.get("at")),
        token=str(line.get("token")),
        name=str(line.get("name")),
        agent=str(line.get("agent")),
        what=str(line.get("what")),
        path=str(line["path"]) if "path" in line else None,
        called=str(line["called"]) if "called" in line else None,
    )
