"""Asking again, when the same request may succeed a moment later.

Decided by the status, never by a message. All tries and pauses share the deadline they are given:
a pause that would outlast it is not begun, and the trouble is told at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from notewell.embedders.error_mapping import MAY_PASS
from notewell.errors import EmbedderFailed, EmbedderUnreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from notewell.embedders.deadline import Deadline
    from notewell.ports import Kind, Vectors

Ask: TypeAlias = "Callable[[Sequence[str], Kind, Deadline], Vectors]"
"""The shape of every layer between an embedder and the wire. It is not `Embedder.embed`, because
one deadline must hold for all layers together and so has to be handed down."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    tries: int = 3
    first_pause_s: float = 0.5
    longest_pause_s: float = 8.0


@dataclass(frozen=True, slots=True)
class Retrying:
    ask: Ask
    sleep: Callable[[float], None]
    random: Callable[[], float]
    """From 0 to 1, so that many clients do not come back at the same moment."""
    policy: RetryPolicy = RetryPolicy()

    def __call__(self, texts: Sequence[str], kind: Kind, deadline: Deadline) -> Vectors:
        tried = 1
        while True:
            try:
                return self.ask(texts, kind, deadline)
            except EmbedderFailed as error:
                pause = pause_s(error, tried, self.policy, self.random())
                if pause is None or pause >= deadline.left_s():
                    raise
            self.sleep(pause)
            tried += 1


def pause_s(error: EmbedderFailed, tried: int, policy: RetryPolicy, random: float) -> float | None:
    """How long to wait before the next try; None when there is to be none."""
    may_pass = isinstance(error, EmbedderUnreachable) or error.http_status in MAY_PASS
    if not may_pass or tried >= policy.tries:
        return None
    pause = min(policy.longest_pause_s, policy.first_pause_s * 2.0 ** (tried - 1))
    return max(pause * (0.5 + random / 2), error.retry_after_s or 0.0)
