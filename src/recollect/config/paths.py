"""Where Recollect keeps what it can rebuild."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

STATE_VARIABLE = "RECOLLECT_STATE_DIR"


def default_state_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """RECOLLECT_STATE_DIR, else the platform's place for state that may be lost.

    Not beside the notes: folders of notes are synced between machines, and a synced SQLite file
    is a broken one.
    """
    named = environment.get(STATE_VARIABLE)
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home()) / "recollect"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "recollect"
    base = environment.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "recollect"
