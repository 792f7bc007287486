"""`memory_flush`: a host asks whether its agent should write notes before a compaction.

    after each turn   memory_flush(memory, FlushInput(FlushFacts(used, window)), context)
        flush: false  nothing to do; `why` says the reason
        flush: true   run one turn that the user does not see, with `systemPrompt` and `prompt` and
                      the tool `memory_append`; show nothing if the reply is NO_REPLY

The prompts are handed out once per compaction cycle. A host whose turn failed says so
(`failed: true`) and gets them once more. For hosts, not for models: a model does not know how full
its context window is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from notewell.capture import TOOL, FlushFacts, RunFlush, Skip
from notewell.errors import NotewellError
from notewell.records import dataclass
from notewell.tools.failures import DISABLED, Failure, failure_of
from notewell.tools.inputs import HERE, Arguments, CallContext

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.memory import Memory

MAX_SESSION_CHARS = 200
MAX_TOKENS = 10**9
MAIN_SESSION: Final = "main"
"""The session of a program that has one conversation and does not name it."""


@dataclass(frozen=True, slots=True)
class FlushInput:
    facts: FlushFacts
    session: str | None = None
    """The conversation; None: that of the context."""
    failed: bool = False
    """The turn that was handed out before could not be run."""

    @classmethod
    def parse(cls, arguments: Mapping[str, object]) -> FlushInput:
        names = ("usedTokens", "contextWindow", "compactions", "compacting", "session", "failed")
        values = Arguments(arguments, names)
        facts = FlushFacts(
            values.whole("usedTokens", 0, MAX_TOKENS) or 0,
            values.whole("contextWindow", 0, MAX_TOKENS) or 0,
            compactions=values.whole("compactions", 0, MAX_TOKENS),
            compacting=values.flag("compacting"),
        )
        session = values.text("session", MAX_SESSION_CHARS) if values.has("session") else None
        return cls(facts, session, values.flag("failed"))


@dataclass(frozen=True, slots=True)
class FlushOutput:
    decision: RunFlush | Skip

    def to_json(self) -> dict[str, Any]:
        decision = self.decision
        if isinstance(decision, Skip):
            return {"flush": False, "why": decision.why}
        return {
            "flush": True,
            "why": decision.why,
            "path": decision.path,
            "systemPrompt": decision.system_prompt,
            "prompt": decision.prompt,
            "tool": TOOL,
        }

    def to_text(self) -> str:
        decision = self.decision
        if isinstance(decision, Skip):
            return f"No flush now: {decision.why}."
        return f"{decision.system_prompt}\n\n{decision.prompt}"


def memory_flush(
    memory: Memory, request: FlushInput, context: CallContext = HERE
) -> FlushOutput | Failure:
    """Whether to flush now, with the reason; and if so, the prompts and the note."""
    if not context.enabled:
        return DISABLED
    try:
        return flush_decision(memory, request, context)
    except NotewellError as error:
        return failure_of(error)


def flush_decision(
    memory: Memory, request: FlushInput, context: CallContext = HERE
) -> FlushOutput:
    """The same for surfaces that have their own form of an error."""
    session = request.session or context.session_key or MAIN_SESSION
    memory.require_scope(context.session_key)
    if request.failed:
        memory.journal.flush_failed(session)
    return FlushOutput(memory.journal.flush_due(session, request.facts))
