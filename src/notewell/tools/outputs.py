"""What the tools give back: as JSON for programs, as text for whoever reads only that.

Every text that comes out of a note passes `escaped` or `fenced` on its way (see `fence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from notewell.tools.fence import REMINDER, escaped, fenced

if TYPE_CHECKING:
    from notewell.tools.caller import Citations
    from notewell.types import Ignored, Source

SHOWN_PROBLEMS = 10
"""Enough to see what is the matter; the user's own `notewell status` lists them all."""


@dataclass(frozen=True, slots=True)
class Found:
    """One hit."""

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    source: Source
    heading: str
    citation: str | None
    """`path#L5-L9`, where citations are on."""

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "path": self.path,
            "startLine": self.start_line,
            "endLine": self.end_line,
            "score": self.score,
            "snippet": escaped(self.snippet) + self._footer(),
            "source": self.source,
        }
        if self.heading:
            told["heading"] = escaped(self.heading)
        if self.citation is not None:
            told["citation"] = self.citation
        return told

    def to_text(self) -> str:
        lines = f"{self.start_line}-{self.end_line}"
        quoted = fenced(self.snippet, path=self.path, lines=lines, score=f"{self.score:.2f}")
        return quoted + self._footer()

    def _footer(self) -> str:
        return f"\n\nSource: {escaped(self.citation)}" if self.citation is not None else ""


@dataclass(frozen=True, slots=True)
class SearchOutput:
    hits: tuple[Found, ...]
    mode: str
    provider: str
    model: str
    citations: Citations
    reason: str | None = None
    """Why there are no hits."""
    notice: str | None = None
    """Why the answer is less than it could be."""
    shortened: int = 0
    left_out: int = 0
    """Hits that the budget had no room for."""

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "results": [hit.to_json() for hit in self.hits],
            "mode": self.mode,
            "provider": self.provider,
            "model": self.model,
            "citations": self.citations,
            "shortened": self.shortened,
            "leftOut": self.left_out,
        }
        if self.hits:
            told["reminder"] = REMINDER
        if self.reason:
            told["reason"] = self.reason
        if self.notice:
            told["notice"] = self.notice
        return told

    def to_text(self) -> str:
        parts = [REMINDER] if self.hits else []
        parts += (hit.to_text() for hit in self.hits)
        if self.shortened:
            parts.append("The last snippet was cut to keep this short; memory_get reads on.")
        if self.left_out:
            parts.append(f"Weaker hits left out to keep this short: {self.left_out}.")
        if self.reason:
            parts.append(f"Nothing found: {self.reason}")
        if self.notice:
            parts.append(f"Note: {self.notice}")
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class GetOutput:
    path: str
    text: str
    start_line: int
    end_line: int
    total_lines: int
    next_from: int | None
    """Where to read on; None at the end."""
    cut: bool = False
    """The last line was too long to be shown whole."""

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "path": self.path,
            "text": escaped(self.text),
            "startLine": self.start_line,
            "endLine": self.end_line,
            "totalLines": self.total_lines,
            "reminder": REMINDER,
        }
        if self.next_from is not None:
            told["nextFrom"] = self.next_from
        if self.cut:
            told["cut"] = True
        return told

    def to_text(self) -> str:
        if self.end_line < self.start_line:
            return f"The note has {self.total_lines} lines; there are none from {self.start_line}."
        lines = f"{self.start_line}-{self.end_line} of {self.total_lines}"
        parts = [REMINDER, fenced(self.text, path=self.path, lines=lines)]
        if self.cut:
            parts.append("The last line is longer than what is shown.")
        if self.next_from is not None:
            parts.append(f"To read on, call memory_get with from={self.next_from}.")
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class AppendOutput:
    path: str
    start_line: int
    end_line: int
    added: bool
    """False when the same entry stood there already."""

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "startLine": self.start_line,
            "endLine": self.end_line,
            "added": self.added,
        }

    def to_text(self) -> str:
        where = f"{self.path}#L{self.start_line}-L{self.end_line}"
        return f"Saved: {where}" if self.added else f"It was there already: {where}"


@dataclass(frozen=True, slots=True)
class StatusOutput:
    """How the memory is. No folders of this machine: an agent has no use for them."""

    agent: str
    state: str
    problem: str | None
    provider: str
    model: str
    notes: int
    """Notes on disk."""
    chunks: int
    pending: int
    """Notes the index has not caught up with."""
    waiting: int
    """Chunks that have no vector yet: words find them, meaning does not."""
    problems: tuple[Ignored, ...] = ()
    more_problems: int = 0

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "agent": self.agent,
            "state": self.state,
            "provider": self.provider,
            "model": self.model,
            "notes": self.notes,
            "chunks": self.chunks,
            "pending": self.pending,
            "waiting": self.waiting,
            "problems": [
                {"path": escaped(one.path), "why": escaped(one.why)} for one in self.problems
            ],
            "moreProblems": self.more_problems,
        }
        if self.problem:
            told["problem"] = self.problem
        return told

    def to_text(self) -> str:
        lines = [
            f"Index: {self.state}{f' ({self.problem})' if self.problem else ''}",
            f"{self.notes} notes, {self.pending} of them not taken in yet",
            f"{self.chunks} chunks, {self.waiting} of them without a vector",
            f"Embedder: {self.provider}, {self.model}",
            *(f"Left out: {escaped(one.path)}: {escaped(one.why)}" for one in self.problems),
        ]
        if self.more_problems:
            lines.append(f"… and {self.more_problems} more left out")
        return "\n".join(lines)
