"""A progress bar on a terminal, and nothing where nobody watches."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.sync import Progress

WIDTH = 30


class ProgressBar:
    def __init__(self) -> None:
        self._watched = sys.stderr.isatty()
        self._shown = False

    def update(self, progress: Progress) -> None:
        if not self._watched or not progress.total:
            return
        filled = WIDTH * progress.completed // progress.total
        bar = "█" * filled + "░" * (WIDTH - filled)
        sys.stderr.write(f"\r{bar} {progress.completed}/{progress.total} {progress.label}\x1b[K")
        sys.stderr.flush()
        self._shown = True

    def done(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
