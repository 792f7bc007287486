"""The four tools as plain functions over a memory. None of them raises one of our errors.

    memory_search(memory, SearchInput("when did we ship the router?")).to_json()

An agent cannot name another agent or another folder: no tool has an argument for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from notewell.core import is_private_path
from notewell.errors import BadRequest, ConversationDenied, NotewellError
from notewell.tools.ask import ask_memory
from notewell.tools.failures import DISABLED, Failure, failure_of
from notewell.tools.inputs import (
    HERE,
    AppendInput,
    CallContext,
    GetInput,
    SearchInput,
    StatusInput,
)
from notewell.tools.outputs import (
    SHOWN_PROBLEMS,
    AppendOutput,
    GetOutput,
    MemoryCounts,
    SearchOutput,
    StatusOutput,
)
from notewell.tools.wire import pick, public_status_json, without_private

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.engines import Status
    from notewell.entries import EntryStore
    from notewell.memory import Memory
    from notewell.sync import Progress
    from notewell.tools.entry_tools import EntryOutput

STATUS_PARTS = (
    *("backend", "files", "sources", "fts", "vector"),
    *("cache", "batch", "fallback", "lastError", "indexAge"),
)
"""The fields of `notewell status --json` that a model gets, besides the summary."""

Output: TypeAlias = "SearchOutput | GetOutput | AppendOutput | StatusOutput | EntryOutput"


def refusal(memory: Memory, context: CallContext) -> Failure | None:
    """Why a conversation gets nothing from this memory; None if it may use it."""
    if not context.enabled:
        return DISABLED
    try:
        memory.require_scope(context.session_key)
    except NotewellError as error:
        return failure_of(error)
    return None


def memory_search(
    memory: Memory,
    arguments: SearchInput,
    context: CallContext = HERE,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> SearchOutput | Failure:
    """The lines that answer a question, best first, within the budget of the conversation."""
    if not context.enabled:
        return DISABLED
    try:
        answer, *_ = ask_memory(
            memory,
            arguments.query,
            max_results=arguments.max_results,
            min_score=arguments.min_score,
            folder=arguments.folder,
            session_key=context.session_key,
            # An agent asks, so the hits count as recalled; see `ask_memory`.
            journal_as="memory_search",
            progress=progress,
        )
    except NotewellError as error:
        return failure_of(error)
    qmd = memory.settings.qmd
    # Here and not only in QMD's engine: the limit also holds for the engine that replaces QMD.
    return SearchOutput.of(answer, context, qmd.max_injected_chars if qmd else None)


def memory_get(
    memory: Memory, arguments: GetInput, context: CallContext = HERE
) -> GetOutput | Failure:
    """Lines of one note as they are now."""
    if not context.enabled:
        return DISABLED
    try:
        return GetOutput(
            memory.get(
                arguments.path,
                # The parser refuses 0, so only a missing number becomes 1.
                from_line=arguments.from_line or 1,
                from_char=arguments.from_char,
                lines=arguments.lines,
                session_key=context.session_key,
            )
        )
    except NotewellError as error:
        return failure_of(error)


def memory_append(
    memory: Memory, arguments: AppendInput, context: CallContext = HERE
) -> AppendOutput | Failure:
    """Add one entry to today's note or below a heading of MEMORY.md; the next search finds it."""
    if not context.enabled:
        return DISABLED
    try:
        done = memory.append(
            arguments.text,
            section=arguments.section,
            origin=context.origin,
            session_key=context.session_key,
        )
    except NotewellError as error:
        return failure_of(error)
    return AppendOutput(
        done.path, done.span.start_line, done.span.end_line, done.added, done.notice
    )


def memory_status(
    memory: Memory, arguments: StatusInput | None = None, context: CallContext = HERE
) -> StatusOutput | Failure:
    """What the memory holds and whether it works."""
    if refused := refusal(memory, context):
        return refused
    try:
        status = memory.status()
    except NotewellError as error:
        return failure_of(error)
    # Folders that cannot be listed come first: each may hide many notes, an ignored file is one.
    problems = (*status.unreadable, *status.ignored)
    payload = public_status_json(status)
    is_group = not memory.sees_private(context.session_key)
    if is_group:
        problems = tuple(file for file in problems if not is_private_path(file.path))
        payload = without_private(payload)
    return StatusOutput(
        agent=status.agent,
        state=status.state,
        problem=_problem(status),
        provider=status.provider,
        model=status.model,
        counts=None if is_group else _counts(status),
        problems=problems[:SHOWN_PROBLEMS],
        more_problems=max(0, len(problems) - SHOWN_PROBLEMS),
        parts=pick(payload, *STATUS_PARTS),
    )


def _counts(status: Status) -> MemoryCounts:
    # An index that is missing or damaged has no counts. The state says so; 0 keeps the shape.
    counts = status.counts
    return MemoryCounts(
        notes=status.eligible,
        chunks=counts.chunks if counts else 0,
        pending=status.dirty,
        waiting=counts.waiting if counts else 0,
    )


def call(
    memory: Memory,
    name: str,
    arguments: Mapping[str, object],
    context: CallContext = HERE,
    *,
    entries: EntryStore | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Output | Failure:
    """Call a tool by its name with a model's JSON; `entries` adds three tools."""
    try:
        match name:
            case "memory_search":
                search = SearchInput.parse(arguments)
                return memory_search(memory, search, context, progress=progress)
            case "memory_get":
                return memory_get(memory, GetInput.parse(arguments), context)
            case "memory_append":
                return memory_append(memory, AppendInput.parse(arguments), context)
            case "memory_status":
                return memory_status(memory, StatusInput.parse(arguments), context)
            # Without entries these tools are not listed, so their names are unknown here.
            case "memory_recall" | "memory_store" | "memory_forget" if entries is not None:
                # Loaded here: few memories have entries, and a server must start quickly.
                from notewell.tools.entry_tools import call_entries

                # Entries are statements about the user, so they follow the rule of MEMORY.md. It
                # holds for storing and deleting too: both show a text that is already there.
                memory.require_private(context.session_key, "entries are")
                return call_entries(entries, name, arguments, context)
    # The tools themselves return their errors as a `Failure`.
    except (BadRequest, ConversationDenied) as error:
        return failure_of(error)
    # The name comes from a model and may be of any length.
    return failure_of(BadRequest(f"there is no tool {name[:40]!r}"))


def _problem(status: Status) -> str | None:
    if status.state == "unreadable":
        # Not `status.problem`: that text is for the user at this machine and names the file.
        return "damaged: `notewell index` rebuilds it"
    return status.public_embedder_missing
