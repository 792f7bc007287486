"""What a proof says: how much was compared, and what did not agree."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.errors import NotewellError
from notewell.sync import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    ProgressCallback: TypeAlias = Callable[[Progress], None]

Kind: TypeAlias = Literal["index", "note", "chunk", "vector", "cache", "state"]

STEP = 500
"""Progress is told this often: in rows."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    kind: Kind
    where: str
    """`path:line` of a note, or the name of a file of ours."""
    told: str


@dataclass(slots=True)
class Verdict:
    """Grows while the proof goes on; afterwards nobody changes it."""

    generation: str | None = None
    pages: int = 0
    notes: int = 0
    chunks: int = 0
    embedded: int = 0
    waiting: int = 0
    """Chunks that will get a vector; no disagreement."""
    unread: int = 0
    """Chunks in a script that the model does not read."""
    cached: int = 0
    state_files: int = 0
    disagreements: list[Disagreement] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        return not self.disagreements

    def differs(self, kind: Kind, where: str, told: str) -> None:
        self.disagreements.append(Disagreement(kind, where, told))

    @contextmanager
    def part(self, kind: Kind, file: Path) -> Iterator[None]:
        """What stops one part of the proof is told, and the next part goes on."""
        from notewell.index.sqlite import our_errors

        try:
            with our_errors(file):
                yield
        except (NotewellError, OSError) as error:
            self.differs(kind, file.name, str(error))


def steps(told: ProgressCallback, label: str) -> Callable[[int, int], None]:
    """Tells now and then, and at the end."""

    def step(done: int, total: int) -> None:
        if done == total or done % STEP == 0:
            told(Progress(done, total, label))

    return step
