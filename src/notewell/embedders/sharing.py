"""One model for all memories of a process.

    memory of agent a ──┐
    memory of agent b ──┼──▶ SharedModels ──▶ one embedder for each model on this machine
    memory of agent c ──┘

Only models that run on this machine are shared: they have no key, and their weights are what takes
memory. A remote embedder belongs to one memory, with its key, its usage and its cool-down. The key
of the dictionary has everything that the embedder is made of, so that two memories share one only
if it is the same in every respect.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from notewell.ports import Closes

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from notewell.ports import Embedder


class SharedModels:
    """Thread-safe. Who made it closes it, after the memories that use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._embedders: dict[Hashable, Embedder] = {}

    def get(self, key: Hashable, open_model: Callable[[], Embedder]) -> Embedder:
        """The embedder that was opened with this key, else a new one."""
        with self._lock:
            embedder = self._embedders.get(key)
            if embedder is None:
                embedder = self._embedders[key] = open_model()
            return embedder

    def owns(self, embedder: Embedder) -> bool:
        with self._lock:
            return any(embedder is own for own in self._embedders.values())

    def close(self) -> None:
        with self._lock:
            embedders, self._embedders = list(self._embedders.values()), {}
        for embedder in embedders:
            if isinstance(embedder, Closes):
                embedder.close()
