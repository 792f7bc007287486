"""QMD, a search program of its own, driven from outside: found, started, asked, ended.

settings.py      what can be set, as plain values
collections.py   which folders it indexes, and what their files are called elsewhere
home.py          its own folder, settings and environment, one an agent
failures.py      everything that can go wrong with it, by kind
leash.py         the process that ends it when we end
process.py       one command, or one that stays: a deadline, a cap, nothing left behind
wire.py          one exchange with its server under one deadline
daemon.py        that server: started, asked, ended, started again
question.py      a question in its terms
found.py         its answers as files and lines
preflight.py     what a search by meaning needs
lock.py          one update at a time
cadence.py       when to update; decided, not done
keeper.py        the thread that does it
scope.py         which conversations may see what it finds
export.py        transcripts as Markdown it can index
driver.py        START HERE: search, update, embed
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.qmd.background import Keeper
    from notewell.qmd.collections import Collection, Place, collections_of, locate, shown_path
    from notewell.qmd.driver import Qmd
    from notewell.qmd.export import Exported, SessionText, export_name, export_sessions
    from notewell.qmd.failures import QmdFailed
    from notewell.qmd.home import QmdHome, home_of
    from notewell.qmd.preflight import documents, has_vectors
    from notewell.qmd.results import Found
    from notewell.qmd.scope import Scope, ScopeRule, why_denied
    from notewell.qmd.settings import ExtraFolder, Models, QmdSettings, SearchMode, scope_from
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "background": "Keeper",
            "collections": "Collection Place collections_of locate shown_path",
            "driver": "Qmd",
            "export": "Exported SessionText export_name export_sessions",
            "failures": "QmdFailed",
            "home": "QmdHome home_of",
            "preflight": "documents has_vectors",
            "results": "Found",
            "scope": "Scope ScopeRule why_denied",
            "settings": "ExtraFolder Models QmdSettings SearchMode scope_from",
        },
    )
