"""A memory for AI agents: Markdown notes are the truth, hybrid search finds the lines."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from notewell.config import Settings, load_settings
    from notewell.core.errors import NotewellError
    from notewell.core.types import Answer, Hit, Span
    from notewell.memory import Memory, open_memory
    from notewell.notes import ExtraPath
    from notewell.notes.lines import Lines
    from notewell.qmd.settings import QmdSettings
    from notewell.status import Status
    from notewell.sync import Progress, SyncReport

_HOMES = {
    "Answer": "notewell.core.types",
    "ExtraPath": "notewell.notes",
    "Hit": "notewell.core.types",
    "Lines": "notewell.notes.lines",
    "Memory": "notewell.memory",
    "Progress": "notewell.sync",
    "QmdSettings": "notewell.qmd.settings",
    "NotewellError": "notewell.core.errors",
    "Settings": "notewell.config",
    "Span": "notewell.core.types",
    "Status": "notewell.status",
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
