"""Requests without a valid token: what they cost, and what happens when an address sends too many.

A refusal comes after a pause, because each refusal costs time, too: a connection gets few of them.
It may be closed meanwhile, in favour of another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from notewell.http_service.context import DELAYED_KEY
from notewell.http_service.limits import LOGIN_COST
from notewell.http_service.problems import rate_limited

if TYPE_CHECKING:
    from starlette.types import Scope

    from notewell.http_service.limits import RateLimiter

LOGIN_PATH = "/open"
PROBES = frozenset({"/healthz", "/readyz"})
"""Supervisors ask these, and would end a service that refuses to answer. They cost next to
nothing."""
REFUSAL_DELAY_S = 0.5


def cost_of(path: str) -> float:
    """Of a path that needs no token."""
    if path in PROBES:
        return 0
    return LOGIN_COST if path == LOGIN_PATH else 1


def charge_address(limiter: RateLimiter, scope: Scope, cost: float) -> None:
    """Raises a `Problem`."""
    address = scope["client"][0] if scope.get("client") else ""
    wait_s = limiter.take(address, cost)
    if wait_s:
        why = "too many requests without a valid token came from this address"
        raise rate_limited(wait_s, why)


async def delay_refusal(scope: Scope) -> None:
    scope[DELAYED_KEY] = True
    await anyio.sleep(REFUSAL_DELAY_S)
