"""A circuit breaker around an engine: a second engine answers while the first one fails.

    first answers ──failure──▶ second answers, with a notice ──cool-down over──▶ first again

Only a failure that the engine reports itself (`BackendFailed`) opens the circuit. The call that
meets it is still answered, by the second engine. Until the cool-down is over the first engine is
not asked, so a program that hangs costs one timeout, not one for each question.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from notewell.engines.protocol import search_fresh
from notewell.engines.status import Answering
from notewell.errors import BackendFailed, IndexTrouble
from notewell.records import dataclass, replace
from notewell.types import Fallback, Notice

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.engines.protocol import Engine
    from notewell.engines.status import Status
    from notewell.search import Question
    from notewell.sync import ProgressCallback, SyncReport
    from notewell.types import Answer

# A user who has repaired the first engine waits at most this long, or runs a sync.
COOL_DOWN_S = 60.0


@dataclass(frozen=True, slots=True)
class Outage:
    """Why the first engine does not answer, since when, and when it is asked again."""

    failure: BackendFailed
    since: datetime
    over_at: float
    """On the monotonic clock."""


def _sync(
    engine: Engine, *, force: bool, vectors: bool, everything: bool, progress: ProgressCallback
) -> SyncReport:
    return engine.sync(force=force, vectors=vectors, everything=everything, progress=progress)


class FallbackEngine:
    """`first` as long as it answers, else `second`. Without a `second` failures are raised."""

    def __init__(
        self,
        first: Engine,
        second: Engine | None,
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
        # Protects the outage: threads that search at the same time read and replace it.
        self._lock = threading.Lock()
        self._outage: Outage | None = None

    @property
    def name(self) -> str:
        return self._first.name

    def sync_before_search(self, question: Question) -> Notice | None:
        if self._second is None:
            return self._first.sync_before_search(question)
        if self._cooling() is None:
            try:
                return self._first.sync_before_search(question)
            except BackendFailed as failure:
                self._down(failure)
        return None  # The second engine syncs when it is asked.

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
                self._recovered()
                return answer
        try:
            answer = search_fresh(self._second, question)
        except IndexTrouble as error:
            # The failure of the engine that the user configured comes first.
            raise _both(outage.failure, self._second.name, error) from error
        fallback = Fallback(
            "engine",
            self._first.name,
            self._second.name,
            str(outage.failure),
            outage.since.isoformat(),
            outage.failure.public_text(),
        )
        noticed = answer.with_notice(self._notice(outage))
        return replace(noticed, degraded=True, fallback=fallback)

    def get(self, path: str) -> str:
        """Reading a file works even while the engine does not answer."""
        return self._first.get(path)

    def sync(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        everything: bool = True,
        progress: ProgressCallback,
    ) -> SyncReport:
        """Syncs both engines: a second engine with an old index would not help. The user asked for
        this sync, so it ignores the cool-down."""
        sync = partial(
            _sync, force=force, vectors=vectors, everything=everything, progress=progress
        )
        if self._second is None:
            return self._synced(sync)
        failure = None
        try:
            self._synced(sync)
        except BackendFailed as error:
            failure = error
        # The second report says more: which notes were left out, and why.
        try:
            report = sync(self._second)
        except IndexTrouble as error:
            if failure is None:
                raise
            raise _both(failure, self._second.name, error) from error
        # The failure of the configured engine comes first: the user asked for that one.
        report.trouble = failure or report.trouble
        return report

    def _synced(self, sync: Callable[[Engine], SyncReport]) -> SyncReport:
        try:
            report = sync(self._first)
        except BackendFailed as failure:
            self._down(failure)
            raise
        self._recovered()
        return report

    def check(self) -> None:
        """Raises only if neither engine answers."""
        if self._second is None:
            self._first.check()

    def status(self) -> Status:
        """The status of the engine that would answer a question now."""
        if self._second is None:
            outage = self._probe_first()  # Every search asks it anew, so the status does too.
            return replace(
                self._first.status(),
                problem=str(outage.failure) if outage else None,
                public_problem=outage.failure.public_text() if outage else None,
            )
        outage = self._cooling() or self._probe_first()
        if outage is None:
            return self._first.status()
        answering = Answering(
            self._second.name,
            self._first.name,
            str(outage.failure),
            outage.since.isoformat(),
            public_reason=outage.failure.public_text(),
        )
        return replace(self._second.status(), answering=answering)

    def _probe_first(self) -> Outage | None:
        try:
            self._first.check()
        except BackendFailed as failure:
            return self._down(failure)
        self._recovered()
        return None

    def close(self) -> None:
        """Whoever made the second engine closes it."""
        self._first.close()

    # -- the state of the first engine -----------------------------------------------------------

    def _cooling(self) -> Outage | None:
        with self._lock:
            outage = self._outage
        return outage if outage and self._monotonic_s() < outage.over_at else None

    def _recovered(self) -> None:
        with self._lock:
            self._outage = None

    def _down(self, failure: BackendFailed) -> Outage:
        now = datetime.fromtimestamp(self._now_ns() / 1e9, UTC).astimezone()
        over_at = self._monotonic_s() + self._cool_down_s
        # Several threads may meet the same failure; the outage began with the first of them.
        with self._lock:
            since = self._outage.since if self._outage else now
            self._outage = Outage(failure, since, over_at)
            return self._outage

    def _notice(self, outage: Outage) -> Notice:
        second = self._second.name if self._second else "nothing"
        left = max(0.0, outage.over_at - self._monotonic_s())
        before = f"{second} answers since {outage.since:%H:%M}, because"
        after = f"{self._first.name} is asked again in {left:.0f} s"
        failure = outage.failure
        return Notice(f"{before} {failure}; {after}", f"{before} {failure.public_text()}; {after}")


def _both(failure: BackendFailed, second: str, error: IndexTrouble) -> BackendFailed:
    """The failure of the first engine, with that of the second one."""
    why = f"{failure.why}; {second}, which answers in its place, failed too: {error}"
    return BackendFailed(failure.backend, failure.kind, why, failure.action)
