"""The nouns of the house, frozen. Everything that crosses a door is one of these.

Small values that are made by the thousand are named tuples: a seventh of the cost of a dataclass
to define, a third to make, and `notewell search` feels both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from datetime import date

Source: TypeAlias = Literal["memory", "sessions"]
Mode: TypeAlias = Literal["hybrid", "partial", "keyword", "vector"]
"""What took part: words and vectors, the vectors of some chunks only, one of both."""


class Span(NamedTuple):
    """Consecutive lines, numbered from 1 as `sed -n` does, both ends included."""

    start_line: int
    end_line: int

    def __str__(self) -> str:
        return f"L{self.start_line}-L{self.end_line}"


class NoteStat(NamedTuple):
    """What the file system says of a file; while it stays the same we do not read it again."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class FoundNote(NamedTuple):
    """A note on disk, not yet read."""

    path: str
    """The name a note goes by everywhere: relative to the workspace with `/`, else absolute."""
    stat: NoteStat


class Ignored(NamedTuple):
    """Something that looks like a note and is not taken, with the reason the user sees."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What one look at the disk found."""

    notes: dict[str, FoundNote]
    ignored: tuple[Ignored, ...] = ()
    unreadable: tuple[Ignored, ...] = ()
    """Folders that could not be listed: what we know below them must not look deleted."""


@dataclass(frozen=True, slots=True)
class Note:
    """A file as text: valid UTF-8, no NUL, no BOM, lines end in `\\n`."""

    path: str
    text: str
    digest: str
    stat: NoteStat
    repairs: tuple[str, ...] = ()
    """What had to be cleaned, for the user to see; the file itself is never touched."""
    day: date | None = None
    """The day it is of, where its name does not say so."""


class Chunk(NamedTuple):
    """A part of a note small enough to be found and read by itself."""

    span: Span
    text: str
    """The lines of the span as they are, or one piece of a line that is too long."""
    heading: str
    """The headings above the first line: `# Decisions › ## Storage`; empty before any."""
    digest: str
    """sha256 of heading and text: the same digest needs no second embedding."""
    piece: bool = False
    """One of several pieces of a line that is too long for a chunk."""


class ScoreParts(NamedTuple):
    """Why a hit stands where it stands."""

    vector: float | None
    text: float | None
    vector_rank: int | None
    text_rank: int | None
    decay: float
    """What age left of the score; 1 for notes without a date."""
    recency: float
    """What being of the time asked for added; 1 where no time was named."""
    rerank: float | None = None
    """What a reranker said; the order is by this where there is one."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that answers, with what the asker needs to judge and cite it."""

    id: str
    """The same for the same text in the same place under the same model."""
    path: str
    span: Span
    score: float
    snippet: str
    source: Source
    heading: str
    parts: ScoreParts
    chars: int
    """The length of the whole chunk: what reading these lines costs."""

    @property
    def citation(self) -> str:
        return f"{self.path}#{self.span}"


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first, and how they were found."""

    hits: tuple[Hit, ...]
    mode: Mode
    provider: str
    model: str
    reason: str | None = None
    """Why there are no hits."""
    notice: str | None = None
    """Why the mode is less than hybrid, or a reranker or an engine was left out."""
    degraded: bool = False
    """The mode is less than what was asked for."""

    def with_notice(self, notice: str) -> Answer:
        """The same answer with one notice more."""
        return replace(self, notice=f"{self.notice}; {notice}" if self.notice else notice)
