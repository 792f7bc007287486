"""A memory for AI agents: Markdown notes are the truth, hybrid search finds the lines."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from notewell.assembly import open_memory
    from notewell.capture import CaptureSettings
    from notewell.config import Settings, load_settings
    from notewell.core import Filters
    from notewell.embedders import EmbedderSettings
    from notewell.engines import Status
    from notewell.errors import NotewellError
    from notewell.index import StoreSettings
    from notewell.memory import Memory
    from notewell.notes import Excerpt, ExtraPath, NotesSettings
    from notewell.qmd import QmdSettings
    from notewell.search import SearchSettings
    from notewell.sessions import SessionSettings
    from notewell.sync import Progress, SyncReport, SyncSettings
    from notewell.types import Answer, Hit, Span

_HOMES = {
    "Answer": "notewell.types",
    "CaptureSettings": "notewell.capture",
    "EmbedderSettings": "notewell.embedders",
    "Excerpt": "notewell.notes",
    "ExtraPath": "notewell.notes",
    "Filters": "notewell.core",
    "Hit": "notewell.types",
    "Memory": "notewell.memory",
    "NotesSettings": "notewell.notes",
    "NotewellError": "notewell.errors",
    "Progress": "notewell.sync",
    "QmdSettings": "notewell.qmd.settings",
    "SearchSettings": "notewell.search",
    "SessionSettings": "notewell.sessions",
    "Settings": "notewell.config",
    "Span": "notewell.types",
    "Status": "notewell.engines.status",
    "StoreSettings": "notewell.index",
    "SyncReport": "notewell.sync",
    "SyncSettings": "notewell.sync",
    "load_settings": "notewell.config",
    "open_memory": "notewell.assembly",
}

__all__ = [
    "Answer",
    "CaptureSettings",
    "EmbedderSettings",
    "Excerpt",
    "ExtraPath",
    "Filters",
    "Hit",
    "Memory",
    "NotesSettings",
    "NotewellError",
    "Progress",
    "QmdSettings",
    "SearchSettings",
    "SessionSettings",
    "Settings",
    "Span",
    "Status",
    "StoreSettings",
    "SyncReport",
    "SyncSettings",
    "__version__",
    "load_settings",
    "open_memory",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `notewell --version` needs none."""
    if name not in _HOMES:
        raise AttributeError(f"module 'notewell' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
