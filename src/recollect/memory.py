"""START HERE: `open_memory()` puts the house together; `Memory` is what you hold afterwards.

    notes ──read──▶ sync ──write──▶ index ◀──ask── search ──▶ Answer
                      └──▶ embedder ◀──────────────┘

This is the only place that chooses parts; every room below is handed plain values.
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
from typing import TYPE_CHECKING, Any, Literal

from recollect.choice import Choice
from recollect.config import Settings, default_state_dir, load_settings
from recollect.core.errors import (
    BadRequest,
    BadSetting,
    EmbedderTrouble,
    IndexTrouble,
    MemoryOff,
    NotANote,
    RecollectError,
)
from recollect.core.limits import GET_LINES
from recollect.index import Index
from recollect.notes import Workspace
from recollect.notes.lines import Lines, lines_of
from recollect.search import Answer, SearchSettings, check_question, meaning_of, search
from recollect.sync.keeping import Keeping

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date
    from types import TracebackType

    from recollect.capture.place import Place
    from recollect.core.ports import Embedder, Reranker
    from recollect.core.types import Span
    from recollect.notes import Appended
    from recollect.status import Probe, Status
    from recollect.sync import Progress, SyncReport
    from recollect.sync.hear import Ear
    from recollect.sync.watch import Told
    from recollect.sync.when import Timing

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
    RECOLLECT_STATE_DIR or the platform's place for state, `embedder` to the one the settings ask
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
    folder = settings.index_dir or index_dir(state, agent, root)
    index = Index(folder, settings.vector_driver, settings.cache_entries)
    choice = Choice(settings, state / "models", environment, embedder)
    return Memory(
        Keeping(
            notes=Workspace.open(root, settings.extra_paths),
            index=index,
            **_sessions(settings, agent, state),
            reader=index.reader(),
            embedder=choice.embedder,
            chunk_tokens=settings.chunk_tokens,
            chunk_overlap=settings.chunk_overlap,
            vector_driver=settings.vector_driver,
            keyword_only=settings.keyword_only,
            now_ns=now_ns,
            monotonic_s=time.monotonic,
            lease_wait_s=lease_wait_s,
        ),
        choice,
        settings=settings,
        agent=agent,
        reranker=reranker,
        state=state,
        now_ns=now_ns,
    )


def _sessions(settings: Settings, agent: str, state: Path) -> dict[str, Any]:
    """Transcripts and what masks their secrets; nothing of it is loaded unless it is asked for."""
    wanted = "sessions" in settings.sources
    told: dict[str, Any] = {"transcripts": None, "redact_notes": None, "redaction": ""}
    if not wanted and not settings.redact_notes:
        return told
    from recollect.redaction import RULES_VERSION, Redactor, load_mask_key
    from recollect.sessions import DeltaLimits, TranscriptFolder, Transcripts

    key = load_mask_key(state)
    redactor = Redactor(key)
    told["redaction"] = f"{RULES_VERSION}-{hashlib.sha256(key).hexdigest()[:8]}"
    if settings.redact_notes:
        told["redact_notes"] = redactor
        told["redaction"] += "-notes"
    if wanted:
        own = TranscriptFolder(state / "agents" / agent / "sessions")
        others = [TranscriptFolder(*one) for one in settings.session_folders]
        limits = DeltaLimits(settings.session_delta_bytes, settings.session_delta_messages)
        told["transcripts"] = (Transcripts([own, *others], redactor), limits)
    return told


def index_dir(state: Path, agent: str, workspace: Path) -> Path:
    """One index per agent and workspace: two folders never share one, nor do two agents."""
    place = hashlib.sha256(str(workspace).encode(errors="surrogatepass")).hexdigest()[:12]
    return state / "memory" / f"{agent}-{place}"


class Memory:
    """Search, get, sync, status. Use it as a context manager, from as many threads as you like."""

    def __init__(
        self,
        keeping: Keeping,
        choice: Choice,
        *,
        settings: Settings,
        agent: str,
        reranker: Reranker | None,
        state: Path,
        now_ns: Callable[[], int],
    ) -> None:
        self._keeping = keeping
        self._state = state
        self._choice = choice
        self._settings = settings
        self._agent = agent
        self._reranker = reranker
        self._now_ns = now_ns
        self._is_settled = settings.embedder is None or settings.embedder.fallback == "none"

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
        self._keeping.reader.close()
        self._choice.close()

    @property
    def workspace(self) -> Path:
        return self._keeping.notes.root

    @property
    def settings(self) -> Settings:
        return self._settings

    def paths(self) -> list[str]:
        """Every note and transcript that is there now, by the name `get` takes."""
        scans = self._keeping.scans({})
        return sorted(path for scan in scans.values() for path in scan.notes)

    # -- asking ----------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Literal["hybrid", "keyword"] = "hybrid",
    ) -> Answer:
        """The best hits; an empty answer says why it is empty.

        What was saved a moment ago is taken in first, if it is little; else the last published
        index answers and says so.
        """
        settings = self._search_settings(question, max_results, min_score, mode)
        stale = self._catch_up(settings)
        look, embedder = self._keeping.reader.snapshot, self._embedder()
        meaning = meaning_of(look, question, embedder, settings)
        with look() as snapshot:
            answer = search(snapshot, question, meaning, embedder.facts, settings, self._reranker)
        if stale:
            told = f"{answer.notice}; {stale}" if answer.notice else stale
            answer = replace(answer, notice=told)
        return answer

    def _catch_up(self, settings: SearchSettings) -> str | None:
        self._embedder()
        if not self._settings.sync_on_search:
            return None
        return self._keeping.catch_up(vectors=not settings.keyword_only)

    def _embedder(self) -> Embedder:
        """The one in use; looked at once whether the index was made by the fallback."""
        if not self._is_settled:
            self._is_settled = True
            with suppress(IndexTrouble), self._keeping.reader.snapshot() as snapshot:
                made_by = snapshot.identity().provider if snapshot else ""
                self._keeping.embedder = (
                    self._choice.keep_fallback(made_by) or self._choice.embedder
                )
        return self._keeping.embedder

    def why_absent(
        self,
        question: str,
        path: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Literal["hybrid", "keyword"] = "hybrid",
    ) -> str:
        """Why a note is not among the hits of a question, or where it is."""
        from recollect.search.absence import why_absent

        settings = self._search_settings(question, max_results, min_score, mode)
        path = path.removeprefix("./")
        look, embedder = self._keeping.reader.snapshot, self._embedder()
        meaning = meaning_of(look, question, embedder, settings)
        with look() as snapshot:
            if snapshot is not None and path in snapshot.notes():
                return why_absent(
                    snapshot, question, path, meaning, embedder.facts, settings, self._reranker
                )
        return self._why_not_indexed(path)

    def _search_settings(
        self,
        question: str,
        max_results: int | None,
        min_score: float | None,
        mode: Literal["hybrid", "keyword"],
    ) -> SearchSettings:
        if not isinstance(question, str):
            raise BadRequest(f"the question must be a text, not {type(question).__name__}")
        check_question(question)
        told = self._settings
        return SearchSettings(
            today=self._today(),
            max_results=told.max_results if max_results is None else max_results,
            min_score=told.min_score if min_score is None else min_score,
            fusion=told.fusion,
            vector_weight=told.vector_weight,
            candidate_multiplier=told.candidate_multiplier,
            mmr_lambda=told.mmr_lambda,
            half_life_days=told.half_life_days,
            sources=self._keeping.sources,
            keyword_only=mode == "keyword" or told.keyword_only,
        )

    def _why_not_indexed(self, path: str) -> str:
        scan = self._keeping.notes.scan()
        if path in scan.notes:
            return f"{path} is not indexed yet: run `recollect index`"
        for left in (*scan.ignored, *scan.unreadable):
            if left.path == path:
                return f"{path} is left out: {left.why}"
        raise NotANote(path)

    def get(self, path: str, *, from_line: int = 1, lines: int | None = None) -> Lines:
        """Lines of a note as they are on disk now."""
        if from_line < 1:
            raise BadRequest(f"lines are counted from 1, not {from_line}")
        if lines is not None and lines < 1:
            raise BadRequest(f"the number of lines must be at least 1, not {lines}")
        if not isinstance(path, str):
            raise BadRequest(f"the path must be a text, not {type(path).__name__}")
        path = path.removeprefix("./")
        sessions = self._keeping.transcripts
        if sessions is not None and path.endswith(".jsonl"):
            text = sessions[0].read(path).text
        else:
            text = self._keeping.notes.read(path).text
        return lines_of(path, text, from_line, lines or GET_LINES)

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
        from recollect.notes import Entry, Section

        to = Section(section) if section is not None else self._today()
        done = self._keeping.notes.append(Entry(text, origin, id), to)
        self._keeping.look_again()
        self._remember(done, origin)
        return done

    def _remember(self, done: Appended, origin: str) -> None:
        """So that it can be undone. The entry is on disk: what goes wrong here is no reason to
        say that it is not."""
        from recollect.capture.place import capture_dir, record_append

        folder = capture_dir(self._state, self._agent, self.workspace)
        with suppress(OSError, RecollectError):
            record_append(folder, self.workspace, done, origin, self._now())

    def place(self) -> Place:
        """Where a flush and session notes are written; see `recollect.capture`."""
        from recollect.capture.place import Place, capture_dir
        from recollect.redaction import Redactor, load_mask_key

        folder = capture_dir(self._state, self._agent, self.workspace)
        return Place(self._keeping.notes, folder, Redactor(load_mask_key(self._state)))

    def recalled(self, places: Sequence[tuple[str, Span]]) -> None:
        """These lines were shown to an agent; `recollect review` counts on how many days."""
        from recollect.capture.place import capture_dir
        from recollect.capture.recall_log import note_recall

        folder = capture_dir(self._state, self._agent, self.workspace)
        with suppress(OSError, RecollectError):  # An answer is an answer, noted down or not.
            note_recall(folder, places, self._today())

    def look_again(self) -> None:
        """Somebody knows that a note has just changed: the next search looks for it."""
        self._keeping.look_again()

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._now_ns() / 1e9, UTC).astimezone()

    def _today(self) -> date:
        return self._now().date()

    # -- keeping up ------------------------------------------------------------------------------

    def sync(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        progress: Callable[[Progress], None] | None = None,
    ) -> SyncReport:
        """Bring the index up to date with the notes; `force` builds a new one.

        An embedder that fails gives way to the fallback, if the settings name one.
        """
        self._try_first_again()
        report = self._keeping.run(force=force, vectors=vectors, progress=progress)
        while isinstance(report.trouble, EmbedderTrouble) and self._choice.has_second:
            self._keeping.embedder = self._choice.after(report.trouble) or self._choice.embedder
            report = self._keeping.run(vectors=vectors, progress=progress)
        return report

    def _try_first_again(self) -> None:
        """Where the fallback made the index, one question shows whether the first is back: to
        find that out by building a new index would be dear."""
        first = self._choice.embedder
        if self._embedder() is first:
            return
        if self._choice.is_back(first):
            self._keeping.embedder = self._choice.embedder

    def watch(
        self,
        stop: threading.Event,
        *,
        told: Callable[[Told], None] = lambda _: None,
        timing: Timing | None = None,
        ear: Ear | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        """Sync whenever notes or transcripts change, until `stop` is set; see `sync.watch`."""
        from recollect.sync.watch import StopAskedFor, Watcher
        from recollect.sync.when import Timing

        def go_on(done: Progress) -> None:
            if stop.is_set():
                raise StopAskedFor
            if progress:
                progress(done)

        keeping, minutes = self._keeping, self._settings.interval_minutes
        transcripts = keeping.transcripts[0].places if keeping.transcripts else ()
        Watcher(
            lambda: self.sync(progress=go_on),
            [*keeping.notes.places, *transcripts],
            ignore=[keeping.index.folder.path],
            suffixes=(".md", ".jsonl"),
            timing=timing
            or Timing(
                debounce_s=self._settings.watch_debounce_s,
                interval_s=minutes * 60 if minutes else None,
            ),
            told=told,
            ear=ear,
        ).run(stop)

    def status(self) -> Status:
        """Never raises for a bad index: it is what tells you that the index is bad."""
        from recollect.status import status_of

        self._embedder()
        return status_of(self._keeping, self._settings, self._agent, self._choice.decision)

    def probe(self) -> Probe:
        """Ask the embedder for one vector and tell what came of it."""
        from recollect.status import probe

        return probe(self._embedder(), time.monotonic)
