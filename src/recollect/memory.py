"""START HERE: `open_memory()` puts the house together; `Memory` is what you hold afterwards.

    notes ──read──▶ sync ──write──▶ index ◀──ask── search ──▶ Answer
                      └──▶ embedder ◀──────────────┘

This is the only place that chooses parts; every room below is handed plain values.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recollect.config import Settings, default_state_dir, load_settings
from recollect.core.errors import BadRequest, BadSetting, IndexTrouble, NotANote
from recollect.core.limits import GET_CHARS, GET_LINES
from recollect.core.ports import TellsWaiting
from recollect.core.words import VERSION as WORDS_VERSION
from recollect.embedders import Cached, open_embedder
from recollect.index import Identity, Index
from recollect.notes import Workspace
from recollect.search import Answer, SearchSettings, search

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import TracebackType

    from recollect.core.ports import Embedder, ModelFacts, Reranker
    from recollect.core.types import Ignored, Scan
    from recollect.index import Counts, Snapshot
    from recollect.sync import Progress, SyncReport

SOURCES = ("memory",)
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
    now_ns: Callable[[], int] = time.time_ns,
    lease_wait_s: float = LEASE_WAIT_S,
) -> Memory:
    """The memory of one agent over one workspace. Nothing is read or written before it is asked.

    `settings` default to the workspace's `recollect.json`, `state_dir` to RECOLLECT_STATE_DIR or
    the platform's place for state, `embedder` to the one the settings ask for. A `reranker` puts
    the best chunks of each search into a new order, if it is quick enough.
    """
    if not _AGENT_ID.fullmatch(agent):
        raise BadSetting(
            "agent", f"{agent!r} is not an id: letters, digits, `-` and `_`, up to 64"
        )
    if state_dir is not None and not str(state_dir):
        raise BadSetting("state dir", "it is empty; name a folder or leave it out")
    root = Workspace.open(Path(workspace)).root
    settings = settings if settings is not None else load_settings(root)
    state = Path(state_dir).expanduser() if state_dir is not None else default_state_dir()
    return Memory(
        notes=Workspace.open(root, settings.extra_paths),
        index=Index(index_dir(state, agent, root), settings.vector_driver),
        embedder=embedder or open_embedder("embedded", models_dir=state / "models"),
        settings=settings,
        agent=agent,
        reranker=reranker,
        now_ns=now_ns,
        lease_wait_s=lease_wait_s,
    )


def index_dir(state: Path, agent: str, workspace: Path) -> Path:
    """One index per agent and workspace: two folders never share one, nor do two agents."""
    place = hashlib.sha256(str(workspace).encode(errors="surrogatepass")).hexdigest()[:12]
    return state / "memory" / f"{agent}-{place}"


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a note."""

    path: str
    text: str
    start_line: int
    end_line: int
    """The last line in `text`; one less than `start_line` where there are none."""
    total_lines: int
    next_from: int | None
    """Where to read on; None at the end."""
    cut: bool = False
    """The last line was too long to be shown whole."""


@dataclass(frozen=True, slots=True)
class Status:
    """How the memory is, computed from what is there, not from what was once noted."""

    agent: str
    workspace: str
    extra_paths: tuple[str, ...]
    index_path: str
    state: Literal["missing", "ready", "unreadable"]
    problem: str | None
    """Why the index cannot be used."""
    provider: str
    model: str
    dims: int
    embedder_missing: str | None
    """What the embedder lacks to work, and the next step."""
    counts: Counts | None
    eligible: int
    """Notes on disk that belong in the index."""
    dirty: int
    """Of these, how many the index has not caught up with, and notes it should forget."""
    ignored: tuple[Ignored, ...]
    unreadable: tuple[Ignored, ...]
    cache_entries: int
    index_bytes: int
    vector_driver: str
    rebuild_needed: str | None
    """Why the next sync will build a new index."""


