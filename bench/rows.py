"""A row of the table that `python -m bench` prints: one cost as a multiple of another one."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """Two costs that were measured in one run, taking turns, so that the machine cancels out."""

    what: str
    ours: float
    floor: float
    """What the same work costs without us."""
    limit: float
    """The largest ratio that is good enough."""
    unit: str = "ms"

    @property
    def ratio(self) -> float:
        return self.ours / self.floor if self.floor else float("inf")

    @property
    def is_kept(self) -> bool:
        return self.ratio <= self.limit

    def __str__(self) -> str:
        costs = f"{self.ours:9.2f} {self.unit} over {self.floor:8.2f}"
        verdict = "ok" if self.is_kept else "MISSED"
        return f"{self.what:44} {self.ratio:7.2f} x  <= {self.limit:<5g} {verdict:7} {costs}"
