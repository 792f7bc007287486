"""Comparing every row of an index with every other, for `notewell verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from notewell.core import chunk_words, has_windows, index_words, split_text, without_markers
from notewell.index.postgres.postings import (
    FIELD_SHIFT,
    LAST_POSITION,
    SLOT_SHIFT,
    SLOTS,
    bucket_of,
    unpack_slots,
    unpack_words,
)
from notewell.index.records import EMBEDDED, UNREAD, WAITING
from notewell.records import dataclass
from notewell.types import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from notewell.index.findings import StepCallback, StoreAudit
    from notewell.index.ports import IndexView
    from notewell.index.postgres.view import PostgresView
    from notewell.index.records import StoredChunk
    from notewell.ports import WindowedVector

    Words: TypeAlias = "dict[int, set[tuple[str, int, int]]]"

LENGTH_TOLERANCE = 1e-3
"""Vectors are stored with length 1, in 32 bits a number."""
VECTORS_AT_ONCE = 500
"""1.6 MB with windows, at 384 dimensions."""
FORCE = "run `notewell index --force`"


@dataclass(frozen=True, slots=True)
class PostgresAudit:
    """One run over the view of a moment; see `IndexStore.verify`."""

    view: PostgresView
    audit: StoreAudit
    step: StepCallback

    def run(self, compare: Callable[[IndexView], None]) -> None:
        view, audit = self.view, self.audit
        audit.generation = view.generation
        with audit.part("index", view.generation):
            compare(view)
        states = view.states()
        chunks = view.chunks(states)
        self._count(list(states.values()))
        notes = view.notes()
        for chunk in chunks.values():
            if chunk.path not in notes:
                audit.differs("chunk", _place(chunk), "a chunk of an unknown note")
        with audit.part("chunk", view.generation):
            self._compare_words(chunks)
        self._compare_vectors(states, chunks)
        if wrong := view.wrong_halves():
            text = f"{counted(wrong, 'vector')} in half precision: not the exact ones: {FORCE}"
            audit.differs("vector", view.generation, text)

    def _count(self, states: list[int]) -> None:
        audit = self.audit
        audit.chunks, audit.embedded = len(states), states.count(EMBEDDED)
        audit.waiting, audit.unread = states.count(WAITING), states.count(UNREAD)
        counts = self.view.counts()
        stored = (counts.chunks, counts.embedded, counts.waiting)
        if stored != (audit.chunks, audit.embedded, audit.waiting):
            audit.differs("index", self.view.generation, f"its counts are wrong: {FORCE}")

    def _compare_words(self, chunks: dict[int, StoredChunk]) -> None:
        stored = self._stored_words()
        for number, (one, chunk) in enumerate(chunks.items(), 1):
            if stored.pop(one, set()) != _words_of(chunk):
                self.audit.differs("chunk", _place(chunk), f"its words are not its text: {FORCE}")
            self.step("words", number, len(chunks))
        for one in stored:
            where = f"{self.view.generation}, chunk {one}"
            self.audit.differs("chunk", where, f"words without a chunk: {FORCE}")

    def _stored_words(self) -> Words:
        rows = self.view.all_postings()
        slots = {block: unpack_slots(data) for block, bucket, data in rows if bucket == SLOTS}
        words: Words = {int(one): set() for table in slots.values() for one in table["id"] if one}
        for block, bucket, data in rows:
            if bucket == SLOTS:
                continue
            for word, places in unpack_words(data).items():
                # A word in the wrong bucket is never found.
                known = word if bucket_of(word) == bucket else f"{word} in bucket {bucket}"
                for place in places.tolist():
                    one = int(slots[block]["id"][place >> SLOT_SHIFT])
                    if one:
                        field, position = (place >> FIELD_SHIFT) & 3, place & LAST_POSITION
                        words[one].add((known, field, position))
        return words

    def _compare_vectors(self, states: dict[int, int], chunks: dict[int, StoredChunk]) -> None:
        dims, ids = self.view.identity().dims, list(states)
        stored: dict[int, WindowedVector] = {}
        for number, (one, state) in enumerate(states.items(), 1):
            if number % VECTORS_AT_ONCE == 1:
                stored = self.view.stored_vectors(ids[number - 1 : number - 1 + VECTORS_AT_ONCE])
            vector = stored.get(one)
            place = _place(chunks[one])
            if (vector is not None) != (state == EMBEDDED):
                self.audit.differs("vector", place, f"its vector and its mark differ: {FORCE}")
            elif vector is not None:
                length = float(np.sqrt(np.square(vector.vector, dtype=np.float64).sum()))
                if vector.vector.size != dims or abs(length - 1) > LENGTH_TOLERANCE:
                    self.audit.differs("vector", place, f"its vector is damaged: {FORCE}")
                windows = len(split_text(chunks[one].heading, chunks[one].text).windows)
                if vector.windows and not has_windows(vector.windows, windows, dims):
                    self.audit.differs("vector", place, f"its windows are damaged: {FORCE}")
            self.step("vectors", number, len(states))


def _words_of(chunk: StoredChunk) -> set[tuple[str, int, int]]:
    words = chunk_words(without_markers(chunk.text), chunk.heading)
    fields = (words.body, words.heading, index_words(chunk.path))
    return {
        (token, field, min(position, LAST_POSITION))
        for field, text in enumerate(fields)
        for position, token in enumerate(text.split())
    }


def _place(chunk: StoredChunk) -> str:
    return f"{chunk.path}:{chunk.span.start_line}"
