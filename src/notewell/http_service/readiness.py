"""Whether the memories can be asked. Anybody may ask for it, so it is looked up seldom."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from notewell.errors import NotewellError

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.http_service.agents import Agents

KEPT_S = 5.0


class Readiness:
    def __init__(self, agents: Agents, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._agents = agents
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._looked_at: float | None = None
        self._ready = 0

    def ready(self) -> int:
        """How many memories can be asked; one that nobody has asked yet is opened for it."""
        with self._lock:
            now = self._monotonic_s()
            if self._looked_at is None or now - self._looked_at >= KEPT_S:
                self._ready = sum(map(self._is_ready, self._agents.ids))
                self._looked_at = self._monotonic_s()
            return self._ready

    def _is_ready(self, agent: str) -> bool:
        """An index that is not there yet is made by the first question; one that cannot be read
        is not."""
        try:
            memory = self._agents.memory(agent)
            memory.looking().counts()
        except NotewellError:
            return False
        return memory.workspace.is_dir()
