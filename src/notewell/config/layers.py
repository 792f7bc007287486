"""Which files speak, in which order: the user's own, then the workspace's.

    built-in values
      → the user's file       $NOTEWELL_CONFIG, or config.{json,json5,yaml,yml} in the platform's
                              folder for configuration
      → the workspace's file  notewell.{json,json5,yaml,yml} at the top of the workspace
      → the agent's entry     in either file; the workspace's wins again

Two files of a kind are an error: nobody could say which of them speaks.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.config.paths import (
    CONFIG_VARIABLE,
    SUFFIXES,
    USER_STEM,
    WORKSPACE_STEM,
    home,
    user_config_dir,
)
from notewell.config.positions import Document, Finding, Located
from notewell.config.read_file import read_document
from notewell.config.validate import Walked, walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.config.validate import Owner


def expanded(text: str, environment: Mapping[str, str], base: Path) -> Path:
    """A path of a file: `~` is the user's folder, and a relative one starts beside the file."""
    if text == "~" or text.startswith(("~/", "~\\")):
        return home(environment) / text[2:]
    return base / text


def user_layer(environment: Mapping[str, str] = os.environ) -> Walked | None:
    """What the user's own file says; None if there is none."""
    named = environment.get(CONFIG_VARIABLE)
    if named:
        return read_layer(expanded(named, environment, Path.cwd()), "user", environment)
    return _only_one(user_config_dir(environment), USER_STEM, "user", environment)


def workspace_layer(workspace: Path, environment: Mapping[str, str] = os.environ) -> Walked | None:
    """What the file of a workspace says; None if there is none."""
    return _only_one(workspace, WORKSPACE_STEM, "workspace", environment)


def read_layer(path: Path, owner: Owner, environment: Mapping[str, str]) -> Walked:
    document = read_document(path, follow_links=owner != "workspace")
    return walk(document, owner, environment)


def _only_one(
    folder: Path, stem: str, owner: Owner, environment: Mapping[str, str]
) -> Walked | None:
    found = [path for path in (folder / f"{stem}{end}" for end in SUFFIXES) if _there(path)]
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        message = f"{names} are both there: keep one, so that it is clear which of them speaks"
        finding = Finding("error", str(folder), 0, "", message)
        return walk(Document(str(folder), Located({}, 1), (finding,)), owner, environment)
    return read_layer(found[0], owner, environment) if found else None


def _there(path: Path) -> bool:
    """Also a link that leads nowhere, or a file we may not read: silence would hide it."""
    return os.path.lexists(path)
