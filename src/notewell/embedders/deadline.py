"""The moment until which something must be done, whatever happens on the way there.

One deadline is made where the waiting begins and handed down through every layer, so that
retries, pauses and dripping answers all eat from the same budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Clock: TypeAlias = Callable[[], float]
"""Seconds that only go forward: `time.monotonic`."""


@dataclass(frozen=True, slots=True)
class Deadline:
    at: float
    clock: Clock

    @classmethod
    def after(cls, seconds: float, clock: Clock) -> Deadline:
        return cls(clock() + seconds, clock)

    def left_s(self) -> float:
        return max(0.0, self.at - self.clock())
