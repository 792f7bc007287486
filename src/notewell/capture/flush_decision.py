"""Whether the silent turn before compaction runs, and with which prompts: a pure decision.

                        soft threshold   reserve
    0 ──────────────────────┬───────────────┬──────────────▶ context window
                            └─ flush here    └─ the host compacts here

There is one flush per cycle, and a cycle lies between two compactions. If the host counts its
compactions, the count tells the cycles apart; otherwise a conversation that has shrunk to half its
tokens counts as compacted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from notewell.records import dataclass

if TYPE_CHECKING:
    from datetime import date

    from notewell.capture.settings import FlushSettings

Access: TypeAlias = Literal["rw", "ro", "none"]
ProviderKind: TypeAlias = Literal["api", "cli"]

MAX_TRIES = 2
"""A model that failed is tried once more in the same cycle. Without a limit it would be tried in
every turn until the compaction."""

UNDER_WAY: Final = "the flush of this compaction cycle is under way"

NO_REPLY: Final = "NO_REPLY"
"""A reply with this word and nothing else is shown to nobody."""

TOOL: Final = "memory_append"

_DAY = "YYYY-MM-DD"
_SILENT = f"When nothing is left to store, reply with {NO_REPLY} and nothing else."

_SYSTEM = (
    "This conversation is about to be compacted: what is not written down now may be lost. "
    f"The user does not see this turn. {_SILENT}"
)
_PROMPT = (
    "Write what should outlast this conversation to {path} with {tool}: decisions and their "
    "reasons, facts about the user, open tasks, dates. One call an entry, each understandable by "
    "itself. Do not repeat what notes hold already. " + _SILENT
)


@dataclass(frozen=True, slots=True)
class FlushFacts:
    """The state of a session now."""

    used_tokens: int
    context_window: int
    compactions: int | None = None
    """How often it was compacted, for whatever reason; None if the host does not count."""
    access: Access = "rw"
    provider: ProviderKind = "api"
    """A command line tool runs its own turns; we cannot insert one."""
    compacting: bool = False
    """A compaction comes next regardless of the numbers: on request, or after an overflow."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The record of a session's last flush."""

    day: date
    compactions: int | None
    used_tokens: int
    tries: int
    done: bool


@dataclass(frozen=True, slots=True)
class RunFlush:
    day: date
    path: str
    """The only note this turn may append to."""
    system_prompt: str
    prompt: str
    why: str


@dataclass(frozen=True, slots=True)
class Skip:
    why: str


def decide(
    facts: FlushFacts,
    settings: FlushSettings,
    mark: Mark | None,
    today: date,
    *,
    is_under_way: bool = False,
) -> RunFlush | Skip:
    """Run, with the note and the prompts, or skip, with the reason."""
    why_not = _not_possible(facts, settings) or _not_yet(facts, settings)
    if why_not:
        return Skip(why_not)
    if mark is not None and is_same_cycle(facts, mark):
        why_not = UNDER_WAY if is_under_way else _had_its_turn(mark)
        if why_not:
            return Skip(why_not)
        # A second try writes to the note of the first, even if it is past midnight now.
        today = mark.day
    path = f"memory/{today.isoformat()}.md"
    return RunFlush(
        today,
        path,
        system_prompt_for(settings.system_prompt, today),
        prompt_for(settings.prompt, today, path),
        _because(facts, settings),
    )


def threshold(context_window: int, settings: FlushSettings) -> int:
    """The tokens at which to flush; half of the window if it is smaller than the reserves."""
    left = context_window - settings.reserve_tokens - settings.soft_threshold_tokens
    return left if left > 0 else max(1, context_window // 2)


def is_same_cycle(facts: FlushFacts, mark: Mark) -> bool:
    # After an update of the host only one of the two may have a count: then the size decides.
    if facts.compactions is not None and mark.compactions is not None:
        return facts.compactions == mark.compactions
    return not has_shrunk(facts, mark)


def has_shrunk(facts: FlushFacts, mark: Mark) -> bool:
    """A conversation only grows, unless it is compacted."""
    return facts.used_tokens < mark.used_tokens // 2


def _not_possible(facts: FlushFacts, settings: FlushSettings) -> str | None:
    if not settings.enabled:
        return "compaction.memoryFlush.enabled is false"
    if facts.access != "rw":
        kind = "read-only" if facts.access == "ro" else "closed to this session"
        return f"the workspace is {kind}: there is no note to write to"
    if facts.provider == "cli":
        return "the model is run by a command line tool, which takes no turn from us"
    return None


def _not_yet(facts: FlushFacts, settings: FlushSettings) -> str | None:
    # The last chance, however full the window is.
    if facts.compacting:
        return None
    if facts.context_window <= 0:
        return "the context window is not known"
    needed = threshold(facts.context_window, settings)
    if facts.used_tokens < needed:
        return f"{facts.used_tokens} tokens are used; it is time at {needed}"
    return None


def _had_its_turn(mark: Mark) -> str | None:
    if mark.done:
        return "this compaction cycle had its flush"
    if mark.tries >= MAX_TRIES:
        return f"the flush of this compaction cycle failed {mark.tries} times"
    return None


def _because(facts: FlushFacts, settings: FlushSettings) -> str:
    if facts.compacting:
        return "compaction is about to happen"
    needed = threshold(facts.context_window, settings)
    return (
        f"{facts.used_tokens} tokens are used of {facts.context_window}; it was time at {needed}"
    )


# -- prompts -------------------------------------------------------------------------------------


def system_prompt_for(template: str | None, day: date) -> str:
    return _with_silence(template or _SYSTEM, day)


def prompt_for(template: str | None, day: date, path: str) -> str:
    # Only our own prompt is formatted: braces in a text of the user are plain text.
    return _with_silence(template or _PROMPT.format(path=path, tool=TOOL), day)


def is_silent(text: str) -> bool:
    """Whether a reply is for nobody; models add a full stop or a code span to the word."""
    bare = text.strip().strip("`*_.\"' \n").upper()
    return not bare or bare == NO_REPLY or bare.strip("[]()") == NO_REPLY


def _with_silence(text: str, day: date) -> str:
    text = text.replace(_DAY, day.isoformat())
    # A prompt of the user may not mention the word; without it every flush would be shown.
    return text if NO_REPLY in text else f"{text.rstrip()}\n{_SILENT}"
