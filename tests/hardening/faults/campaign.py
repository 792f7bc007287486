"""Points are chosen, run and judged: the part that the tests and the long run share."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue

from tests.hardening.faults.cases import CASES
from tests.hardening.faults.forks import ForkServer
from tests.hardening.faults.scene import Scene, Seen
from tests.hardening.faults.shim import (
    FAULTS,
    Fault,
    Kind,
    Operation,
    build,
    read_operations,
    suits,
)
from tests.hardening.faults.verdict import Run, problems

WORKERS = 2
_MEMORY_DISK = Path("/dev/shm")
"""There fsync costs nothing; a killed process leaves the same files there as on a disk."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case before and after its action, without a fault."""

    name: str
    old: Seen
    new: Seen
    operations: tuple[Operation, ...]


@dataclass(slots=True)
class Tally:
    """How one kind of fault went in one case."""

    case: str
    kind: Kind
    points: int = 0
    seconds: float = 0.0
    bad: dict[int, list[str]] = field(default_factory=dict)
    """What was wrong, by the number of the operation."""

    def take(self, point: int, problems: Sequence[str]) -> None:
        if problems:
            self.bad[point] = list(problems)

    def __str__(self) -> str:
        return (
            f"{self.case:20} | {self.kind:10} | {self.points:6} | {len(self.bad):4} | "
            f"{self.seconds:7.1f}"
        )


HEADING = f"{'case':20} | {'kind':10} | {'points':>6} | {'bad':>4} | {'seconds':>7}"


class Worker:
    """A folder and two fork servers: one whose children meet faults, and one without any."""

    def __init__(self, folder: Path, library: Path) -> None:
        self._folder = folder
        self._scene = Scene(folder / "run")
        self._log = folder / "operations"
        self._faulty, self._plain = ForkServer(library), ForkServer(None)
        self._ready: dict[tuple[str, str | None], Prepared] = {}

    def close(self) -> None:
        self._faulty.close()
        self._plain.close()

    def prepared(self, name: str, planted_bug: str | None = None) -> Prepared:
        key = (name, planted_bug)
        if key not in self._ready:
            self._ready[key] = self._prepare(name, planted_bug)
        return self._ready[key]

    def _prepare(self, name: str, planted_bug: str | None) -> Prepared:
        self._clear()
        about = {"case": name, "folder": str(self._scene.folder), "planted_bug": planted_bug}
        _done(self._plain.ask(do="prepare", **about))
        shutil.copytree(self._scene.folder, self._template(name, planted_bug))
        self._reset(name, planted_bug)
        old = _done(self._plain.ask(do="look", **about))
        self._reset(name, planted_bug)
        _done(self._faulty.ask(do="act", kind="list", at=0, log=str(self._log), **about))
        new = _done(self._plain.ask(do="look", **about))
        return Prepared(name, old, new, tuple(read_operations(self._log)))

    def meet(self, name: str, fault: Fault, planted_bug: str | None = None) -> list[str]:
        """What is wrong after this fault."""
        ready = self.prepared(name, planted_bug)
        self._reset(name, planted_bug)
        about = {"case": name, "folder": str(self._scene.folder), "planted_bug": planted_bug}
        ended = self._faulty.ask(do="act", kind=fault.kind, at=fault.at, **about)
        aftermath = self._plain.ask(do="aftermath", **about)
        case, folder = CASES[name], str(self._scene.folder)
        return problems(Run(case, fault, ready.old, ready.new, ended, aftermath, folder))

    def _template(self, name: str, planted_bug: str | None) -> Path:
        return self._folder / f"template-{name}-{planted_bug}".replace(" ", "-")

    def _reset(self, name: str, planted_bug: str | None) -> None:
        self._clear()
        shutil.copytree(self._template(name, planted_bug), self._scene.folder)

    def _clear(self) -> None:
        shutil.rmtree(self._scene.folder, ignore_errors=True)


def _done(report: dict[str, object]) -> Seen:
    if report["ended"] != "done":
        raise RuntimeError(f"without any fault it {report['ended']}: {report.get('trace')}")
    value = report["value"]
    return value if isinstance(value, dict) else {}


class Campaign:
    """Several workers over one list of points."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers

    def operations(self, case: str, planted_bug: str | None = None) -> tuple[Operation, ...]:
        return self._workers[0].prepared(case, planted_bug).operations

    def run(
        self, case: str, kind: Kind, points: Iterable[int], planted_bug: str | None = None
    ) -> Tally:
        tally, waiting = Tally(case, kind), Queue[int]()
        for point in points:
            waiting.put(point)
            tally.points += 1
        started = time.monotonic()
        failures: list[BaseException] = []

        def work(worker: Worker) -> None:
            try:
                while True:
                    point = waiting.get_nowait()
                    tally.take(point, worker.meet(case, Fault(kind, point), planted_bug))
            except Empty:
                return
            except BaseException as error:  # noqa: BLE001 - the root of a thread; raised below
                failures.append(error)

        threads = [threading.Thread(target=work, args=(one,)) for one in self._workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        tally.seconds = time.monotonic() - started
        return tally


@contextmanager
def campaign(workers: int = WORKERS) -> Iterator[Campaign]:
    with tempfile.TemporaryDirectory(
        prefix="notewell-faults-", dir=_MEMORY_DISK if _MEMORY_DISK.is_dir() else None
    ) as name:
        folder = Path(name).resolve()
        library = build(folder)
        started: list[Worker] = []
        try:
            for number in range(workers):
                own = folder / f"worker-{number}"
                own.mkdir()
                started.append(Worker(own, library))
            yield Campaign(started)
        finally:
            for worker in started:
                worker.close()


def all_points(operations: Sequence[Operation], kind: Kind) -> list[int]:
    return [number for number, one in enumerate(operations, 1) if suits(kind, one.what)]


def some_points(operations: Sequence[Operation], kind: Kind, least: int) -> list[int]:
    """Every rename and fsync, and `least` others spread evenly.

    Different kinds of faults begin at different places, so that together they see more of them.
    On disk a kill after an operation is a kill before the next one, and fsync changes nothing
    there: of the turning points `kill` has taken all, and `kill after` adds the renames.
    """
    able = all_points(operations, kind)
    turns = ("rename",) if kind == "kill after" else ("rename", "fsync")
    turning = {at for at in able if operations[at - 1].what in turns}
    rest = [at for at in able if at not in turning]
    if len(rest) <= least:
        return able
    shift = FAULTS.index(kind)
    chosen = {rest[(number * len(rest) // least + shift) % len(rest)] for number in range(least)}
    return sorted(chosen | turning)
