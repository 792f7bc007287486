"""Deadlines, retries with backoff, and the cool-down after a failure.

    Deadline   one point in time for a complete call; every layer below receives it
    Retrying   sends the same request again when it may succeed a moment later
    CoolDown   a circuit breaker: while it is open, calls fail at once without a request

The HTTP status decides whether to retry, never the text of a message. All attempts and pauses
share one deadline: a pause that would outlast it is not begun, and the error is raised at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from notewell.embedders.error_mapping import RETRYABLE_STATUSES
from notewell.errors import EmbedderFailed, EmbedderTrouble, EmbedderUnreachable
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.ports import Kind, Vectors

Clock: TypeAlias = Callable[[], float]
"""Seconds that only increase: `time.monotonic`."""

Ask: TypeAlias = "Callable[[Sequence[str], Kind, Deadline], Vectors]"
"""The signature of every layer between an embedder and the network. It differs from
`Embedder.embed` because all layers of a call share one deadline."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The time at which a call must be finished.

    It is created where the waiting begins and passed down through every layer, so that retries,
    pauses and slow replies all use the same time budget.
    """

    at: float
    clock: Clock
    setting: str = ""
    """The setting that moves it, for the message after a time-out; empty: there is none."""

    @classmethod
    def after(cls, seconds: float, clock: Clock, setting: str = "") -> Deadline:
        return cls(clock() + seconds, clock, setting)

    def left_s(self) -> float:
        return max(0.0, self.at - self.clock())


# -- retries -------------------------------------------------------------------------------------


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
    """From 0 to 1: jitter, so that many clients do not retry at the same moment."""
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


def is_retryable(error: EmbedderFailed) -> bool:
    return isinstance(error, EmbedderUnreachable) or error.http_status in RETRYABLE_STATUSES


def pause_s(error: EmbedderFailed, tried: int, policy: RetryPolicy, random: float) -> float | None:
    """The exponential backoff before the next attempt; None: do not try again."""
    if not is_retryable(error) or tried >= policy.tries:
        return None
    pause = min(policy.longest_pause_s, policy.first_pause_s * 2.0 ** (tried - 1))
    # `Retry-After` may be longer than our longest pause; the deadline still bounds it.
    return max(pause * (0.5 + random / 2), error.retry_after_s or 0.0)


# -- cool-down -----------------------------------------------------------------------------------

COOLDOWN_S = 30.0
REFUSED_S = 300.0
"""After a refusal until the user acts. Not for ever: the user may have changed the key meanwhile,
and a server must not need a restart for that."""

_ABOUT_THE_TEXT = frozenset({400, 413, 422})
"""The provider answered quickly and rejected this text; it may accept the next one."""


class CoolDown:
    """Raises the last error again for some seconds instead of sending a request.

    A query waits for its vector. If the last query waited in vain, the next one would too; during
    the cool-down it fails at once and keyword search answers without a delay. Documents go on,
    because indexing can wait; only a refusal until the user acts stops them too.
    """

    def __init__(self, clock: Clock, seconds: float = COOLDOWN_S) -> None:
        self._clock = clock
        self._seconds = seconds
        self._lock = threading.Lock()
        self._trouble: EmbedderTrouble | None = None
        self._until = 0.0

    def check(self, kind: Kind) -> None:
        """Raise the error of the last call while the next call would probably fail like it."""
        with self._lock:
            trouble = self._trouble
            if trouble is None or self._clock() >= self._until:
                return
        if kind == "query" or trouble.until_user_acts:
            # Without its old traceback, which would grow each time the same object is raised.
            raise trouble.with_traceback(None)

    def note(self, trouble: EmbedderTrouble, kind: Kind) -> None:
        seconds = self._seconds_after(trouble, kind)
        with self._lock:
            # 0: this failure says nothing about the next call, so an earlier one stays in force.
            if seconds:
                self._trouble, self._until = trouble, self._clock() + seconds

    def clear(self) -> None:
        with self._lock:
            self._trouble = None

    def _seconds_after(self, trouble: EmbedderTrouble, kind: Kind) -> float:
        if trouble.until_user_acts:
            return REFUSED_S
        if kind == "document" or not isinstance(trouble, EmbedderFailed):
            return 0.0
        if trouble.http_status in _ABOUT_THE_TEXT:
            return 0.0
        return min(max(self._seconds, trouble.retry_after_s or 0.0), REFUSED_S)
