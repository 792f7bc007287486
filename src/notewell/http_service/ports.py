"""What a service keeps besides notes: tokens, login links, and the answers to repeated requests.

    on one machine    files of the state folder: `TokenStore`, `LoginLinks`, `IdempotencyStore`
    on many           tables: `notewell.http_service.postgres`

`tests/contracts/test_service_state.py` runs one suite on both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from notewell.http_service.agents import AgentDirectory
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.http_service.idempotency import (
        Completed,
        IdempotentRequest,
        Pending,
        RequestState,
    )
    from notewell.http_service.postgres.agents import RegisteredAgent
    from notewell.http_service.token_file import Token, TokenKind
    from notewell.http_service.tokens import TokenRequest


class Tokens(Protocol):
    """The tokens of a service, found by the digest of their secret. What one process changes,
    every other one sees at its next call."""

    @property
    def waits(self) -> bool:
        """Whether a lookup may wait for a server, so that it needs a thread."""
        ...

    def find(self, token: str, kind: TokenKind = "bearer") -> Token | None:
        """The record of a token that exists, has this kind, and has not expired."""
        ...

    def is_valid(self, token_id: str) -> bool:
        """Whether an authenticated token is still valid; for long-running requests."""
        ...

    def tokens(self) -> list[Token]:
        """All tokens, the oldest first, expired ones included."""
        ...

    def check(self) -> None:
        """Raises if the tokens cannot be read or trusted."""
        ...

    def create(self, request: TokenRequest) -> tuple[Token, str]:
        """The record and the secret. The secret cannot be shown again. Raises `BadRequest`."""
        ...

    def revoke(self, token_id: str) -> Token:
        """Raises `BadRequest` if there is no such token."""
        ...

    def record_use(self, token_id: str) -> None:
        """Stores the day of use; writes at most once a day."""
        ...

    def was_used_today(self, token: Token) -> bool: ...


class Links(Protocol):
    """One-time links that log a browser in. Each is valid for ten minutes and for one use."""

    def make(self) -> str:
        """A new code."""
        ...

    def redeem(self, code: str) -> bool:
        """Whether the code was valid. It is not valid afterwards."""
        ...


class IdempotencyKeys(Protocol):
    """Which requests were executed, and how they were answered."""

    def begin(self, request: IdempotentRequest) -> RequestState:
        """A caller that gets `Pending` must call `complete` or `discard` afterwards, in the same
        thread. Raises a `Problem` for a request that is running, here or elsewhere."""
        ...

    def complete(self, request: IdempotentRequest, pending: Pending, answer: Completed) -> None:
        """Stores the response durably, before it is sent."""
        ...

    def discard(self, request: IdempotentRequest) -> None:
        """The write failed and changed nothing: the next attempt counts as the first."""
        ...


class AgentRegistry(AgentDirectory, Protocol):
    """A directory whose agents are added and removed by requests."""

    def agents(self) -> Sequence[RegisteredAgent]:
        """Those that are served."""
        ...

    def is_new(self) -> bool:
        """Whether there was never an agent."""
        ...

    def add(self, agent: str) -> bool:
        """False if it is there already. Raises `BadRequest` for what is not an id."""
        ...

    def remove(self, agent: str) -> bool:
        """Serve it no more; its notes stay. False if there is no such agent."""
        ...


class ServiceState(NamedTuple):
    """Everything that one service keeps."""

    tokens: Tokens
    login_links: Links
    idempotency: IdempotencyKeys
    registry: AgentRegistry | None = None
    """None: the agents are those of the options or the settings file."""
