"""`notewell init`: the first step in a folder. It never changes an existing file.

On a terminal it asks (`first_run`); elsewhere, or with --yes, --json or --extra, it asks nothing.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.output import can_ask, print_json, say, tell, tell_ignored
from notewell.cli.place import memory_of, workspace_of
from notewell.cli.workspace_candidates import is_wide
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
from notewell.records import dataclass
from notewell.types import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

DEGRADED = 5
NOTE = "MEMORY.md"
STARTER = """# Memory

What should be remembered for good: decisions, preferences, facts about people and projects.
Day-to-day notes go to memory/YYYY-MM-DD.md.
"""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a folder needs to become a workspace; nothing, if it is one."""

    extra: tuple[str, ...] = ()
    """Paths for a settings file: the Markdown below them belongs to the workspace."""
    has_first_note: bool = False
    """It has no Markdown at all: a first note is written."""

    @property
    def file(self) -> str | None:
        """The name of the file that is written."""
        return WORKSPACE_FILE if self.extra else NOTE if self.has_first_note else None


def run(arguments: argparse.Namespace) -> int:
    if arguments.folder is not None:
        if arguments.workspace is not None:
            raise BadRequest("name the folder once: `notewell init DIR` is `notewell init -w DIR`")
        arguments.workspace = arguments.folder
    if can_ask() and not (arguments.json or arguments.yes or arguments.extra):
        from notewell.cli.first_run import run_dialog

        return run_dialog(arguments)
    place = workspace_of(arguments)
    # Raises if the folder is missing, before anything is written.
    root = folder_of(open_notes(place))
    setup = setup_of(root, arguments.extra)
    _warn_if_wide(root, setup, is_named=arguments.workspace is not None)
    done = carry_out(root, setup)
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


def setup_of(root: Path, extra: Sequence[str] = ()) -> Setup:
    """Decide what the folder needs: nothing, extra paths, or a first note."""
    for path in extra:
        _require_inside(root, path)
    if extra:
        return Setup(extra=tuple(extra))
    # A settings file counts even without notes: the user has already decided what belongs here.
    if workspace_file(root) or open_notes(root).scan().notes:
        return Setup()
    if open_notes(root, [ExtraPath(".")]).scan().notes:
        return Setup(extra=(".",))
    return Setup(has_first_note=True)


def carry_out(root: Path, setup: Setup) -> list[str]:
    """Write what the folder needs; what was done, in words."""
    try:
        for name in (WORKSPACE_FILE, NOTE):
            unfinished(root / name).unlink(missing_ok=True)
        if setup.extra:
            return _take_in(root, setup.extra)
        if setup.has_first_note:
            (root / "memory").mkdir(exist_ok=True)
            # It fails if the file appeared since the scan: an existing file is never changed.
            write_new(root / NOTE, STARTER)
            return ["wrote MEMORY.md and made memory/ for daily notes"]
    except OSError as error:
        raise BadRequest(f"cannot write in {str(root)!r}: {error.strerror}") from error
    return []


def _warn_if_wide(root: Path, setup: Setup, *, is_named: bool) -> None:
    """A settings file for the user's home would take in the files of every program."""
    if "." not in setup.extra or not is_wide(root, Path.home()):
        return
    if not is_named:
        raise BadRequest(
            f"{str(root)!r} is your home folder or above it, and all its Markdown would be "
            "indexed: name the folder of your notes, `notewell init DIR`; nothing was written"
        )
    tell(f"all Markdown below {root} belongs to this workspace, that of other programs, too")


def _require_inside(root: Path, path: str) -> None:
    if not (root / Path(path).expanduser()).exists():
        raise BadRequest(f"there is no {path!r} to take in")
    if leaves_the_workspace(path):
        raise BadRequest(
            f"{path!r} is not a path inside the workspace, and a workspace's file cannot name "
            "others: add it to `extraPaths` in your own settings file"
        )


def _take_in(root: Path, extra: Sequence[str]) -> list[str]:
    try:
        write_workspace_file(root, extra)
    except FileExistsError:
        raise BadRequest(
            f"{root / WORKSPACE_FILE} is already there: add {list(extra)!r} to its extraPaths by "
            "hand"
        ) from None
    where = ("this folder" if path == "." else path for path in extra)
    return [
        f"wrote {WORKSPACE_FILE}: all Markdown below {one} belongs to the memory" for one in where
    ]
