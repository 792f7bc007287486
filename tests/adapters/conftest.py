from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from notewell import Memory, open_memory
from notewell.testing import HashEmbedder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    (path / "memory").mkdir(parents=True)
    (path / "MEMORY.md").write_text("# Facts\n\nThe router ships in May.\n", encoding="utf-8")
    return path


@pytest.fixture
def memory(tmp_path: Path, workspace: Path) -> Iterator[Memory]:
    state = tmp_path / "state"
    with open_memory(
        workspace, state_dir=state, embedder=HashEmbedder(), environment={}
    ) as memory:
        memory.sync()
        yield memory
