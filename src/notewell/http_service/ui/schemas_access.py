"""JSON models of tokens and of the audit log."""

from typing import Annotated

from pydantic import Field

from notewell.http_service.schemas import RequestModel, ResponseModel
from notewell.http_service.token_file import Scope, TokenKind
from notewell.http_service.tokens import MAX_DAYS


class TokenItem(ResponseModel):
    id: str
    name: str
    agents: list[str]
    """`*` stands for all agents."""
    scopes: list[Scope]
    kind: TokenKind
    created: str
    expires: str | None = None
    last_used: str | None = None
    own: bool
    """The token of this request."""


class TokenList(ResponseModel):
    tokens: list[TokenItem]
    agents: list[str]
    """The agents for which the caller can make tokens."""
    can_change_agents: bool
    """Agents are kept in a database, and the caller's token is for all of them."""


class TokenBody(RequestModel):
    name: Annotated[str, Field(min_length=1, max_length=64)]
    agents: list[str] = Field(default_factory=list, max_length=64)
    """Without any: the agent of the request."""
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3)]
    days: Annotated[int | None, Field(ge=1, le=MAX_DAYS)] = None


class MadeToken(ResponseModel):
    token: TokenItem
    secret: str


class AuditItem(ResponseModel):
    at: str
    token: str
    name: str
    agent: str
    what: str
    path: str | None = None
    called: str | None = None


class AuditList(ResponseModel):
    lines: list[AuditItem]
