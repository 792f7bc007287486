"""`notewell init` on a terminal: from a folder of notes to an answer from it.

    which folder ▸ a workspace ▸ for every folder? ▸ hosts ▸ index ▸ a question

It asks before each write. Every step is also a command of its own: a user who stops is told which
commands remain, and `notewell init` goes on with what is missing.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli import index
from notewell.cli.first_question import ask_first_question
from notewell.cli.host_presence import hosts_of, is_connected, this_machine
from notewell.cli.index_estimate import measure_rate
from notewell.cli.init import carry_out, setup_of
from notewell.cli.install import HostChange, install_host
from notewell.cli.keep_words import keep_words
from notewell.cli.mcp import require_sdk
from notewell.cli.output import duration, short_path, tell
from notewell.cli.parser import build_parser
from notewell.cli.place import location_of, memory_of
from notewell.cli.prompts import NoAnswer, ask_yes
from notewell.cli.workspace_candidates import size_text
from notewell.cli.workspace_choice import choose_workspace
from notewell.config import user_config_dir, user_file, write_user_file
from notewell.errors import BadRequest, BadSetting
from notewell.notes import ExtraPath, open_notes
from notewell.records import dataclass, field
from notewell.types import counted

if TYPE_CHECKING:
    import argparse

    from notewell.cli.init import Setup
    from notewell.cli.workspace_candidates import WorkspaceCandidate
    from notewell.engines import Status
    from notewell.hosts import Host
    from notewell.memory import Memory

INTERRUPTED = 130
NOT_CONFIRMED = 4


@dataclass(slots=True)
class Steps:
    """What is done and what is left: a user who stops is told both."""

    done: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    """The command of each step that is not done, by its name."""

    def tell(self) -> None:
        for one in self.done or ["nothing was written"]:
            tell(f"done: {one}" if self.done else one)
        for command in self.left.values():
            tell(f"left: {command}")


def run_dialog(arguments: argparse.Namespace) -> int:
    steps = Steps(left={"init": "notewell init"})
    try:
        return _guide(arguments, steps)
    except NoAnswer:
        tell("\nno answer: stopped")
        steps.tell()
        return NOT_CONFIRMED
    except KeyboardInterrupt:
        tell("\nstopped")
        steps.tell()
        return INTERRUPTED


def _guide(arguments: argparse.Namespace, steps: Steps) -> int:
    tell("Nothing is written before you say yes. Ctrl-C stops at any point.")
    candidate = choose_workspace(arguments)
    if candidate is None or not _made(candidate, steps):
        steps.tell()
        return NOT_CONFIRMED
    place = _place_words(candidate, arguments)
    if not _is_workspace_now(candidate, place, steps):
        steps.tell()
        return NOT_CONFIRMED
    steps.left = {"index": _command("index", place)}
    hosts = _hosts_to_connect()
    if hosts:
        steps.left["install"] = _command("install", place)
    _offer_everywhere(candidate, steps)
    _offer_hosts(hosts, place, steps)
    code = 0
    with memory_of(_parsed("index", place)) as memory:
        is_indexed = _is_up_to_date(memory.status())
    if not is_indexed:
        if not ask_yes("Index the notes now?", default=True):
            steps.tell()
            return 0
        code = _indexed(place, steps)
    del steps.left["index"]
    is_short = place == list(candidate.words) and _is_found_everywhere(candidate)
    short = [] if is_short else place
    ask_first_question(place, append=_command("append", short))
    _tell_end(steps, _command("search", short))
    return code


def _indexed(place: list[str], steps: Steps) -> int:
    try:
        code = index.run(_parsed("index", place))
    except KeyboardInterrupt:
        steps.done.append("a part of the index; it goes on from there")
        raise
    steps.done.append("the notes are indexed")
    return code


def _is_up_to_date(status: Status) -> bool:
    counts = status.counts
    return counts is not None and counts.embedded == counts.chunks and not status.dirty


def _place_words(candidate: WorkspaceCandidate, arguments: argparse.Namespace) -> list[str]:
    """The options that every further command gets."""
    words = list(candidate.words)
    if arguments.agent and not candidate.place:
        words += ["--agent", arguments.agent]
    if arguments.state_dir:
        words += ["--state-dir", arguments.state_dir]
    return words


def _parsed(command: str, place: list[str]) -> argparse.Namespace:
    return build_parser(command).parse_args([command, *place])


def _command(name: str, place: list[str]) -> str:
    return shlex.join(["notewell", name, *place])


# -- the folder ----------------------------------------------------------------------------------


def _made(candidate: WorkspaceCandidate, steps: Steps) -> bool:
    """Whether the folder is there; a new one is made if the user wants it."""
    folder = candidate.folder
    if candidate.kind != "new" or folder.is_dir():
        return True
    if not ask_yes(f"Make the folder {short_path(folder)}?"):
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"cannot make {str(folder)!r}: {error.strerror}") from error
    steps.done.append(f"made {short_path(folder)}")
    return True


def _is_workspace_now(candidate: WorkspaceCandidate, place: list[str], steps: Steps) -> bool:
    """Says what will be indexed, and asks about the file that the folder needs."""
    folder = candidate.folder
    root = Path(os.path.realpath(folder))
    steps.left = {"init": _command("init", place)}
    with memory_of(_parsed("index", place)) as memory:  # Raises if the folder cannot be used.
        setup = setup_of(root)
        _tell_size(memory, folder, setup)
    if setup.file is None:
        return True
    what = "which adds its Markdown to the memory" if setup.extra else "a first note"
    if not ask_yes(f"Write {short_path(folder / setup.file)}, {what}?"):
        return False
    steps.done += carry_out(root, setup)
    return True


def _tell_size(memory: Memory, folder: Path, setup: Setup) -> None:
    extra = [ExtraPath(path) for path in setup.extra]
    notes = open_notes(folder, extra) if extra else memory.notes
    found = notes.scan().notes
    if not found:
        tell(f"{short_path(folder)} has no notes yet.")
        return
    size = sum(note.stat.size for note in found.values())
    tell(f"{short_path(folder)}: {counted(len(found), 'note')}, {size_text(size)}.")
    tell(f"They are only read; the index is written to {short_path(memory.state_dir)}.")
    if not setup.extra and _is_up_to_date(memory.status()):
        tell("The index is up to date.")
        return
    rate = measure_rate(memory, notes, found)
    if rate is None:
        tell("How long the vectors take depends on the provider that your settings name.")
        return
    measured = f"measured with {counted(rate.chunks, 'chunk')} of your notes"
    tell(f"A first index takes about {duration(rate.seconds_for(size))} here ({measured}).")


# -- settings and hosts --------------------------------------------------------------------------


def _offer_everywhere(candidate: WorkspaceCandidate, steps: Steps) -> None:
    """A command uses the folder in which it runs, unless the user's settings name one."""
    if candidate.place:
        return  # `--openclaw` means the same everywhere.
    if file := user_file(os.environ):
        tell(f"{short_path(file)} decides which folder commands use elsewhere; it is not changed.")
        return
    file = user_config_dir(os.environ) / "config.json"
    if not ask_yes(
        f"Use this memory in every folder, without -w? That writes {short_path(file)}."
    ):
        return
    try:
        write_user_file(candidate.folder, os.environ)
    except OSError as error:
        raise BadRequest(f"cannot write {str(file)!r}: {error.strerror}") from error
    steps.done.append(f"wrote {short_path(file)}")


