"""What a page shows of our own engine. It only looks: nothing is changed, nothing is brought up.

Each question holds the reader for some milliseconds, because searches wait for it. Whoever wants
much, as all vectors for a map, gets it in pieces, and searches go in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from notewell.search import SearchOptions, meaning_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from notewell.embedders import CacheTally, Usage
    from notewell.index import Counts, ListedNote, OutlinedChunk, PlacedChunk
    from notewell.ports import Embedder, Vectors
    from notewell.sync import Indexer

VECTORS_AT_ONCE = 1000
"""1.5 MB at 384 dimensions: a search waits some milliseconds for it."""


class Placed(NamedTuple):
    """The chunks that have a vector, and what they are the vectors of."""

    generation: str
    """Opaque; another index has another one."""
    model: str
    chunks: Sequence[PlacedChunk]


class Near(NamedTuple):
    """Chunks by id with their cosine, nearest first; or the reason why there are none."""

    cosines: Mapping[int, float]
    notice: str | None


@dataclass(frozen=True, slots=True)
class Looking:
    """Handed out by `Memory.looking`. Every question raises `IndexTrouble` for a bad index."""

    indexer: Indexer
    _embedder: Callable[[], Embedder]
    _read: Callable[[str], str]

    def notes(self) -> list[ListedNote]:
        """What is indexed, by path; empty where nothing is yet."""
        with self.indexer.store.view() as view:
            return view.inventory().notes() if view else []

    def text(self, path: str) -> str:
        """The whole of a note or transcript, as it is on disk now; see `Backend.get`."""
        return self._read(path)

    def chars(self) -> dict[str, int]:
        """How much text each note has."""
        with self.indexer.store.view() as view:
            return view.inventory().chars() if view else {}

    def outline(self, path: str) -> list[OutlinedChunk]:
        with self.indexer.store.view() as view:
            return view.inventory().outline(path) if view else []

    def days(self, paths: Iterable[str]) -> dict[str, date]:
        """Of transcripts; the day of a note is in its name."""
        with self.indexer.store.view() as view:
            return view.days(paths) if view else {}

    def counts(self) -> tuple[str, Counts] | None:
        """Of which generation, and how much is in it."""
        with self.indexer.store.view() as view:
            return (view.generation, view.counts()) if view else None

    def mark(self) -> tuple[str, int, int] | None:
        """The same as long as the same chunks have vectors; cheaper than to list them."""
        with self.indexer.store.view() as view:
            if view is None:
                return None
            last = view.inventory().last_id()
            return view.generation, view.counts().embedded, last

    def placed(self) -> Placed | None:
        with self.indexer.store.view() as view:
            if view is None:
                return None
            model = view.identity().model
            return Placed(view.generation, model, view.inventory().placed())

    def vectors(
        self, ids: Sequence[int], at_once: int = VECTORS_AT_ONCE
    ) -> Iterator[tuple[list[int], Vectors]]:
        """Piece by piece; a chunk that went meanwhile is left out."""
        for start in range(0, len(ids), at_once):
            with self.indexer.store.view() as view:
                if view is None:
                    return
                piece = view.inventory().vectors(ids[start : start + at_once])
            yield piece

    def near(self, text: str, k: int, today: date) -> Near:
        """The chunks that mean something near a text."""
        look, embedder = self.indexer.store.view, self._embedder()
        asked = SearchOptions(today=today, keyword_only=self.indexer.keyword_only)
        meaning = meaning_of(look, text, embedder, asked)
        if meaning.vector is None:
            return Near({}, meaning.notice or "the settings say that words alone are searched")
        with look() as view:
            if view is None:
                return Near({}, "nothing is indexed yet")
            found = view.nearest(meaning.vector, self.indexer.sources, k)
            cosines = view.cosines(meaning.vector, found)
        return Near({one: cosines[one] for one in found if one in cosines}, None)

    # -- the embedder ----------------------------------------------------------------------------

    def usage(self) -> Usage | None:
        """What was used of a provider since the start; None for a model on this machine."""
        from notewell.embedders import usage_of

        return usage_of(self._embedder())

    def tally(self) -> CacheTally:
        """How often a vector was there already, since the start."""
        return self.indexer.tally
