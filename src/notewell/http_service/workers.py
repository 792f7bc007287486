"""`notewell serve --workers N`: N processes that search, each on a core of its own.

    client ─▶ this process: HTTP, tokens, limits, writes, syncs, embedding ─▶ a worker: the search

One process has one interpreter lock, so its searches share one core. Everything that must exist
once stays in this process: tokens and their rate limits, idempotency keys, the journal, MCP
sessions, event streams, the embedder with its keys, and the one writer of each index. A worker
gets a question that is already embedded, and reads the published index. This process brings the
index up to date before it asks, so every worker finds what was appended before.

A worker that ends is replaced, after a pause that grows if it keeps ending. Its question is asked
once more, in another worker. While no worker runs, this process searches itself.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
import zlib
from contextlib import suppress
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from notewell import __version__
from notewell.errors import IndexTrouble
from notewell.http_service.worker_process import packed, receive, unpacked

if TYPE_CHECKING:
    from notewell.engines import ViewAnswer
    from notewell.index import StorePlace
    from notewell.search import SearchContext

COMMAND = (sys.executable, "-P", "-m", "notewell.http_service.worker_process")
"""`-P`: the folder in which the service was started must not provide modules."""
MAX_WORKERS = 64
WAIT_S = 2.0
"""How long a search waits for a worker before this process searches itself."""
NEXT_WAIT_S = 10.0
"""How long a search whose worker has ended waits for another one."""
ANSWER_S = 60.0
"""A worker that takes longer is killed: its disk, or its machine, hangs."""
LOOK_S = 1.0
"""How often an idle worker is looked at."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 30.0
"""Before a worker is replaced. The pause doubles until one has lived for the longest pause."""
END_S = 5.0
"""For the search that runs at shutdown."""
MOST_LOST = 2
"""A question that has ended so many workers is not asked again: it may be the cause."""

_log = logging.getLogger(__name__)


class WorkersLost(IndexTrouble):
    """Not searched in this process: what ended two workers could end the service."""

    def __init__(self) -> None:
        super().__init__(
            f"{MOST_LOST} processes ended while they worked on this question: ask again; the log "
            "of `notewell serve` says how they ended"
        )

    def public_text(self) -> str:
        return "the processes that searched have ended"


class _Ended(Exception):
    """The process is not there any more."""


class WorkerFacts(NamedTuple):
    running: int
    busy: int
    ended: int
    """How often one has ended by itself."""
    searches: tuple[int, ...]
    """How many each has answered."""


