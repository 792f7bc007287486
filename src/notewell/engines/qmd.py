"""QMD as an engine: the driver's files and lines as hits, with citations that `get` can read.

    search   driver ──▶ fair to notes and transcripts ──▶ cut to the limits ──▶ Answer
    sync     transcripts exported, `qmd update`, and `qmd embed` where meaning is asked for
    get      files of the collections; everything else our own engine reads

Who asks a second time is taken for somebody who stays: from then on a server answers and a thread
keeps QMD's index up. A score says where a hit stands in QMD's order and nothing else, so a least
score is not applied.
"""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.core import without_marks
from notewell.engines.qmd_exports import Exports
from notewell.errors import NotewellError
from notewell.qmd import Keeper, Qmd, QmdFailed, collections_of, home_of, locate, shown_path
from notewell.types import Answer, Hit, ScoreParts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from notewell.engines.builtin import Builtin
    from notewell.engines.protocol import Question
    from notewell.engines.status import Status
    from notewell.qmd import Found, QmdSettings, SearchMode
    from notewell.sessions import Transcripts
    from notewell.sync import ProgressCallback, SyncReport
    from notewell.types import Mode

NAME = "qmd"
PROBE = "memory"
TAKEN_IN_FIRST = 32
"""More changed notes than this are a checkout or a move, not somebody writing."""
SPARE = 4
"""Times as many files are asked for as shown: some are gone, some are of one source too many."""
ELLIPSIS = "…"

_MODES: dict[SearchMode, Mode] = {"search": "keyword", "vsearch": "vector", "query": "hybrid"}


def open_qmd(
    settings: QmdSettings,
    builtin: Builtin,
    agent: str,
    state: Path,
    environment: Mapping[str, str],
) -> QmdBackend:
    """Nothing is started and nothing written before it is asked."""
    workspace = builtin.indexer.notes.root
    home = home_of(state.absolute(), agent, workspace)
    told = settings.export_dir
    export_dir = _resolved(workspace, told) if told else home.sessions
    collections = collections_of(workspace, agent, settings, export_dir)
    driver = Qmd(settings, home, collections, inherited=environment)
    if not settings.export_sessions:
        return QmdBackend(driver, builtin, None)
    return QmdBackend(driver, builtin, Exports(_transcripts(builtin, agent, state), export_dir))


def _resolved(workspace: Path, told: str) -> Path:
    return Path(os.path.realpath(workspace / Path(told).expanduser()))


def _transcripts(builtin: Builtin, agent: str, state: Path) -> Transcripts:
    """Those our own engine reads; it may have been told to read none."""
    if builtin.indexer.transcripts:
        return builtin.indexer.transcripts[0]
    from notewell.redaction import Redactor, load_mask_key
    from notewell.sessions import TranscriptFolder, Transcripts

    own = TranscriptFolder(state / "agents" / agent / "sessions")
    return Transcripts([own], Redactor(load_mask_key(state)))


