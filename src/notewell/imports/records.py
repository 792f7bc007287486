"""What another memory program had, in one form for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from notewell.sessions import SaidMessage
    from notewell.types import Ignored


@dataclass(frozen=True, slots=True)
class ImportedEntry:
    """One memory: an observation, a fact."""

    key: str
    """The program's own id of it. The same key with another text is a later version."""
    text: str
    at: datetime | None = None
    """When it was written, or last changed. It decides the note that gets it."""
    subject: str = ""
    """What an entry without a time is about: the title of the note that gets it."""
    group: str = ""
    """Whose it is, where the program has several: a user, a project."""


@dataclass(frozen=True, slots=True)
class ImportedNote:
    """A whole Markdown note."""

    path: str
    """Below the folder of the program, with `/`: `specs/Search design.md`."""
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    id: str
    messages: tuple[SaidMessage, ...]
    at: datetime | None = None
    """When it was last continued."""


@dataclass(frozen=True, slots=True)
class Reading:
    """All that the files of a program have."""

    entries: tuple[ImportedEntry, ...] = ()
    notes: tuple[ImportedNote, ...] = ()
    conversations: tuple[ImportedConversation, ...] = ()
    left_out: tuple[Ignored, ...] = ()
    """What is not carried over, and why."""


@dataclass(frozen=True, slots=True)
class MemoryProgram:
    """A program that memories can be imported from."""

    id: str
    title: str
    read: Callable[[Path], Reading]
    """Raises `BadRequest` for a file that is not the program's, or that cannot be read."""
    wants: str
    """What its PATH is, for the help."""
    places: tuple[str, ...] = ()
    """Where it usually is, below the home of the user; the first that is there counts."""
    groups: str = ""
    """What `--only` chooses by: `user`."""
    mixes_groups: bool = True
    """Whether entries of several groups may go into one memory without `--only`."""
    host: str = ""
    """The host under which its conversations are kept; without a dash (see `sessions.kept`)."""
