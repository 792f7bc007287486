"""Where Notewell looks for what it is told, and keeps what it can rebuild."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

STATE_VARIABLE = "NOTEWELL_STATE_DIR"
SUFFIXES = (".json", ".json5", ".yaml", ".yml")
CONFIG_VARIABLE = "NOTEWELL_CONFIG"
USER_STEM = "config"
WORKSPACE_STEM = "notewell"


def default_state_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """NOTEWELL_STATE_DIR, else the platform's place for state that may be lost.

    Not beside the notes: folders of notes are synced between machines, and a synced SQLite file
    is a broken one.
    """
    named = environment.get(STATE_VARIABLE)
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home()) / "notewell"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "notewell"
    base = environment.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "notewell"


def home(environment: Mapping[str, str]) -> Path:
    """The user's folder, as the environment has it."""
    told = environment.get("HOME") or environment.get("USERPROFILE")
    return Path(told) if told else Path.home()


def user_config_dir(environment: Mapping[str, str]) -> Path:
    """The platform's place for what the user configures."""
    if sys.platform == "win32":
        return Path(environment.get("APPDATA") or home(environment)) / "notewell"
    if sys.platform == "darwin":
        return home(environment) / "Library" / "Application Support" / "notewell"
    base = environment.get("XDG_CONFIG_HOME")
    return (Path(base) if base else home(environment) / ".config") / "notewell"


def has_files(workspace: Path, environment: Mapping[str, str]) -> bool:
    """Whether anybody set anything: most searches need no more than this look."""
    if environment.get(CONFIG_VARIABLE):
        return True
    places = ((user_config_dir(environment), USER_STEM), (workspace, WORKSPACE_STEM))
    return any(
        os.path.lexists(folder / f"{stem}{end}") for folder, stem in places for end in SUFFIXES
    )
