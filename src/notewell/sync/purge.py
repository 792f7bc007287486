"""No trace in the index of what was removed from transcripts.

    transcripts of hosts are read again ── a sync drops what is left out ── a copy of what stays

A sync alone is not enough: SQLite leaves deleted text in free pages and in its log, FTS5 deleted
words in its segments, and the cache the vectors of earlier chunks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.index import UpToDate
from notewell.types import NoteStat

if TYPE_CHECKING:
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
    if indexer.store.describe().generation is None:
        return
    with indexer.store.writing(wait_s=indexer.lease_wait_s) as writer:
        if isinstance(writer.open_current(), UpToDate):
            writer.purge()
    indexer.store.purge_cache()
