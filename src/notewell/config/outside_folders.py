"""Folders outside a workspace that its settings file names, and the user's answer about each.

    <user's configuration folder>/outside-folders.json
        {"<workspace>": {"<folder outside>": true}}

A workspace's file may come from a stranger, so a folder outside counts only if the user has said
yes. `notewell index` asks once on a terminal. The answer is about this workspace and this real
folder: if a link leads elsewhere later, the user is asked again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from notewell.config.paths import expanded, user_config_dir

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_FILE = "outside-folders.json"


def real_folder(path: str, workspace: Path, environment: Mapping[str, str]) -> str:
    """Where a path of a workspace's file leads."""
    return os.path.realpath(expanded(path, environment, workspace))


def answers(workspace: Path, environment: Mapping[str, str]) -> dict[str, bool]:
    """What the user has said about real folders; empty if the file cannot be used."""
    found = _all(environment).get(os.path.realpath(workspace))
    if not isinstance(found, dict):
        return {}
    return {folder: answer for folder, answer in found.items() if isinstance(answer, bool)}


def record_outside_answer(
    workspace: Path, folder: str, environment: Mapping[str, str], *, allowed: bool
) -> None:
    """Raises `StateNotWritable`."""
    from notewell.files import state_lock, write_json

    file = user_config_dir(environment) / _FILE
    with state_lock(file):
        known = _all(environment)
        # The answers about other workspaces stay.
        known[os.path.realpath(workspace)] = answers(workspace, environment) | {folder: allowed}
        write_json(file, known)


def _all(environment: Mapping[str, str]) -> dict[str, Any]:
    from notewell.files import read_json

    return read_json(user_config_dir(environment) / _FILE)
