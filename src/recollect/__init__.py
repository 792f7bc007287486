"""A memory for AI agents: Markdown notes are the truth, hybrid search finds the lines."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from recollect.config import Settings, load_settings
    from recollect.core.errors import RecollectError
    from recollect.core.types import Answer, Hit, Span
    from recollect.memory import Memory, open_memory
    from recollect.notes import ExtraPath
    from recollect.notes.lines import Lines
    from recollect.qmd.settings import QmdSettings
    from recollect.status import Status
    from recollect.sync import Progress, SyncReport

_HOMES = {
    "Answer": "recollect.core.types",
    "ExtraPath": "recollect.notes",
    "Hit": "recollect.core.types",
    "Lines": "recollect.notes.lines",
    "Memory": "recollect.memory",
    "Progress": "recollect.sync",
    "QmdSettings": "recollect.qmd.settings",
    "RecollectError": "recollect.core.errors",
    "Settings": "recollect.config",
    "Span": "recollect.core.types",
    "Status": "recollect.status",
    "SyncReport": "recollect.sync",
    "load_settings": "recollect.config",
    "open_memory": "recollect.memory",
}

__all__ = [
    "Answer",
    "ExtraPath",
    "Hit",
    "Lines",
    "Memory",
    "Progress",
    "QmdSettings",
    "RecollectError",
    "Settings",
    "Span",
    "Status",
    "SyncReport",
    "__version__",
    "load_settings",
    "open_memory",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `recollect --version` needs none."""
    if name not in _HOMES:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
