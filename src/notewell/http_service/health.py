"""How a memory is, for the page: status, what the doctor finds, what the embedder cost."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.doctor import Patient, examine, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from notewell.doctor import Finding
    from notewell.embedders import Usage
    from notewell.engines import Status
    from notewell.memory import Memory

CHECKUP_S = 60.0
"""How long findings hold. A checkup reads every page of the index and asks the embedder for one
real vector, which may cost money: a page that is open all day must not do that by the second."""


class Health(NamedTuple):
    status: Status
    findings: Sequence[Finding]
    usage: Usage | None
    """None for a model on this machine."""
    cache_hits: int
    cache_misses: int
    generation: str | None
    age_s: float | None
    """Since the index was last written."""
    holder: str | None
    """Who is writing now."""
    free_bytes: int


class Checkups:
    """The doctor's findings of one memory, looked up at most once a minute."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._findings: list[Finding] = []
        self._good_until = float("-inf")

    def findings(self, memory: Memory) -> list[Finding]:
        """Whoever asks while another looks waits for what he finds."""
        with self._lock:
            if self._monotonic_s() >= self._good_until:
                self._findings = examine(Patient.of(memory))
                self._good_until = self._monotonic_s() + CHECKUP_S
            return self._findings


def health_of(memory: Memory, checkups: Checkups) -> Health:
    looking = memory.looking()
    store, tally = looking.indexer.store.describe(), looking.tally()
    written_at_s = store.written_at_s
    return Health(
        status=memory.status(),
        findings=checkups.findings(memory),
        usage=looking.usage(),
        cache_hits=tally.hits,
        cache_misses=tally.misses,
        generation=store.generation,
        age_s=max(0.0, memory.now().timestamp() - written_at_s) if written_at_s else None,
        holder=store.holder,
        free_bytes=shutil.disk_usage(nearest(Path(store.place))).free,
    )
