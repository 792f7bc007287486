"""No trace of what was forgotten: in indexes, vector caches and exports for QMD.

All workspaces of an agent search the transcripts that programs sent to `notewell serve`. So the
indexes of all of them are cleaned, and not only that of the memory at hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.errors import BackendFailed
from notewell.qmd import clear_home, home_of, homes_of
from notewell.redaction import DeferredRedactor
from notewell.sessions import TranscriptFolder, Transcripts, kept_dir
from notewell.stores import other_stores
from notewell.sync import doubt_transcripts, purge_changed, purge_index

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.memory import Memory


def clean_traces(memory: Memory) -> BackendFailed | None:
    """Returns why QMD's index is not made anew yet; nothing is left in the old one.

    Raises `IndexTrouble` for an index that cannot be cleaned now, and `BackendFailed` for QMD.
    """
    own = kept_dir(memory.state_dir, memory.agent, memory.notes.location).parent
    is_shared = any(own.glob("*.jsonl"))
    state = memory.state_dir.absolute()
    this = home_of(state, memory.agent, memory.notes.location)
    # QMD keeps the text of removed files in its index, so both are made anew.
    for home in homes_of(state, memory.agent) if is_shared else [this]:
        if home.path.is_dir():
            clear_home(home)
    _clean_index(memory)
    if is_shared:
        _clean_others(memory, own)
    return _renewed_qmd(memory) if memory.settings.qmd else None


def _clean_index(memory: Memory) -> None:
    indexer = memory.indexer
    doubt_transcripts(indexer)
    # With vectors and no index, one is made: it says which of them are still needed.
    if indexer.store.describe().generation is not None or indexer.store.cache_entries():
        report = memory.sync_words()
        if report.trouble is not None:
            raise report.trouble
    purge_index(indexer)


def _clean_others(memory: Memory, own: Path) -> None:
    """The indexes of the agent's other workspaces: their next sync indexes what was changed."""
    transcripts = Transcripts([TranscriptFolder(own)], DeferredRedactor(memory.state_dir))
    settings, opened = memory.settings.store, memory.indexer.store
    for store in other_stores(memory.state_dir, memory.agent, settings, opened):
        purge_changed(store, transcripts, wait_s=memory.indexer.lease_wait_s)


def _renewed_qmd(memory: Memory) -> BackendFailed | None:
    """QMD may be missing, or may not answer: what was forgotten is forgotten all the same."""
    try:
        trouble = memory.sync(vectors=False).trouble
    except BackendFailed as error:
        return error
    return trouble if isinstance(trouble, BackendFailed) else None