class QmdBackend:
    name = NAME

    def __init__(self, driver: Qmd, builtin: Builtin, exports: Exports | None) -> None:
        self._driver = driver
        self._builtin = builtin
        self._exports = exports
        self._keeper = Keeper(
            driver.settings, {"update": self._update, "embed": self._driver.embed}
        )
        self._questions = 0

    def close(self) -> None:
        self._keeper.close(self._driver.close)

    # -- asking ----------------------------------------------------------------------------------

    def search(self, question: Question) -> Answer:
        mode: SearchMode = "search" if question.keyword_only else self._driver.settings.search_mode
        self._keep_up()
        limit = question.max_results or self._driver.settings.max_results
        found = self._driver.search(question.text, limit * SPARE, mode=mode)
        hits = tuple(self._hits(_fair(self._present(found), limit), mode))
        reason = None if hits else "QMD found nothing for these words"
        return Answer(hits, _MODES[mode], NAME, mode, reason, self._notice())

    def check(self) -> None:
        """One real question: whether QMD answers, only QMD can tell."""
        self._driver.search(PROBE, 1, probing=True)

    def get(self, path: str) -> str:
        place = locate(self._root, self._driver.collections, path)
        if place is None:
            return self._builtin.get(path)
        from notewell.files import disk
        from notewell.notes import read_note

        return read_note(disk(), (str(place.root), *place.parts), path).text

    @property
    def _root(self) -> Path:
        return self._builtin.indexer.notes.root

    def _keep_up(self) -> None:
        """The first question of a program may be its last: it starts nothing that stays, unless
        there is no index at all, and whoever asks next shall find one."""
        self._questions += 1
        settings = self._driver.settings
        if self._questions == 1 and settings.update_on_boot and settings.wait_for_boot:
            self._update()
            self._keeper.note("update", None)
        elif self._questions > 1 or not self._driver.home.index.exists():
            self._keeper.start()
        if self._driver.home.index.exists() and 0 < self._changed() <= TAKEN_IN_FIRST:
            self._take_in()

    def _take_in(self) -> None:
        """What was written a moment ago is found. Where QMD cannot, the question shows it too; but
        who has used up the time of the question is not asked as well."""
        try:
            self._driver.update(within_s=self._driver.settings.timeout_s)
        except QmdFailed as failure:
            if failure.kind == "timeout":
                raise
        else:
            self._keeper.note("update", None)

    def _present(self, found: Sequence[Found]) -> Iterator[Found]:
        """What can still be read: QMD knows the files of its last update."""
        for one in found:
            path = one.collection.root.joinpath(*one.parts)
            if path.is_file() and not path.is_symlink():
                yield one

    def _hits(self, found: Sequence[Found], mode: SearchMode) -> Iterator[Hit]:
        limits = self._driver.settings
        redact = self._builtin.indexer.redact_notes
        left = limits.max_injected_chars
        for one in found:
            if left <= 0:
                return
            text = without_marks(redact(one.snippet) if redact else one.snippet)
            snippet = _cut(text, min(limits.max_snippet_chars, left))
            left -= len(snippet)
            yield _hit(one, shown_path(self._root, one.collection, one.parts), snippet, mode)

    def _notice(self) -> str | None:
        trouble = self._driver.daemon_trouble
        if trouble is not None:
            return f"a command answered, which is slower: {trouble.why}"
        behind = self._keeper.trouble("update")
        if behind is not None:
            return f"QMD's index is not up to date: {behind}"
        if self._keeper.is_running:
            return None
        changed = self._changed()
        if not changed:
            return None
        number = "a note has" if changed == 1 else f"{changed} notes have"
        return f"{number} changed since QMD's last update: run `notewell index`"

    def _changed(self) -> int:
        """How many notes were written after the last update began."""
        since = self._driver.home.updated_ns() or 0
        notes = self._builtin.indexer.notes.scan().notes.values()
        return sum(note.stat.mtime_ns > since for note in notes)

    # -- keeping up ------------------------------------------------------------------------------

    def sync(
        self, *, force: bool = False, vectors: bool = True, progress: ProgressCallback
    ) -> SyncReport:
        from notewell.index import MustRebuild
        from notewell.sync import Progress, SyncReport

        progress(Progress(0, 2, "QMD reads the notes"))
        self._export()
        done = self._driver.update(anew=force)
        self._keeper.note("update", None)
        report = SyncReport(
            rebuilt=MustRebuild("requested") if force else None,
            written=done.new + done.changed,
            forgotten=done.removed,
            unchanged=done.unchanged,
            ignored=self._builtin.indexer.notes.scan().ignored,
        )
        if vectors and self._driver.settings.search_mode != "search":
            progress(Progress(1, 2, "QMD computes vectors"))
            report.trouble = self._embedded()
        progress(Progress(2, 2, "QMD is up to date"))
        return report

    def _embedded(self) -> NotewellError | None:
        trouble: NotewellError | None = None
        try:
            self._driver.embed()
        except NotewellError as error:
            trouble = error
        self._keeper.note("embed", trouble)
        return trouble

    def _update(self) -> None:
        self._export()
        self._driver.update()

    def _export(self) -> None:
        if self._exports is not None:
            now = datetime.fromtimestamp(self._builtin.indexer.now_ns() / 1e9, UTC)
            self._exports.run(now, self._driver.settings.retention_days)

    # -- telling ---------------------------------------------------------------------------------

    def status(self) -> Status:
        from notewell.engines.qmd_status import qmd_status

        return qmd_status(self._builtin.status(), self._driver, self._keeper, self._changed())


def _fair(found: Iterable[Found], limit: int) -> list[Found]:
    """As many as are shown; transcripts have at most half of them while there are notes."""
    quota = (limit + 1) // 2
    taken: list[Found] = []
    spare: list[Found] = []
    for one in found:
        is_session = one.collection.source == "sessions"
        quota -= is_session
        (spare if is_session and quota < 0 else taken).append(one)
    return sorted([*taken, *spare][:limit], key=lambda one: one.rank)


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: max(0, chars - len(ELLIPSIS))] + ELLIPSIS


def _hit(found: Found, path: str, snippet: str, mode: SearchMode) -> Hit:
    key = f"{NAME}:{path}:{found.span}:{found.snippet}"
    rank = found.rank
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
        span=found.span,
        score=round(found.score, 4),
        snippet=snippet,
        source=found.collection.source,
        heading="",
        parts=parts,
        chars=len(found.snippet),
    )
