"""What a page shows of our own engine. It only looks: nothing is changed, nothing is brought up.

Each question holds the reader for some milliseconds, because searches wait for it. Whoever wants
much, as all vectors for a map, gets it in pieces, and searches go in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from notewell.search import SearchSettings, meaning_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from notewell.embedders import CacheTally, Usage
    from notewell.index import Counts, ListedNote, OutlinedChunk, PlacedChunk
    from notewell.ports import Embedder, Vectors
    from notewell.sync import Keeping

VECTORS_AT_ONCE = 1000
"""1.5 MB at 384 dimensions: a search waits some milliseconds for it."""


class Placed(NamedTuple):
    """The chunks that have a vector, and what they are the vectors of."""

    generation: str
    """The name of the generation's file."""
    model: str
    chunks: Sequence[PlacedChunk]


class Near(NamedTuple):
    """Chunks by id with their cosine, nearest first; or the reason why there are none."""

    cosines: Mapping[int, float]
    notice: str | None


@dataclass(frozen=True, slots=True)
class Looking:
    """Handed out by `Memory.looking`. Every question raises `IndexTrouble` for a bad index."""

    keeping: Keeping
    _embedder: Callable[[], Embedder]
    _read: Callable[[str], str]

    def notes(self) -> list[ListedNote]:
        """What is indexed, by path; empty where nothing is yet."""
        with self.keeping.reader.snapshot() as snapshot:
            return snapshot.survey().notes() if snapshot else []

    def text(self, path: str) -> str:
        """The whole of a note or transcript, as it is on disk now; see `Backend.get`."""
        return self._read(path)

    def chars(self) -> dict[str, int]:
        """How much text each note has."""
        with self.keeping.reader.snapshot() as snapshot:
            return snapshot.survey().chars() if snapshot else {}

    def outline(self, path: str) -> list[OutlinedChunk]:
        with self.keeping.reader.snapshot() as snapshot:
            return snapshot.survey().outline(path) if snapshot else []

    def days(self, paths: Iterable[str]) -> dict[str, date]:
        """Of transcripts; the day of a note is in its name."""
        with self.keeping.reader.snapshot() as snapshot:
            return snapshot.days(paths) if snapshot else {}

    def counts(self) -> tuple[str, Counts] | None:
        """Of which generation, and how much is in it."""
        with self.keeping.reader.snapshot() as snapshot:
            return (snapshot.path.name, snapshot.counts()) if snapshot else None

    def mark(self) -> tuple[str, int, int] | None:
        """The same as long as the same chunks have vectors; cheaper than to list them."""
        with self.keeping.reader.snapshot() as snapshot:
            if snapshot is None:
                return None
            last = snapshot.survey().last_id()
            return snapshot.path.name, snapshot.counts().embedded, last

    def placed(self) -> Placed | None:
        with self.keeping.reader.snapshot() as snapshot:
            if snapshot is None:
                return None
            model = snapshot.identity().model
            return Placed(snapshot.path.name, model, snapshot.survey().placed())

    def vectors(
        self, ids: Sequence[int], at_once: int = VECTORS_AT_ONCE
    ) -> Iterator[tuple[list[int], Vectors]]:
        """Piece by piece; a chunk that went meanwhile is left out."""
        for start in range(0, len(ids), at_once):
            with self.keeping.reader.snapshot() as snapshot:
                if snapshot is None:
                    return
                piece = snapshot.survey().vectors(ids[start : start + at_once])
            yield piece

    def near(self, text: str, k: int, today: date) -> Near:
        """The chunks that mean something near a text."""
        look, embedder = self.keeping.reader.snapshot, self._embedder()
        asked = SearchSettings(today, keyword_only=self.keeping.keyword_only)
        meaning = meaning_of(look, text, embedder, asked)
        if meaning.vector is None:
            return Near({}, meaning.notice or "the settings say that words alone are searched")
        with look() as snapshot:
            if snapshot is None:
                return Near({}, "nothing is indexed yet")
            found = snapshot.nearest(meaning.vector, self.keeping.sources, k)
            cosines = snapshot.cosines(meaning.vector, found)
        return Near({one: cosines[one] for one in found if one in cosines}, None)

    # -- the embedder ----------------------------------------------------------------------------

    def usage(self) -> Usage | None:
        """What was used of a provider since the start; None for a model on this machine."""
        from notewell.embedders import usage_of

        return usage_of(self._embedder())

    def tally(self) -> CacheTally:
        """How often a vector was there already, since the start."""
        return self.keeping.tally
