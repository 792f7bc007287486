"""Another engine answers while the first cannot, and everybody is told so.

    first answers ──failure──▶ second answers, notice ──cool-down over──▶ the first is asked again

Only a failure that an engine names itself (`BackendFailed`) switches. Each call that meets it is
still answered: the second is asked there and then. Until the cool-down is over the first is left
alone, so that a program that hangs costs one deadline, not one a question.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.engines.status import Answering
from notewell.errors import BackendFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.engines.protocol import Backend, Question
    from notewell.engines.status import Status
    from notewell.sync import ProgressCallback, SyncReport
    from notewell.types import Answer

COOL_DOWN_S = 60.0


@dataclass(frozen=True, slots=True)
class Outage:
    """The first engine does not answer: why, since when, and when it is asked again."""

    failure: BackendFailed
    since: datetime
    over_at: float
    """On the monotonic clock."""


class WithFallback:
    """`first` as long as it answers, else `second`. With no `second` a failure is the answer."""

    def __init__(
        self,
        first: Backend,
        second: Backend | None,
        *,
        cool_down_s: float = COOL_DOWN_S,
        monotonic_s: Callable[[], float] = time.monotonic,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._first = first
        self._second = second
        self._cool_down_s = cool_down_s
        self._monotonic_s = monotonic_s
        self._now_ns = now_ns
        self._lock = threading.Lock()
        self._outage: Outage | None = None

    @property
    def name(self) -> str:
        return self._first.name

    def search(self, question: Question) -> Answer:
        if self._second is None:
            return self._first.search(question)
        outage = self._cooling()
        if outage is None:
            try:
                answer = self._first.search(question)
            except BackendFailed as failure:
                outage = self._down(failure)
            else:
                self._outage = None
                return answer
        answer = self._second.search(question).told_too(self._told(outage))
        return replace(answer, degraded=True)

    def get(self, path: str) -> str:
        """Reading is reading a file: no engine has to be well for it."""
        return self._first.get(path)

    def sync(
        self, *, force: bool = False, vectors: bool = True, progress: ProgressCallback
    ) -> SyncReport:
        """Both are kept up: a second engine with an old index would be no help. A sync is asked
        for on purpose, so it does not wait for the cool-down."""
        if self._second is None:
            return self._synced(force=force, vectors=vectors, progress=progress)
        failure = None
        try:
            self._synced(force=force, vectors=vectors, progress=progress)
        except BackendFailed as error:
            failure = error
        # Its report tells more: which notes were left out, and why.
        report = self._second.sync(force=force, vectors=vectors, progress=progress)
        report.trouble = failure or report.trouble
        return report

    def _synced(self, *, force: bool, vectors: bool, progress: ProgressCallback) -> SyncReport:
        try:
            report = self._first.sync(force=force, vectors=vectors, progress=progress)
        except BackendFailed as failure:
            self._down(failure)
            raise
        self._outage = None
        return report

    def check(self) -> None:
        """Raises only where nobody answers."""
        if self._second is None:
            self._first.check()

    def status(self) -> Status:
        """Of the engine that would answer a question now."""
        if self._second is None:
            outage = self._found_down()  # It is asked anew by every search, so here too.
            problem = str(outage.failure) if outage else None
            return replace(self._first.status(), problem=problem)
        outage = self._cooling() or self._found_down()
        if outage is None:
            return self._first.status()
        answering = Answering(
            self._second.name, self._first.name, str(outage.failure), outage.since.isoformat()
        )
        return replace(self._second.status(), answering=answering)

    def _found_down(self) -> Outage | None:
        try:
            self._first.check()
        except BackendFailed as failure:
            return self._down(failure)
        self._outage = None
        return None

    def close(self) -> None:
        """The second is closed by who made it."""
        self._first.close()

    # -- how the first is ------------------------------------------------------------------------

    def _cooling(self) -> Outage | None:
        outage = self._outage
        return outage if outage and self._monotonic_s() < outage.over_at else None

    def _down(self, failure: BackendFailed) -> Outage:
        now = datetime.fromtimestamp(self._now_ns() / 1e9, UTC).astimezone()
        over_at = self._monotonic_s() + self._cool_down_s
        with self._lock:
            since = self._outage.since if self._outage else now
            self._outage = Outage(failure, since, over_at)
            return self._outage

    def _told(self, outage: Outage) -> str:
        second = self._second.name if self._second else "nothing"
        left = max(0.0, outage.over_at - self._monotonic_s())
        return (
            f"{second} answers since {outage.since:%H:%M}, because {outage.failure}; "
            f"{self._first.name} is asked again in {left:.0f} s"
        )
