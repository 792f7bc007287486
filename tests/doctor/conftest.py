"""A memory to look at: two notes, an index, and everything else as it is on a real machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from notewell import Settings
from notewell.assembly import open_memory
from notewell.config.paths import user_config_dir
from notewell.doctor import Finding, RepairResult, Subject, VerifyReport, examine, repair, verify
from notewell.index.sqlite.connect import PAGE_BYTES
from notewell.memory import Memory
from notewell.ports import Embedder
from notewell.stores import index_dir
from notewell.testing import HashEmbedder


@dataclass
class Ward:
    """Where the patient lies."""

    workspace: Path
    state: Path
    later: timedelta = timedelta()
    embedder: Embedder | None = field(default_factory=HashEmbedder)
    settings: Settings | None = None
    memories: list[Memory] = field(default_factory=list)

    def open(self) -> Memory:
        memory = open_memory(
            self.workspace,
            state_dir=self.state,
            settings=self.settings,
            embedder=self.embedder,
            environment={"HOME": str(self.state / "home")},
            lease_wait_s=0,
        )
        self.memories.append(memory)
        return memory

    def own_settings(self, **memory_search: object) -> None:
        """The user's own file says this; a workspace's file may set few keys."""
        folder = user_config_dir({"HOME": str(self.state / "home")})
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"agents": {"defaults": {"memorySearch": memory_search}}})
        (folder / "config.json").write_text(text, encoding="utf-8")

    @property
    def patient(self) -> Subject:
        return replace(
            Subject.of(self.open()),
            now=lambda: datetime.now(UTC).astimezone() + self.later,
            environment={"HOME": str(self.state / "home")},
        )

    @property
    def index(self) -> Path:
        return index_dir(self.state, "main", self.workspace.resolve())

    @property
    def current(self) -> Path:
        return self.index / (self.index / "CURRENT").read_text(encoding="ascii").strip()

    def sync(self) -> None:
        self.open().sync()

    def examine(self) -> list[Finding]:
        return examine(self.patient)

    def todo(self) -> list[Finding]:
        return [one for one in self.examine() if one.todo]

    def fix(self) -> list[RepairResult]:
        patient = self.patient
        return repair(patient, examine(patient))

    def verify(self) -> VerifyReport:
        return verify(self.open())

    def close(self) -> None:
        for memory in self.memories:
            memory.close()


@pytest.fixture
def ward(tmp_path: Path) -> Iterator[Ward]:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    readings = "We store readings in SQLite, because one file is enough for all of them. " * 4
    router = "It ships on Friday, when the last of the antennas has been mounted. " * 4
    text = f"# Decisions\n\n{readings}\n\n## Router\n\n{router}\n"
    (workspace / "MEMORY.md").write_text(text, encoding="utf-8")
    (workspace / "memory" / "2026-10-02.md").write_text("- frost tonight\n", encoding="utf-8")
    ward = Ward(workspace, tmp_path / "state")
    yield ward
    ward.close()


@pytest.fixture
def flip() -> Callable[[Path, int], None]:
    """One bit of a page, as a tired disk does it; once more, and it is as it was."""

    def flipped(file: Path, page: int) -> None:
        with file.open("r+b") as opened:
            opened.seek((page - 1) * PAGE_BYTES + 4000)
            byte = opened.read(1)[0]
            opened.seek(-1, 1)
            opened.write(bytes([byte ^ 1]))

    return flipped


def told(findings: list[Finding], what: str, part: str) -> Finding:
    """The one finding that says so."""
    found = [one for one in findings if one.what == what and part in one.message]
    assert len(found) == 1, "\n".join(f"{one.what}: {one.message}" for one in findings)
    return found[0]
