"""START HERE: the entries of one agent. A store belongs to one owner and cannot read another's.

    store ──▶ redact ──▶ embed ──▶ (locked) is there a duplicate? ──▶ add
    recall ──▶ embed ──▶ nearest in the model's table ─────┐
                  └────▶ words, for what it cannot read ────┴──▶ ranked

A change of the embedder loses nothing: entries in another model's table are found by words. Each
call embeds some of them again and moves them to the new model's table.
"""

from __future__ import annotations

import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from notewell.core import text_query, vector_score
from notewell.entries.durability import WAIT_S, writer_lock
from notewell.entries.entry import (
    IMPORTANCE,
    EntriesBusy,
    MemoryEntry,
    clean_text,
    valid_category,
    valid_id,
    valid_importance,
    valid_owner,
)
from notewell.entries.filters import contains, equals, is_in, owned_by
from notewell.entries.health import set_damaged_aside
from notewell.entries.ranking import (
    CANDIDATES,
    LIMIT,
    MAX_LIMIT,
    MIN_SCORE,
    SAME_COSINE,
    Forgotten,
    Recall,
    Recalled,
    adds_nothing,
    clearly_meant,
    ranked,
    word_score,
)
from notewell.entries.rows import content_of, entry_row, row_entry
from notewell.entries.table import Tables, table_name
from notewell.errors import BadRequest, EmbedderTrouble
from notewell.limits import MAX_QUERY_CHARS
from notewell.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from lancedb.expr import Expr

    from notewell.ports import Embedder, Vectors

MOVED_PER_CALL = 200
"""After a change of the embedder a call embeds so many old entries before it answers: a second or
two with the embedded model."""
MAX_IDENTIFIERS = 8
"""Each is one more condition for every row; a query with more of them is a list."""
NEIGHBOURS = 8
"""How many are compared to find a duplicate."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The entry that has the statement now."""

    entry: MemoryEntry
    added: bool
    """False if it existed already, in the same or nearly the same words."""


@dataclass(frozen=True, slots=True)
class ImportCounts:
    added: int
    there: int
    """Entries whose ids existed already: they stay as they are."""
    differing: int
    """How many of those are different in the file."""


