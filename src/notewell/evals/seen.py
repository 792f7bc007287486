"""Whether a model reads the evidence: its text in what `memory_search` returns, within a budget.

A hit counts as found if its lines overlap the evidence. A model does not get these lines, it gets
the part of them that fits into the budget of the tool. So the text itself is looked for:

    evidence with a `text`     this text: the span of the document that answers
    evidence by lines          each of the lines, whole
    evidence that is a note    each line of the note below its title, which no answer quotes for
                               its own sake; not measured if the note is longer than the smallest
                               budget, because no answer is a whole page

White space may differ, nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from notewell.core import without_markers
from notewell.evals.dataset import EVERY_LINE
from notewell.tools import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from notewell.evals.dataset import EvalQuestion, Evidence, EvidenceLines

BUDGETS = (4000, 2000)
"""Characters: what `memory_search` returns by default, and half of it."""

EvidenceText: TypeAlias = tuple[tuple[str, ...], ...]
"""One piece of evidence: the texts that must all be there. If it stands in several places, the
texts of any of them are enough."""


class EvidenceReader:
    """Reads the texts of evidence from the notes of one workspace."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: dict[str, list[str]] = {}

    def texts(self, question: EvalQuestion) -> tuple[EvidenceText, ...]:
        """For each piece of evidence its text; empty if a piece has none that can be shown."""
        texts = tuple(self._piece(evidence) for evidence in question.evidence)
        return texts if all(texts) else ()

    def _piece(self, evidence: Evidence) -> EvidenceText:
        if evidence.text:
            return ((folded(evidence.text),),)
        # Transcripts are JSON; their text is looked for in a replay.
        notes = (place for place in evidence.places if place.path.lower().endswith(".md"))
        return tuple(filter(None, map(self._place, notes)))

    def _place(self, place: EvidenceLines) -> tuple[str, ...]:
        lines = self._note(place.path)[place.start_line - 1 : place.end_line]
        is_note = place.end_line == EVERY_LINE
        if is_note and sum(map(len, lines)) > min(BUDGETS):
            return ()
        texts = tuple(filter(None, map(folded, lines)))
        has_title = is_note and len(texts) > 1 and texts[0].startswith("# ")
        return texts[1:] if has_title else texts

    def _note(self, path: str) -> list[str]:
        if path not in self._lines:
            try:
                text = (self._folder / path).read_text(encoding="utf-8-sig", errors="replace")
            except OSError:
                # Another place may have it; a system that needs the note reports it.
                text = ""
            self._lines[path] = without_markers(text).split("\n")
        return self._lines[path]


def folded(text: str) -> str:
    """With single spaces."""
    return " ".join(text.split())


def has_piece(text: str, piece: EvidenceText) -> bool:
    """Whether a folded text has a piece of evidence."""
    return any(all(folded(line) in text for line in place) for place in piece)


def pieces_seen(text: str, pieces: Sequence[EvidenceText]) -> tuple[bool, ...]:
    """For each piece, whether a model that is given this text reads it."""
    shown = folded(text)
    return tuple(has_piece(shown, _as_quoted(piece)) for piece in pieces)


def _as_quoted(piece: EvidenceText) -> EvidenceText:
    """The tool escapes marks in what it quotes."""
    return tuple(tuple(escaped(line) for line in place) for place in piece)
