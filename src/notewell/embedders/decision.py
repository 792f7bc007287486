"""What was decided about the embedder, as a value that `status` can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from notewell.ports import Embedder

Outcome: TypeAlias = Literal["used", "passed over"]


@dataclass(frozen=True, slots=True)
class Step:
    """One provider that was considered."""

    provider: str
    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """Requested, used, why: nothing happens that this does not tell."""

    requested: str
    used: str
    model: str
    why: str
    fallback: str
    """What was set, whether or not it was needed."""
    steps: tuple[Step, ...]
    key_from: str | None = None
    """The place of the key, never the key."""
    endpoint: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "requested": self.requested,
            "used": self.used,
            "why": self.why,
            "fallback": self.fallback,
            "keyFrom": self.key_from,
            "endpoint": self.endpoint,
            "steps": [
                {"provider": step.provider, "outcome": step.outcome, "why": step.why}
                for step in self.steps
            ],
        }

    @property
    def fell_back(self) -> bool:
        return self.requested not in ("auto", self.used)


@dataclass(frozen=True, slots=True)
class Chosen:
    embedder: Embedder
    decision: Decision
