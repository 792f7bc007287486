"""What checking a store reports: findings for `notewell doctor`, an audit for `notewell verify`.

A finding names its repair as a value. Checking changes nothing; `IndexStore.repair` does.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.errors import NotewellError
from notewell.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

StorePart: TypeAlias = Literal["engine", "lease", "leftovers", "index", "cache"]
"""engine: the database software on this machine · lease: who holds which lease · leftovers: data
that belongs to no index · index: the generation that answers · cache: the vector cache."""

StoreRepair: TypeAlias = Literal["sweep", "reset-cache", "set-aside", "sync"]
"""sweep: remove leftovers · reset-cache: start a new cache · set-aside: move a damaged generation
away, then sync · sync: only a sync helps, the store itself has nothing to do."""

DisagreementKind: TypeAlias = Literal[
    "index", "note", "chunk", "vector", "cache", "state", "entry"
]

StepCallback: TypeAlias = "Callable[[str, int, int], None]"
"""Is called with a label, the number of rows done, and the total."""


@dataclass(frozen=True, slots=True)
class StoreFinding:
    """One result of a check."""

    message: str
    action: str | None = None
    """What only the user can do."""
    repair: StoreRepair | None = None
    """What we can do. Without action and repair the finding is no problem."""
    is_public: bool = False
    """Remote readers may see the text: it names no folder and quotes no other program."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One place where the index differs from what it should be."""

    kind: DisagreementKind
    where: str
    """`path:line` of a note, or the name of one of our files."""
    message: str


@dataclass(slots=True)
class StoreAudit:
    """How much was compared, and what differed. It grows while `IndexStore.verify` runs."""

    generation: str | None = None
    pages: int = 0
    chunks: int = 0
    embedded: int = 0
    waiting: int = 0
    """Chunks that will get a vector; this is no disagreement."""
    unread: int = 0
    """Chunks in a script that the model cannot read."""
    cached: int = 0
    disagreements: list[Disagreement] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        return not self.disagreements

    def differs(self, kind: DisagreementKind, where: str, message: str) -> None:
        self.disagreements.append(Disagreement(kind, where, message))

    @contextmanager
    def part(self, kind: DisagreementKind, where: str) -> Iterator[None]:
        """An error that stops this part is recorded, and the next part goes on."""
        try:
            yield
        # A part that cannot be read must not hide what is wrong in the other parts.
        except (NotewellError, OSError) as error:
            self.differs(kind, where, str(error))


def size_text(count: int) -> str:
    """A number of bytes for people."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
