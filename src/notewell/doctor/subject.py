"""What is examined: one agent, its workspace, its state and its index.

A memory that cannot be opened can be examined too; then `memory` and `indexer` are None.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.index import IndexStore
    from notewell.memory import Memory
    from notewell.sync import Indexer


@dataclass(frozen=True, slots=True)
class Subject:
    """See the module."""

    agent: str
    workspace: Path
    state: Path
    """The folder of everything that Notewell keeps for itself."""
    store: IndexStore
    now: Callable[[], datetime]
    memory: Memory | None = None
    indexer: Indexer | None = None
    trouble: str | None = None
    """Why there is no memory."""
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def index(self) -> Path:
        """The folder of this agent's index, which is not always below `state`; `state` itself if
        the store is on another machine."""
        return next(iter(self.store.local_paths()), self.state)

    @classmethod
    def of(cls, memory: Memory) -> Subject:
        return cls(
            agent=memory.agent,
            workspace=memory.workspace,
            state=memory.state_dir,
            store=memory.indexer.store,
            now=memory.now,
            memory=memory,
            indexer=memory.indexer,
        )

    @classmethod
    def without_memory(cls, agent: str, workspace: Path, state: Path, trouble: str) -> Subject:
        from notewell.assembly import index_dir, store_at

        root = Path(os.path.realpath(workspace))
        return cls(
            agent=agent,
            workspace=root,
            state=state,
            store=store_at(index_dir(state, agent, root)),
            now=lambda: datetime.now(UTC).astimezone(),
            trouble=trouble,
        )
