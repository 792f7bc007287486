"""START HERE: the entries of one agent. Made for one owner; there is no way to ask for another's.

    store ──▶ redact ──▶ embed ──▶ (alone) is it there already? ──▶ add
    recall ──▶ embed ──▶ nearest in the model's table ─┐
                  └────▶ words, for what it cannot read ┴──▶ ranked

A change of the embedder loses nothing: entries in another model's table are found by words until
they are embedded anew, some with every call, and then move to the new model's table.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from notewell.core import text_query, vector_score
from notewell.entries.dedup import SAME_COSINE, is_told_by, word_score
from notewell.entries.entry import (
    IMPORTANCE,
    MemoryEntry,
    clean_text,
    valid_category,
    valid_id,
    valid_importance,
    valid_owner,
)
from notewell.entries.errors import EntriesBusy
from notewell.entries.lock import WAIT_S, alone
from notewell.entries.ranking import (
    CANDIDATES,
    LIMIT,
    MAX_LIMIT,
    MIN_SCORE,
    Forgotten,
    Recall,
    Recalled,
    clearly_meant,
    ranked,
)
from notewell.entries.table import Tables, having, holding, one_of, owned_by, table_name
from notewell.errors import BadRequest, EmbedderTrouble
from notewell.limits import MAX_QUERY_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lancedb.expr import Expr

    from notewell.ports import Embedder, Vectors

ADOPTED_AT_ONCE = 200
"""After a change of the embedder a call embeds so many old entries anew before it answers: a
second or two with the embedded model."""
MAX_IDENTIFIERS = 8
"""A question about more is a list; each is one condition more for every row."""
NEAR = 8
"""How many neighbours are looked at for a duplicate."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The entry that holds the statement now."""

    entry: MemoryEntry
    added: bool
    """False when it was there already, in these words or nearly."""


@dataclass(frozen=True, slots=True)
class Imported:
    added: int
    there: int
    """Entries whose ids were there already: they stay as they are."""
    differing: int
    """How many of those say something else in the file."""


