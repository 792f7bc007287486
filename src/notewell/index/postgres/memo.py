"""What a reader has read of the state of an index that it sees: valid until somebody commits.

In a memory of a hundred chunks a search asks for most of them, and the next search for the same:
they are read at once. All memories of a process together keep a bounded number of such states.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from notewell.records import dataclass, field

if TYPE_CHECKING:
    from notewell.index.postgres.text_reader import TextIndex
    from notewell.index.records import IndexedNote, StoredChunk
    from notewell.ports import WindowedVector

KEPT_STATES = 64
"""A state of a small memory takes about a megabyte; a service may have thousands of agents."""
KEPT_CHUNKS = 1024
"""Of a large memory."""


@dataclass(slots=True)
class StateMemo:
    """What was read of one state."""

    chunks: dict[int, StoredChunk] = field(default_factory=dict)
    has_all_chunks: bool = False
    vectors: dict[int, WindowedVector | None] = field(default_factory=dict)
    """None for a chunk that has no vector."""
    has_all_vectors: bool = False
    notes: dict[str, dict[str, IndexedNote]] = field(default_factory=dict)
    """By source."""
    text: TextIndex | None = None

    def is_too_large(self) -> bool:
        return max(len(self.chunks), len(self.vectors)) > KEPT_CHUNKS


class MemoShelf:
    """The states that were read last, by the key of their store."""

    def __init__(self, states: int = KEPT_STATES) -> None:
        self._states = states
        self._memos: OrderedDict[object, tuple[object, StateMemo]] = OrderedDict()
        self._lock = threading.Lock()

    def memo(self, store: object, state: object) -> StateMemo:
        """What is known of this state of a store; of an older state nothing is kept."""
        with self._lock:
            known = self._memos.get(store)
            if known is None or known[0] != state or known[1].is_too_large():
                known = (state, StateMemo())
            self._memos[store] = known
            self._memos.move_to_end(store)
            while len(self._memos) > self._states:
                self._memos.popitem(last=False)
            return known[1]
