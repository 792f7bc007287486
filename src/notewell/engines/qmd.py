"""QMD as an engine: the files and lines it finds as hits, with citations that `get` can read.

    search   driver ──▶ balance notes and transcripts ──▶ cut to the limits ──▶ Answer
    sync     export transcripts, `qmd update`, and `qmd embed` if the search mode uses vectors
    get      files of QMD's collections; the note store reads all others

A client that asks twice is treated as long-lived: from then on a server answers and a background
thread updates QMD's index. A score expresses the position in QMD's ranking and nothing else, so a
minimum score is not applied.
"""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.core import read_note_facts, without_markers
from notewell.engines.qmd_sessions import SessionExporter, exported_transcripts
from notewell.engines.qmd_status import qmd_status
from notewell.engines.status import status_of
from notewell.errors import NotANote, NoteUnreadable, NotewellError
from notewell.notes import folder_of
from notewell.qmd import (
    BackgroundUpdater,
    Qmd,
    QmdFailed,
    collections_of,
    home_of,
    locate,
    shown_path,
)
from notewell.types import Answer, Hit, Notice, ScoreParts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from notewell.core import Filters
    from notewell.engines.status import Status
    from notewell.notes import ExtraPath
    from notewell.qmd import QmdResult, QmdSettings, SearchMode
    from notewell.search import Question
    from notewell.sync import Indexer, ProgressCallback, SyncReport
    from notewell.types import Mode, Source

NAME = "qmd"
# Any word will do: `check` only wants to know whether QMD answers.
PROBE = "memory"
ALL_FOLDERS = Notice.same("QMD does not know the folders of conversations: all were searched")
FILTERED_HITS = 100
FILTERED = Notice.same(
    f"QMD knows no filters: of its best {FILTERED_HITS} files, those that fit are shown"
)
WORDS_NEEDED = "QMD cannot list notes by filters alone: add words to look for"
MAX_CHANGED = 32
"""Up to so many changed notes are indexed before a search. More are a checkout or a move, which
takes longer than a question may."""
SPARE = 4
"""How many times more files QMD is asked for than shown: some are gone, some are of the wrong
source."""
ELLIPSIS = "…"
SOURCES: tuple[Source, ...] = ("memory", "sessions")

_MODES: dict[SearchMode, Mode] = {"search": "keyword", "vsearch": "vector", "query": "hybrid"}


def open_qmd(
    settings: QmdSettings,
    indexer: Indexer,
    extra_paths: Sequence[ExtraPath],
    agent: str,
    state: Path,
    environment: Mapping[str, str],
) -> QmdEngine:
    """Starts nothing and writes nothing before the first question."""
    workspace = folder_of(indexer.notes)
    home = home_of(state.absolute(), agent, workspace)
    folder = settings.export_dir
    export_dir = _resolved(workspace, folder) if folder else home.sessions
    collections = collections_of(workspace, agent, settings, export_dir)
    driver = Qmd(settings, home, collections, inherited=environment)
    notes_status = partial(status_of, indexer, extra_paths, agent, None)
    if not settings.export_sessions:
        return QmdEngine(driver, indexer, notes_status, None)
    exporter = SessionExporter(exported_transcripts(indexer, agent, state), export_dir)
    return QmdEngine(driver, indexer, notes_status, exporter)


def _resolved(workspace: Path, folder: str) -> Path:
    return Path(os.path.realpath(workspace / Path(folder).expanduser()))


