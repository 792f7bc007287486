"""What the tools return: as text for models, and as JSON for programs that call the library.

Over MCP only the text is sent. Some hosts give a model the text of a result, some its JSON, some
both; with one form every model reads the same, once. So the text says everything that a model
needs: the source of each passage, what was left out, and why an answer may lack something.

Every text that comes from a note passes `escaped` or `fenced` on its way out (see `fence`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.core import HEADING_SEPARATOR, pack_hits
from notewell.records import dataclass, field
from notewell.tools.fence import (
    CITE,
    DO_NOT_CITE,
    FIELDS_REMINDER,
    REMINDER,
    escaped,
    fenced,
    on_one_line,
)
from notewell.tools.wire import excerpt_json, fallback_json, hit_json, pick
from notewell.types import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from notewell.notes import Excerpt
    from notewell.tools.inputs import CallContext, Citations
    from notewell.types import Answer, Fallback, Hit, Ignored, Mode

SHOWN_PROBLEMS = 10
"""Enough to see what is wrong; `notewell status` lists all of them for the user."""
HEADING_CHARS = 80
"""Of a heading in a mark: enough to know what the lines are about."""
LEAST_CHARS = 80
"""A shorter piece of a snippet tells nothing; the rest of the budget is better left unused."""
ELLIPSIS = "…"


class Fitted(NamedTuple):
    """The texts that fit into a budget, in order."""

    texts: tuple[str, ...]
    shortened: int
    left_out: int


def fit(texts: Sequence[str], budget: int) -> Fitted:
    """The first texts whole, the next one shortened if enough of it fits, the rest left out."""
    taken: list[str] = []
    for text in texts:
        if len(text) > budget:
            # Later texts that would fit are weaker hits, so they do not go before this one.
            break
        taken.append(text)
        budget -= len(text)
    shortened = 0
    if len(taken) < len(texts) and budget >= LEAST_CHARS:
        taken.append(texts[len(taken)][: budget - len(ELLIPSIS)].rstrip() + ELLIPSIS)
        shortened = 1
    return Fitted(tuple(taken), shortened, len(texts) - len(taken))


@dataclass(frozen=True, slots=True)
class ToolHit:
    """One hit as a model sees it: with or without its citation."""

    hit: Hit
    cites: bool

    @property
    def path(self) -> str:
        return self.hit.path

    @property
    def snippet(self) -> str:
        return self.hit.shown_text

    def to_json(self) -> dict[str, Any]:
        hit = hit_json(self.hit)
        payload = pick(hit, "path", "startLine", "endLine", "score", "snippet", "source")
        # A model that quotes the snippet then has its source at hand.
        payload["snippet"] = escaped(self.snippet) + self._footer()
        payload["shown"] = [
            {"startLine": lines.span.start_line, "endLine": lines.span.end_line}
            for lines in self.hit.shown
        ]
        if self.hit.heading:
            payload["heading"] = escaped(self.hit.heading)
        if self.cites:
            payload |= pick(hit, "citation")
        if self.hit.said:
            payload["said"] = escaped(self.hit.said.label())
        return payload

    def to_text(self) -> str:
        # One attribute says where to read on and what to cite.
        said = {"said": self.hit.said.label()} if self.hit.said else {}
        heading = {"heading": heading} if (heading := self._heading()) else {}
        score = f"{self.hit.score:.2f}"
        return fenced(self.snippet, path=self.hit.citation, score=score, **said, **heading)

    def _heading(self) -> str:
        """The nearest heading above the lines, unless it is among them or in the path."""
        heading = self.hit.heading.rpartition(HEADING_SEPARATOR)[2].lstrip("# ")
        is_known = heading in self.snippet or heading in self.path
        return "" if is_known else heading[:HEADING_CHARS]

    def _footer(self) -> str:
        return f"\n\nSource: {escaped(on_one_line(self.hit.citation))}" if self.cites else ""


@dataclass(frozen=True, slots=True)
class SearchOutput:
    hits: tuple[ToolHit, ...]
    mode: Mode
    provider: str
    model: str
    citations: Citations
    reason: str | None = None
    """Why there are no hits."""
    notice: str | None = None
    """Why the answer may lack something."""
    shortened: int = 0
    left_out: int = 0
    """Hits that did not fit into the budget."""
    fallback: Fallback | None = None
    """The second choice that answered."""

    @classmethod
    def of(cls, answer: Answer, context: CallContext, max_chars: int | None) -> SearchOutput:
        """The best lines that fit. `max_chars` is the configured limit, if there is one."""
        # Escaping makes a text longer: what is counted must be what is shown.
        packed = pack_hits(answer.hits, context.budget_chars(max_chars), escaped)
        hits = [hit for hit in packed if hit.shown]
        return cls(
            hits=tuple(ToolHit(hit, context.cites) for hit in hits),
            mode=answer.mode,
            provider=answer.provider,
            model=answer.model,
            citations=context.citations,
            reason=answer.reason,
            notice=answer.public_notice,
            shortened=sum(lines.is_cut for hit in hits for lines in hit.shown),
            left_out=len(packed) - len(hits),
            fallback=answer.fallback,
        )

    def to_json(self) -> dict[str, Any]:
        payload: dict[str, Any] = {
            "results": [hit.to_json() for hit in self.hits],
            "mode": self.mode,
            "provider": self.provider,
            "model": self.model,
            "citations": self.citations,
            # Always present, also as 0: a model should know that it sees all of the hits.
            "shortened": self.shortened,
            "leftOut": self.left_out,
        }
        if self.hits:
            payload["reminder"] = FIELDS_REMINDER
        if self.reason:
            payload["reason"] = self.reason
        if self.notice:
            payload["notice"] = self.notice
        if self.fallback:
            payload["fallback"] = fallback_json(self.fallback, public=True)
        return payload

    def to_text(self) -> str:
        parts = []
        if self.hits:
            parts.append(f"{REMINDER} {CITE if self.hits[0].cites else DO_NOT_CITE}")
        parts += (hit.to_text() for hit in self.hits)
        if self.shortened:
            parts.append("A passage was cut to keep this short; memory_get reads on.")
        if self.left_out:
            parts.append(f"Weaker hits left out to keep this short: {self.left_out}.")
        if self.reason:
            # An empty answer without a reason looks like a failure, and a model would ask again.
            parts.append(f"Nothing found: {self.reason}")
        if self.notice:
            parts.append(f"Note: {self.notice}")
        # An engine that fell back says so in the notice.
        if self.fallback and self.fallback.part == "embedder":
            parts.append(f"Note: {self.fallback.public_reason}; {self.fallback.used} answers")
        return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class GetOutput:
    excerpt: Excerpt

    def to_json(self) -> dict[str, Any]:
        excerpt = excerpt_json(self.excerpt)
        payload = pick(excerpt, "path", "text", "startLine", "endLine", "totalLines")
        payload["text"] = escaped(self.excerpt.text)
        payload["reminder"] = FIELDS_REMINDER
        # Most excerpts are complete; a model need not read two fields that say so.
        if self.excerpt.next_from is not None:
            payload |= pick(excerpt, "nextFrom")
        if self.excerpt.cut:
            payload |= pick(excerpt, "nextChar", "cut")
        return payload

    def to_text(self) -> str:
        excerpt = self.excerpt
        if excerpt.end_line < excerpt.start_line:
            total, first = excerpt.total_lines, excerpt.start_line
            # An empty quotation would look like an empty note.
            return f"The note has {counted(total, 'line')}; there are none from {first}."
        path = f"{excerpt.path}#L{excerpt.start_line}-L{excerpt.end_line}"
        # In the mark: the name of a file is foreign text, and does not speak outside.
        place = f"{excerpt.path}#L{excerpt.next_from}C{excerpt.next_char}"
        rest = {"rest": place} if excerpt.cut and excerpt.next_from is not None else {}
        parts = [REMINDER, fenced(excerpt.text, path=path, total=excerpt.total_lines, **rest)]
        if excerpt.cut:
            parts.append("The last line is longer than what is shown.")
        if excerpt.next_from is not None:
            reading_on = "the path in `rest`" if rest else f"from={excerpt.next_from}"
            parts.append(f"To read on, call memory_get with {reading_on}.")
        return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class AppendOutput:
    path: str
    start_line: int
    end_line: int
    added: bool
    """False when the same entry was there already."""
    notice: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "startLine": self.start_line,
            "endLine": self.end_line,
            "added": self.added,
            **({"notice": self.notice} if self.notice else {}),
        }

    def to_text(self) -> str:
        where = f"{self.path}#L{self.start_line}-L{self.end_line}"
        saved = f"Saved: {where}" if self.added else f"It was there already: {where}"
        return f"{saved}\nNote: {self.notice}" if self.notice else saved


class MemoryCounts(NamedTuple):
    notes: int
    """Notes on disk."""
    chunks: int
    pending: int
    """Notes that the index does not contain in their current form."""
    waiting: int
    """Chunks without a vector: only keyword search finds them."""


@dataclass(frozen=True, slots=True)
class StatusOutput:
    """A summary of the status for a model. It has fewer fields than `notewell status --json`, and
    names no folders of this machine: an agent has no use for them."""

    agent: str
    state: str
    problem: str | None
    provider: str
    model: str
    counts: MemoryCounts | None
    """None in a group: they count what a group does not see."""
    problems: tuple[Ignored, ...] = ()
    more_problems: int = 0
    parts: Mapping[str, Any] = field(default_factory=dict)
    """What `notewell status --json` says about the parts of the memory, by the same names."""

    def to_json(self) -> dict[str, Any]:
        payload: dict[str, Any] = {
            "agent": self.agent,
            "state": self.state,
            "provider": self.provider,
            "model": self.model,
            **(self.counts._asdict() if self.counts else {}),
            "problems": [
                # A file name is foreign text too: it could contain a forged mark.
                {"path": escaped(problem.path), "why": escaped(problem.why)}
                for problem in self.problems
            ],
            "moreProblems": self.more_problems,
            **{name: _known(part) for name, part in self.parts.items() if part is not None},
        }
        if self.problem:
            payload["problem"] = self.problem
        return payload

    def to_text(self) -> str:
        lines = [
            f"Agent: {self.agent}",
            f"Index: {self.state}{f' ({self.problem})' if self.problem else ''}",
            *self._numbers(),
            f"Embedder: {self.provider}, {self.model}",
            *self._choices(),
            *self._troubles(),
        ]
        if self.problems:
            # Names of files are foreign text: quoted, like what the notes say.
            left_out = (on_one_line(f"{problem.path}: {problem.why}") for problem in self.problems)
            lines += "Left out:", fenced("\n".join(left_out))
        if self.more_problems:
            lines.append(f"… and {self.more_problems} more left out")
        return "\n".join(lines)

    def _numbers(self) -> Iterator[str]:
        if self.counts is None:
            yield "Numbers of notes and chunks are for private conversations"
            return
        notes, chunks, pending, waiting = self.counts
        yield f"{counted(notes, 'note')}, {pending} of them not taken in yet"
        yield f"{counted(chunks, 'chunk')}, {waiting} of them without a vector"

    def _choices(self) -> Iterator[str]:
        """Settings that a model can tell the user; not said where they are the default."""
        if (engine := self.parts.get("backend", "builtin")) != "builtin":
            yield f"Search engine: {engine}"
        if (sources := self.parts.get("sources", ["memory"])) != ["memory"]:
            yield f"Searched: {', '.join(sources) or 'nothing'}"
        if not self.parts.get("vector", {}).get("enabled", True):
            yield "Vector search is switched off"

    def _troubles(self) -> Iterator[str]:
        fallback, error = self.parts.get("fallback"), self.parts.get("lastError")
        if load_error := self.parts.get("vector", {}).get("loadError"):
            yield f"Vector search: {escaped(load_error)}"
        if failures := self.parts.get("batch", {}).get("failures"):
            yield f"Batch jobs that failed: {failures}"
        if fallback:
            reason = escaped(fallback["reason"] or "not known")
            yield f"{fallback['to']} is used in place of {fallback['from']}: {reason}"
        if error:
            yield f"The last sync failed: {escaped(error['message'])}"


def _known(part: object) -> object:
    """Without fields that are not known: a model need not read them."""
    if isinstance(part, dict):
        return {name: _known(value) for name, value in part.items() if value is not None}
    return escaped(part) if isinstance(part, str) else part
