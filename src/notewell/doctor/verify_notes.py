"""Notes and transcripts against what the index holds of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from notewell.core import ChunkLimits, chunk
from notewell.doctor.report import steps
from notewell.errors import NotANote, NoteUnreadable
from notewell.sync.plan import plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.doctor.report import ProgressCallback, Verdict
    from notewell.index import IndexedNote
    from notewell.index.sqlite import SqliteView
    from notewell.sync import Indexer, TextSource
    from notewell.types import FoundNote, Note, Span

LINES_AT_MOST = 2**62
"""More than any note has: all chunks of it."""
SYNC = "run `notewell index`"
FORCE = "run `notewell index --force`"


class Piece(NamedTuple):
    """What must be the same in the index and in the note, cut again."""

    span: Span
    digest: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class NotesProof:
    indexer: Indexer
    view: SqliteView
    verdict: Verdict
    told: ProgressCallback

    def run(self) -> None:
        for source in self.indexer.text_sources(everything=True):
            self._source(source)

    def _source(self, source: TextSource) -> None:
        known = self.view.notes(source.name)
        scan = source.scan({path: note.stat for path, note in known.items()})
        todo = plan(scan, known)
        for path in todo.forget:
            self.verdict.differs("note", path, f"it is indexed and no longer there: {SYNC}")
        for hidden in scan.unreadable:
            self.verdict.differs("note", hidden.path, f"cannot be compared: {hidden.why}")
        step = steps(self.told, "notes" if source.name == "memory" else source.name)
        for number, (path, found) in enumerate(scan.notes.items(), 1):
            self._note(source, path, found, known)
            step(number, len(scan.notes))

    def _note(
        self,
        source: TextSource,
        path: str,
        found: FoundNote,
        known: Mapping[str, IndexedNote],
    ) -> None:
        if path not in known:
            self.verdict.differs("note", f"{path}:1", f"it is not indexed: {SYNC}")
            return
        self.verdict.notes += 1
        try:
            note = source.read(path)
        except (NoteUnreadable, NotANote) as error:
            self.verdict.differs("note", path, str(error))
            return
        if note.digest == known[path].digest:
            self._chunks(source, note)
        elif known[path].stat == found.stat:
            where = f"{path}:{self._first_line(source, note)}"
            why = "other text than the index, and the same size and times: a sync would not see it"
            self.verdict.differs("note", where, f"{why}; {FORCE}")
        else:
            where = f"{path}:{self._first_line(source, note)}"
            self.verdict.differs("note", where, f"changed since it was indexed: {SYNC}")

    def _chunks(self, source: TextSource, note: Note) -> None:
        for piece, is_indexed in self._odd(source, note):
            told = (
                "the index has lines here that the note has not"
                if is_indexed
                else "the note has lines here that the index has not"
            )
            where = f"{note.path}:{piece.span.start_line}"
            self.verdict.differs("chunk", where, f"{told} ({piece.span}): {FORCE}")

    def _first_line(self, source: TextSource, note: Note) -> int:
        odd = self._odd(source, note)
        return odd[0][0].span.start_line if odd else 1

    def _odd(self, source: TextSource, note: Note) -> list[tuple[Piece, bool]]:
        """Pieces that are in one of both only, in order; true: in the index."""
        made = self.view.identity()
        if made.redaction != self.indexer.redaction:
            return []  # Its secrets are masked by other rules: the words cannot be compared.
        limits = ChunkLimits(made.chunk_tokens, made.chunk_overlap)
        cut = chunk(note.text, limits, plain=source.name == "sessions")
        wanted = Counter(Piece(one.span, one.digest, one.heading, one.text) for one in cut)
        stored = self.view.around(note.path, 0, LINES_AT_MOST)
        has = Counter(Piece(one.span, one.digest, one.heading, one.text) for one in stored)
        odd = [(piece, False) for piece in (wanted - has).elements()]
        odd += [(piece, True) for piece in (has - wanted).elements()]
        return sorted(odd)
