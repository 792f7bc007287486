"""Bringing the index up to date with the notes.

`plan` decides, `apply` makes the text searchable, `fill` adds the vectors, `keeping` does all of
it, or as much as a search may wait for.
"""

from notewell.sync.report import Progress, SyncReport

__all__ = ["Progress", "SyncReport"]
