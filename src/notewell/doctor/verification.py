"""`notewell verify`: prove that the index contains what the notes say.

    the store      pages, rows, words, vectors, cache: `IndexStore.verify`
    the notes      every note, split into chunks again, against its chunks in the index
    the state      the files that captures keep, and the key of the redaction
    the entries    every entry in LanceDB against its digest

The store hands over a view of the moment at which it compares its own rows, so that notes and
vectors are compared with the same state.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from notewell.core import ChunkLimits, chunk
from notewell.doctor.finding import Subject
from notewell.doctor.state_files import files, is_capture_file
from notewell.errors import NotANote, NoteUnreadable, NotewellError
from notewell.index import StoreAudit
from notewell.records import dataclass
from notewell.sync import Progress, plan_sync

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from notewell.index import IndexedNote, IndexView, StoredChunk
    from notewell.memory import Memory
    from notewell.sync import Indexer, TextSource
    from notewell.types import Chunk, FoundNote, Note, Span

STEP = 500
"""Progress is reported once in so many rows."""
LAST_LINE = 2**62
"""More lines than any note has."""
SYNC = "run `notewell index`"
FORCE = "run `notewell index --force`"


@dataclass(slots=True)
class VerifyReport(StoreAudit):
    """What was compared, and what differs."""

    notes: int = 0
    state_files: int = 0
    entries: int = 0


def verify(memory: Memory, on_progress: Callable[[Progress], None] | None = None) -> VerifyReport:
    """Compare everything and change nothing. What cannot be read is a disagreement."""
    subject = Subject.of(memory)
    indexer = subject.indexer
    assert indexer is not None  # noqa: S101 - it was made from a memory
    report = VerifyReport()

    def step(label: str, done: int, total: int) -> None:
        if on_progress and (done == total or done % STEP == 0):
            on_progress(Progress(done, total, label))

    def compare(view: IndexView) -> None:
        identity = view.identity()
        difference = identity.difference(indexer.wanted(indexer.facts(), identity))
        if difference:
            report.differs("index", view.generation, f"a new one is needed: {difference}")
        _NoteComparison(indexer, view, report, step).run()

    subject.store.verify(report, compare, step)
    _verify_state(subject, report)
    _verify_entries(memory, report)
    return report


# -- notes ---------------------------------------------------------------------------------------


class _Piece(NamedTuple):
    """What must be the same in the index and in the note."""

    span: Span
    digest: str
    heading: str
    text: str
    offset: int

    @classmethod
    def of(cls, one: Chunk | StoredChunk) -> _Piece:
        return cls(one.span, one.digest, one.heading, one.text, one.offset)


@dataclass(frozen=True, slots=True)
class _NoteComparison:
    indexer: Indexer
    view: IndexView
    report: VerifyReport
    step: Callable[[str, int, int], None]

    def run(self) -> None:
        for source in self.indexer.text_sources(everything=True):
            self._source(source)

    def _source(self, source: TextSource) -> None:
        indexed = self.view.notes(source.name)
        scan = source.scan({path: note.stat for path, note in indexed.items()})
        for path in plan_sync(scan, indexed).forget:
            self.report.differs("note", path, f"it is indexed and no longer there: {SYNC}")
        for hidden in scan.unreadable:
            self.report.differs("note", hidden.path, f"cannot be compared: {hidden.why}")
        label = "notes" if source.name == "memory" else source.name
        for number, (path, note) in enumerate(scan.notes.items(), 1):
            self._note(source, path, note, indexed)
            self.step(label, number, len(scan.notes))

    def _note(
        self,
        source: TextSource,
        path: str,
        on_disk: FoundNote,
        indexed: Mapping[str, IndexedNote],
    ) -> None:
        if path not in indexed:
            self.report.differs("note", f"{path}:1", f"it is not indexed: {SYNC}")
            return
        self.report.notes += 1
        try:
            note = source.read(path)
        except (NoteUnreadable, NotANote) as error:
            self.report.differs("note", path, str(error))
            return
        if note.digest == indexed[path].digest:
            self._chunks(source, note)
        # The dangerous case: only a forced rebuild would notice this change.
        elif indexed[path].stat == on_disk.stat:
            where = f"{path}:{self._first_line(source, note)}"
            why = "other text than the index, and the same size and times: a sync would not see it"
            self.report.differs("note", where, f"{why}; {FORCE}")
        else:
            where = f"{path}:{self._first_line(source, note)}"
            self.report.differs("note", where, f"changed since it was indexed: {SYNC}")

    def _chunks(self, source: TextSource, note: Note) -> None:
        for piece, is_indexed in self._differences(source, note):
            message = (
                "the index has lines here that the note does not have"
                if is_indexed
                else "the note has lines here that the index does not have"
            )
            where = f"{note.path}:{piece.span.start_line}"
            self.report.differs("chunk", where, f"{message} ({piece.span}): {FORCE}")

    def _first_line(self, source: TextSource, note: Note) -> int:
        differences = self._differences(source, note)
        return differences[0][0].span.start_line if differences else 1

    def _differences(self, source: TextSource, note: Note) -> list[tuple[_Piece, bool]]:
        """The pieces that only one side has, in order; true: the index has it."""
        identity = self.view.identity()
        # What follows `+` says what is sent, which the texts of the index do not depend on.
        if identity.redaction.partition("+")[0] != self.indexer.redaction:
            return []  # Other rules have masked its secrets: the texts cannot be compared.
        limits = ChunkLimits(identity.chunk_tokens, identity.chunk_overlap)
        chunks = chunk(note.text, limits, is_spoken=source.name == "sessions")
        wanted = Counter(_Piece.of(one) for one in chunks)
        stored = self.view.around(note.path, 0, LAST_LINE)
        has = Counter(_Piece.of(one) for one in stored)
        missing = [(piece, False) for piece in (wanted - has).elements()]
        surplus = [(piece, True) for piece in (has - wanted).elements()]
        return sorted(missing + surplus)


# -- the state -----------------------------------------------------------------------------------


def _verify_state(subject: Subject, report: VerifyReport) -> None:
    from notewell.capture import capture_dir
    from notewell.redaction import KEY_BYTES, KEY_FILE

    folder = capture_dir(subject.state, subject.agent, subject.location)
    for file in files(folder):
        if is_capture_file(file.name):
            with report.part("state", file.name):
                report.state_files += 1
                _verify_json(file, report)
    key = subject.state / KEY_FILE
    if os.path.lexists(key):
        with report.part("state", key.name):
            report.state_files += 1
            if len(key.read_bytes()) != KEY_BYTES:
                raise NotewellError(f"it is no key of {KEY_BYTES} bytes; remove it")


def _verify_entries(memory: Memory, report: VerifyReport) -> None:
    from notewell.entries import EntriesSettings, audit_entries, has_entries

    with report.part("entry", "entries"):
        folder = (memory.settings.entries or EntriesSettings()).folder(memory.state_dir)
        if has_entries(folder):
            audit = audit_entries(folder)
            report.entries = audit.entries
            for message in audit.damaged:
                report.differs("entry", str(folder), message)


def _verify_json(file: Path, report: VerifyReport) -> None:
    """A log has one object a line; its readers skip what is no object."""
    # A log is appended line by line, so a crash damages its last line only.
    is_log = file.suffix == ".jsonl"
    data = file.read_bytes()
    for number, line in enumerate(data.split(b"\n") if is_log else [data], 1):
        if is_log and not line:
            continue
        try:
            is_object = isinstance(json.loads(line), dict)
        except (ValueError, RecursionError):
            is_object = False
        if not is_object:
            what = "this line is" if is_log else "it is"
            message = f"{what} no JSON object, and is skipped: remove it"
            report.differs("state", f"{file}:{number}", message)
