"""What counts as read by a model."""

from __future__ import annotations

from pathlib import Path

from notewell.evals.dataset import EVERY_LINE, EvalQuestion, Evidence, EvidenceLines
from notewell.evals.seen import EvidenceReader, pieces_seen

NOTE = "# Harbour\n\nThe cranes were built in 1921.\nThey lift forty tonnes.\n"


def texts(folder: Path, start: int, end: int) -> tuple[tuple[tuple[str, ...], ...], ...]:
    (folder / "note.md").write_text(NOTE, encoding="utf-8")
    evidence = Evidence((EvidenceLines("note.md", start, end),))
    question = EvalQuestion("q1", "how old are the cranes?", "", "", (evidence,))
    return EvidenceReader(folder).texts(question)


def test_a_whole_note_is_read_without_its_title(tmp_path: Path) -> None:
    pieces = texts(tmp_path, 1, EVERY_LINE)
    assert pieces_seen("The cranes were built in 1921.\nThey lift forty tonnes.", pieces) == (
        True,
    )
    assert pieces_seen("# Harbour\nThe cranes were built in 1921.", pieces) == (False,)


def test_lines_that_the_evidence_names_are_read_with_their_title(tmp_path: Path) -> None:
    pieces = texts(tmp_path, 1, 3)
    assert pieces_seen("The cranes were built in 1921.", pieces) == (False,)
    assert pieces_seen("# Harbour\n\nThe cranes were built in 1921.", pieces) == (True,)
