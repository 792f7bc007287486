"""Bringing the index up to date with the notes.

indexer.py        START HERE: a whole sync, or the quick one before a search; the sources of text
look.py           when the notes are compared with the index
plan.py           decides what to read and forget; what a sync reports
apply.py          makes the text searchable, and reuses known vectors
embed_pending.py  embeds the chunks that wait for a vector
scale.py          measures the scale of a model's cosines
vector_keeping.py whether vectors survive an index of another model
watch.py          syncs whenever something changes
schedule.py       decides when the next sync is due: debounce, backoff, interval
notifier.py       the operating system's notices, and the folders to watch
shared_notifier.py  the same for many watches of one process
purge.py          no trace in the index of what was removed
record.py         how the last sync ended, for the status of other processes
settings.py       what can be set
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.sync.indexer import CATCH_UP_NOTES, Indexer, downloaded
    from notewell.sync.look import LOOK_WAIT_S, LookSchedule
    from notewell.sync.notifier import MAX_FOLDERS, FileNotifier, NoNotifier, Notifier, WatchPaths
    from notewell.sync.plan import (
        Progress,
        ProgressCallback,
        SyncInterrupted,
        SyncReport,
        TextSource,
        behind,
        plan_sync,
    )
    from notewell.sync.purge import doubt_transcripts, purge_changed, purge_index
    from notewell.sync.record import (
        BatchFailure,
        SyncFailure,
        SyncOutcome,
        SyncRecord,
        SyncState,
    )
    from notewell.sync.schedule import Timing
    from notewell.sync.settings import SyncSettings
    from notewell.sync.shared_notifier import NotifierShare, SharedNotifier, open_shared_notifier
    from notewell.sync.vector_keeping import keep_vectors, why_not_kept
    from notewell.sync.watch import (
        Failed,
        Heard,
        Listening,
        Scanning,
        StopAskedFor,
        Synced,
        Watcher,
        WatchEvent,
        watch_index,
    )
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "indexer": "CATCH_UP_NOTES Indexer downloaded",
            "look": "LOOK_WAIT_S LookSchedule",
            "notifier": "FileNotifier MAX_FOLDERS NoNotifier Notifier WatchPaths",
            "plan": (
                "Progress ProgressCallback SyncInterrupted SyncReport TextSource behind plan_sync"
            ),
            "purge": "doubt_transcripts purge_changed purge_index",
            "record": "BatchFailure SyncFailure SyncOutcome SyncRecord SyncState",
            "schedule": "Timing",
            "settings": "SyncSettings",
            "shared_notifier": "NotifierShare SharedNotifier open_shared_notifier",
            "vector_keeping": "keep_vectors why_not_kept",
            "watch": "Failed Heard Listening Scanning StopAskedFor Synced WatchEvent Watcher "
            "watch_index",
        },
    )
