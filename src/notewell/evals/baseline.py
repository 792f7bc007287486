"""The baseline: plain SQLite full-text search over plain chunks, without any code of Notewell.

All words except the commonest English ones, joined by OR; Porter stemming, BM25; windows of 1600
characters with an overlap of 320. Chinese, Japanese and Korean text becomes bigrams. A system that
does not beat this baseline is not worth its complexity.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import apsw

from notewell.errors import NoteUnreadable
from notewell.evals.measures import EvalHit
from notewell.evals.runner import SystemAnswer
from notewell.tools import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from notewell import Progress
    from notewell.evals.dataset import NotesFolder

CHARS, OVERLAP = 1600, 320
READ_WINDOWS = 6
"""As many as a search has hits; short notes have short windows."""
_WORD = re.compile(r"\w+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff]+")
_STOP_WORDS = """
a an and are as at be but by did do does for from had has have he her his how i if in into is it
its me my no not of on or our she so such that the their them then there these they this to was we
were what when where which who whom why will with would you your
"""
_STOP = frozenset(_STOP_WORDS.split())


class PlainFts5:
    """Its index is in memory and is built again for each workspace."""

    mode = "fts5"

    def __init__(self) -> None:
        self._db: apsw.Connection | None = None
        self._chunks: list[EvalHit] = []
        self._texts: list[str] = []

    def open(self, folder: NotesFolder, progress: Callable[[Progress], None]) -> None:
        del progress  # Too fast to report any.
        self._db = apsw.Connection(":memory:")
        self._db.execute(
            # Contentless: the text is not needed again, only row numbers and scores.
            "CREATE VIRTUAL TABLE plain USING fts5 (words, content = '', tokenize = 'porter')"
        )
        self._chunks, self._texts = [], []
        for note in _notes(folder):
            name = note.relative_to(folder.path).as_posix()
            try:
                text = note.read_text(encoding="utf-8-sig", errors="replace")
            except OSError as error:
                raise NoteUnreadable(name, error.strerror or str(error)) from error
            self._add(self._db, name, text)

    def _add(self, db: apsw.Connection, path: str, text: str) -> None:
        for start, end, piece in windows(text):
            self._chunks.append(EvalHit(path, start, end, len(piece), 0.0))
            self._texts.append(piece)
            db.execute(
                "INSERT INTO plain (rowid, words) VALUES (?, ?)",
                (len(self._chunks), " ".join(_words(piece))),
            )

    def ask(self, question: str, max_results: int) -> SystemAnswer:
        rows = self._ranked(question, max_results)
        # FTS5's bm25() is negative: the best match has the smallest value.
        hits = tuple(self._chunks[row - 1]._replace(score=-score) for row, score in rows)
        return SystemAnswer(hits, self.mode)

    def read(self, question: str, budgets: Sequence[int]) -> list[str]:
        """Whole windows, best first; the last one is cut."""
        windows = [self._texts[row - 1] for row, _ in self._ranked(question, READ_WINDOWS)]
        text = escaped("\n".join(windows))
        return [text[:budget] for budget in budgets]

    def _ranked(self, question: str, limit: int) -> list[tuple[int, float]]:
        if self._db is None:
            raise RuntimeError("no workspace is open")
        words = list(_words(question))
        terms = [word for word in words if word.lower() not in _STOP] or words
        if not terms:
            return []
        # Quoted, so that a word like NOT or NEAR is no operator of FTS5.
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(terms))
        rows: list[tuple[Any, ...]] = self._db.execute(
            "SELECT rowid, bm25(plain) FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?",
            (match, limit),
        ).fetchall()
        return [(row, score) for row, score in rows]

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None


def _notes(folder: NotesFolder) -> list[Path]:
    """All Markdown files, without the rules of `notewell.notes` for links and hidden folders."""
    if folder.whole:
        return sorted(path for path in folder.path.rglob("*.md") if path.is_file())
    top = (path for path in folder.path.glob("*.md") if path.name in ("MEMORY.md", "memory.md"))
    below = (folder.path / "memory").rglob("*.md")
    return sorted(path for path in (*top, *below) if path.is_file())


def windows(text: str) -> Iterator[tuple[int, int, str]]:
    """Whole lines up to 1600 characters; each window repeats the end of the previous one."""
    lines = text.split("\n")
    start = 0
    while start < len(lines):
        end, size = start, 0
        # At least one line, however long: else the loop would not advance.
        while end < len(lines) and (end == start or size + len(lines[end]) < CHARS):
            size += len(lines[end]) + 1
            end += 1
        yield start + 1, end, "\n".join(lines[start:end])
        if end == len(lines):
            return
        back, kept = end, 0
        # Never back to the start: each window must begin later than the one before.
        while back - 1 > start and kept + len(lines[back - 1]) < OVERLAP:
            kept += len(lines[back - 1]) + 1
            back -= 1
        start = back


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        position = 0
        for run in _CJK.finditer(word):
            if run.start() > position:
                yield word[position : run.start()]
            pair = run.group()
            # A single character is its own bigram.
            yield from (pair[at : at + 2] for at in range(max(1, len(pair) - 1)))
            position = run.end()
        if position < len(word):
            yield word[position:]
