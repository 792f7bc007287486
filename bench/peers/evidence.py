"""Whether an answer has the evidence: the same rule for every peer.

found   a hit counts if its path and lines overlap the evidence. A peer that names no lines is
        given those in which its text stands in the note.
seen    the text of the evidence stands in the first 4000 characters that a model is handed, as
        `notewell eval` measures it (`notewell.evals.seen`). Not measured if the evidence is a
        whole note of more than 2000 characters.
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, NamedTuple

from notewell.evals.measures import EvalHit, all_at, any_at
from notewell.evals.seen import EvidenceReader, folded, has_piece

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.peers.peer import PeerAnswer, PeerHit

    from notewell.evals.dataset import EvalQuestion

FOUND_AT = 6
SEEN_CHARS = 4000
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')


class Verdict(NamedTuple):
    """What one answer is worth."""

    any_found: bool
    all_found: bool
    any_seen: bool | None
    """None, here and below: the evidence is too long to be seen in one answer."""
    all_seen: bool | None
    chars: int
    hits: int


class Judge:
    """Knows the notes of one workspace as they were before a peer had them."""

    def __init__(self, notes: Path) -> None:
        self._notes = notes
        self._reader = EvidenceReader(notes)

    def verdict(self, question: EvalQuestion, answer: PeerAnswer) -> Verdict:
        hits = [self._as_hit(hit) for hit in answer.hits]
        pieces = self._reader.texts(question)
        plain = folded(handed(answer))
        # A tool may write "&lt;" for "<", and a note may have "&lt;" itself.
        texts = plain, html.unescape(plain)
        seen = [any(has_piece(text, piece) for text in texts) for piece in pieces]
        return Verdict(
            bool(any_at(hits, question.evidence, FOUND_AT)),
            bool(all_at(hits, question.evidence, FOUND_AT)),
            any(seen) if pieces else None,
            all(seen) if pieces else None,
            len(answer.text),
            len(hits),
        )

    def _as_hit(self, hit: PeerHit) -> EvalHit:
        span = hit.start_line, hit.end_line
        if hit.start_line is None:
            span = place_of(hit.text, self._lines(hit.path))
        return EvalHit(hit.path, span[0] or 0, span[1] or 0, len(hit.text), 0.0)

    def _lines(self, path: str) -> list[str]:
        try:
            return (self._notes / path).read_text(encoding="utf-8").split("\n")
        except (FileNotFoundError, IsADirectoryError):
            return []


def handed(answer: PeerAnswer) -> str:
    """The first characters that a model is handed, without the escapes of JSON."""
    text = answer.text[:SEEN_CHARS]
    if answer.is_json:
        text = _ESCAPE.sub(lambda found: str(json.loads(f'"{found[0]}"')), text)
    return text


def place_of(text: str, lines: Sequence[str]) -> tuple[int, int]:
    """The longest run of lines that a text shows whole, blank lines aside; (0, 0) if none.

    A text of less than a line is in the first line that has it.
    """
    shown = folded(text)
    best, start, end, chars, most = (0, 0), 0, 0, 0, 0
    for number, line in enumerate(map(folded, lines), start=1):
        if line and line not in shown:
            start = chars = 0
            continue
        if line:
            start, end, chars = start or number, number, chars + len(line)
        if chars > most:
            best, most = (start, end), chars
    if not most and shown:
        number = next((at for at, line in enumerate(lines, start=1) if shown in folded(line)), 0)
        best = (number, number)
    return best
