"""Who is looked at: where a memory and its state lie, and the memory itself if it can be opened.

What is broken may be the very thing that keeps the memory from opening, so everything but
`memory` is known without it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.memory import Memory
    from notewell.sync import Indexer


@dataclass(frozen=True, slots=True)
class Patient:
    agent: str
    workspace: Path
    state: Path
    """The folder of everything that Notewell keeps for itself."""
    index: Path
    """The folder of this agent's index; not always below `state`."""
    now: Callable[[], datetime]
    memory: Memory | None = None
    indexer: Indexer | None = None
    """What the memory is made of; None with it."""
    trouble: str | None = None
    """Why there is no memory."""
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @classmethod
    def of(cls, memory: Memory) -> Patient:
        parts = memory.parts
        indexer = parts.builtin.indexer
        return cls(
            agent=parts.agent,
            workspace=memory.workspace,
            state=parts.state,
            index=Path(indexer.store.describe().place),
            now=lambda: datetime.fromtimestamp(parts.now_ns() / 1e9, UTC).astimezone(),
            memory=memory,
            indexer=indexer,
        )

    @classmethod
    def without_memory(cls, agent: str, workspace: Path, state: Path, trouble: str) -> Patient:
        from notewell.memory import index_dir

        root = Path(os.path.realpath(workspace))
        return cls(
            agent=agent,
            workspace=root,
            state=state,
            index=index_dir(state, agent, root),
            now=lambda: datetime.now(UTC).astimezone(),
            trouble=trouble,
        )
