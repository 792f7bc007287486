"""What a peer is: a program that indexes a folder of notes and answers questions about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

MAX_RESULTS = 6
"""So many hits are asked for: the default of OpenClaw and of Notewell."""


class PeerFailed(Exception):
    """A peer could not be installed, or did not index, start or answer."""


class PeerHome(NamedTuple):
    """Where a peer works on one workspace. Nothing of it is shared with another peer."""

    state: Path
    """Its HOME: settings, index, logs."""
    notes: Path
    """Its own copy of the notes."""
    embeddings: str
    """The address of the loopback server that speaks OpenAI's API."""


class PeerHit(NamedTuple):
    """A hit as a peer reports it."""

    path: str
    """Relative to the workspace."""
    text: str
    start_line: int | None = None
    """None, here and below: the peer names no lines, so its text is looked for in the note."""
    end_line: int | None = None


class PeerAnswer(NamedTuple):
    hits: tuple[PeerHit, ...]
    text: str
    """What a model is handed: the result of the tool, or what the documentation says to paste."""
    is_json: bool = False
    """Whether `text` is JSON, in which quotation marks and line ends are escaped."""


class Serving(Protocol):
    """A peer that is running."""

    @property
    def pid(self) -> int:
        """Of the process that answers; its children count too."""

    def ask(self, question: str) -> PeerAnswer: ...


class Peer(Protocol):
    """One row of the table: a program with its settings."""

    @property
    def name(self) -> str: ...

    @property
    def packages(self) -> Mapping[str, str]:
        """What is installed, by name and version; the first one is the peer itself."""

    @property
    def about(self) -> str:
        """How it was run, for the reader of the table."""

    @property
    def has_own_vectors(self) -> bool:
        """Whether it needs no embedding server; one without vectors needs none either."""

    def install(self, cache: Path) -> tuple[Path, ...]:
        """Install it below `cache`, unless it is there; returns the folders that it takes."""

    def note_path(self, path: str) -> str:
        """The name under which the peer is given a note."""

    def index(self, home: PeerHome) -> None:
        """Index all notes, and end."""

    def serve(self, home: PeerHome) -> AbstractContextManager[Serving]:
        """Start what answers agents, on an index that is there."""

    def ask_once(self, home: PeerHome, question: str) -> None:
        """Answer one question from a cold start, and end."""
