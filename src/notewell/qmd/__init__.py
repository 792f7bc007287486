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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notewell.qmd.collections import Collection, Place, collections_of, locate, shown_path
    from notewell.qmd.driver import Qmd
    from notewell.qmd.export import Exported, SessionText, export_sessions
    from notewell.qmd.failures import QmdFailed
    from notewell.qmd.found import Found
    from notewell.qmd.home import QmdHome, home_of
    from notewell.qmd.keeper import Keeper
    from notewell.qmd.scope import Scope, ScopeRule, why_denied
    from notewell.qmd.settings import ExtraFolder, Models, QmdSettings, settings_from

_HOMES = {
    "Collection": "collections",
    "Exported": "export",
    "ExtraFolder": "settings",
    "Found": "found",
    "Keeper": "keeper",
    "Models": "settings",
    "Place": "collections",
    "Qmd": "driver",
    "QmdFailed": "failures",
    "QmdHome": "home",
    "QmdSettings": "settings",
    "Scope": "scope",
    "ScopeRule": "scope",
    "SessionText": "export",
    "collections_of": "collections",
    "export_sessions": "export",
    "home_of": "home",
    "locate": "collections",
    "settings_from": "settings",
    "shown_path": "collections",
    "why_denied": "scope",
}

__all__ = [
    "Collection",
    "Exported",
    "ExtraFolder",
    "Found",
    "Keeper",
    "Models",
    "Place",
    "Qmd",
    "QmdFailed",
    "QmdHome",
    "QmdSettings",
    "Scope",
    "ScopeRule",
    "SessionText",
    "collections_of",
    "export_sessions",
    "home_of",
    "locate",
    "settings_from",
    "shown_path",
    "why_denied",
]


def __getattr__(name: str) -> Any:
    """Imported when it is asked for: who reads settings or scope rules starts no program."""
    if name not in _HOMES:
        raise AttributeError(f"module 'notewell.qmd' has no attribute {name!r}")
    return getattr(import_module(f"notewell.qmd.{_HOMES[name]}"), name)
