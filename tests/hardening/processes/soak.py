"""Every role at once, and any of them killed at any moment, for so many seconds."""

from __future__ import annotations

import random
import select
import time
from collections.abc import Sequence
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
from tests.hardening.processes.roles import beacon, entry_store, memory

from notewell.doctor import verify

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
    disagreements: list[str]
    """What `notewell verify` finds at the end."""
    stuck: str
    """What the last sync was told, if it was not that all is well."""

    @property
    def is_good(self) -> bool:
        bad = (self.wrong, self.failed, self.lost_entries, self.left, self.disagreements)
        return not (any(bad) or self.stuck)


def soak(root: Path, seconds: float, seed: int, roles: Sequence[str] = ROLES) -> Soaked:
    make_workspace(root, indexed=True)
    kills = _run(root, seconds, random.Random(seed), roles)
    stuck = _last_sync(root)
    events = Events(root)
    return Soaked(
        answers=len(events.read("answered")),
        syncs=len(events.read("synced")),
        entries=len(events.read("appended")),
        kills=kills,
        wrong=wrong_answers(root),
        failed=[str(one["why"]) for one in events.read("failed")],
        lost_entries=[*entries_not_found(root), *_lost_from_lance(root)],
        left=leftovers(root),
        disagreements=_disagreements(root),
        stuck=stuck,
    )


def _disagreements(root: Path) -> list[str]:
    with memory(root) as opened:
        return [f"{one.where}: {one.message}" for one in verify(opened).disagreements]


def _lost_from_lance(root: Path) -> list[str]:
    """Entries that were told to be stored, and that nobody has begun to delete."""
    events = Events(root)
    stored = {str(one["id"]) for one in events.read("stored")}
    if not stored:
        return []
    there = {entry.id for entry in entry_store(root).entries()}
    return sorted(stored - there - {str(one["id"]) for one in events.read("forgetting")})


def _run(root: Path, seconds: float, dice: random.Random, roles: Sequence[str]) -> int:
    kills, end = 0, time.monotonic() + seconds
    with Crew(root) as crew:
        for role in roles:
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
