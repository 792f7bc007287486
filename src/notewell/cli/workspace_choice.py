"""Which folder `notewell init` works with: the one that the options name, or the user's choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.host_presence import this_machine
from notewell.cli.output import short_path, tell
from notewell.cli.place import workspace_of
from notewell.cli.prompts import ask_line, ask_yes
from notewell.cli.workspace_candidates import (
    MarkdownCount,
    WorkspaceCandidate,
    find_candidates,
    is_too_wide,
    kind_of,
    proposals,
)

if TYPE_CHECKING:
    import argparse


def choose_workspace(arguments: argparse.Namespace) -> WorkspaceCandidate | None:
    """None if the user decides against a folder that is too wide. Raises `NoAnswer`."""
    candidate = _named(arguments) or _chosen()
    if is_too_wide(candidate, Path.home()):
        tell(f"{short_path(candidate.folder)} is your home folder, or a folder above it: all its")
        tell("Markdown would be indexed, also that of programs and what others sent you.")
        if not ask_yes("Use it all the same?"):
            return None
    return candidate


def _named(arguments: argparse.Namespace) -> WorkspaceCandidate | None:
    """The folder that the options name."""
    agent = ("--agent", arguments.agent) if arguments.agent else ()
    if arguments.openclaw:
        return _candidate(Path(workspace_of(arguments)), place=("--openclaw", *agent))
    return _candidate(Path(arguments.workspace)) if arguments.workspace is not None else None


def _candidate(folder: Path, place: tuple[str, ...] = ()) -> WorkspaceCandidate:
    kind = "openclaw" if place else kind_of(folder)
    # Not counted here: what will be indexed is counted exactly in the next step.
    return WorkspaceCandidate(folder.absolute(), kind, MarkdownCount(0, 0), place=place)


def _chosen() -> WorkspaceCandidate:
    here, machine = Path.cwd(), this_machine()
    tell("Looking in this folder, in your home folder, and where Obsidian, OpenClaw, Claude Code")
    tell("and Codex say that theirs are:")
    choices = proposals(find_candidates(here, machine), here, machine.home)
    width = max(len(short_path(one.folder)) for one in choices)
    for number, one in enumerate(choices, start=1):
        tell(f"  {number}  {short_path(one.folder):<{width}}  {one.description}")
    while True:
        answer = ask_line("Which folder? A number, or the path of another one [1]: ") or "1"
        if answer.isdecimal() and 0 < int(answer) <= len(choices):
            return choices[int(answer) - 1]
        folder = Path(answer).expanduser()
        if folder.is_dir():
            return _candidate(folder)
        tell(f"{answer!r} is neither a number of the list nor a folder")
