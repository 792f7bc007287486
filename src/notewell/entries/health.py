"""What `notewell doctor` and `notewell verify` ask about the entries of all agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.entries.durability import WAIT_S, writer_lock
from notewell.entries.entry import EntriesUnreadable
from notewell.entries.table import Tables
from notewell.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class EntriesAudit:
    """Of every table in a folder."""

    entries: int
    """That are as they were written."""
    damaged: tuple[str, ...]
    """One message for each damaged part."""


def has_entries(folder: Path) -> bool:
    """Whether anything was stored there; loads no LanceDB."""
    return bool(Tables(folder).names())


def audit_entries(folder: Path) -> EntriesAudit:
    """Read every entry, and compare it with its digest."""
    tables, entries, damaged = Tables(folder), 0, []
    for name in tables.names():
        try:
            audit = tables.audit(name)
        except EntriesUnreadable as error:
            damaged.append(f"the table {name} cannot be read: {error.why}")
            continue
        entries += audit.entries
        damaged += audit.damaged
    return EntriesAudit(entries, tuple(damaged))


def set_damaged_aside(folder: Path, *, wait_s: float = WAIT_S) -> list[Path]:
    """Copy each damaged table, and go on with its sound entries. Returns the copies."""
    if not audit_entries(folder).damaged:
        return []
    tables = Tables(folder)
    with writer_lock(folder, wait_s=wait_s):
        aside = [tables.set_aside(name) for name in tables.names()]
    return [path for path in aside if path]
