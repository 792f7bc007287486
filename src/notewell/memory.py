"""START HERE: `open_memory()` puts the house together; `Memory` is what you hold afterwards.

    notes ──read──▶ sync ──write──▶ index ◀──ask── search ──▶ Answer
                      └──▶ embedder ◀──────────────┘

These parts are our own engine (`backends.builtin`); QMD can stand in its place. This is the only
place that chooses parts; every room below is handed plain values.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from notewell.config import Settings, default_state_dir, load_settings
from notewell.embedders import EmbedderSelection
from notewell.engines import Builtin, Question
from notewell.errors import (
    BadRequest,
    BadSetting,
    MemoryOff,
    NotewellError,
    NotForThisTalk,
)
from notewell.index import StoreSettings
from notewell.index.sqlite import SqliteStore
from notewell.limits import GET_LINES
from notewell.notes import Lines, Workspace, lines_of
from notewell.search import check_question
from notewell.sync import Indexer

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

    from notewell.capture import NoteWriter
    from notewell.engines import Backend, Looking, Probe, Status
    from notewell.index import IndexStore
    from notewell.notes import Appended, NoteStore
    from notewell.ports import Embedder, Reranker
    from notewell.sessions import SessionSettings
    from notewell.sync import Notifier, Progress, SyncReport, Timing, WatchEvent
    from notewell.types import Answer, Span

LEASE_WAIT_S = 10.0  # Writing text takes seconds; who waits longer wants to know why.
_AGENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def open_memory(
    workspace: str | Path,
    *,
    agent: str = "main",
    state_dir: str | Path | None = None,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    environment: Mapping[str, str] = os.environ,
    now_ns: Callable[[], int] = time.time_ns,
    lease_wait_s: float = LEASE_WAIT_S,
) -> Memory:
    """The memory of one agent over one workspace. Nothing is read or written before it is asked.

    `settings` default to what the user's file and the workspace's say, `state_dir` to
    NOTEWELL_STATE_DIR or the platform's place for state, `embedder` to the one the settings ask
    for. A `reranker` puts the best chunks of each search into a new order, if it is quick enough.
    """
    if not _AGENT_ID.fullmatch(agent):
        raise BadSetting(
            "agent", f"{agent!r} is not an id: letters, digits, `-` and `_`, up to 64"
        )
    if state_dir is not None and not str(state_dir):
        raise BadSetting("state dir", "it is empty; name a folder or leave it out")
    root = Workspace.open(Path(workspace)).root
    if settings is None:
        settings = load_settings(root, agent, environment)
    if settings.off_because:
        raise MemoryOff(agent, settings.off_because)
    state = Path(state_dir).expanduser() if state_dir else default_state_dir(environment)
    folder = settings.store.path or index_dir(state, agent, root)
    store = store_at(folder, settings.store)
    selection = EmbedderSelection(settings.embedder, state / "models", environment, embedder)
    indexer = Indexer(
        notes=Workspace.open(root, settings.notes.extra_paths),
        store=store,
        **_sessions(settings.sessions, agent, state, redact_notes=settings.notes.redact),
        embedder=selection.embedder,
        chunk_tokens=settings.sync.chunk_tokens,
        chunk_overlap=settings.sync.chunk_overlap,
        vector_driver=settings.store.vector_driver,
        keyword_only=settings.search.keyword_only,
        now_ns=now_ns,
        monotonic_s=time.monotonic,
        lease_wait_s=lease_wait_s,
    )
    builtin = Builtin(
        indexer,
        selection,
        settings.search,
        agent,
        reranker,
        sync_on_search=settings.sync.on_search,
        extra_paths=settings.notes.extra_paths,
    )
    backend = _backend(builtin, settings, agent, state, environment)
    return Memory(builtin, backend, settings=settings, agent=agent, state=state, now_ns=now_ns)


def _backend(
    builtin: Builtin, settings: Settings, agent: str, state: Path, environment: Mapping[str, str]
) -> Backend:
    """The engine that the settings name."""
    if settings.qmd is None:
        return builtin
    from notewell.engines import WithFallback, open_qmd
    from notewell.qmd import ExtraFolder

    extra = tuple(ExtraFolder(one.path, one.pattern) for one in settings.notes.extra_paths)
    told = replace(settings.qmd, paths=(*settings.qmd.paths, *extra))
    qmd = open_qmd(told, builtin, agent, state, environment)
    return WithFallback(qmd, builtin if settings.fallback_engine == "builtin" else None)


def _sessions(
    settings: SessionSettings, agent: str, state: Path, *, redact_notes: bool
) -> dict[str, Any]:
    """Transcripts and what masks their secrets; nothing of it is loaded unless it is asked for."""
    told: dict[str, Any] = {"transcripts": None, "redact_notes": None, "redaction": ""}
    if not settings.enabled and not redact_notes:
        return told
    from notewell.redaction import RULES_VERSION, Redactor, load_mask_key
    from notewell.sessions import DeltaLimits, TranscriptFolder, Transcripts

    key = load_mask_key(state)
    redactor = Redactor(key)
    told["redaction"] = f"{RULES_VERSION}-{hashlib.sha256(key).hexdigest()[:8]}"
    if redact_notes:
        told["redact_notes"] = redactor
        told["redaction"] += "-notes"
    if settings.enabled:
        own = TranscriptFolder(state / "agents" / agent / "sessions")
        others = [TranscriptFolder(*one) for one in settings.folders]
        limits = DeltaLimits(settings.delta_bytes, settings.delta_messages)
        told["transcripts"] = (Transcripts([own, *others], redactor), limits)
    return told


def index_dir(state: Path, agent: str, workspace: Path) -> Path:
    """One index per agent and workspace: two folders never share one, nor do two agents."""
    place = hashlib.sha256(str(workspace).encode(errors="surrogatepass")).hexdigest()[:12]
    return state / "memory" / f"{agent}-{place}"


def store_at(folder: Path, settings: StoreSettings | None = None) -> IndexStore:
    """The store of the index in a folder; nothing is read or written yet."""
    settings = settings or StoreSettings()
    return SqliteStore(folder, settings.vector_driver, settings.cache_entries)


class Parts(NamedTuple):
    """What a memory is made of."""

    builtin: Builtin
    agent: str
    state: Path
    """The folder of everything that Notewell keeps for itself."""
    now_ns: Callable[[], int]


class Memory:
    """Search, get, sync, status. Use it as a context manager, from as many threads as you like."""

    def __init__(
        self,
        builtin: Builtin,
        backend: Backend,
        *,
        settings: Settings,
        agent: str,
        state: Path,
        now_ns: Callable[[], int],
    ) -> None:
        self._builtin = builtin
        self._backend = backend
        """The engine that answers; often the same."""
        self._indexer = builtin.indexer
        self._settings = settings
        self._agent = agent
        self._state = state
        self._now_ns = now_ns

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
        if self._backend is not self._builtin:
            self._backend.close()
        self._builtin.close()

    @property
    def workspace(self) -> Path:
        return Path(self._indexer.notes.location)

    @property
    def notes(self) -> NoteStore:
        """Where the notes are kept."""
        return self._indexer.notes

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def captures(self) -> Path:
        """The folder that remembers what was written and what was recalled."""
        from notewell.capture import capture_dir

        return capture_dir(self._state, self._agent, self.workspace)

    @property
    def engine(self) -> str:
        """The engine that the settings ask for, by its name there."""
        return self._backend.name

    @property
    def parts(self) -> Parts:
        """For who looks after a memory; to use it, none of this is needed."""
        return Parts(self._builtin, self._agent, self._state, self._now_ns)

    def paths(self) -> list[str]:
        """Every note and transcript that is there now, by the name `get` takes."""
        scans = self._indexer.scans({})
        return sorted(path for scan in scans.values() for path in scan.notes)

    # -- asking ----------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Literal["hybrid", "keyword"] = "hybrid",
        session_key: str | None = None,
    ) -> Answer:
        """The best hits; an empty answer says why it is empty.

        `session_key` names the conversation that asks, where the settings say who may; None is the
        owner's own program.
        """
        asked = _question(question, max_results, min_score, mode)
        self.require_scope(session_key)
        return self._backend.search(asked)

    def compare(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """Answers of our own engine to one text, weighed in several ways."""
        check_question(questions[0].text)
        return self._builtin.compare(questions)

    def why_absent(
        self,
        question: str,
        path: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Literal["hybrid", "keyword"] = "hybrid",
    ) -> str:
        """Why a note is not among the hits of a question to our own engine, or where it is."""
        asked = _question(question, max_results, min_score, mode)
        return self._builtin.why_absent(asked, path.removeprefix("./"))

    def get(
        self,
        path: str,
        *,
        from_line: int = 1,
        lines: int | None = None,
        session_key: str | None = None,
    ) -> Lines:
        """Lines of a note as they are on disk now."""
        if from_line < 1:
            raise BadRequest(f"lines are counted from 1, not {from_line}")
        if lines is not None and lines < 1:
            raise BadRequest(f"the number of lines must be at least 1, not {lines}")
        if not isinstance(path, str):
            raise BadRequest(f"the path must be a text, not {type(path).__name__}")
        self.require_scope(session_key)
        path = path.removeprefix("./")
        return lines_of(path, self._backend.get(path), from_line, lines or GET_LINES)

    def require_scope(self, session_key: str | None) -> None:
        """Raises `NotForThisTalk`. Asked here, so that it holds whichever engine answers."""
        if self._settings.qmd is None or session_key is None:
            return
        from notewell.qmd import why_denied

        denied = why_denied(session_key, self._settings.qmd.scope)
        if denied:
            raise NotForThisTalk(denied)

    # -- writing ---------------------------------------------------------------------------------

    def append(
        self,
        text: str,
        *,
        section: str | None = None,
        origin: str = "library",
        id: str | None = None,  # noqa: A002 - what it is called in the note too
    ) -> Appended:
        """One entry more in today's note, or under a heading of MEMORY.md; on disk when done.

        Nothing that is there is changed, and an identical entry is not doubled. The next search
        finds it.
        """
        from notewell.notes import Entry, Section

        to = Section(section) if section is not None else self.now().date()
        done = self._indexer.notes.append(Entry(text, origin, id), to)
        self._indexer.look_again()
        self._remember(done, origin)
        return done

    def _remember(self, done: Appended, origin: str) -> None:
        """So that it can be undone. The entry is on disk: what goes wrong here is no reason to
        say that it is not."""
        from notewell.capture import record_append

        with suppress(OSError, NotewellError):
            record_append(self.captures, done, origin, self.now())

    def place(self) -> NoteWriter:
        """Where a flush and session notes are written; see `notewell.capture`."""
        from notewell.capture import NoteWriter
        from notewell.redaction import Redactor, load_mask_key

        return NoteWriter(self._indexer.notes, self.captures, Redactor(load_mask_key(self._state)))

    def recalled(self, places: Sequence[tuple[str, Span]]) -> None:
        """These lines were shown to an agent; `notewell review` counts on how many days."""
        from notewell.capture import note_recall

        with suppress(OSError, NotewellError):  # An answer is an answer, noted down or not.
            note_recall(self.captures, places, self.now().date())

    def answered(self, question: str, answer: Answer, *, tool: str, took_ms: float) -> None:
        """An agent asked and got this: noted down for the user, unless the settings say not to."""
        from notewell.capture import Asked, PlaceShown, forget_asked, note_asked

        with suppress(OSError, NotewellError):
            if not self._settings.capture.recall_log:
                forget_asked(self.captures)
                return
            from notewell.redaction import Redactor, load_mask_key

            query = Redactor(load_mask_key(self._state))(question)
            places = tuple(PlaceShown(hit.path, *hit.span, hit.score) for hit in answer.hits)
            asked = Asked(self.now(), query, tool, answer.mode, took_ms, places)
            note_asked(self.captures, asked)

    def looking(self) -> Looking:
        """What is in the index, for a page that shows it."""
        return self._builtin.looking()

    def look_again(self) -> None:
        """Somebody knows that a note has just changed: the next search looks for it."""
        self._indexer.look_again()

    def now(self) -> datetime:
        """By the clock that this memory was given, where the user lives."""
        return datetime.fromtimestamp(self._now_ns() / 1e9, UTC).astimezone()

    # -- keeping up ------------------------------------------------------------------------------

    def sync(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        progress: Callable[[Progress], None] | None = None,
    ) -> SyncReport:
        """Bring the index up to date with the notes; `force` builds a new one."""
        told = progress or (lambda _: None)
        return self._backend.sync(force=force, vectors=vectors, progress=told)

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
        from notewell.sync import StopAskedFor, Timing, Watcher

        def go_on(done: Progress) -> None:
            if stop.is_set():
                raise StopAskedFor
            if progress:
                progress(done)

        indexer, minutes = self._indexer, self._settings.sync.interval_minutes
        transcripts = indexer.transcripts[0].places if indexer.transcripts else ()
        Watcher(
            lambda: self.sync(progress=go_on),
            [*indexer.notes.local_paths(), *transcripts],
            ignore=indexer.store.local_paths(),
            suffixes=(".md", *(indexer.transcripts[0].suffixes if indexer.transcripts else ())),
            timing=timing
            or Timing(
                debounce_s=self._settings.sync.debounce_s,
                interval_s=minutes * 60 if minutes else None,
            ),
            on_event=on_event,
            notifier=notifier,
        ).run(stop)

    def status(self) -> Status:
        """Never raises for a bad index: it is what tells you that the index is bad."""
        return self._backend.status()

    def probe(self) -> Probe:
        """Ask the embedder for one vector and tell what came of it."""
        return self._builtin.probe()


def _question(
    text: str,
    max_results: int | None,
    min_score: float | None,
    mode: Literal["hybrid", "keyword"],
) -> Question:
    if not isinstance(text, str):
        raise BadRequest(f"the question must be a text, not {type(text).__name__}")
    check_question(text)
    return Question(text, max_results, min_score, keyword_only=mode == "keyword")