class EntryStore:
    """What one agent has stored."""

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
        """`redact` sees every text before it is embedded or written."""
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
        """Remember a statement; one that is there already is returned instead."""
        entry = MemoryEntry(
            self._new_id(),
            self._redact(clean_text(text)),
            valid_importance(importance),
            valid_category(category),
            self._now_ms(),
            self.owner,
        )
        vector = self._vectors([entry.text])[0]
        with self._alone():
            same = self._same(entry.text, vector)
            if same is not None:
                return Stored(same, added=False)
            return Stored(self._add([entry], vector.reshape(1, -1))[0], added=True)

    def take_in(self, entries: Sequence[MemoryEntry]) -> Imported:
        """Entries from elsewhere, under their own ids but as this agent's; each once."""
        there = {entry.id: entry for entry in self.entries()}
        new = {one.id: self._own(one) for one in entries if one.id not in there}
        batches = _batches(list(new.values()), self._embedder.texts_at_once)
        added = sum(self._take_in(batch) for batch in batches)
        known = [one for one in entries if one.id in there]
        differing = sum(_said(self._own(one)) != _said(there[one.id]) for one in known)
        return Imported(added, len(entries) - added, differing)

    def _own(self, entry: MemoryEntry) -> MemoryEntry:
        return replace(
            entry,
            id=valid_id(entry.id),
            text=self._redact(clean_text(entry.text)),
            importance=valid_importance(entry.importance),
            category=valid_category(entry.category),
            owner=self.owner,
            model="",
        )

    def _take_in(self, batch: Sequence[MemoryEntry]) -> int:
        vectors = self._vectors([entry.text for entry in batch])
        with self._alone():
            there = {entry.id for entry in self.entries()}
            new = [number for number, entry in enumerate(batch) if entry.id not in there]
            if new:
                self._add([batch[number] for number in new], vectors[new])
        return len(new)

    def _same(self, text: str, vector: Vectors) -> MemoryEntry | None:
        for name in self._tables.names():
            rows = self._tables.rows(name, self._mine() & having("text", text))
            if rows:
                return _entry(rows[0])
        name = table_name(self._model(len(vector)))
        if name not in self._tables.names() or not self._embedder.facts.reads(text):
            return None
        near = self._tables.nearest(
            name, vector, self._mine() & having("by_words", value=False), NEAR
        )
        for row, cosine in near:
            if cosine >= SAME_COSINE and is_told_by(text, row["text"]):
                return _entry(row)
        return None

    def _add(self, entries: Sequence[MemoryEntry], vectors: Vectors) -> list[MemoryEntry]:
        model = self._model(vectors.shape[1])
        made = [replace(entry, model=model) for entry in entries]
        reads = self._embedder.facts.reads
        rows = [_row(entry, by_words=not reads(entry.text)) for entry in made]
        self._tables.add(table_name(model), rows, vectors)
        self._tables.tidy(table_name(model))
        return made

    # -- asking ----------------------------------------------------------------------------------

    def recall(self, query: str, *, limit: int = LIMIT, min_score: float = MIN_SCORE) -> Recall:
        """The entries that answer, best first."""
        query = query.encode(errors="replace").decode()
        if not query.strip() or len(query) > MAX_QUERY_CHARS:
            raise BadRequest(f"the query must have 1 to {MAX_QUERY_CHARS} characters")
        if not 1 <= limit <= MAX_LIMIT:
            raise BadRequest(f"the limit must be from 1 to {MAX_LIMIT}, not {limit}")
        if not self._tables.names():
            return Recall(())
        try:
            vector = self._embedder.embed([query], "query")[0]
        except EmbedderTrouble as trouble:
            found = ranked(self._by_words(query), limit=limit, min_score=min_score)
            return Recall(found, notice=f"searched by words alone: {trouble}")
        mine = table_name(self._model(len(vector)))
        self._adopt(mine)
        scored = [*self._by_words(query, mine), *self._by_meaning(query, vector, mine, limit)]
        return Recall(ranked(scored, limit=limit, min_score=min_score), self._waiting(mine))

    def _by_meaning(self, query: str, vector: Vectors, mine: str, limit: int) -> list[Recalled]:
        facts = self._embedder.facts
        if mine not in self._tables.names() or not facts.reads(query):
            return []
        where = self._mine() & having("by_words", value=False)
        near = self._tables.nearest(mine, vector, where, limit)
        return [Recalled(_entry(row), vector_score(cosine, facts)) for row, cosine in near]

    def _by_words(self, query: str, mine: str = "") -> list[Recalled]:
        """What the model cannot judge: texts or questions it does not read, old vectors, and
        names that somebody made up (a828e60), which mean nothing to it."""
        found = []
        for name in self._tables.names():
            if name == mine and self._embedder.facts.reads(query):
                unjudged = having("by_words", value=True)
                for told in sorted(text_query(query).identifiers)[:MAX_IDENTIFIERS]:
                    unjudged |= holding("text", told)
                where = self._mine() & unjudged
            else:
                where = self._mine()
            for row in self._tables.rows(name, where):
                score = word_score(query, row["text"])
                if score > 0:
                    found.append(Recalled(_entry(row), score, by_words=True))
        return found

    def entries(self) -> list[MemoryEntry]:
        """Every entry, the oldest first."""
        found = {
            row["id"]: _entry(row)
            for name in self._tables.names()
            for row in self._tables.rows(name, self._mine())
        }
        return sorted(found.values(), key=lambda entry: (entry.created_at_ms, entry.id))

    def count(self) -> int:
        names = self._tables.names()
        rows = [row for name in names for row in self._tables.rows(name, self._mine(), ["id"])]
        return len({row["id"] for row in rows})

    # -- forgetting ------------------------------------------------------------------------------

    def forget(self, id_: str) -> Forgotten:
        """Delete one entry by its id, from the disk too; one that is not there is no error."""
        id_ = valid_id(id_)
        if not self._tables.names():
            return Forgotten()
        with self._alone():
            gone = None
            for name in self._tables.names():
                where = self._mine() & having("id", id_)
                for row in self._tables.rows(name, where):
                    self._tables.delete(name, where)
                    gone = _entry(row)
        return Forgotten(gone)

    def forget_by(self, query: str) -> Forgotten:
        """Delete the entry that is clearly meant; else tell which could be, and delete nothing."""
        found = self.recall(query, limit=CANDIDATES).found
        meant = clearly_meant(query, found)
        return self.forget(meant.id) if meant else Forgotten(None, found)

    # -- after a change of the embedder ----------------------------------------------------------

    def _waiting(self, mine: str) -> int:
        names = [name for name in self._tables.names() if name != mine]
        return sum(len(self._tables.rows(name, self._mine(), ["id"])) for name in names)

    def _adopt(self, mine: str) -> None:
        """Embed some entries that have another model's vectors, and move them."""
        left = ADOPTED_AT_ONCE
        for name in self._tables.names():
            if name == mine or left <= 0:
                continue
            rows = self._tables.rows(name, self._mine())[:left]
            left -= len(rows)
            for batch in _batches(rows, self._embedder.texts_at_once):
                try:
                    self._move(name, [_entry(row) for row in batch])
                except EntriesBusy:
                    return  # Somebody is writing: the question is answered, the rest can wait.

    def _move(self, name: str, batch: Sequence[MemoryEntry]) -> None:
        """Added first, then deleted: killed between the two it is in both, and is listed once."""
        vectors = self._vectors([entry.text for entry in batch])
        mine = table_name(self._model(vectors.shape[1]))
        with alone(self._folder, wait_s=0):
            still = self._ids(name)
            there = self._ids(mine)
            new = [
                number
                for number, entry in enumerate(batch)
                if entry.id in still and entry.id not in there
            ]
            if new:
                self._add([batch[number] for number in new], vectors[new])
            moved = [entry.id for entry in batch if entry.id in still]
            if moved:
                self._tables.delete(name, self._mine() & one_of("id", moved))

    def _ids(self, name: str) -> set[str]:
        if name not in self._tables.names():
            return set()
        return {row["id"] for row in self._tables.rows(name, self._mine(), ["id"])}

    # -- parts -----------------------------------------------------------------------------------

    def _mine(self) -> Expr:
        return owned_by(self.owner)

    def _model(self, dims: int) -> str:
        facts = self._embedder.facts
        return f"{facts.provider}/{facts.model}/{dims}"

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed(texts, "document")

    def _alone(self) -> Any:
        return alone(self._folder, wait_s=self._wait_s)


def _batches(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [items[start : start + size] for start in range(0, len(items), max(1, size))]


def _said(entry: MemoryEntry) -> tuple[object, ...]:
    return (entry.text, entry.importance, entry.category, entry.created_at_ms)


def _row(entry: MemoryEntry, *, by_words: bool) -> dict[str, Any]:
    return {
        "id": entry.id,
        "owner": entry.owner,
        "text": entry.text,
        "importance": entry.importance,
        "category": entry.category,
        "created_at_ms": entry.created_at_ms,
        "model": entry.model,
        "by_words": by_words,
    }


def _entry(row: dict[str, Any]) -> MemoryEntry:
    return MemoryEntry(**{name: value for name, value in row.items() if name != "by_words"})