class QmdEngine:
    name = NAME

    def __init__(
        self,
        driver: Qmd,
        indexer: Indexer,
        notes_status: Callable[[], Status],
        exporter: SessionExporter | None,
    ) -> None:
        self._driver = driver
        self._indexer = indexer
        self._notes_status = notes_status
        """What a status says about the notes, whichever engine searches them."""
        self._exporter = exporter
        self._updater = BackgroundUpdater(
            driver.settings, {"update": self._update, "embed": self._driver.embed}
        )
        self._questions = 0

    def close(self) -> None:
        self._updater.close(self._driver.close)

    # -- searching -------------------------------------------------------------------------------

    def search(self, question: Question) -> Answer:
        mode: SearchMode = "search" if question.keyword_only else self._driver.settings.search_mode
        limit = question.max_results or self._driver.settings.max_results
        # Not asked for transcripts at all: dropped afterwards, they would take the place of notes.
        sources: tuple[Source, ...] = ("memory",) if question.hides_private else SOURCES
        if question.filters and not question.text:
            return Answer((), _MODES[mode], NAME, mode, WORDS_NEEDED)
        count = FILTERED_HITS if question.filters else limit * SPARE
        results = self._driver.search(question.text, count, sources, mode=mode)
        # Removed files go first, so that they take no place in the balance or the limit.
        visible = self._existing(results)
        if question.hides_private:
            visible = filter(self._is_public, visible)
        if question.running_session and self._exporter is not None:
            exports = self._exporter.names_of(question.running_session)
            visible = (result for result in visible if result.parts[-1] not in exports)
        if question.filters:
            visible = filter(partial(self._fits, question.filters), visible)
        hits = tuple(self._hits(_balanced(visible, limit), mode))
        what = f"that fits {question.filters} " if question.filters else ""
        reason = None if hits else f"QMD found nothing {what}for these words"
        answer = Answer(hits, _MODES[mode], NAME, mode, reason)
        notices = (
            self._notice(),
            ALL_FOLDERS if question.folder else None,
            FILTERED if question.filters else None,
        )
        for notice in notices:
            answer = answer.with_notice(notice) if notice else answer
        return answer

    def check(self) -> None:
        """Asks one real question, because nothing else shows that QMD answers."""
        self._driver.search(PROBE, 1, probing=True)

    def get(self, path: str) -> str:
        file = locate(self._root, self._driver.collections, path)
        if file is None:
            return self._indexer.read(path)
        from notewell.files import disk
        from notewell.notes import read_note

        # From the root of the collection: `read_note` opens each part with O_NOFOLLOW, so no link
        # leads out of it.
        return read_note(disk(), (str(file.root), *file.parts), path).text

    @property
    def _root(self) -> Path:
        return folder_of(self._indexer.notes)

    def sync_before_search(self, question: Question) -> Notice | None:
        """The first question of a process may be its only one, so it starts no thread. Without an
        index it does, so that the next question finds one."""
        self._questions += 1
        settings = self._driver.settings
        if self._questions == 1 and settings.update_on_boot and settings.wait_for_boot:
            self._update()
            self._updater.record("update", None)
        elif self._questions > 1 or not self._driver.home.index.exists():
            self._updater.start()
        if self._driver.home.index.exists() and 0 < self._changed() <= MAX_CHANGED:
            self._update_now()
        return None

    def _update_now(self) -> None:
        """Index recent changes. A failure is not raised: the last index still answers, and
        `_notice` says that it is old. A timeout is raised, because it has used up the time of the
        question."""
        failure = None
        try:
            self._driver.update(within_s=self._driver.settings.timeout_s)
        except QmdFailed as error:
            if error.kind == "timeout":
                raise
            failure = error
        self._updater.record("update", failure)

    def _existing(self, results: Sequence[QmdResult]) -> Iterator[QmdResult]:
        """Without files that were removed since QMD's last update, and each file once."""
        seen = set()
        for result in results:
            path = result.collection.root.joinpath(*result.parts)
            # A link may lead out of the collection, and `get` would refuse it.
            if not path.is_file() or path.is_symlink():
                continue
            # Where case does not matter, `memory.md` is `MEMORY.md` in another collection.
            stat = path.stat()
            if stat.st_ino and (stat.st_dev, stat.st_ino) in seen:
                continue
            seen.add((stat.st_dev, stat.st_ino))
            yield result

    def _is_public(self, result: QmdResult) -> bool:
        from notewell.core import is_private_path

        return not is_private_path(shown_path(self._root, result.collection, result.parts))

    def _fits(self, filters: Filters, result: QmdResult) -> bool:
        path = shown_path(self._root, result.collection, result.parts)
        try:
            facts = read_note_facts(self.get(path))
        except (NotANote, NoteUnreadable):
            return False  # It was removed a moment ago.
        now = datetime.fromtimestamp(self._indexer.now_ns() / 1e9, UTC)
        return filters.fits(path, facts, now.astimezone().date())

    def _hits(self, results: Sequence[QmdResult], mode: SearchMode) -> Iterator[Hit]:
        limits = self._driver.settings
        redact = self._indexer.redact_notes
        left = limits.max_injected_chars
        for result in results:
            if left <= 0:
                return
            # QMD indexes the notes themselves, so its snippets are not redacted yet.
            text = without_markers(redact(result.snippet) if redact else result.snippet)
            snippet = _cut(text, min(limits.max_snippet_chars, left))
            left -= len(snippet)
            path = shown_path(self._root, result.collection, result.parts)
            yield _hit(result, path, snippet, mode)

    def _notice(self) -> Notice | None:
        no_server = self._driver.daemon_failure
        if no_server is not None:
            text = "a command answered, which is slower"
            return Notice(f"{text}: {no_server.why}", f"{text}: {no_server.public_text()}")
        home = self._driver.home
        # The update may have failed in another process, such as `notewell index`.
        no_update = self._updater.failure("update") or home.last_failure()
        if no_update is not None:
            text = "QMD's index is not up to date"
            return Notice(f"{text}: {no_update}", f"{text}: {no_update.public_text()}")
        no_vectors = self._updater.failure("embed")
        if no_vectors is not None and self._driver.settings.search_mode != "search":
            text = "QMD has no vectors of the latest notes"
            return Notice(f"{text}: {no_vectors}", f"{text}: {no_vectors.public_text()}")
        if home.updated_ns() is None:
            return Notice.same("QMD's first update has not finished: some notes are missing")
        if self._updater.is_running:
            return None  # It will index the changes.
        changed = self._changed()
        if not changed:
            return None
        number = "a note has" if changed == 1 else f"{changed} notes have"
        return Notice.same(f"{number} changed since QMD's last update: run `notewell index`")

    def _changed(self) -> int:
        """How many notes were written after the last update started."""
        since = self._driver.home.updated_ns() or 0
        notes = self._indexer.notes.scan().notes.values()
        return sum(note.stat.mtime_ns > since for note in notes)

    # -- updating --------------------------------------------------------------------------------

    def sync(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        everything: bool = True,
        progress: ProgressCallback,
    ) -> SyncReport:
        from notewell.index import MustRebuild
        from notewell.sync import Progress, SyncReport

        progress(Progress(0, 2, "QMD reads the notes"))
        self._export()
        counts = self._driver.update(anew=force)
        # A sync that worked ends the failure that a background update may have recorded.
        self._updater.record("update", None)
        report = SyncReport(
            rebuilt=MustRebuild("requested") if force else None,
            written=counts.new + counts.changed,
            forgotten=counts.removed,
            unchanged=counts.unchanged,
            ignored=self._indexer.notes.scan().ignored,
        )
        if vectors and self._driver.settings.search_mode != "search":
            progress(Progress(1, 2, "QMD computes vectors"))
            # Reported and not raised: QMD finds the words without vectors.
            report.trouble = self._embed()
        progress(Progress(2, 2, "QMD is up to date"))
        return report

    def _embed(self) -> NotewellError | None:
        failure: NotewellError | None = None
        try:
            self._driver.embed()
        except NotewellError as error:
            failure = error
        self._updater.record("embed", failure)
        return failure

    def _update(self) -> None:
        self._export()
        self._driver.update()

    def _export(self) -> None:
        if self._exporter is not None:
            now = datetime.fromtimestamp(self._indexer.now_ns() / 1e9, UTC)
            self._exporter.run(now, self._driver.settings.retention_days)

    def status(self) -> Status:
        return qmd_status(self._notes_status(), self._driver, self._updater, self._changed())