class EntryStore:
    """The entries of one agent."""

    def __init__(
        self,
        folder: Path,
        owner: str,
        embedder: Embedder,
        *,
        redact: Callable[[str], str],
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
        wait_s: float = WAIT_S,
    ) -> None:
        """`redact` is applied to every text before it is embedded or written."""
        self.owner = valid_owner(owner)
        self._folder = folder
        self._tables = Tables(folder)
        self._embedder = embedder
        self._redact = redact
        self._now_ms = now_ms
        self._new_id = new_id
        self._wait_s = wait_s

    # -- storing ---------------------------------------------------------------------------------

    def store(
        self, text: str, *, importance: float = IMPORTANCE, category: str = "other"
    ) -> Stored:
        """Remember a statement; a duplicate is not added, and the existing entry is returned."""
        entry = MemoryEntry(
            self._new_id(),
            self._redact(clean_text(text)),
            valid_importance(importance),
            valid_category(category),
            self._now_ms(),
            self.owner,
        )
        # Embedded before the lock is taken: a remote embedder may take seconds.
        vector = self._vectors([entry.text])[0]
        with self._locked():
            duplicate = self._duplicate(entry.text, vector)
            if duplicate is not None:
                return Stored(duplicate, added=False)
            return Stored(self._add([entry], vector.reshape(1, -1))[0], added=True)

    def import_entries(self, entries: Sequence[MemoryEntry]) -> ImportCounts:
        """Add entries of an export. They keep their ids and get this agent as their owner."""
        self.set_damaged_aside()
        # Read once without the lock; each batch checks the ids again under it.
        there = {entry.id: entry for entry in self.entries()}
        new = {entry.id: self._own(entry) for entry in entries if entry.id not in there}
        batches = _batches(list(new.values()), self._embedder.texts_at_once)
        added = sum(self._import_batch(batch) for batch in batches)
        existing = [entry for entry in entries if entry.id in there]
        differing = sum(
            content_of(self._own(entry)) != content_of(there[entry.id]) for entry in existing
        )
        return ImportCounts(added, len(entries) - added, differing)

    def _own(self, entry: MemoryEntry) -> MemoryEntry:
        return replace(
            entry,
            id=valid_id(entry.id),
            text=self._redact(clean_text(entry.text)),
            importance=valid_importance(entry.importance),
            category=valid_category(entry.category),
            owner=self.owner,
            model="",  # The file says which model it had; it is embedded again here.
        )

    def _import_batch(self, batch: Sequence[MemoryEntry]) -> int:
        vectors = self._vectors([entry.text for entry in batch])
        with self._locked():
            # Read again under the lock: another process may have imported the same file.
            there = {entry.id for entry in self.entries()}
            new = [number for number, entry in enumerate(batch) if entry.id not in there]
            if new:
                self._add([batch[number] for number in new], vectors[new])
        return len(new)

    def _duplicate(self, text: str, vector: Vectors) -> MemoryEntry | None:
        # The same text in any table is a duplicate, also with a vector of another model.
        for name in self._tables.names():
            rows = self._tables.rows(name, self._mine() & equals("text", text))
            if rows:
                return row_entry(rows[0])
        name = table_name(self._model(len(vector)))
        # The vector of a text that the model cannot read says nothing about its meaning.
        if name not in self._tables.names() or not self._embedder.facts.reads(text):
            return None
        near = self._tables.nearest(
            name, vector, self._mine() & equals("by_words", value=False), NEIGHBOURS
        )
        for row, cosine in near:
            # Both: "I like tea" and "I do not like tea" are near to each other for a model.
            if cosine >= SAME_COSINE and adds_nothing(text, row["text"]):
                return row_entry(row)
        return None

    def _add(self, entries: Sequence[MemoryEntry], vectors: Vectors) -> list[MemoryEntry]:
        model = self._model(vectors.shape[1])
        embedded = [replace(entry, model=model) for entry in entries]
        reads = self._embedder.facts.reads
        rows = [entry_row(entry, by_words=not reads(entry.text)) for entry in embedded]
        self._tables.add(table_name(model), rows, vectors)
        # Every call adds a small fragment, and many fragments make queries slower.
        self._tables.tidy(table_name(model))
        return embedded

    # -- recalling -------------------------------------------------------------------------------

    def recall(self, query: str, *, limit: int = LIMIT, min_score: float = MIN_SCORE) -> Recall:
        """The entries that answer, best first."""
        # Lone surrogates would make the embedder and LanceDB fail.
        query = query.encode(errors="replace").decode()
        if not query.strip() or len(query) > MAX_QUERY_CHARS:
            raise BadRequest(f"the query must have 1 to {MAX_QUERY_CHARS} characters")
        if not 1 <= limit <= MAX_LIMIT:
            raise BadRequest(f"the limit must be from 1 to {MAX_LIMIT}, not {limit}")
        # Before the embedder: a first recall should not load a model for an empty store.
        if not self._tables.names():
            return Recall(())
        try:
            vector = self._embedder.embed([query], "query")[0]
        except EmbedderTrouble as trouble:
            results = ranked(self._by_words(query), limit=limit, min_score=min_score)
            text = f"{self._also_damaged()}searched by words alone"
            return Recall(
                results,
                notice=f"{text}: {trouble}",
                public_notice=f"{text}: {trouble.public_text()}",
            )
        current = table_name(self._model(len(vector)))
        # Moved by recalls, in parts: a change of the embedder never makes one call wait for all.
        self._move_some(current)
        scored = [
            *self._by_words(query, current),
            *self._by_meaning(query, vector, current, limit),
        ]
        return Recall(
            ranked(scored, limit=limit, min_score=min_score),
            self._waiting(current),
            notice=self.damage,
            public_notice=self.damage,
        )

    @property
    def damage(self) -> str | None:
        """What the last call has left out, because it is not as it was written; None: nothing."""
        number = sum(self._tables.damage.values())
        are = "entry is" if number == 1 else "entries are"
        return (
            f"{number} {are} damaged and not shown: `notewell doctor` says which"
            if number
            else None
        )

    def _also_damaged(self) -> str:
        return f"{self.damage}; " if self.damage else ""

    def _by_meaning(self, query: str, vector: Vectors, current: str, limit: int) -> list[Recalled]:
        facts = self._embedder.facts
        if current not in self._tables.names() or not facts.reads(query):
            return []
        where = self._mine() & equals("by_words", value=False)
        near = self._tables.nearest(current, vector, where, limit)
        return [Recalled(row_entry(row), vector_score(cosine, facts)) for row, cosine in near]

    def _by_words(self, query: str, current: str = "") -> list[Recalled]:
        """What the model cannot compare: texts or queries in a language it does not know, vectors
        of another model, and identifiers (a828e60), which have no meaning for it."""
        results = []
        for name in self._tables.names():
            if name == current and self._embedder.facts.reads(query):
                no_vector = equals("by_words", value=True)
                for identifier in sorted(text_query(query).identifiers)[:MAX_IDENTIFIERS]:
                    no_vector |= contains("text", identifier)
                where = self._mine() & no_vector
            else:
                where = self._mine()
            for row in self._tables.rows(name, where):
                score = word_score(query, row["text"])
                if score > 0:
                    results.append(Recalled(row_entry(row), score, by_words=True))
        return results

    def entries(self) -> list[MemoryEntry]:
        """Every entry, the oldest first."""
        # By id: an interrupted move leaves an entry in two tables.
        by_id = {
            row["id"]: row_entry(row)
            for name in self._tables.names()
            for row in self._tables.rows(name, self._mine())
        }
        return sorted(by_id.values(), key=lambda entry: (entry.created_at_ms, entry.id))

    def count(self) -> int:
        """Damaged entries count, too."""
        return len({id_ for name in self._tables.names() for id_ in self._ids(name)})

    # -- forgetting ------------------------------------------------------------------------------

    def forget(self, id_: str) -> Forgotten:
        """Delete one entry by its id, also from the disk; a missing one is not an error."""
        id_ = valid_id(id_)
        # Without a folder there is nothing to delete, and `writer_lock` would make it.
        if not self._folder.is_dir():
            return Forgotten()
        with self._locked():
            deleted = None
            for name in self._tables.names():
                where = self._mine() & equals("id", id_)
                for row in self._tables.rows(name, where, damaged_too=True):
                    self._tables.delete(name, where)
                    deleted = row_entry(row)
            if deleted is None:
                # Perhaps it was deleted by a process that was killed before the text was gone.
                self._tables.sweep()
        return Forgotten(deleted)

    def forget_by(self, query: str) -> Forgotten:
        """Delete the entry that is clearly meant; else delete nothing and return candidates."""
        # Several, to see whether the best one is clearly ahead of the second.
        results = self.recall(query, limit=CANDIDATES).results
        meant = clearly_meant(query, results)
        return self.forget(meant.id) if meant else Forgotten(None, results)

    # -- damage ----------------------------------------------------------------------------------

    def set_damaged_aside(self) -> list[Path]:
        """Go on with the sound entries of every agent, so that an export can be imported again.
        Returns the copies of the damaged tables."""
        return set_damaged_aside(self._folder, wait_s=self._wait_s)

    # -- after a change of the embedder ----------------------------------------------------------

    def _waiting(self, current: str) -> int:
        names = [name for name in self._tables.names() if name != current]
        return sum(len(self._ids(name)) for name in names)

    def _move_some(self, current: str) -> None:
        """Embed some entries that have vectors of another model, and move them."""
        left = MOVED_PER_CALL
        for name in self._tables.names():
            if name == current or left <= 0:
                continue
            rows = self._tables.rows(name, self._mine())[:left]
            left -= len(rows)
            for batch in _batches(rows, self._embedder.texts_at_once):
                try:
                    self._move(name, [row_entry(row) for row in batch])
                except (EntriesBusy, EmbedderTrouble):
                    return  # Another process writes, or the embedder is late: a later call moves.

    def _move(self, name: str, batch: Sequence[MemoryEntry]) -> None:
        vectors = self._vectors([entry.text for entry in batch])
        current = table_name(self._model(vectors.shape[1]))
        # No wait: a recall must not be slowed down by a writer.
        with self._locked(wait_s=0):
            # Embedding took time: another process may have moved or deleted entries meanwhile.
            still = self._ids(name)
            there = self._ids(current)
            new = [
                number
                for number, entry in enumerate(batch)
                if entry.id in still and entry.id not in there
            ]
            # Added first, then deleted: a kill between the two leaves a copy and loses nothing.
            if new:
                self._add([batch[number] for number in new], vectors[new])
            moved = [entry.id for entry in batch if entry.id in still]
            if moved:
                self._tables.delete(name, self._mine() & is_in("id", moved))

    def _ids(self, name: str) -> set[str]:
        if name not in self._tables.names():
            return set()
        return self._tables.ids(name, self._mine())

    def _mine(self) -> Expr:
        return owned_by(self.owner)

    def _model(self, dims: int) -> str:
        facts = self._embedder.facts
        # With the length: the same model can give vectors of several lengths.
        return f"{facts.provider}/{facts.model}/{dims}"

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed(texts, "document")

    @contextmanager
    def _locked(self, wait_s: float | None = None) -> Iterator[None]:
        with writer_lock(self._folder, wait_s=self._wait_s if wait_s is None else wait_s):
            self._tables.recover()
            yield


def _batches(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [items[start : start + size] for start in range(0, len(items), max(1, size))]
