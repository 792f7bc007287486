"""Which answers are right: told from what was written and synced before, and by then."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from pathlib import Path

from tests.hardening.processes.events import Event, Events


def wrong_answers(root: Path) -> list[str]:
    """Answers that are empty, older than an index that was there, or newer than any note."""
    events = Events(root)
    least = _Floor(events.read("written"), events.read("synced"))
    written = sorted((one["at"], one["number"]) for one in events.read("writing"))
    tops = list(accumulate((number for _, number in written), max))
    wrong = []
    for answer in events.read("answered"):
        at = bisect_right(written, (answer["ended"], float("inf")))
        most = tops[at - 1] if at else 0
        if answer["number"] is None:
            wrong.append(f"no answer: {answer['why']}")
        elif not least.at(answer["begun"]) <= answer["number"] <= most:
            bounds = f"{least.at(answer['begun'])} to {most}"
            wrong.append(f"{answer['number']} where {bounds} would be right")
    return wrong


class _Floor:
    """A sync that began after a number was written shows it from its end on."""

    def __init__(self, written: list[Event], synced: list[Event]) -> None:
        numbers = sorted((one["at"], one["number"]) for one in written)
        ends = []
        for sync in synced:
            before = bisect_right(numbers, (sync["begun"], float("inf")))
            known = max((number for _, number in numbers[:before]), default=0)
            ends.append((sync["ended"], known))
        ends.sort()
        self._times = [time for time, _ in ends]
        self._numbers = list(accumulate((number for _, number in ends), max))

    def at(self, time: float) -> int:
        place = bisect_right(self._times, time)
        return self._numbers[place - 1] if place else 0


def times_to_see(root: Path) -> list[float]:
    """From the moment before each publish to the end of the first answer that shows it."""
    events = Events(root)
    answers = sorted((one["ended"], one["number"] or 0) for one in events.read("answered"))
    seen = []
    for publish in events.read("published"):
        first = [t for t, number in answers if number >= publish["number"] and t > publish["at"]]
        if first:
            seen.append(first[0] - publish["at"])
    return seen
