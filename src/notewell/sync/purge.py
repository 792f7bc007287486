"""No trace in the index of what was removed from transcripts.

    transcripts of hosts are read again ── a sync drops what is left out ── a copy of what stays

A sync alone is not enough: SQLite leaves deleted text in free pages and in its log, FTS5 deleted
words in its segments, and the cache the vectors of earlier chunks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.errors import NotANote, NoteUnreadable
from notewell.index import UpToDate
from notewell.types import NoteStat

if TYPE_CHECKING:
    from notewell.index import IndexedNote, IndexStore
    from notewell.sessions import TranscriptSource
    from notewell.sync.indexer import Indexer

_UNSEEN = NoteStat(0, 0, 0, 0)


def doubt_transcripts(indexer: Indexer) -> None:
    """The next sync reads every transcript again, also one that its host has not changed."""
    if indexer.store.describe().generation is None:
        return
    with indexer.store.writing(wait_s=indexer.lease_wait_s) as writer:
        if not isinstance(writer.open_current(), UpToDate):
            return  # The next sync builds a new index and reads everything.
        with writer.transaction():
            for path, note in writer.view.notes("sessions").items():
                writer.note_seen(path, "sessions", note.digest, _UNSEEN)


def purge_index(indexer: Indexer) -> None:
    """The index and its cache have nothing but what is searchable now. Raises `IndexTrouble`."""
    store = indexer.store
    store.close()  # Windows does not remove a file that a reader has open, not even our own.
    if _is_there(store):
        with store.writing(wait_s=indexer.lease_wait_s) as writer:
            if isinstance(writer.open_current(), UpToDate):
                writer.purge()
            else:
                writer.discard()
    store.purge_cache()


def _is_there(store: IndexStore) -> bool:
    """Also if nothing is published: a first index that was cut short has text, too."""
    return store.describe().generation is not None or bool(store.local_files())


def purge_changed(store: IndexStore, transcripts: TranscriptSource, *, wait_s: float) -> None:
    """Another index loses the transcripts that have changed since it was synced: its next sync
    indexes them again. It need not be opened with its own settings. Raises `IndexTrouble`."""
    if _is_there(store):
        with store.writing(wait_s=wait_s) as writer:
            if isinstance(writer.open_current(), UpToDate):
                indexed = writer.view.notes("sessions").items()
                changed = [path for path, note in indexed if _has_changed(transcripts, note, path)]
                with writer.transaction():
                    writer.forget(changed)
                # Also if there are none: a process that was killed here has left their pages.
                writer.purge()
            else:
                # Of an older version, or damaged: it cannot be cleaned, but built again.
                writer.discard()
    store.purge_cache()


def _has_changed(transcripts: TranscriptSource, note: IndexedNote, path: str) -> bool:
    """Also one that cannot be read now; False for a transcript of another folder."""
    try:
        return transcripts.read(path).digest != note.digest
    except NotANote:
        return False
    except NoteUnreadable:
        return True
