"""Bringing the index up to date with the notes.

`plan` decides, `apply` makes the text searchable, `fill` adds the vectors, `keeping` does all of
it, or as much as a search may wait for.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.sync.indexer import Indexer
    from notewell.sync.notifier import MAX_FOLDERS, FileNotifier, NoNotifier, Notifier
    from notewell.sync.plan import behind, plan_sync
    from notewell.sync.report import Progress, ProgressCallback, SyncReport
    from notewell.sync.schedule import Timing
    from notewell.sync.settings import SyncSettings
    from notewell.sync.source import TextSource
    from notewell.sync.watch import (
        Failed,
        Heard,
        Listening,
        Scanning,
        StopAskedFor,
        Synced,
        Watcher,
        WatchEvent,
    )
    from notewell.sync.watch_paths import WatchPaths
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "indexer": "Indexer",
            "notifier": "Notifier FileNotifier MAX_FOLDERS NoNotifier",
            "plan": "behind plan_sync",
            "report": "Progress ProgressCallback SyncReport",
            "schedule": "Timing",
            "settings": "SyncSettings",
            "source": "TextSource",
            "watch": "Failed Heard Listening Scanning StopAskedFor Synced WatchEvent Watcher",
            "watch_paths": "WatchPaths",
        },
    )
