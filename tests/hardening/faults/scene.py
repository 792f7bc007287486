"""Where a case plays: a workspace and a state folder to which faults happen, and what lies beside.

inside/workspace   the notes                   } below here operations are counted
inside/state       index, cache, history …     }
outside/           what is asked of the embedder, and what hosts own: never touched by a fault
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from notewell import SyncSettings
from notewell.assembly import open_memory
from notewell.config import Settings
from notewell.errors import NotewellError
from notewell.memory import Memory
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from notewell.ports import Kind, Vectors

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
LATER_S = 2
"""The second run comes so much later: nothing that a killed process claimed may outlast it."""
CHUNK_TOKENS = 60
"""Small, so that a few short notes make several calls of the embedder."""

_LANCE = re.compile(r"\.lance/|\.commits/\d+-\w+\.manifest$|/damaged-entries-\w+(-\d+)?/")

Seen = dict[str, Any]
"""What a fresh process finds, as JSON."""


class PaidEmbedder(HashEmbedder):
    """Every call is written down before it is answered, as a provider would put it on a bill."""

    def __init__(self, bill: Path, model: str) -> None:
        super().__init__(dims=32, model=model)
        self._bill = bill

    @property
    def texts_at_once(self) -> int:
        return 8

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if kind == "document":
            with self._bill.open("a", encoding="utf-8") as file:
                file.write(json.dumps([[self.facts.model, text] for text in texts]) + "\n")
        return super().embed(texts, kind)


@dataclass(frozen=True, slots=True)
class Scene:
    folder: Path
    later_s: int = 0

    @property
    def inside(self) -> Path:
        return self.folder / "inside"

    @property
    def workspace(self) -> Path:
        return self.inside / "workspace"

    @property
    def state(self) -> Path:
        return self.inside / "state"

    @property
    def outside(self) -> Path:
        return self.folder / "outside"

    @property
    def bill(self) -> Path:
        return self.outside / "bill.jsonl"

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(NOW.timestamp() + self.later_s, UTC)

    def make(self) -> None:
        for folder in (self.workspace / "memory", self.state, self.outside):
            folder.mkdir(parents=True)

    def write(self, path: str, text: str) -> None:
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def embedder(self, model: str = "first") -> PaidEmbedder:
        return PaidEmbedder(self.bill, model)

    def memory(self, model: str = "first") -> Memory:
        """A search takes nothing in by itself: it is asked what is there, not to mend it."""
        now_ns = int(self.now.timestamp()) * 1_000_000_000
        return open_memory(
            self.workspace,
            state_dir=self.state,
            settings=Settings(sync=SyncSettings(on_search=False, chunk_tokens=CHUNK_TOKENS)),
            embedder=self.embedder(model),
            environment={},
            now_ns=lambda: now_ns,
            lease_wait_s=1.0,
        )

    def notes(self) -> dict[str, str]:
        """Every file of the workspace, hidden ones too; one character a byte."""
        return {
            str(path.relative_to(self.workspace)): path.read_bytes().decode("latin-1")
            for path in sorted(self.workspace.rglob("*"))
            if path.is_file()
        }

    def state_files(self) -> dict[str, str]:
        """The names of our own files; of locks their content too. LanceDB and its copies have
        random names."""
        return {
            str(path.relative_to(self.state)): path.read_text(encoding="utf-8")
            if path.suffix == ".lock"
            else ""
            for path in sorted(self.state.rglob("*"))
            if path.is_file() and not _LANCE.search(str(path))
        }

    def bill_lines(self) -> list[list[list[str]]]:
        """Of each call the texts, each with the model that was asked."""
        with suppress(FileNotFoundError):
            return [json.loads(line) for line in self.bill.read_text("utf-8").splitlines()]
        return []


class Case(Protocol):
    """Something that is done to a memory, and how one sees what became of it."""

    @property
    def name(self) -> str: ...

    @property
    def writes_to(self) -> tuple[str, ...]:
        """Notes that may be changed, as beginnings of their paths; no other may."""
        ...

    def prepare(self, scene: Scene) -> None: ...

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        """What the fault happens to, from the call of `arm` on; done again after it."""
        ...

    def look(self, scene: Scene) -> Seen:
        """What a fresh process is told. `parts`: each must be as before or as afterwards;
        `whole`: only once everything is done, exactly as if nothing had happened; `reported`: as
        soon as the action has ended without an error; `recovered`: once a killed action was done
        again."""
        ...


def told(ask: Callable[[], Any]) -> Any:
    """An answer, or the error in its place."""
    try:
        return ask()
    except NotewellError as error:
        return {"error": type(error).__name__, "message": str(error)}
