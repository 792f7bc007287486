"""Which memory an imported conversation belongs to: the one that hooks would have kept it in.

-w or --agent is given                    that memory, for all of them
the project has hooks of its own          the memory that they name
the user's file of the host has hooks     the memory that they name
otherwise                                 the memory of the other commands
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.place import location_of
from notewell.config import default_state_dir, load_settings
from notewell.errors import BadRequest
from notewell.hosts import HOOK_FILES, Machine
from notewell.notes import open_notes
from notewell.records import dataclass
from notewell.sessions import kept_dir

if TYPE_CHECKING:
    from notewell.capture import KeepSettings

_PLACE = ("--workspace", "--agent")
MAX_FILE_BYTES = 1024 * 1024
"""A settings file of a host is far smaller."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A memory that conversations are imported into."""

    arguments: Namespace
    """As if the options had named it."""
    workspace: str
    agent: str
    state: Path
    folder: Path
    """Where its conversations are kept."""
    keep: KeepSettings


class Destinations:
    """Finds the memory of each conversation; each one is opened once."""

    def __init__(self, arguments: Namespace) -> None:
        self._arguments = arguments
        self.is_named = bool(arguments.workspace or arguments.agent or arguments.openclaw)
        """One memory for all."""
        self._machine = Machine(Path.home(), os.environ, sys.platform)
        self._by_host: dict[tuple[str, str | None], Destination] = {}
        self._by_place: dict[Path, Destination] = {}

    def of(self, host: str, cwd: str | None) -> Destination:
        """Raises `WorkspaceMissing`, and `BadRequest` where the settings keep nothing."""
        key = ("", None) if self.is_named else (host, cwd)
        if key not in self._by_host:
            destination = _destination(self._named(*key))
            # Two projects may have one memory.
            self._by_host[key] = self._by_place.setdefault(destination.folder, destination)
        return self._by_host[key]

    def _named(self, host: str, cwd: str | None) -> Namespace:
        hooks = HOOK_FILES.get(host)
        if self.is_named or hooks is None:
            return self._arguments
        if cwd and Path(cwd).is_absolute() and "\0" not in cwd:
            # Not its state folder: a project's file is somebody else's, and must not say where
            # conversations are stored.
            project = self._options(hooks.file(self._machine, Path(cwd)), host, _PLACE)
            if project is not None:
                return project
        user_file = hooks.file(self._machine, None)
        return self._options(user_file, host, (*_PLACE, "--state-dir")) or self._arguments

    def _options(self, file: Path, host: str, options: tuple[str, ...]) -> Namespace | None:
        """The arguments with the options of our hooks in a file; None if it has none that can be
        used."""
        from notewell.clients import hook_places

        given = vars(self._arguments)
        for words in hook_places(_text_of(file), host):
            pairs = dict(pairwise(words))
            named = {_attribute(name): pairs[name] for name in options if name in pairs}
            if "workspace" in named and Path(named["workspace"]).is_dir():
                state_dir = given["state_dir"] or named.get("state_dir")
                return Namespace(**{**given, **named, "state_dir": state_dir})
        return None


def _destination(arguments: Namespace) -> Destination:
    agent, workspace, settings = location_of(arguments)
    root = open_notes(workspace).location
    settings = settings or load_settings(Path(root), agent)
    keep = settings.capture.keep
    if keep.enabled is False or settings.off_because:
        why = "sessions.keep.enabled is false" if not settings.off_because else "it is off"
        raise BadRequest(f"the memory of {root!r} keeps no conversations: {why}")
    named = arguments.state_dir
    state = (Path(named).expanduser() if named else default_state_dir()).absolute()
    folder = kept_dir(state, agent, root)
    return Destination(arguments, root, agent, state, folder, keep)


def _attribute(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


def _text_of(file: Path) -> str:
    # A pipe in its place would never end.
    with suppress(OSError, UnicodeDecodeError):
        if file.is_file():
            with file.open("rb") as opened:
                return opened.read(MAX_FILE_BYTES).decode()
    return ""
