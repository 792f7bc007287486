"""A memory for AI agents: Markdown notes are the truth, hybrid search finds the lines."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from notewell.config import Settings, load_settings
    from notewell.engines import Status
    from notewell.errors import NotewellError
    from notewell.memory import Memory, open_memory
    from notewell.notes import ExtraPath, Lines
    from notewell.qmd import QmdSettings
    from notewell.sync import Progress, SyncReport
    from notewell.types import Answer, Hit, Span

_HOMES = {
    "Answer": "notewell.types",
    "ExtraPath": "notewell.notes",
    "Hit": "notewell.types",
    "Lines": "notewell.notes.excerpt",
    "Memory": "notewell.memory",
    "Progress": "notewell.sync",
    "QmdSettings": "notewell.qmd.settings",
    "NotewellError": "notewell.errors",
    "Settings": "notewell.config",
    "Span": "notewell.types",
    "Status": "notewell.engines.status",
    "SyncReport": "notewell.sync",
    "load_settings": "notewell.config",
    "open_memory": "notewell.memory",
}

__all__ = [
    "Answer",
    "ExtraPath",
    "Hit",
    "Lines",
    "Memory",
    "NotewellError",
    "Progress",
    "QmdSettings",
    "Settings",
    "Span",
    "Status",
    "SyncReport",
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
