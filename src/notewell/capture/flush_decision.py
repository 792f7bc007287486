"""Whether the silent turn before compaction runs: decided from values alone.

                        soft threshold   reserve
    0 ──────────────────────┬───────────────┬──────────────▶ context window
                            └─ flush here    └─ the host compacts here

One flush a cycle, and a cycle is what lies between two compactions. Where the host counts them,
the count tells; where it does not, a conversation that has shrunk to half has been compacted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.capture.flush_prompts import prompt_for, system_prompt_for

if TYPE_CHECKING:
    from datetime import date

Access: TypeAlias = Literal["rw", "ro", "none"]
ProviderKind: TypeAlias = Literal["api", "cli"]

MAX_TRIES = 2
"""A model that failed is asked once more in the same cycle; after that it would be every turn."""

CLAIM_S = 600.0
"""A turn that was begun longer ago than this has died with its process."""


@dataclass(frozen=True, slots=True)
class FlushSettings:
    """`agents.defaults.compaction`, as plain values."""

    enabled: bool = True
    reserve_tokens: int = 20_000
    soft_threshold_tokens: int = 4_000
    prompt: str | None = None
    system_prompt: str | None = None


@dataclass(frozen=True, slots=True)
class FlushFacts:
    """How a session stands now."""

    used_tokens: int
    context_window: int
    compactions: int | None = None
    """How often it was compacted, by whatever path; None where the host does not count."""
    access: Access = "rw"
    provider: ProviderKind = "api"
    """A command line tool runs its own turns: we cannot put one between them."""
    compacting: bool = False
    """Compaction is about to happen whatever the numbers say: asked for, or after an overflow."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What is remembered of a session's last flush."""

    day: date
    compactions: int | None
    used_tokens: int
    tries: int
    done: bool
    begun_s: float
    """When the last try began, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Run:
    day: date
    path: str
    """The only note this turn may add to."""
    system_prompt: str
    prompt: str
    why: str


@dataclass(frozen=True, slots=True)
class Skip:
    why: str


def decide(
    facts: FlushFacts, settings: FlushSettings, mark: Mark | None, today: date, now_s: float
) -> Run | Skip:
    """Run, with the note and the prompts, or skip, with the reason."""
    why_not = _not_possible(facts, settings) or _not_yet(facts, settings)
    if why_not:
        return Skip(why_not)
    if mark is not None and is_same_cycle(facts, mark):
        why_not = _had_its_turn(mark, now_s)
        if why_not:
            return Skip(why_not)
        # The second try goes where the first one went, even if it is past midnight now.
        today = mark.day
    path = f"memory/{today.isoformat()}.md"
    return Run(
        today,
        path,
        system_prompt_for(settings.system_prompt, today),
        prompt_for(settings.prompt, today, path),
        _because(facts, settings),
    )


def threshold(context_window: int, settings: FlushSettings) -> int:
    """The tokens at which to flush; half of a window that is smaller than what is set aside."""
    left = context_window - settings.reserve_tokens - settings.soft_threshold_tokens
    return left if left > 0 else max(1, context_window // 2)


def is_same_cycle(facts: FlushFacts, mark: Mark) -> bool:
    if facts.compactions is not None and mark.compactions is not None:
        return facts.compactions == mark.compactions
    return not has_shrunk(facts, mark)


def has_shrunk(facts: FlushFacts, mark: Mark) -> bool:
    """Conversations only grow, unless they are compacted."""
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
    if facts.compacting:
        return None
    if facts.context_window <= 0:
        return "the context window is not known"
    needed = threshold(facts.context_window, settings)
    if facts.used_tokens < needed:
        return f"{facts.used_tokens} tokens are used; it is time at {needed}"
    return None


def _had_its_turn(mark: Mark, now_s: float) -> str | None:
    if mark.done:
        return "this compaction cycle had its flush"
    # A clock that was set back must not keep a claim alive.
    if 0 <= now_s - mark.begun_s < CLAIM_S:
        return "the flush of this compaction cycle is under way"
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