class Memory:
    """Search, get, sync, status. Use it as a context manager, from as many threads as you like."""

    def __init__(
        self,
        *,
        notes: Workspace,
        index: Index,
        embedder: Embedder,
        settings: Settings,
        agent: str,
        reranker: Reranker | None,
        now_ns: Callable[[], int],
        lease_wait_s: float,
    ) -> None:
        self._notes = notes
        self._index = index
        self._settings = settings
        self._agent = agent
        self._now_ns = now_ns
        self._lease_wait_s = lease_wait_s
        self._embedder = embedder
        self._reranker = reranker
        self._reader = index.reader()
        self._syncing = threading.Lock()

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
        self._reader.close()

    @property
    def workspace(self) -> Path:
        return self._notes.root

    # -- asking ----------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Literal["hybrid", "keyword"] = "hybrid",
    ) -> Answer:
        """The best hits of the last published index; an empty answer says why it is empty."""
        settings = self._search_settings(question, max_results, min_score, mode)
        with self._reader.snapshot() as snapshot:
            return search(snapshot, question, self._embedder, settings, self._reranker)

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
        with self._reader.snapshot() as snapshot:
            if snapshot is not None and path in snapshot.notes():
                return why_absent(
                    snapshot, question, path, self._embedder, settings, self._reranker
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
        told = self._settings
        return SearchSettings(
            today=datetime.fromtimestamp(self._now_ns() / 1e9, UTC).astimezone().date(),
            max_results=told.max_results if max_results is None else max_results,
            min_score=told.min_score if min_score is None else min_score,
            fusion=told.fusion,
            vector_weight=told.vector_weight,
            candidate_multiplier=told.candidate_multiplier,
            mmr_lambda=told.mmr_lambda,
            half_life_days=told.half_life_days,
            sources=SOURCES,
            keyword_only=mode == "keyword" or told.keyword_only,
        )

    def _why_not_indexed(self, path: str) -> str:
        scan = self._notes.scan()
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
        text = self._notes.read(path).text
        return _lines(path, text, from_line, lines or GET_LINES)

    # -- keeping up ------------------------------------------------------------------------------

    def sync(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        progress: Callable[[Progress], None] | None = None,
    ) -> SyncReport:
        """Bring the index up to date with the notes; `force` builds a new one."""
        from recollect.sync import TextSync, VectorFill  # A search needs no Markdown parser.

        told = progress or (lambda _: None)
        facts = self._facts()
        wanted = self._wanted(facts)
        cache = self._index.cache(facts)
        try:
            with self._syncing, self._telling(told):
                with self._index.writing(wait_s=self._lease_wait_s) as writer:
                    text = TextSync(
                        self._notes, writer, cache, wanted, facts.reads, self._now_ns, told
                    )
                    report = text.run(force=force)
                fill = VectorFill(
                    self._index,
                    self._reader,
                    Cached(self._embedder, cache),
                    wanted,
                    self._lease_wait_s,
                    told,
                )
                if vectors:
                    fill.run(report)
                return self._counted(report)
        finally:
            cache.close()

    def _counted(self, report: SyncReport) -> SyncReport:
        with self._reader.snapshot() as snapshot:
            if snapshot is not None:
                counts = snapshot.counts()
                report.chunks = counts.chunks
                report.vectors_waiting = counts.waiting
        return report

    def _telling(self, told: Callable[[Progress], None]) -> AbstractContextManager[None]:
        """An embedder that waits for somebody else, as for a batch job, says so meanwhile."""
        from recollect.sync import Progress

        if not isinstance(self._embedder, TellsWaiting):
            return nullcontext()
        return self._embedder.telling(
            lambda waiting: told(Progress(waiting.done, waiting.total, waiting.what))
        )

    def _facts(self) -> ModelFacts:
        """Where the embedder cannot say now how long its vectors are, the index knows: it must
        not be rebuilt because a provider is down."""
        facts = self._embedder.facts
        if facts.dims:
            return facts
        with suppress(IndexTrouble), self._reader.snapshot() as snapshot:
            found = snapshot.identity() if snapshot else None
            if found and (found.provider, found.model) == (facts.provider, facts.model):
                return replace(facts, dims=found.dims)
        return facts

    def _wanted(self, facts: ModelFacts) -> Identity:
        settings = self._settings
        return Identity(
            provider=facts.provider,
            model=facts.model,
            dims=facts.dims,
            chunk_tokens=min(settings.chunk_tokens, facts.chunk_tokens),
            chunk_overlap=settings.chunk_overlap,
            sources=SOURCES,
            words_version=WORDS_VERSION,
            vector_driver=settings.vector_driver,
        )

    # -- looking at oneself ----------------------------------------------------------------------

    def status(self) -> Status:
        """Never raises for a bad index: it is what tells you that the index is bad."""
        scan = self._notes.scan()
        facts = self._facts()
        status = Status(
            agent=self._agent,
            workspace=str(self._notes.root),
            extra_paths=tuple(extra.path for extra in self._settings.extra_paths),
            index_path=str(self._index.folder.path),
            state="missing",
            problem=None,
            provider=facts.provider,
            model=facts.model,
            dims=facts.dims,
            embedder_missing=self._embedder.missing(),
            counts=None,
            eligible=len(scan.notes),
            dirty=len(scan.notes),
            ignored=scan.ignored,
            unreadable=scan.unreadable,
            cache_entries=0,
            index_bytes=self._index.folder.size(),
            vector_driver=self._settings.vector_driver,
            rebuild_needed=None,
        )
        with suppress(IndexTrouble):
            status = replace(status, cache_entries=self._index.cache_entries())
        try:
            with self._reader.snapshot() as snapshot:
                if snapshot is None:
                    return status
                return _with_index(status, snapshot, scan, self._wanted(facts))
        except IndexTrouble as trouble:
            return replace(status, state="unreadable", problem=str(trouble))


def _with_index(status: Status, snapshot: Snapshot, scan: Scan, wanted: Identity) -> Status:
    from recollect.sync import behind

    return replace(
        status,
        state="ready",
        counts=snapshot.counts(),
        dirty=behind(scan, snapshot.notes()),
        rebuild_needed=snapshot.identity().difference(wanted),
    )


def _lines(path: str, text: str, first: int, count: int) -> Lines:
    """At most `count` lines and GET_CHARS characters, but always at least one line."""
    every = text.split("\n")
    if every[-1] == "":
        every.pop()  # A text that ends in a line break has no further line behind it.
    taken: list[str] = []
    room = GET_CHARS
    for line in every[first - 1 : first - 1 + count]:
        if taken and len(line) > room:
            break
        taken.append(line)
        room -= len(line) + 1
    last = first - 1 + len(taken)
    shown = "\n".join(taken)
    return Lines(
        path,
        shown[:GET_CHARS],
        first,
        last,
        len(every),
        last + 1 if taken and last < len(every) else None,
        cut=len(shown) > GET_CHARS,
    )
