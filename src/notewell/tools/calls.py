"""The four tools, as plain functions over a memory. None of them raises one of our errors.

    memory_search(memory, SearchInput("when did we ship the router?")).to_json()

An agent cannot name another agent or another folder: there is no argument for it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from notewell.errors import BadRequest, NotewellError
from notewell.tools.budget import fit
from notewell.tools.caller import Talk
from notewell.tools.entry_tools import EntryOutput, call_entries
from notewell.tools.failures import DISABLED, Failure, failure_of, without_places
from notewell.tools.fence import escaped
from notewell.tools.first_index import take_in_first
from notewell.tools.inputs import AppendInput, GetInput, SearchInput, StatusInput
from notewell.tools.outputs import (
    SHOWN_PROBLEMS,
    AppendOutput,
    Found,
    GetOutput,
    SearchOutput,
    StatusOutput,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.engines import Status
    from notewell.entries import EntryStore
    from notewell.memory import Memory
    from notewell.sync import Progress
    from notewell.types import Answer, Hit

Output: TypeAlias = SearchOutput | GetOutput | AppendOutput | StatusOutput | EntryOutput
HERE = Talk()
"""A program that talks to its own user."""


RECALLED = 3
"""Of an answer so many count as recalled: what stands further down was hardly meant."""


def memory_search(
    memory: Memory,
    asked: SearchInput,
    talk: Talk = HERE,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> SearchOutput | Failure:
    """The lines that answer a question, best first, within the budget of the conversation."""
    if not talk.enabled:
        return DISABLED
    started = time.perf_counter()
    try:
        answer = _searched(memory, asked, talk)
        if not answer.hits and take_in_first(memory, progress):
            answer = _searched(memory, asked, talk)
    except NotewellError as error:
        return failure_of(error)
    note_answer(memory, asked.query, answer, "memory_search", started)
    return _shown(answer, talk)


def note_answer(memory: Memory, query: str, answer: Answer, tool: str, started: float) -> float:
    """Note down what an agent was shown, whichever way it asked; returns the milliseconds since
    `started`, a moment of `time.perf_counter`."""
    took_ms = (time.perf_counter() - started) * 1000
    memory.recalled([(hit.path, hit.span) for hit in answer.hits[:RECALLED]])
    memory.answered(_valid(query), answer, tool=tool, took_ms=took_ms)
    return took_ms


def memory_get(memory: Memory, asked: GetInput, talk: Talk = HERE) -> GetOutput | Failure:
    """Lines of one note as they are now."""
    if not talk.enabled:
        return DISABLED
    try:
        lines = memory.get(
            asked.path,
            from_line=asked.from_line or 1,
            lines=asked.lines,
            session_key=talk.session_key,
        )
    except NotewellError as error:
        return failure_of(error)
    return GetOutput(
        path=lines.path,
        text=lines.text,
        start_line=lines.start_line,
        end_line=lines.end_line,
        total_lines=lines.total_lines,
        next_from=lines.next_from,
        cut=lines.cut,
    )


def memory_append(memory: Memory, asked: AppendInput, talk: Talk = HERE) -> AppendOutput | Failure:
    """One entry more, in today's note or under a heading of MEMORY.md; the next search has it."""
    if not talk.enabled:
        return DISABLED
    try:
        done = memory.append(asked.text, section=asked.section, origin=talk.origin)
    except NotewellError as error:
        return failure_of(error)
    return AppendOutput(done.path, done.span.start_line, done.span.end_line, done.added)


def memory_status(
    memory: Memory, asked: StatusInput | None = None, talk: Talk = HERE
) -> StatusOutput | Failure:
    """What the memory holds and how it is."""
    if not talk.enabled:
        return DISABLED
    try:
        status = memory.status()
    except NotewellError as error:
        return failure_of(error)
    problems = (*status.unreadable, *status.ignored)
    return StatusOutput(
        agent=status.agent,
        state=status.state,
        problem=_problem(status),
        provider=status.provider,
        model=status.model,
        notes=status.eligible,
        chunks=status.counts.chunks if status.counts else 0,
        pending=status.dirty,
        waiting=status.counts.waiting if status.counts else 0,
        problems=problems[:SHOWN_PROBLEMS],
        more_problems=max(0, len(problems) - SHOWN_PROBLEMS),
    )


def call(
    memory: Memory,
    name: str,
    arguments: Mapping[str, object],
    talk: Talk = HERE,
    *,
    entries: EntryStore | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Output | Failure:
    """A tool by its name, with the JSON that a model wrote; with `entries`, three more."""
    try:
        match name:
            case "memory_search":
                asked = SearchInput.parse(arguments)
                return memory_search(memory, asked, talk, progress=progress)
            case "memory_get":
                return memory_get(memory, GetInput.parse(arguments), talk)
            case "memory_append":
                return memory_append(memory, AppendInput.parse(arguments), talk)
            case "memory_status":
                return memory_status(memory, StatusInput.parse(arguments), talk)
            case "memory_recall" | "memory_store" | "memory_forget" if entries is not None:
                return call_entries(entries, name, arguments, talk)
    except BadRequest as error:
        return failure_of(error)
    return failure_of(BadRequest(f"there is no tool {name[:40]!r}"))


def _searched(memory: Memory, asked: SearchInput, talk: Talk) -> Answer:
    return memory.search(
        _valid(asked.query),
        max_results=asked.max_results,
        min_score=asked.min_score,
        session_key=talk.session_key,
    )


def _shown(answer: Answer, talk: Talk) -> SearchOutput:
    # Escaped first: what is counted must be what is shown.
    fitted = fit([escaped(hit.snippet) for hit in answer.hits], talk.inject_chars)
    hits = tuple(
        replace(_found(hit, cites=talk.cites), snippet=text)
        for hit, text in zip(answer.hits, fitted.texts, strict=False)
    )
    return SearchOutput(
        hits=hits,
        mode=answer.mode,
        provider=answer.provider,
        model=answer.model,
        citations=talk.citations,
        reason=answer.reason,
        notice=without_places(answer.notice or "") or None,
        shortened=fitted.shortened,
        left_out=fitted.left_out,
    )


def _problem(status: Status) -> str | None:
    if status.state == "unreadable":
        return "damaged: `notewell index` rebuilds it"
    return without_places(status.embedder_missing or "") or None


def _found(hit: Hit, *, cites: bool) -> Found:
    return Found(
        path=hit.path,
        start_line=hit.span.start_line,
        end_line=hit.span.end_line,
        score=hit.score,
        snippet=hit.snippet,
        source=hit.source,
        heading=hit.heading,
        citation=hit.citation if cites else None,
    )


def _valid(query: str) -> str:
    """JSON can spell half of a surrogate pair; no note holds one, so it cannot be meant."""
    return query.encode(errors="replace").decode()
