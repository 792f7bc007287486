"""The journal of one memory: what was appended, what agents asked, and the flush of a session.

`append`, `recalled` and `answered` record a by-product. If it cannot be written (disk full, no
permission), the entry and the answer stay valid: the result of an append says why, the other
errors are suppressed. The errors of a flush are raised.

`recalled` and `answered` return at once: a thread writes the record after the answer
(`record_queue`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from notewell.capture.logs import logs_at
from notewell.capture.settings import user_zone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date, datetime
    from pathlib import Path

    from notewell.capture.flush_decision import FlushFacts, RunFlush, Skip
    from notewell.capture.flush_turn import FlushModel, FlushReport, Message
    from notewell.capture.logs import Logs, LogWriter
    from notewell.capture.session_note import Conversation, Saved
    from notewell.capture.settings import CaptureSettings
    from notewell.capture.writer import NoteWriter
    from notewell.notes import Appended, Entry, NoteStore, Section
    from notewell.types import Answer, Span


class Journal:
    """Handed out by `Memory.journal`."""

    def __init__(
        self,
        folder: Path,
        notes: NoteStore,
        *,
        logs: Logs | None = None,
        load_redactor: Callable[[], Callable[[str], str]],
        now: Callable[[], datetime],
        settings: CaptureSettings,
    ) -> None:
        self._folder = folder
        self._logs = logs or folder
        self._notes = notes
        # Loaded when it is first needed: most programs never write a question or a note.
        self._load_redactor = load_redactor
        self._now = now
        self._settings = settings
        self._has_records = False

    @property
    def folder(self) -> Path:
        """What captures remember; not in the index's folder, which is rebuilt. What was asked
        before is written by now."""
        self.finish_records()
        return self._folder

    @property
    def logs(self) -> Logs:
        """What was written, asked and shown: files in `folder`, or beside notes in a database.
        What was asked before is written by now."""
        self.finish_records()
        return logs_at(self._logs)

    def finish_records(self) -> None:
        """Wait until the records of all answers are written."""
        if self._has_records:
            from notewell.capture.record_queue import record_queue

            record_queue().flush()

    def _record(self, write: Callable[[LogWriter], None]) -> None:
        """Write it after the answer; if that is not possible, the answer stays valid."""
        from notewell.capture.record_queue import record_queue

        self._has_records = True
        record_queue().add(logs_at(self._logs), write)

    def append(self, entry: Entry, to: date | Section) -> Appended:
        """Append an entry and record it, so that it can be undone. The entry stays if it cannot be
        recorded, and the result says why. Raises as `NoteStore.append`."""
        return self._writer(str).append(entry, to, now=self._now())

    def recalled(self, lines: Sequence[tuple[str, Span]]) -> None:
        """Record lines that an agent was shown; `notewell review` counts on how many days."""
        from notewell.capture.search_journal import record_recall

        day = self._now().date()
        self._record(lambda logs: record_recall(logs, lines, day))

    def answered(
        self,
        question: str,
        answer: Answer,
        *,
        tool: str,
        took_ms: float,
        asked_by: str | None = None,
    ) -> None:
        """Record a question of an agent for the user, unless the settings forbid it."""
        from notewell.capture.search_journal import (
            SearchRecord,
            ShownLines,
            forget_searches,
            record_search,
        )

        at = self._now()

        def write(logs: LogWriter) -> None:
            if not self._settings.recall_log:
                # Also the questions from before the user switched the log off.
                forget_searches(logs)
                return
            # Users paste keys into questions, too.
            query = self._redact_question(question)
            places = tuple(ShownLines(hit.path, *hit.span, hit.score) for hit in answer.hits)
            record = SearchRecord(at, query, tool, answer.mode, took_ms, places, asked_by)
            record_search(logs, record)

        self._record(write)

    @cached_property
    def _redact_question(self) -> Callable[[str], str]:
        # The key is read once: to read it for each question takes longer than to record it.
        return self._load_redactor()

    def flush_due(self, session: str, facts: FlushFacts) -> RunFlush | Skip:
        """Should the host flush now? `RunFlush` has the prompts and the note, `Skip` the reason.

        For a host that runs the turn itself; the prompts are handed out once per compaction cycle.
        Raises `StateNotWritable`.
        """
        from notewell.capture.flush_turn import flush_due

        return flush_due(
            self.folder,
            session,
            facts,
            settings=self._settings.flush,
            zone=user_zone(self._settings),
            clock=self._now,
        )

    def flush_failed(self, session: str) -> None:
        """The host could not run the turn: `flush_due` hands it out once more."""
        from notewell.capture.flush_turn import flush_failed

        flush_failed(self.folder, session)

    def flush(
        self,
        session: str,
        facts: FlushFacts,
        conversation: Sequence[Message],
        model: FlushModel,
    ) -> FlushReport:
        """Run the silent turn with the host's model if it is time; see `capture.flush`."""
        from notewell.capture.flush_turn import flush

        return flush(
            self.writer(),
            session,
            facts,
            conversation,
            model,
            settings=self._settings.flush,
            zone=user_zone(self._settings),
            clock=self._now,
        )

    def save_session(
        self, conversation: Conversation, *, name_it: Callable[[str], str | None] | None = None
    ) -> Saved | Skip:
        """Save a conversation that ends as a note, by the settings; see `capture.save_session`.

        `name_it` returns a title; otherwise the program of the settings is asked.
        """
        from notewell.capture.flush_decision import Skip
        from notewell.capture.session_note import save_session

        settings = self._settings
        if not settings.session_messages:
            return Skip("session notes are switched off in the settings")
        if name_it is None and settings.slug_command:
            from notewell.capture.user_command import slug_namer

            name_it = slug_namer(settings.slug_command)
        return save_session(
            self.writer(),
            conversation,
            now=self._now(),
            zone=user_zone(settings),
            messages=settings.session_messages,
            name_it=name_it,
        )

    def writer(self) -> NoteWriter:
        """Writes what a flush or a session note captures, and records it here."""
        return self._writer(self._load_redactor())

    def _writer(self, redact: Callable[[str], str]) -> NoteWriter:
        from notewell.capture.writer import NoteWriter

        return NoteWriter(self._notes, self.folder, redact, self.logs)
