"""Every role at once, and any of them killed at any moment, for so many seconds."""

from __future__ import annotations

import random
import select
import time
from dataclasses import dataclass
from pathlib import Path

from tests.hardening.processes.crew import (
    Crew,
    entries_not_found,
    leftovers,
    make_workspace,
)
from tests.hardening.processes.events import Events
from tests.hardening.processes.expected_answers import wrong_answers
from tests.hardening.processes.roles import beacon, memory

ROLES = ("index", "rebuild", "edit", "read", "open_and_read", "append")
KILL_EVERY_S = 0.4


@dataclass(frozen=True, slots=True)
class Soaked:
    """What came of it; everything but the first line should be empty."""

    answers: int
    syncs: int
    entries: int
    kills: int
    wrong: list[str]
    failed: list[str]
    lost_entries: list[str]
    left: list[str]
    stuck: str
    """What the last sync was told, if it was not that all is well."""

    @property
    def is_good(self) -> bool:
        return not (self.wrong or self.failed or self.lost_entries or self.left or self.stuck)


def soak(root: Path, seconds: float, seed: int) -> Soaked:
    make_workspace(root, indexed=True)
    kills = _run(root, seconds, random.Random(seed))
    stuck = _last_sync(root)
    events = Events(root)
    return Soaked(
        answers=len(events.read("answered")),
        syncs=len(events.read("synced")),
        entries=len(events.read("appended")),
        kills=kills,
        wrong=wrong_answers(root),
        failed=[str(one["why"]) for one in events.read("failed")],
        lost_entries=entries_not_found(root),
        left=leftovers(root),
        stuck=stuck,
    )


def _run(root: Path, seconds: float, dice: random.Random) -> int:
    kills, end = 0, time.monotonic() + seconds
    with Crew(root) as crew:
        for role in ROLES:
            crew.start(role)
        crew.go()
        while time.monotonic() < end:
            victim = dice.choice(crew.workers)
            victim.kill()
            crew.workers.remove(victim)
            kills += 1
            crew.start(victim.role).go()  # The line waits in the pipe until it is read.
            select.select([], [], [], dice.random() * 2 * KILL_EVERY_S)
        for worker in crew.workers:
            worker.kill()
        crew.workers.clear()
    return kills


def _last_sync(root: Path) -> str:
    """Nobody is left, so nobody may hold anything."""
    with memory(root) as opened:
        report = opened.sync()
        if report.trouble or report.vectors_waiting or report.unreadable:
            return f"{report.trouble}, {report.vectors_waiting} waiting, {report.unreadable}"
        shown = opened.search("Which number does the beacon show?").hits[0].snippet
    return "" if f"number {beacon(root)}." in shown else f"the last number is not shown: {shown}"
