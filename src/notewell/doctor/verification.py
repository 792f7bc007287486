"""The proof that the index says what the notes say, down to the last line.

    file      every page against its checksum, the trees and the words by SQLite and FTS5
    notes     each digest against the file on disk; each chunk against the note, cut again
    vectors   one a chunk, of the right length, with a direction, filed where queries look
    cache     every vector that was paid for
    state     the files that captures keep

Everything about notes and vectors is read from one generation at one moment, without a lease: a
writer goes on meanwhile, and what it changes after that moment shows as a note that is behind.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from notewell.doctor.report import Verdict, steps
from notewell.doctor.subject import Patient
from notewell.errors import IndexTrouble, IndexUnreadable
from notewell.index.sqlite import SqliteStore, bad_pages, opened, pages_told
from notewell.index.sqlite.integrity import integrity

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

    from notewell.doctor.report import ProgressCallback
    from notewell.index.sqlite import IndexFolder
    from notewell.memory import Memory
    from notewell.sync import Indexer

MOVED_TRIES = 5
"""A writer may publish and sweep between our look at CURRENT and our open."""


def verify(memory: Memory, progress: ProgressCallback | None = None) -> Verdict:
    """Compare everything; reads only. What cannot be read is a disagreement, not an error."""
    from notewell.doctor.verify_kept import verify_cache, verify_state

    patient = Patient.of(memory)
    indexer = patient.indexer
    assert indexer is not None  # noqa: S101 - it was made of a memory
    verdict, told = Verdict(), progress or (lambda _: None)
    store = indexer.store
    assert isinstance(store, SqliteStore)  # noqa: S101
    folder = store.folder
    with verdict.part("index", folder.path):
        _verify_index(indexer, verdict, told)
    with verdict.part("cache", folder.cache):
        verify_cache(folder.cache, verdict, told)
    verify_state(patient, verdict)
    return verdict


def _verify_index(indexer: Indexer, verdict: Verdict, told: ProgressCallback) -> None:
    from notewell.index.sqlite import SCHEMA, found_schema

    store = indexer.store
    assert isinstance(store, SqliteStore)  # noqa: S101
    folder = store.folder
    with ExitStack() as stack:
        found = _open_current(folder, stack)
        if found is None:
            verdict.differs("index", folder.path.name, "there is no index: run `notewell index`")
            return
        file, db = found
        verdict.generation = file.name
        with verdict.part("index", file):
            _verify_file(db, file, verdict, told)
        with verdict.part("index", file):
            if found_schema(db, file) < SCHEMA:
                raise IndexUnreadable(str(file), "it has an older schema")
            _verify_moment(indexer, db, file, verdict, told)


def _open_current(folder: IndexFolder, stack: ExitStack) -> tuple[Path, apsw.Connection] | None:
    """The generation that CURRENT names; None where nothing was published yet."""
    for _ in range(MOVED_TRIES):
        generation = folder.current()
        if generation is None:
            return None
        try:
            return generation, stack.enter_context(opened(generation))
        except (IndexTrouble, OSError):
            if generation == folder.current() and generation.exists():
                raise
    raise IndexUnreadable(str(generation), "CURRENT names a file that is not there")


def _verify_file(
    db: apsw.Connection, file: Path, verdict: Verdict, told: ProgressCallback
) -> None:
    verdict.pages, bad = bad_pages(db, file, steps(told, "pages"))
    if bad:
        verdict.differs("index", file.name, f"{pages_told(bad)}: run `notewell doctor --fix`")
    for line in integrity(db):
        verdict.differs("index", file.name, f"{line}: run `notewell index --force`")


def _verify_moment(
    indexer: Indexer, db: apsw.Connection, file: Path, verdict: Verdict, told: ProgressCallback
) -> None:
    from notewell.doctor.verify_notes import NotesProof
    from notewell.doctor.verify_vectors import verify_chunks
    from notewell.index.sqlite import SqliteView, reading

    wanted = indexer.wanted(indexer.facts())
    store = indexer.store
    assert isinstance(store, SqliteStore)  # noqa: S101
    driver = store.driver
    with reading(db):
        view = SqliteView(db, file, driver, driver.reader)
        difference = view.identity().difference(wanted)
        if difference:
            verdict.differs("index", file.name, f"a new one is needed: {difference}")
        NotesProof(indexer, view, verdict, told).run()
        verify_chunks(db, driver, verdict, told)
