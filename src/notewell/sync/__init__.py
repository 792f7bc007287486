"""Bringing the index up to date with the notes.

`plan` decides, `apply` makes the text searchable, `fill` adds the vectors, `keeping` does all of
it, or as much as a search may wait for.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.sync.indexer import Keeping
    from notewell.sync.notifier import MAX_FOLDERS, Ear, FileEar, NoEar
    from notewell.sync.plan import behind
    from notewell.sync.report import Progress, ProgressCallback, SyncReport
    from notewell.sync.schedule import Timing
    from notewell.sync.source import TextSource
    from notewell.sync.watch import (
        Failed,
        Heard,
        Listening,
        Scanning,
        StopAskedFor,
        Synced,
        Told,
        Watcher,
    )
    from notewell.sync.watch_paths import Ground
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "indexer": "Keeping",
            "notifier": "Ear FileEar MAX_FOLDERS NoEar",
            "plan": "behind",
            "report": "Progress ProgressCallback SyncReport",
            "schedule": "Timing",
            "source": "TextSource",
            "watch": "Failed Heard Listening Scanning StopAskedFor Synced Told Watcher",
            "watch_paths": "Ground",
        },
    )
