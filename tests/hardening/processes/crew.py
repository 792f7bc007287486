"""Processes that are started together, and a workspace for them."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from tests.hardening.processes.events import Events
from tests.hardening.processes.roles import memory, sync, write_beacon

REPOSITORY = Path(__file__).parents[3]
NOTES = 30
WAIT_S = 120.0
"""Far more than anything here takes: whoever hangs is found, and a slow machine is not blamed."""


def make_workspace(root: Path, *, indexed: bool) -> None:
    notes = root / "ws" / "memory"
    notes.mkdir(parents=True)
    for number in range(NOTES):
        text = f"# Note {number}\n\nThe lamp of room {number} is {'dim' * (number % 3)} bright.\n"
        (notes / f"note-{number}.md").write_text(text, encoding="utf-8")
    write_beacon(root, 1)
    if indexed:
        sync(root, force=False)


@dataclass(slots=True)
class Worker:
    role: str
    process: subprocess.Popen[str]

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self._end()

    def wait(self) -> int:
        code = self.process.wait(WAIT_S)
        self._end()
        return code

    def _end(self) -> None:
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with suppress(BrokenPipeError):
                    pipe.close()


@dataclass(slots=True)
class Crew:
    """Nobody outlives it."""

    root: Path
    workers: list[Worker] = field(default_factory=list)

    def start(self, role: str, *, rounds: int | None = None) -> Worker:
        """Returns at once; `ready` waits until it can work."""
        more = [str(rounds)] if rounds is not None else []
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "src")]),
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.hardening.processes.roles", role, str(self.root), *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
            env=environment,
        )  # fmt: skip
        self.workers.append(Worker(role, process))
        return self.workers[-1]

    def go(self) -> None:
        """All at once, when all are ready."""
        for worker in self.workers:
            assert worker.process.stdout is not None
            assert worker.process.stdout.readline() == "ready\n", worker.role
        for worker in self.workers:
            worker.go()

    def stop(self) -> list[tuple[str, int]]:
        """Everybody ends by themselves; who did not end well."""
        (self.root / "stop").touch()
        codes = [(worker.role, worker.wait()) for worker in self.workers]
        (self.root / "stop").unlink()
        self.workers.clear()
        return [(role, code) for role, code in codes if code]

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self.workers:
            worker.kill()


def leftovers(root: Path) -> list[str]:
    """What has no business among the notes or in the index once a last sync is done."""
    (folder,) = (root / "state" / "memory").iterdir()
    current = (folder / "CURRENT").read_text(encoding="ascii").strip()
    known = {"CURRENT", "writer.lock", "embedder.lock", "cache.lock"}
    for name in (current, "cache.sqlite"):
        known |= {name, f"{name}-wal", f"{name}-shm"}
    return sorted(path.name for path in folder.iterdir() if path.name not in known)


def entries_not_found(root: Path) -> list[str]:
    """Entries that were told to be appended and that the notes or the index do not have."""
    notes = "".join(
        path.read_text(encoding="utf-8") for path in (root / "ws" / "memory").glob("2*.md")
    )
    lost = []
    with memory(root) as opened:
        for word in (one["word"] for one in Events(root).read("appended")):
            hits = opened.search(word, mode="keyword").hits
            entry = f"- The word {word} was said. <!--"
            if notes.count(entry) != 1 or not any(word in hit.snippet for hit in hits):
                lost.append(word)
    return lost
