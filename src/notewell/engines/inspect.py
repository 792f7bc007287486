"""Read-only queries about the built-in index, for the web page, `--why` and the diagnosis.

Nothing here changes the index; only `compare` syncs first, as a search does. Each query holds a
view for some milliseconds only, because searches wait for it; large results, such as all vectors
for a map, come in pieces, and searches run in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from notewell.engines.protocol import with_sync_notice
from notewell.errors import NotANote
from notewell.records import dataclass, replace
from notewell.search import Question, check_question, search, why_absent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from notewell.core import Filters
    from notewell.embedders import CacheTally, Usage
    from notewell.engines.builtin import BuiltinEngine
    from notewell.engines.status import Probe
    from notewell.index import Counts, IndexStore, ListedNote, OutlinedChunk, PlacedChunk
    from notewell.ports import Vectors
    from notewell.sessions import TranscriptSource
    from notewell.types import Answer, Scan

VECTORS_AT_ONCE = 1000
"""1.5 MB at 384 dimensions: a search waits only milliseconds for it."""


class Placed(NamedTuple):
    """The chunks that have a vector, and which model made the vectors."""

    generation: str
    """Opaque; another index has another one."""
    model: str
    chunks: Sequence[PlacedChunk]


class Near(NamedTuple):
    """Chunks by id with their cosine, nearest first; or the reason why there are none."""

    cosines: Mapping[int, float]
    notice: str | None
    """Names no folder: the web page shows it to every reader."""


@dataclass(frozen=True, slots=True)
class IndexInspector:
    """`Memory.inspect`. Every query raises `IndexTrouble` if the index cannot be read."""

    _engine: BuiltinEngine

    @property
    def store(self) -> IndexStore:
        return self._engine.indexer.store

    @property
    def transcripts(self) -> TranscriptSource | None:
        """None: the settings leave transcripts out."""
        return self._engine.indexer.transcripts

    # -- files on disk ---------------------------------------------------------------------------

    def scans(self) -> dict[str, Scan]:
        """The notes and transcripts that are there now, by source."""
        # Compared with no index: this must work while there is none, or a damaged one.
        return self._engine.indexer.scans({})

    def paths(self) -> list[str]:
        """Every note and transcript that is there now, by the path that `Memory.get` takes."""
        return sorted(path for scan in self.scans().values() for path in scan.notes)

    def text(self, path: str) -> str:
        """The whole text of a note or transcript, as it is on disk now."""
        return self._engine.get(path)

    # -- questions -------------------------------------------------------------------------------

    def compare(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """Answers to one text with several rankings. The text is synced for and embedded once, so
        that a comparison costs little more than a search."""
        # All questions have the same text; only their rankings differ.
        first = questions[0]
        if first.filters is None:
            check_question(first.text)
        notice = self._engine.sync_before_search(first)
        context = self._engine.prepare(first)
        # One view for each ranking, closed before the answer is handed out: other searches run in
        # between.
        for question in questions:
            with self.store.view() as view:
                options = self._engine.options(question)
                answer = search(view, replace(context, options=options), self._engine.reranker)
            yield with_sync_notice(answer, notice)

    def why_absent(
        self,
        question: str,
        path: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Literal["hybrid", "keyword"] = "hybrid",
        folder: str | None = None,
        filters: Filters | None = None,
    ) -> str:
        """Why a note is not among the hits of a question, or which hit it is."""
        request = Question.of(question, max_results, min_score, mode, folder, filters=filters)
        path = path.removeprefix("./")
        context = self._engine.prepare(request)
        with self.store.view() as view:
            if view is not None and path in view.notes():
                return why_absent(view, context, path, self._engine.reranker)
        return self._why_not_indexed(path)

    def _why_not_indexed(self, path: str) -> str:
        scan = self._engine.indexer.notes.scan()
        if path in scan.notes:
            return f"{path} is not indexed yet: run `notewell index`"
        for file in (*scan.ignored, *scan.unreadable):
            if file.path == path:
                return f"{path} is left out: {file.why}"
        raise NotANote(path)

    def near(self, text: str, k: int) -> Near:
        """The chunks whose vectors are nearest to a text."""
        context = self._engine.prepare(Question(text))
        if context.vector is None:
            if context.notice is None:
                return Near({}, "the settings say that words alone are searched")
            return Near({}, context.notice.public)
        with self.store.view() as view:
            if view is None:
                return Near({}, "nothing is indexed yet")
            ids = view.nearest(context.vector, self._engine.indexer.sources, k)
            cosines = view.cosines(context.vector, ids)
        return Near({chunk_id: cosines[chunk_id] for chunk_id in ids if chunk_id in cosines}, None)

    # -- the index -------------------------------------------------------------------------------

    def notes(self) -> list[ListedNote]:
        """The indexed notes by path; empty if there is no index."""
        with self.store.view() as view:
            return view.inventory().notes() if view else []

    def chars(self) -> dict[str, int]:
        """How many characters each note has."""
        with self.store.view() as view:
            return view.inventory().chars() if view else {}

    def outline(self, path: str) -> list[OutlinedChunk]:
        with self.store.view() as view:
            return view.inventory().outline(path) if view else []

    def openings(self, paths: Iterable[str], chars: int) -> dict[str, str]:
        """The first characters of each, as it was indexed; empty for one that is not."""
        with self.store.view() as view:
            inventory = view.inventory() if view else None
            return {path: inventory.opening(path, chars) if inventory else "" for path in paths}

    def days(self, paths: Iterable[str]) -> dict[str, date]:
        """The days of transcripts; a note has its day in its name."""
        with self.store.view() as view:
            sessions = view.sessions(paths) if view else {}
        return {path: facts.day for path, facts in sessions.items() if facts.day is not None}

    def counts(self) -> tuple[str, Counts] | None:
        """The generation, and how much it holds."""
        with self.store.view() as view:
            return (view.generation, view.counts()) if view else None

    def mark(self) -> tuple[str, int, int] | None:
        """Changes when other chunks have vectors; cheaper than listing them."""
        with self.store.view() as view:
            if view is None:
                return None
            # Ids only grow, so a chunk that replaced another one changes the mark although the
            # count is equal.
            last = view.inventory().last_id()
            return view.generation, view.counts().embedded, last

    def placed(self) -> Placed | None:
        with self.store.view() as view:
            if view is None:
                return None
            identity = view.identity()
            # Another vector driver stored them: this process cannot read them.
            is_readable = identity.is_readable_with(self._engine.indexer.vector_driver)
            chunks = view.inventory().placed() if is_readable else ()
            return Placed(view.generation, identity.model, chunks)

    def vectors(
        self, ids: Sequence[int], at_once: int = VECTORS_AT_ONCE
    ) -> Iterator[tuple[list[int], Vectors]]:
        """In pieces; a chunk that was removed meanwhile is left out."""
        for start in range(0, len(ids), at_once):
            with self.store.view() as view:
                if view is None:
                    return
                piece = view.inventory().vectors(ids[start : start + at_once])
            # Outside the view: the caller may take its time with each piece.
            yield piece

    # -- the embedder ----------------------------------------------------------------------------

    def probe(self) -> Probe:
        """Ask the embedder for one vector."""
        return self._engine.probe()

    def usage(self) -> Usage | None:
        """What the provider was used for since the start; None for a local model."""
        from notewell.embedders import usage_of

        return usage_of(self._engine.embedder())

    def tally(self) -> CacheTally:
        """How often the vector cache had a vector, since the start."""
        return self._engine.indexer.tally
