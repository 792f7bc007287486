"""`notewell init`: the first step in a folder. It never changes an existing file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.output import print_json, say, tell_ignored
from notewell.cli.place import memory_of, workspace_of
from notewell.config import (
    WORKSPACE_FILE,
    leaves_the_workspace,
    unfinished,
    workspace_file,
    write_new,
    write_workspace_file,
)
from notewell.errors import BadRequest
from notewell.notes import ExtraPath, folder_of, open_notes
from notewell.types import counted

if TYPE_CHECKING:
    import argparse

DEGRADED = 5
NOTE = "MEMORY.md"
STARTER = """# Memory

What should be remembered for good: decisions, preferences, facts about people and projects.
Day-to-day notes go to memory/YYYY-MM-DD.md.
"""


def run(arguments: argparse.Namespace) -> int:
    if arguments.folder is not None:
        if arguments.workspace is not None:
            raise BadRequest("name the folder once: `notewell init DIR` is `notewell init -w DIR`")
        arguments.workspace = arguments.folder
    place = workspace_of(arguments)
    # Raises if the folder is missing, before anything is written.
    root = folder_of(open_notes(place))
    try:
        done = _settle(root, arguments.extra)
    except OSError as error:
        raise BadRequest(f"cannot write in {str(root)!r}: {error.strerror}") from error
    # Opened after the settings file was written, so that the count includes the extra paths.
    with memory_of(arguments) as memory:
        status = memory.status()
    tell_ignored(memory.settings)
    code = DEGRADED if status.workspace_errors else 0
    if arguments.json:
        print_json(
            {
                "workspace": status.workspace,
                "indexPath": status.index_path,
                "did": done,
                "notes": status.eligible,
            }
        )
        return code
    for line in done:
        say(line)
    say(f"{counted(status.eligible, 'note')} in {status.workspace}")
    say(f"next: notewell index -w {shlex.quote(place)}")
    return code


def _settle(root: Path, extra: list[str]) -> list[str]:
    """Decide what the folder needs: nothing, extra paths, or a first note."""
    for name in (WORKSPACE_FILE, NOTE):
        unfinished(root / name).unlink(missing_ok=True)
    if extra:
        return _take_in(root, extra)
    # A settings file counts even without notes: the user has already decided what belongs here.
    if workspace_file(root) or open_notes(root).scan().notes:
        return []
    if open_notes(root, [ExtraPath(".")]).scan().notes:
        return _take_in(root, ["."])
    (root / "memory").mkdir(exist_ok=True)
    # It fails if the file appeared since the scan: an existing file is never changed.
    write_new(root / NOTE, STARTER)
    return ["wrote MEMORY.md and made memory/ for daily notes"]


def _take_in(root: Path, extra: list[str]) -> list[str]:
    for path in extra:
        if not (root / Path(path).expanduser()).exists():
            raise BadRequest(f"there is no {path!r} to take in")
        if leaves_the_workspace(path):
            raise BadRequest(
                f"{path!r} is not a path inside the workspace, and a workspace's file cannot name "
                "others: add it to `extraPaths` in your own settings file"
            )
    try:
        write_workspace_file(root, extra)
    except FileExistsError:
        raise BadRequest(
            f"{root / WORKSPACE_FILE} is already there: add {extra!r} to its extraPaths by hand"
        ) from None
    return [f"wrote {WORKSPACE_FILE}: the Markdown below {path} belongs to it" for path in extra]
