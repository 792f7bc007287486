"""What the doctor examines (`Subject`) and reports: a finding, and a remedy that repairs it.

A remedy is a plain value. Checks name it and `repair` carries it out, so that examining changes
nothing.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from notewell.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.index import IndexStore, StoreFinding, StoreRepair
    from notewell.memory import Memory
    from notewell.sync import Indexer

MOST_LISTED = 20
"""Findings of one kind; one more finding says how many were left out."""

FIX = "`notewell doctor --fix` does it"
DETAILS_HIDDEN = "run `notewell doctor` on the machine for the details"
"""Most findings name files of the machine, which are for its owner."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is examined: one agent, its workspace, its state and its index.

    A memory that cannot be opened can be examined too; then `memory` and `indexer` are None.
    """

    agent: str
    workspace: Path | None
    """The folder of the notes; None if they are in a database."""
    location: str
    """Where the notes are, in words; see `NoteStore.location`."""
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
            workspace=memory.notes.folder,
            location=memory.notes.location,
            state=memory.state_dir,
            store=memory.indexer.store,
            now=memory.now,
            memory=memory,
            indexer=memory.indexer,
        )

    @classmethod
    def without_memory(cls, agent: str, workspace: Path, state: Path, trouble: str) -> Subject:
        from notewell.notes import IN_DATABASE
        from notewell.stores import index_dir, store_at

        root = None if str(workspace) == IN_DATABASE else Path(os.path.realpath(workspace))
        location = IN_DATABASE if root is None else str(root)
        return cls(
            agent=agent,
            workspace=root,
            location=location,
            state=state,
            store=store_at(index_dir(state, agent, location)),
            now=lambda: datetime.now(UTC).astimezone(),
            trouble=trouble,
        )


# -- findings and remedies -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RestrictAccess:
    """Files and folders of ours that other users can read or write."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class RemoveFiles:
    """Temporary files of ours whose writers have ended."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class RepairStore:
    """What a store can repair by itself; see `StoreRepair`."""

    folder: Path
    repair: StoreRepair


@dataclass(frozen=True, slots=True)
class SyncIndex:
    """For an index that is missing, old, or behind the notes."""


@dataclass(frozen=True, slots=True)
class SetEntriesAside:
    """For damaged entries: a copy of them, and a new table with the others."""

    folder: Path


Remedy: TypeAlias = RestrictAccess | RemoveFiles | RepairStore | SetEntriesAside | SyncIndex


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    what: str
    """The part it is about, in one word: `index`, `notes`, `lease`."""
    message: str
    todo: str | None = None
    """The next step; None if there is no problem."""
    remedy: Remedy | None = None
    """What `--fix` would do about it. A finding that is no problem may have one, too."""
    public_message: str = DETAILS_HIDDEN
    """For remote readers; hidden unless the check says what they may see."""
    public_todo: str | None = None

    @classmethod
    def public(
        cls, what: str, message: str, todo: str | None = None, remedy: Remedy | None = None
    ) -> Finding:
        """A finding in our own words: it names no file and quotes no other program."""
        return cls(what, message, todo, remedy, public_message=message, public_todo=todo)

    @property
    def is_fixable(self) -> bool:
        return self.remedy is not None


SYNC = f"run `notewell index`; {FIX}"
_NEXT_STEPS: dict[StoreRepair, str] = {
    "sync": SYNC,
    "set-aside": f"set it aside and build a new one: {FIX}",
    "reset-cache": f"start a new cache: {FIX}",
    "sweep": FIX,
}


def of_store(what: str, found: StoreFinding, folder: Path) -> Finding:
    """A finding of a store, with its next step in words."""
    make = Finding.public if found.is_public else Finding
    if found.repair is None:
        return make(what, found.message, found.action)
    remedy = SyncIndex() if found.repair == "sync" else RepairStore(folder, found.repair)
    return make(what, found.message, found.action or _NEXT_STEPS[found.repair], remedy)
