"""START HERE: `Memory` is what a program holds; `assembly.open_memory` makes one.

    notes ──read──▶ Indexer ──write──▶ index ◀──search── engine ──▶ Answer
                       └──▶ embedder ◀─────────────────────┘

The engine is the built-in one, or QMD. Two further parts have their own objects: `journal` records
what was asked and appended, and `inspect` answers read-only questions about the index.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

from notewell.errors import (
    BadRequest,
    ConversationDenied,
    IndexBusy,
    IndexTrouble,
    NotewellError,
    StateNotWritable,
)
from notewell.limits import GET_LINES
from notewell.records import replace
from notewell.search import Question

FIRST_WORDS_S = 5.0
"""How long a search waits for the first words, if there is no index yet and another thread builds
one: an agent that gets nothing goes on without its memory."""

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from datetime import tzinfo
    from pathlib import Path
    from types import TracebackType

    from notewell.capture import Journal
    from notewell.config import Settings
    from notewell.core import Filters
    from notewell.engines import BuiltinEngine, Engine, IndexInspector, Status
    from notewell.entries import EntryStore
    from notewell.notes import Appended, Excerpt, NoteStore
    from notewell.ports import Embedder
    from notewell.sync import (
        Indexer,
        Notifier,
        Progress,
        SyncRecord,
        SyncReport,
        Timing,
        WatchEvent,
    )
    from notewell.types import Answer


class Memory:
    """The memory of one agent. A context manager; safe to use from many threads."""

    def __init__(
        self,
        engine: Engine,
        builtin: BuiltinEngine,
        *,
        settings: Settings,
        agent: str,
        state_dir: Path,
        now_ns: Callable[[], int],
        zone: tzinfo | None = None,
        open_journal: Callable[[Memory], Journal],
        open_entries: Callable[[Embedder], EntryStore | None],
    ) -> None:
        self._engine = engine
        self._builtin = builtin
        """The same as `engine`, unless QMD answers."""
        self.indexer: Indexer = builtin.indexer
        """Keeps the index up to date; for diagnosis. To use a memory, it is not needed."""
        self.settings = settings
        self.agent = agent
        self.state_dir = state_dir
        """The folder for everything that Notewell keeps besides the notes."""
        self._now_ns = now_ns
        self.zone = zone
        """The user's time zone; None is the system's."""
        # A function, not a journal: a memory that is only searched does not load that code.
        self._open_journal = open_journal
        self._open_entries = open_entries

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if "journal" in self.__dict__:  # A memory that was only searched has none.
            self.journal.finish_records()
        # A fallback engine does not close its second engine, which is the built-in one.
        if self._engine is not self._builtin:
            self._engine.close()
        self._builtin.close()

    @property
    def workspace(self) -> Path:
        """The folder of notes. Raises `NotesNotInFolder` for notes that are kept elsewhere; their
        place is `notes.location`."""
        from notewell.notes import folder_of

        return folder_of(self.notes)

    @property
    def notes(self) -> NoteStore:
        """Where the notes are kept."""
        return self.indexer.notes

    @cached_property
    def journal(self) -> Journal:
        """What agents asked and what was written; see `capture.journal`."""
        return self._open_journal(self)

    @cached_property
    def entries(self) -> EntryStore | None:
        """The statements of this agent, with the embedder of its notes; None unless the settings
        enable them. LanceDB is loaded by the first call that reads or writes."""
        return self._open_entries(self._builtin.embedder())

    @cached_property
    def inspect(self) -> IndexInspector:
        """Read-only queries about the built-in index; see `engines.inspect`."""
        from notewell.engines import IndexInspector

        return IndexInspector(self._builtin)

    @property
    def sync_record(self) -> SyncRecord:
        """How the last sync ended, in this process or in another; see `sync.record`."""
        return self._builtin.record

    def now(self) -> datetime:
        """The time by this memory's clock, in the user's time zone."""
        return datetime.fromtimestamp(self._now_ns() / 1e9, UTC).astimezone(self.zone)

    # -- reading ---------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Literal["hybrid", "keyword"] = "hybrid",
        folder: str | None = None,
        filters: Filters | None = None,
        plain: bool = False,
        session_key: str | None = None,
        running_session: str | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Answer:
        """The best hits; an empty answer says why it is empty.

        `tag:x`, `path:x`, `after:2026-03` and `before:2026` in the question narrow the search, as
        `filters` do; with `plain` they are words like others. Filters without any words list the
        newest notes that fit.
        `folder` leaves out conversations in other folders: a path, the name of a folder, or `.`.
        `running_session` leaves out the conversation with this transcript, a path.
        `session_key` names the conversation that asks, for settings that restrict who may ask;
        None is the owner's own program. Notes that were never indexed are indexed first, by their
        words and up to a limit, with `progress`; `sync` computes the vectors.
        """
        request = Question.of(
            question, max_results, min_score, mode, folder, filters=filters, plain=plain
        )
        self.require_scope(session_key)
        if not self.sees_private(session_key):
            request = replace(request, hides_private=True)
        if running_session:
            from notewell.sessions import session_stem

            request = replace(request, running_session=session_stem(running_session))
        answer = self._answer(request)
        if answer.has_index:
            return answer
        try:
            has_indexed = self._index_words(progress)
        except StateNotWritable as error:
            return answer.without_index(error.system_reason, str(error))
        if has_indexed:
            return replace(self._answer(request), indexed_words=True)
        # Another thread or process has built the index since then.
        return answer if self.indexer.index_facts() is None else self._answer(request)

    def _answer(self, request: Question) -> Answer:
        from notewell.engines import search_fresh

        # A search may write: notes that were saved a moment ago are indexed first.
        return search_fresh(self._engine, request)

    def _index_words(self, progress: Callable[[Progress], None] | None) -> bool:
        """Index the words of the notes if there is no index; whether something was indexed.
        Raises `StateNotWritable`."""
        if not self.settings.sync.on_search:
            return False
        # QMD has an index of its own, and only its status knows about it.
        if self._engine is self._builtin:
            # Another thread may have begun. What it publishes by then answers.
            self.indexer.wait_for_words(FIRST_WORDS_S)
            if self.indexer.progress is not None or self.indexer.index_facts() is not None:
                return False
        from notewell.engines import is_worth_indexing

        if not is_worth_indexing(self.status()):
            return False
        from notewell.sync import SyncInterrupted

        try:
            self.sync(vectors=False, progress=progress)
        except SyncInterrupted:
            return True  # The caller has no more time: what is indexed by now answers.
        except IndexTrouble as trouble:
            if type(trouble) is StateNotWritable:
                raise
            # Another process builds it, or nobody can: the first answer already says which.
            return False
        return True

    def get(
        self,
        path: str,
        *,
        from_line: int = 1,
        from_char: int = 1,
        lines: int | None = None,
        session_key: str | None = None,
    ) -> Excerpt:
        """Lines of a note as they are on disk now. `from_char` reads on inside a long line."""
        if from_line < 1 or from_char < 1:
            raise BadRequest(
                f"lines and characters are counted from 1, not {min(from_line, from_char)}"
            )
        if lines is not None and lines < 1:
            raise BadRequest(f"the number of lines must be at least 1, not {lines}")
        if not isinstance(path, str):
            raise BadRequest(f"the path must be a text, not {type(path).__name__}")
        path = path.removeprefix("./")
        self._require_visible(path, session_key)
        from notewell.notes import excerpt_of  # A search does not need it.

        text = self._engine.get(path)
        return excerpt_of(path, text, from_line, lines or GET_LINES, from_char)

    def require_scope(self, session_key: str | None) -> None:
        """Raises `ConversationDenied` if the settings keep this conversation out.

        This is the only gate: every surface asks it before anything of the memory is shown.
        """
        if session_key is None:
            return
        from notewell.core import ConversationScope, why_denied

        scope = self.settings.scope
        if scope is None:
            if self.settings.qmd is None:
                return
            scope = ConversationScope()  # OpenClaw shows what QMD finds in direct chats only.
        denied = why_denied(session_key, scope)
        if denied:
            raise ConversationDenied(denied)

    def sees_private(self, session_key: str | None) -> bool:
        """Whether a conversation sees MEMORY.md, transcripts and entries."""
        if session_key is None or self.settings.curated == "shared":
            return True
        from notewell.core import is_private

        return is_private(session_key)

    def require_private(self, session_key: str | None, what: str) -> None:
        """Refuse what is only for those who see MEMORY.md."""
        self.require_scope(session_key)
        if not self.sees_private(session_key):
            raise ConversationDenied(
                f"{what} for private conversations, unless memory.curated is 'shared'"
            )

    def _require_visible(self, path: str, session_key: str | None) -> None:
        from notewell.core import is_curated, is_transcript

        if is_curated(path):
            name = path.rsplit("/", 1)[-1]
            self.require_private(session_key, f"{name} is")
        elif is_transcript(path):
            self.require_private(session_key, "transcripts are")
        else:
            self.require_scope(session_key)

    def status(self) -> Status:
        """Never raises for a damaged index: the status is what reports the damage."""
        from notewell.engines import with_record

        status = with_record(self._engine.status(), self.sync_record.read())
        settings = self.settings
        return replace(
            status,
            refused_keys=settings.refused_keys,
            workspace_errors=settings.workspace_errors,
        )

    # -- writing ---------------------------------------------------------------------------------

    def append(
        self,
        text: str,
        *,
        section: str | None = None,
        origin: str = "library",
        id: str | None = None,  # noqa: A002 - the name that the note uses too
        session_key: str | None = None,
    ) -> Appended:
        """Add an entry to today's note, or below a heading of MEMORY.md; it is on disk on return.

        Existing text is never changed, and an identical entry is not added twice. The next search
        finds the entry. A conversation that may not see a note may not write to it either.
        """
        self._require_visible("" if section is None else "MEMORY.md", session_key)
        from notewell.notes import Entry, Section

        target = Section(section) if section is not None else self.now().date()
        appended = self.journal.append(Entry(text, origin, id), target)
        self.mark_changed()
        return appended

    def mark_changed(self) -> None:
        """Say that a note has just changed: the next search looks at the notes again."""
        self.indexer.look_again()

    def sync(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        everything: bool = True,
        ask_embedder: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> SyncReport:
        """Bring the index up to date with the notes; `force` builds a new one.

        Without `everything`, a transcript that has hardly grown since it was indexed
        (`sync.sessions.*`) waits for more: while people talk, every message would cost a request.
        With `ask_embedder`, a run that needs no vector asks a remote embedder for one all the
        same: otherwise nobody learns that the provider now refuses the key.
        """
        sync = self._engine.sync
        # Another engine has models of its own.
        if ask_embedder and self._engine is self._builtin:
            sync = partial(self._builtin.sync, ask_embedder=True)
        on_progress = progress or (lambda _: None)
        try:
            report = sync(
                force=force, vectors=vectors, everything=everything, progress=on_progress
            )
        except NotewellError as error:
            self._record_sync(error, vectors=vectors)
            raise
        self._record_sync(report.trouble, vectors=vectors)
        if report.fallback:
            from notewell.engines import as_recorded

            report.fallback = as_recorded(report.fallback, self.sync_record.read())
        return report

    def sync_words(self) -> SyncReport:
        """Bring our own index up to date, without vectors, also if another engine answers."""
        return self._builtin.sync(vectors=False, progress=lambda _: None)

    def _record_sync(self, trouble: NotewellError | None, *, vectors: bool) -> None:
        # Busy is no failure: the process that holds the lease does the work and records its end.
        if not isinstance(trouble, IndexBusy):
            self.sync_record.add(self._builtin.outcome(trouble, vectors=vectors))

    def watch(
        self,
        stop: threading.Event,
        *,
        on_event: Callable[[WatchEvent], None] = lambda _: None,
        timing: Timing | None = None,
        notifier: Notifier | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        """Sync whenever notes or transcripts change, until `stop` is set; see `sync.watch`."""
        from notewell.sync import watch_index

        watch_index(
            self.indexer,
            self.sync,
            stop,
            settings=self.settings.sync,
            timing=timing,
            on_event=on_event,
            notifier=notifier,
            progress=progress,
        )
