"""Decisions about embedders, as values: the choice makes them, and the status shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from notewell.embedders.registry import NONE
from notewell.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.embedders.registry import AmbientKey
    from notewell.errors import EmbedderTrouble
    from notewell.ports import Embedder

FAILURES_BEFORE_SWITCH = 2
"""A switch rebuilds the index and embeds everything again: one failure is no reason for that."""

Outcome: TypeAlias = Literal["used", "passed over"]


@dataclass(frozen=True, slots=True)
class Step:
    """One provider that was considered."""

    provider: str
    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What was requested, what is used, and why; `status` shows it."""

    requested: str
    used: str
    model: str
    why: str
    fallback: str
    """The setting, whether or not it was needed."""
    steps: tuple[Step, ...]
    key_from: str | None = None
    """The place of the key, never the key."""
    endpoint: str | None = None
    unused_keys: tuple[AmbientKey, ...] = ()
    """Keys in the environment that `auto` did not use."""
    broken_keys: tuple[str, ...] = ()
    """Providers that `auto` did not use because a setting refers to a key that is not there."""

    exposed_file: Path | None = None
    """The file of the key, if other users of this machine can read it."""

    @property
    def notices(self) -> list[str]:
        """What the user should know about keys."""
        notices = [
            f"a key for {provider} is in the environment ({variable}); it is not used and no note "
            f"is sent there. To use it, set memorySearch.provider: {provider} in your own settings"
            for provider, variable in self.unused_keys[:1]
        ]
        notices += self.broken_keys
        if self.exposed_file:
            path = str(self.exposed_file)
            notices.append(f"other users can read the key in {path!r}: run `chmod 600 {path}`")
        return notices

    def to_json(self) -> dict[str, Any]:
        return {
            "requested": self.requested,
            "used": self.used,
            "why": self.why,
            "fallback": None if self.fallback == NONE else self.fallback,
            "keyFrom": self.key_from,
            "endpoint": self.endpoint,
            "unusedKeys": [key._asdict() for key in self.unused_keys],
            "brokenKeys": list(self.broken_keys),
            "keyIsExposed": self.exposed_file is not None,
            "steps": [
                {"provider": step.provider, "outcome": step.outcome, "why": step.why}
                for step in self.steps
            ],
        }

    @property
    def fell_back(self) -> bool:
        # `auto` names no first choice, so nothing that it chooses is a fallback.
        return self.requested not in ("auto", self.used)


@dataclass(frozen=True, slots=True)
class Chosen:
    embedder: Embedder
    decision: Decision


def should_switch(decision: Decision, trouble: EmbedderTrouble, failures_in_a_row: int) -> bool:
    """Whether the fallback takes over from a provider that failed during an index run."""
    # A fallback that is in use already has failed itself.
    has_other = decision.fallback not in (NONE, decision.used, decision.requested)
    lasting = trouble.until_user_acts or failures_in_a_row >= FAILURES_BEFORE_SWITCH
    return has_other and lasting
