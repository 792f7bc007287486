"""Takes work from the queue of syncs: brings the index of one agent after another up to date.

Every replica has one in a thread, and `notewell worker` is nothing else. Two of them never have
the same row of the queue, and the embedding lease of an index keeps them from paying for the same
chunk. What is left after `SLICE_S` goes to the end of the queue: an agent with a hundred thousand
chunks must not keep the others waiting, nor its row locked for hours.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from notewell.assembly import open_memory
from notewell.embedders import SharedModels
from notewell.errors import BadRequest, NotewellError
from notewell.notes import IN_DATABASE
from notewell.records import NamedTuple
from notewell.sync import SyncInterrupted

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from notewell.memory import Memory
    from notewell.postgres import ClaimedSync, SyncQueue
    from notewell.sync import Progress, SyncReport

    OpenMemory: TypeAlias = Callable[[str], AbstractContextManager[Memory]]

SLICE_S = 30.0
POLL_S = 1.0
"""How often an empty queue is looked at. A search does not wait for it: it indexes itself what was
written a moment ago."""
TROUBLE_S = 5.0
"""How soon a server that does not answer is asked again."""

_log = logging.getLogger(__name__)


class SliceEnded(SyncInterrupted):
    """The time is over. Vectors that were computed are kept."""


class WorkDone(NamedTuple):
    """One agent was taken from the queue."""

    agent: str
    took_s: float
    report: SyncReport | None = None
    """None: there is something left, or it failed."""
    error: NotewellError | None = None


class SyncWorker:
    """`on_done` is called after each agent, in the thread of the worker."""

    def __init__(
        self,
        queue: SyncQueue,
        open_agent: OpenMemory,
        *,
        on_done: Callable[[WorkDone], None] = lambda _: None,
        slice_s: float = SLICE_S,
        poll_s: float = POLL_S,
    ) -> None:
        self._queue = queue
        self._open_agent = open_agent
        self._on_done = on_done
        self._slice_s = slice_s
        self._poll_s = poll_s

    def run(self, stop: threading.Event) -> None:
        """Until `stop` is set. A server that does not answer is asked again."""
        trouble = ""
        while not stop.is_set():
            try:
                has_worked = self.work(stop)
                trouble = ""
            except NotewellError as error:
                if str(error) != trouble:  # Once, not every few seconds of an outage.
                    trouble = str(error)
                    _log.error("the queue cannot be read: %s", error)
                stop.wait(TROUBLE_S)
            except Exception:  # noqa: BLE001
                # The root of a thread. The work is free again, and another one may succeed.
                _log.exception("a sync of the queue failed")
                stop.wait(TROUBLE_S)
            else:
                if not has_worked:
                    stop.wait(self._poll_s)

    def work(self, stop: threading.Event) -> bool:
        """Take one agent; False if there is nothing to do."""
        with self._queue.claim() as claimed:
            if claimed is None:
                return False
            done = self._sync(claimed, stop)
        self._on_done(done)
        return True

    def _sync(self, claimed: ClaimedSync, stop: threading.Event) -> WorkDone:
        started = time.monotonic()

        def stop_in_time(progress: Progress) -> None:
            # Words are not interrupted: a rebuild that is given up begins again.
            is_over = time.monotonic() - started > self._slice_s
            if stop.is_set() or (is_over and progress.label == "vectors"):
                raise SliceEnded

        report, error = None, None
        try:
            with self._open_agent(claimed.agent) as memory:
                report = memory.sync(progress=stop_in_time)
            error = report.trouble
            # Also if another process embeds the same chunks: whether it succeeds is known later.
            claimed.outcome = "failed" if report.trouble else "done"
        except SliceEnded:
            claimed.outcome = "again"
        except BadRequest:
            claimed.outcome = "done"  # The agent was removed.
        except NotewellError as failed:
            error = failed
        return WorkDone(claimed.agent, time.monotonic() - started, report, error)


class MemoryOpener:
    """Opens a memory for each sync, and closes it: a worker has to do with all agents."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._models = SharedModels()

    @contextmanager
    def __call__(self, agent: str) -> Iterator[Memory]:
        with open_memory(
            IN_DATABASE,
            agent=agent,
            state_dir=self._state,
            shared_models=self._models,
            started_by_user=True,
        ) as memory:
            yield memory

    def close(self) -> None:
        self._models.close()