class _Worker:
    """One process. To be used by one thread at a time."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.asked_at_s: float | None = None
        """None: it is idle."""
        self.ended = threading.Event()
        """Nobody may ask it again. Wakes the thread that looks after it."""
        self.process = subprocess.Popen(  # noqa: S603 - our own module, no shell
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._questions = cast("IO[bytes]", self.process.stdin)
        self._answers = cast("IO[bytes]", self.process.stdout)

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def version(self) -> str | None:
        """The version that it runs, as soon as it is ready; None if it has ended before."""
        try:
            return str(unpacked(receive(self._answers)))
        except (EOFError, OSError):
            return None

    def ask(self, question: bytes) -> bytes:
        """Raises `_Ended`."""
        self.asked_at_s = time.monotonic()
        try:
            self._questions.write(question)
            self._questions.flush()
            return receive(self._answers)
        # ValueError: `close` has closed the pipe.
        except (EOFError, OSError, ValueError) as error:
            self.ended.set()
            raise _Ended from error
        finally:
            self.asked_at_s = None

    def is_stuck(self) -> bool:
        asked_at_s = self.asked_at_s
        return asked_at_s is not None and time.monotonic() - asked_at_s > ANSWER_S

    def end(self) -> None:
        """Lets it finish its search, for a limited time."""
        with suppress(OSError):  # It has ended, and bytes that it has not read are left.
            self._questions.close()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._answers.close()


class SearchWorkers:
    """A `StoreSearcher`. Thread-safe."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._changed = threading.Condition()
        self._running: dict[int, _Worker] = {}
        """By number. Protected by `_changed`, as the next three are."""
        self._idle: dict[int, _Worker] = {}
        self._searches = [0] * count
        self._lost = 0
        self._closing = threading.Event()
        self._threads = [
            threading.Thread(
                target=self._keep, args=(number,), name=f"notewell-worker-{number}", daemon=True
            )
            for number in range(count)
        ]

    def start(self) -> None:
        """Returns at once: until the first worker is ready, the caller searches itself."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        with self._changed:
            self._closing.set()
            for worker in self._running.values():
                worker.ended.set()
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(2 * END_S)

    def facts(self) -> WorkerFacts:
        with self._changed:
            running = len(self._running)
            busy = running - len(self._idle)
            return WorkerFacts(running, busy, self._lost, tuple(self._searches))

    # -- searching -------------------------------------------------------------------------------

    def search(self, place: StorePlace, context: SearchContext) -> ViewAnswer | None:
        question = packed((place, context))
        lost = 0
        while lost < MOST_LOST:
            worker = self._take(place, must_wait=lost > 0)
            if worker is None:
                break
            try:
                answer = worker.ask(question)
            except _Ended:
                lost += 1
                continue
            self._give_back(worker)
            return cast("ViewAnswer | None", unpacked(answer))
        if lost:
            raise WorkersLost
        return None

    def _take(self, place: StorePlace, *, must_wait: bool) -> _Worker | None:
        """An idle worker. None if there is none in time, or none runs."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._idle or self._closing.is_set() or not (self._running or must_wait),
                NEXT_WAIT_S if must_wait else WAIT_S,
            )
            self._drop_ended()
            if not self._idle or self._closing.is_set():
                return None
            # The searches of an agent prefer one worker: what it has read is in its memory.
            first = zlib.crc32(str(place.folder).encode("utf-8", "surrogateescape"))
            number = min(self._idle, key=lambda number: (number - first) % self._count)
            return self._idle.pop(number)

    def _drop_ended(self) -> None:
        """Called with the lock held. Those that ended while nobody asked them."""
        for number, worker in list(self._idle.items()):
            if not worker.is_alive:
                del self._idle[number], self._running[number]
                worker.ended.set()

    def _give_back(self, worker: _Worker) -> None:
        with self._changed:
            self._searches[worker.number] += 1
            # It may have been found dead, and replaced, in the meantime.
            if self._running.get(worker.number) is worker:
                self._idle[worker.number] = worker
                self._changed.notify()

    # -- one thread for each worker --------------------------------------------------------------

    def _keep(self, number: int) -> None:
        pause_s = FIRST_PAUSE_S
        while not self._closing.is_set():
            started_s = time.monotonic()
            try:
                self._run_one(number)
            except OSError as error:
                _log.error("a search process cannot be started: %s", error.strerror or error)
            if time.monotonic() - started_s > LONGEST_PAUSE_S:
                pause_s = FIRST_PAUSE_S
            self._closing.wait(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _run_one(self, number: int) -> None:
        """Until the process ends, or the service does."""
        worker = _Worker(number)
        try:
            version = worker.version()
            if version == __version__:
                self._admit(worker)
                self._look_after(worker)
            elif version is not None:
                _log.error("Notewell %s is installed: restart the service to use it", version)
        finally:
            self._dismiss(worker)

    def _admit(self, worker: _Worker) -> None:
        with self._changed:
            self._running[worker.number] = self._idle[worker.number] = worker
            self._changed.notify()

    def _look_after(self, worker: _Worker) -> None:
        while not worker.ended.wait(LOOK_S) and worker.is_alive:
            if worker.is_stuck():
                _log.error("search process %d took too long and is killed", worker.process.pid)
                worker.process.kill()
                return

    def _dismiss(self, worker: _Worker) -> None:
        with self._changed:
            self._running.pop(worker.number, None)
            self._idle.pop(worker.number, None)
            self._lost += not self._closing.is_set()
            self._changed.notify_all()
        worker.end()
        if not self._closing.is_set():
            _log.warning(
                "search process %d has ended (%s) and is replaced",
                worker.process.pid,
                worker.process.returncode,
            )
