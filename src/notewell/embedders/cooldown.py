"""Not asking, for a while, a provider that has just failed.

A question waits for its vector; when the last one waited in vain, the next would too. So for some
seconds the same trouble is told at once, and search answers by keyword without a delay.
A provider that will refuse until the user acts is left alone for longer, by documents too.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from notewell.errors import EmbedderFailed, EmbedderTrouble

if TYPE_CHECKING:
    from notewell.embedders.deadline import Clock
    from notewell.ports import Kind

COOLDOWN_S = 30.0
REFUSED_S = 300.0
"""A key may have been mended meanwhile, and nobody should have to restart a server for that."""

_ABOUT_THE_TEXT = frozenset({400, 413, 422})
"""The answer came quickly and was about this text; another text may do."""


class CoolDown:
    def __init__(self, clock: Clock, seconds: float = COOLDOWN_S) -> None:
        self._clock = clock
        self._seconds = seconds
        self._lock = threading.Lock()
        self._trouble: EmbedderTrouble | None = None
        self._until = 0.0

    def check(self, kind: Kind) -> None:
        """Raise the trouble of the last call while it is still likely to be the same."""
        with self._lock:
            trouble = self._trouble
            if trouble is None or self._clock() >= self._until:
                return
        if kind == "query" or trouble.until_user_acts:
            # Without the trace of the first time, which would grow with each.
            raise trouble.with_traceback(None)

    def note(self, trouble: EmbedderTrouble, kind: Kind) -> None:
        seconds = self._seconds_after(trouble, kind)
        with self._lock:
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
