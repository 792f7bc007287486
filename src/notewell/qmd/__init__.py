"""Drives QMD, an external search program: finds it, starts it, queries it and stops it.

settings.py      `memory.qmd.*` as plain values
collections.py   which folders QMD indexes, and the paths of their files in hits
home.py          QMD's private folder per agent: configuration, environment, state of its index
failures.py      every failure by kind, with the next step; backoff
child_guard.py   the process that kills QMD when we end
process.py       one command, or one that stays: deadline, output limit, no orphans
daemon.py        QMD's HTTP server: start, query, stop, restart
query.py         a question in QMD's terms, and its answers as files and lines
background.py    when to update and embed (decided), and the thread that does it
export.py        transcripts as Markdown files that QMD can index
driver.py        START HERE: search, update, embed
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.qmd.background import BackgroundUpdater, Job
    from notewell.qmd.collections import (
        Collection,
        CollectionFile,
        collections_of,
        locate,
        shown_path,
    )
    from notewell.qmd.driver import Qmd, clear_home
    from notewell.qmd.export import ExportCounts, SessionText, export_name, export_sessions
    from notewell.qmd.failures import QmdFailed
    from notewell.qmd.home import QmdHome, document_counts, has_vectors, home_of, homes_of
    from notewell.qmd.query import QmdResult
    from notewell.qmd.settings import (
        ExtraFolder,
        QmdModels,
        QmdSettings,
        SearchMode,
    )
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "background": "BackgroundUpdater Job",
            "collections": "Collection CollectionFile collections_of locate shown_path",
            "driver": "Qmd clear_home",
            "export": "ExportCounts SessionText export_name export_sessions",
            "failures": "QmdFailed",
            "home": "QmdHome document_counts has_vectors home_of homes_of",
            "query": "QmdResult",
            "settings": "ExtraFolder QmdModels QmdSettings SearchMode",
        },
    )
