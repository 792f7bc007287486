"""What of the daily notes could go to MEMORY.md. It proposes; only the user accepts.

A statement is proposed when the user asked for it ("remember that …", 记住), when it was written
on several days, or when it was found again and again. What MEMORY.md says already is not, nor what
was declined before. The daily notes stay as they are: nothing is moved.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from notewell.capture.recall_log import recall_days
from notewell.capture.statements import Statement, statements
from notewell.core import word_set
from notewell.errors import NoteUnreadable
from notewell.files import read_json, state_lock, write_json
from notewell.notes import Entry, Section

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from notewell.capture.writer import NoteWriter
    from notewell.notes import Appended, NoteStore

SECTION = "Remembered"
ORIGIN = "review"
DECLINED = "declined.json"
MAX_DECLINED = 2000
MAX_PROPOSALS = 50
"""More is not reviewed but clicked through."""
MAX_STATEMENTS = 5000
"""The newest ones; comparing each with each of more would take minutes."""

ALIKE = 0.7
"""The share of words two statements have in common that makes them the same fact; their numbers
must be the same, because what differs in a number is another fact."""
KNOWN = 0.8
"""How much of a statement MEMORY.md must say in one place for it to be known."""
REPEATED_DAYS = 2
RECALLED_DAYS = 3

_DAY = re.compile(r"memory/(?:.*/)?(\d{4}-\d{2}-\d{2})[^/]*\.md", re.IGNORECASE)
_ASKED = re.compile(
    r"\b(?:please\s+)?remember\s*(?:that\b|this\b|to\b|:|,)"
    r"|\b(?:don'?t|do not|never) forget\b|\bkeep in mind\b|\bfrom now on\b"
    r"|\bnote to self\b|记住|记下|請記|请记|别忘|別忘|以后都|以後都"
    r"|从现在起|從現在起|覚えておいて",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:please\s+)?remember\s*(?:that\b|this\b|:|,)+[\s:,]*|(?:请|請)?(?:记住|記住)[,,::]?\s*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Proposal:
    id: str
    """The same as long as the text is."""
    text: str
    why: tuple[str, ...]
    sources: tuple[str, ...]
    """Citations, `memory/2026-11-15.md#L3-L3`, the newest first."""


def propose(notes: NoteStore, folder: Path) -> list[Proposal]:
    """What could go to MEMORY.md, the best reasons first."""
    paths = sorted(notes.scan().notes, key=_day_of, reverse=True)
    daily = _read(notes, [path for path in paths if _DAY.fullmatch(path)])
    curated = _read(notes, [path for path in paths if path in ("MEMORY.md", "memory.md")])
    groups = _grouped(daily[:MAX_STATEMENTS])
    recalled = recall_days(folder)
    declined = read_json(folder / DECLINED)
    found = [(_reasons(group, recalled), group) for group in groups]
    proposals = [_proposal(group, tuple(why)) for why, group in found if why]
    proposals = [one for one in proposals if not _is_known(one, curated)]
    proposals.sort(key=lambda one: -len(one.why))  # Stable: among equals the newest first.
    return [one for one in proposals if one.id not in declined][:MAX_PROPOSALS]


def addition(proposal: Proposal, section: str = SECTION) -> tuple[Entry, Section]:
    """What accepting it appends, and where."""
    text = f"{proposal.text} (from {proposal.sources[0]})"
    return Entry(text, ORIGIN, proposal.id), Section(section)


def accept(place: NoteWriter, proposal: Proposal, section: str, *, now: datetime) -> Appended:
    """Write it to MEMORY.md: the user has said so."""
    entry, to = addition(proposal, section)
    return place.append(entry, to, now=now)


def decline(folder: Path, ids: Collection[str], *, now: datetime) -> None:
    """Not to be proposed again."""
    file = folder / DECLINED
    with state_lock(file):
        known = {**read_json(file), **dict.fromkeys(ids, now.isoformat())}
        write_json(file, dict(list(known.items())[-MAX_DECLINED:]))


def preview(data: bytes, proposal: Proposal, section: str = SECTION) -> str:
    """The change as a diff against MEMORY.md as it is; empty where nothing can be added."""
    from difflib import unified_diff

    from notewell.notes import Block, add_to_section

    entry, to = addition(proposal, section)
    block = Block(entry)
    change = None if block.find(data) else add_to_section(data, block.lines, to)
    if change is None:
        return ""
    before = data.decode("utf-8", "replace")
    after = (data + change.lead + change.body).decode("utf-8", "replace")
    lines = unified_diff(
        before.splitlines(), after.splitlines(), "MEMORY.md", "MEMORY.md", lineterm="", n=2
    )
    return "\n".join(lines)


def _day_of(path: str) -> str:
    found = _DAY.fullmatch(path)
    return found[1] if found else ""


def _read(notes: NoteStore, paths: Iterable[str]) -> list[Statement]:
    found: list[Statement] = []
    for path in paths:
        try:
            found += statements(path, notes.read(path).text)
        except NoteUnreadable:
            continue  # `notewell status` tells of it; the others can still be reviewed.
    return found


def _grouped(told: Sequence[Statement]) -> list[list[Statement]]:
    """Statements that say the same, each with the first it resembles.

    Two sets that have this much in common share one of their few rarest words, so only those are
    looked up: 5000 statements take a second that way, and half a minute if each meets each.
    """
    common = Counter(word for one in told for word in one.words)
    groups: list[list[Statement]] = []
    by_word: dict[str, list[int]] = {}
    for one in told:
        rarest = sorted(one.words, key=lambda word: (common[word], word))
        rarest = rarest[: len(rarest) - ceil(ALIKE * len(rarest)) + 1]
        near = sorted({number for word in rarest for number in by_word.get(word, ())})
        same = next(
            (number for number in near if _alike(one.words, groups[number][0].words)), None
        )
        if same is not None:
            groups[same].append(one)
            continue
        for word in rarest:
            by_word.setdefault(word, []).append(len(groups))
        groups.append([one])
    return groups


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    if len(left & right) < ALIKE * len(left | right):
        return False
    return not any(character.isdigit() for word in left ^ right for character in word)


def _reasons(
    group: Sequence[Statement], recalled: Mapping[tuple[str, int], set[str]]
) -> list[str]:
    why = []
    if any(_ASKED.search(one.text) for one in group):
        why.append("you asked to remember it")
    days = {_day_of(one.path) for one in group}
    if len(days) >= REPEATED_DAYS:
        why.append(f"written on {len(days)} days")
    shown: set[str] = set()
    for one in group:
        for line in range(one.span.start_line, one.span.end_line + 1):
            shown |= recalled.get((one.path, line), set())
    if len(shown) >= RECALLED_DAYS:
        why.append(f"recalled on {len(shown)} days")
    return why


def _is_known(one: Proposal, curated: Iterable[Statement]) -> bool:
    words = word_set(one.text)
    return any(len(words & known.words) >= KNOWN * len(words) for known in curated)


def _proposal(group: Sequence[Statement], why: tuple[str, ...]) -> Proposal:
    asked = next((one for one in group if _ASKED.search(one.text)), group[0])
    text = _LEAD.sub("", asked.text, count=1) if _LEAD.match(asked.text) else asked.text
    text = text[:1].upper() + text[1:]
    key = " ".join(sorted(asked.words))
    first = [asked, *(one for one in group if one is not asked)]
    sources = tuple(f"{one.path}#{one.span}" for one in first)
    return Proposal(hashlib.sha256(key.encode()).hexdigest()[:8], text, why, sources)