def _is_found_everywhere(candidate: WorkspaceCandidate) -> bool:
    """Whether a command in any folder uses this memory without being told."""
    if candidate.place or not user_file(os.environ):
        return False
    named = location_of(_parsed("search", ["-"])).workspace
    return os.path.realpath(named) == os.path.realpath(candidate.folder)


def _hosts_to_connect() -> list[Host]:
    machine = this_machine()
    return [host for host in hosts_of(machine) if not is_connected(host, machine)]


def _offer_hosts(hosts: list[Host], place: list[str], steps: Steps) -> None:
    if not hosts:
        return
    tell(f"On this machine: {', '.join(host.title for host in hosts)}.")
    try:
        require_sdk()
    except BadSetting as error:
        tell(str(error))
        return
    arguments = _parsed("install", place)
    for line in keep_words(arguments):
        tell(f"  {line}")
    chosen = [host for host in hosts if ask_yes(f"Connect {host.title} with this memory?")]
    for change in [install_host(host, arguments) for host in chosen]:
        _note_change(change, steps)
    if len(chosen) == len(hosts):
        del steps.left["install"]


def _note_change(change: HostChange, steps: Steps) -> None:
    if change.error:
        tell(f"notewell: {change.host.id}: {change.error}")
    else:
        steps.done.append(f"connected {change.host.title}")


def _tell_end(steps: Steps, search: str) -> None:
    tell(f"Your notes answer from now on: {search} 'a question'")
    for command in steps.left.values():
        tell(f"not done yet: {command}")
    connected = [one.removeprefix("connected ") for one in steps.done if one.startswith("conn")]
    if connected:
        tell(f"Start a new session of {' or '.join(connected)}, and ask it what your notes say.")
