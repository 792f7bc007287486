"""Where configuration and state are.

Every search loads this module, so it imports nothing of Notewell.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STATE_VARIABLE = "NOTEWELL_STATE_DIR"
CONFIG_VARIABLE = "NOTEWELL_CONFIG"
SUFFIXES = (".json", ".json5", ".yaml", ".yml")
USER_STEM = "config"
WORKSPACE_STEM = "notewell"
WORKSPACE_FILE = "notewell.json"


def default_state_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """NOTEWELL_STATE_DIR, else the platform's folder for state that can be rebuilt."""
    # Not beside the notes: people sync folders of notes between machines, and a SQLite file that
    # is copied while it is written is broken.
    # The variable wins, so that tests and containers never touch the user's own state.
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
    """The user's folder, according to the environment."""
    folder = environment.get("HOME") or environment.get("USERPROFILE")
    return Path(folder) if folder else Path.home()


def user_config_dir(environment: Mapping[str, str]) -> Path:
    """The platform's folder for configuration."""
    if sys.platform == "win32":
        return Path(environment.get("APPDATA") or home(environment)) / "notewell"
    if sys.platform == "darwin":
        return home(environment) / "Library" / "Application Support" / "notewell"
    base = environment.get("XDG_CONFIG_HOME")
    return (Path(base) if base else home(environment) / ".config") / "notewell"


def moved_user_file(environment: Mapping[str, str]) -> Path | None:
    """The user's file, if a variable moved it: a program without that variable reads another."""
    if named := environment.get(CONFIG_VARIABLE):
        return expanded(named, environment, Path.cwd())
    unmoved = {name: value for name, value in environment.items() if name != "XDG_CONFIG_HOME"}
    folder = user_config_dir(environment)
    if folder == user_config_dir(unmoved):
        return None
    files = (folder / f"{USER_STEM}{suffix}" for suffix in SUFFIXES)
    return next((file for file in files if file.is_file()), None)


def user_file_mark(environment: Mapping[str, str]) -> tuple[tuple[int, ...] | None, ...]:
    """Changes whenever the user's file is written, replaced, added or removed."""
    named = environment.get(CONFIG_VARIABLE)
    if named:
        return (_stat_mark(expanded(named, environment, Path.cwd())),)
    folder = user_config_dir(environment)
    return tuple(_stat_mark(folder / f"{USER_STEM}{suffix}") for suffix in SUFFIXES)


def _stat_mark(file: Path) -> tuple[int, ...] | None:
    try:
        stat = file.stat()
    except OSError:
        return None
    return (stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


def has_files(workspace: Path, environment: Mapping[str, str]) -> bool:
    """Whether there is a configuration file at all; most searches need no more than this."""
    if environment.get(CONFIG_VARIABLE):
        return True
    return _has_file(user_config_dir(environment), USER_STEM) or has_workspace_file(workspace)


def has_workspace_file(workspace: Path) -> bool:
    return _has_file(workspace, WORKSPACE_STEM)


def _has_file(folder: Path, stem: str) -> bool:
    # lexists: a broken link counts, so that it is reported and not silently ignored.
    return any(os.path.lexists(folder / f"{stem}{end}") for end in SUFFIXES)


def expanded(text: str, environment: Mapping[str, str], base: Path) -> Path:
    """A path in a file: `~` is the user's folder, and a relative one starts beside the file."""
    if text == "~" or text.startswith(("~/", "~\\")):
        return home(environment) / text[2:]
    return base / text


def write_workspace_file(workspace: Path, extra_paths: Sequence[str]) -> Path:
    """Create the workspace's file; an existing file is never overwritten."""
    path = workspace / WORKSPACE_FILE
    content = {"agents": {"defaults": {"memorySearch": {"extraPaths": list(extra_paths)}}}}
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_new(path, text)
    return path


def write_user_file(workspace: Path, environment: Mapping[str, str]) -> Path:
    """Create the user's file, which names the workspace for every folder; an existing file is
    never overwritten."""
    path = user_config_dir(environment) / f"{USER_STEM}.json"
    content = {"agents": {"defaults": {"workspace": str(workspace)}}}
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_new(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    return path


def user_file(environment: Mapping[str, str]) -> Path | None:
    """The user's file, if there is one."""
    if named := environment.get(CONFIG_VARIABLE):
        return expanded(named, environment, Path.cwd())
    files = (user_config_dir(environment) / f"{USER_STEM}{end}" for end in SUFFIXES)
    return next((file for file in files if os.path.lexists(file)), None)


def write_new(path: Path, text: str) -> None:
    """Create a file of the user's, whole or not at all. Raises OSError, FileExistsError too."""
    from notewell.files import create_file

    part = unfinished(path)
    if not create_file(path, text.encode(), durable=True, mode=None, temporary=part):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def unfinished(path: Path) -> Path:
    """What a killed `write_new` may leave; one name, so that the next try removes it."""
    return path.with_name(f".{path.name}.tmp")