def _balanced(results: Iterable[QmdResult], limit: int) -> list[QmdResult]:
    """At most `limit`; at most half of them are transcripts, unless there are too few notes."""
    quota = (limit + 1) // 2
    taken: list[QmdResult] = []
    spare: list[QmdResult] = []
    for result in results:
        is_session = result.collection.source == "sessions"
        quota -= is_session
        (spare if is_session and quota < 0 else taken).append(result)
    # Back to QMD's order: the spare transcripts were appended behind weaker notes.
    return sorted([*taken, *spare][:limit], key=lambda result: result.rank)


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: max(0, chars - len(ELLIPSIS))] + ELLIPSIS


def _hit(result: QmdResult, path: str, snippet: str, mode: SearchMode) -> Hit:
    key = f"{NAME}:{path}:{result.span}:{result.snippet}"
    rank = result.rank
    parts = ScoreParts(
        vector=None,
        text=None,
        vector_rank=rank if mode == "vsearch" else None,
        text_rank=rank if mode == "search" else None,
        decay=1.0,
        recency=1.0,
    )
    return Hit(
        id=hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest(),
        path=path,
        span=result.span,
        score=round(result.score, 4),
        snippet=snippet,
        source=result.collection.source,
        heading="",
        parts=parts,
        chars=len(result.snippet),
    )
