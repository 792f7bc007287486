"""A memory that is damaged, examined, and put back as it was: what every case here has in common.

    damage ── open, ask ──▶ the answers of before?  ──▶ harmless so far
                 │      └──▶ an error of ours that names the file and the next step
                 ▼
              status ── sync ── ask again: from here on only the answers of before will do

An outcome is `bad` when an answer differs, when an exception is not ours, when a sync does not
heal, or when a byte of a note has changed. Nothing in between.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from notewell import Memory, open_memory
from notewell.errors import IndexTooNew, NotewellError
from notewell.testing import HashEmbedder

NOTES = {
    "MEMORY.md": "# Facts\n\n- the router is a Turris\n- the garden has tomatoes\n",
    **{
        f"memory/2026-10-{day:02}.md": "\n\n".join(
            f"## Topic {day}-{part}\n\nOn day {day} the word{day * 31 + part} met router {part}."
            for part in range(1, 5)
        )
        for day in range(1, 11)
    },
    "memory/people.md": "\n".join(
        f"- person{number} likes tea{number % 7}" for number in range(20)
    ),
}
QUESTIONS = ("router Turris", "word96", "who likes tea3", "Topic 7-3")
NEXT_STEP = "`notewell index"
LONG_AGO_NS = 1_700_000_000_000_000_000
"""Of the notes: what was saved a moment ago may still change, and is looked at again."""

T = TypeVar("T")
Answers: TypeAlias = "tuple[tuple[object, ...], ...]"
Verdict: TypeAlias = Literal["detected", "harmless", "bad"]


class Outcome(NamedTuple):
    """What came of one damage."""

    verdict: Verdict
    told: str
    """The words the user saw, or what is wrong."""


class BadOutcome(Exception):
    """The one thing that must not happen."""


@dataclass
class DamagedMemory:
    """A workspace, its index, and the answers that are right."""

    root: Path
    dims: int = 64
    truth: Answers = ()
    kept: dict[str, bytes] = field(default_factory=dict)

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def folder(self) -> Path:
        (found,) = (self.state / "memory").iterdir()
        return found

    @property
    def index(self) -> Path:
        return self.folder / (self.folder / "CURRENT").read_text(encoding="ascii").strip()

    def memory(self) -> Memory:
        return open_memory(
            self.workspace,
            state_dir=self.state,
            embedder=HashEmbedder(self.dims),
            environment={},
            lease_wait_s=0.2,
        )

    def healthy(self, notes: Mapping[str, str] = NOTES) -> DamagedMemory:
        """Write the notes, build the index, keep both and the answers."""
        for name, text in notes.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))
        with self.memory() as memory:
            memory.sync()
            self.keep(memory)
        return self

    def keep(self, memory: Memory) -> None:
        """As it is now is how it is to be."""
        self.truth = answers(memory)
        self.kept = {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def restore(self) -> None:
        """Everything in the folder of the index as it was kept."""
        folder = self.folder
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, data in self.kept.items():
            (folder / name).write_bytes(data)

    def notes(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.workspace)): path.read_bytes()
            for path in sorted(self.workspace.rglob("*"))
            if path.is_file()
        }

    # -- one try ---------------------------------------------------------------------------------

    def tried(self, damage: Callable[[DamagedMemory], None]) -> Outcome:
        """Damage it, examine it, and put it back."""
        before = self.notes()
        damage(self)
        try:
            outcome = self.examined()
        except BadOutcome as bad:
            outcome = Outcome("bad", str(bad))
        if self.notes() != before:
            outcome = Outcome("bad", "the notes are not what they were")
        self.restore()
        return outcome

    def examined(self) -> Outcome:
        with self.memory() as memory:
            first = self.asked(memory)
            told = [first] if first else []
            status = _ours("status", memory.status)
            if isinstance(status, NotewellError):
                raise BadOutcome(f"status raised {status}")
            waits = status.counts is not None and status.counts.waiting
            if first and not (status.problem or status.state != "ready" or waits):
                raise BadOutcome(f"status tells nothing of: {first}")
            told += self._healed(memory)
        return Outcome("detected" if told else "harmless", "; ".join(told))

    def _healed(self, memory: Memory) -> list[str]:
        """Syncs until all is well; a second one may be needed for what the first one met."""
        told: list[str] = []
        for _ in range(2):
            report = _ours("sync", memory.sync)
            if isinstance(report, IndexTooNew):
                return [*told, str(report)]
            if isinstance(report, NotewellError):
                told.append(_plain(report))
            elif report.rebuilt:
                told.append(str(report.rebuilt))
            if not isinstance(report, NotewellError) and not report.trouble:
                again = self.asked(memory)
                if again is None:
                    return told
                told.append(again)
        raise BadOutcome(f"two syncs did not heal it: {told}")

    def asked(self, memory: Memory) -> str | None:
        """None for the right answers; else the words in which it was said that there are none."""
        found = _ours("search", lambda: answers(memory))
        if isinstance(found, NotewellError):
            return _plain(found)
        if found == self.truth:
            return None
        pairs = zip(self.truth, found, strict=True)
        said = [_admitted(right, other) for right, other in pairs if right != other]
        return said[0]


def answers(memory: Memory) -> Answers:
    """Everything a user can see of the answers to some questions, both ways of asking."""
    return tuple(
        (
            (question, mode),
            tuple((hit.citation, round(hit.score, 6), hit.snippet) for hit in answer.hits),
            answer.reason,
            answer.mode,
            answer.notice,
        )
        for question in QUESTIONS
        for mode in ("hybrid", "keyword")
        for answer in (memory.search(question, mode=mode),)
    )


def _ours(what: str, call: Callable[[], T]) -> T | NotewellError:
    try:
        return call()
    except NotewellError as error:
        return error
    except Exception as error:
        raise BadOutcome(f"{what} raised {type(error).__name__}: {error}") from error


def _plain(error: NotewellError) -> str:
    """An error that leaves the user with a thing to look at and a thing to do."""
    words = str(error)
    if "/memory/main-" not in words:
        raise BadOutcome(f"names no file: {words}")
    if NEXT_STEP not in words and "Fix that" not in words and "upgrade" not in words:
        raise BadOutcome(f"names no next step: {words}")
    return words


def _admitted(right: tuple[object, ...], other: tuple[object, ...]) -> str:
    """What was said with an answer that is less than the right one."""
    _, hits, reason, mode, notice = other
    if not hits and "run `notewell index`" in str(reason):
        return str(reason)
    if mode != right[3] and notice:  # Words alone answered, and it is said.
        return str(notice)
    raise BadOutcome(f"a wrong answer: {other} in the place of {right}")


def tally(outcomes: Iterable[Outcome]) -> dict[Verdict, int]:
    counts: dict[Verdict, int] = {"detected": 0, "harmless": 0, "bad": 0}
    for outcome in outcomes:
        counts[outcome.verdict] += 1
    return counts
