"""The journal of one memory: what was appended, what agents asked and what they were shown.

Everything here is a by-product of an answer or an append that has already succeeded. If it cannot
be written (disk full, no permission), the answer stays valid, so those errors are suppressed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from notewell.errors import NotewellError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from notewell.capture.writer import NoteWriter
    from notewell.notes import Appended, NoteStore
    from notewell.types import Answer, Span


class Journal:
    """Handed out by `Memory.journal`."""

    def __init__(
        self,
        folder: Path,
        notes: NoteStore,
        *,
        load_redactor: Callable[[], Callable[[str], str]],
        now: Callable[[], datetime],
        log_questions: bool,
    ) -> None:
        self.folder = folder
        """Where the journal is kept; not in the index's folder, which is rebuilt."""
        self._notes = notes
        # Loaded when it is first needed: most programs never write a question or a note.
        self._load_redactor = load_redactor
        self._now = now
        self._log_questions = log_questions

    def appended(self, entry: Appended, origin: str) -> None:
        """Record an append, so that it can be undone."""
        from notewell.capture.writer import record_append

        with suppress(OSError, NotewellError):
            record_append(self.folder, entry, origin, self._now())

    def recalled(self, lines: Sequence[tuple[str, Span]]) -> None:
        """Record lines that an agent was shown; `notewell review` counts on how many days."""
        from notewell.capture.search_journal import record_recall

        with suppress(OSError, NotewellError):
            record_recall(self.folder, lines, self._now().date())

    def answered(self, question: str, answer: Answer, *, tool: str, took_ms: float) -> None:
        """Record a question of an agent for the user, unless the settings forbid it."""
        from notewell.capture.search_journal import (
            SearchRecord,
            ShownLines,
            forget_searches,
            record_search,
        )

        with suppress(OSError, NotewellError):
            if not self._log_questions:
                # Also the questions from before the user switched the log off.
                forget_searches(self.folder)
                return
            # Users paste keys into questions, too.
            query = self._load_redactor()(question)
            places = tuple(ShownLines(hit.path, *hit.span, hit.score) for hit in answer.hits)
            record_search(
                self.folder, SearchRecord(self._now(), query, tool, answer.mode, took_ms, places)
            )

    def writer(self) -> NoteWriter:
        """Writes what a flush or a session note captures, and records it here."""
        from notewell.capture.writer import NoteWriter

        return NoteWriter(self._notes, self.folder, self._load_redactor())
