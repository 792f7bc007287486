"""Proposals from daily notes and kept conversations for MEMORY.md. Only the user accepts one.

    daily notes, conversations ── statements ── groups that say the same ── reasons ── proposals

A statement is proposed if the user asked to remember it ("remember that …", 记住), if it was
written on several days, or if searches have shown it on several days. Of a conversation, also
what the user has decided, prefers or has corrected (see `review_said`). What MEMORY.md says
already is not proposed, nor what was declined before. Nothing is changed or moved.

A statement is an item of a list with what is indented below it, or a line. Code, headings and
comments state nothing. Of a saved session only the user's words count: what an assistant said is
not for the user to have remembered.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from notewell.capture.search_journal import recall_days
from notewell.core import word_set
from notewell.errors import NoteUnreadable
from notewell.files import read_json, state_lock, write_json
from notewell.notes import Entry, Section
from notewell.records import dataclass
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from notewell.capture.forget import FoundMessage
    from notewell.capture.logs import Logs
    from notewell.capture.writer import NoteWriter
    from notewell.notes import Appended, NoteStore

SECTION = "Remembered"
ORIGIN = "review"
DECLINED = "declined.json"
MAX_DECLINED = 2000
MAX_PROPOSALS = 50
"""A longer list is not reviewed but clicked through."""
MAX_STATEMENTS = 5000
"""The newest ones; comparing more of them pairwise would take minutes."""

MIN_WORDS = 3
"""`ok` and `done` are said every day and mean nothing later."""
MAX_CHARS = 600
"""A fact is short; a longer text belongs where it is."""

ALIKE = 0.7
"""The share of common words (Jaccard) that makes two statements the same fact. Their numbers must
be equal too: a different number is a different fact."""
KNOWN = 0.8
"""The share of a statement's words that one place of MEMORY.md must have for it to be known."""
REPEATED_DAYS = 2
RECALLED_DAYS = 3

_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_FACT = re.compile(
    r"- (?:session|host|folder|closed by|continues): `"
)  # the head of a session note
_CURATED = ("MEMORY.md", "memory.md", "USER.md")
"""The notes whose statements are known already."""
_REASONS = {
    "decided": "you decided it",
    "preferred": "you said what you prefer",
    "corrected": "you corrected it",
}
_DAY = re.compile(r"memory/(?:.*/)?(\d{4}-\d{2}-\d{2})[^/]*\.md", re.IGNORECASE)
_ASKED = re.compile(
    r"\b(?:please\s+)?remember\s*(?:that\b|this\b|to\b|:|,)"
    r"|\b(?:don'?t|do not|never) forget\b|\bkeep in mind\b|\bfrom now on\b"
    r"|\bnote to self\b|\bmerke? dir\b|\bvergiss nicht\b|\bab (?:jetzt|sofort)\b"
    r"|记住|记下|請記|请记|别忘|別忘|以后都|以後都"
    r"|从现在起|從現在起|覚えておいて",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:please\s+)?remember\s*(?:that\b|this\b|:|,)+[\s:,]*"
    r"|(?:bitte\s+)?merke? dir[\s:,]*(?:dass\b\s*)?|(?:请|請)?(?:记住|記住)[,,::]?\s*)",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    path: str
    span: Span
    text: str
    """On one line, without bullet and speaker."""
    words: frozenset[str]
    day: str = ""
    """When it was said; empty: as the name of the note says."""
    cue: str = ""
    """Why it may be for good, if it was said; see `SaidSentence`."""

    @property
    def is_said(self) -> bool:
        return bool(self.day)


@dataclass(frozen=True, slots=True)
class Proposal:
    id: str
    """Equal for equal words, so that a declined one is recognized."""
    text: str
    why: tuple[str, ...]
    sources: tuple[str, ...]
    """Citations, `memory/2026-11-15.md#L3-L3`, the newest first."""


def propose(
    notes: NoteStore,
    folder: Path,
    said: Iterable[FoundMessage] = (),
    logs: Logs | None = None,
) -> list[Proposal]:
    """What could go to MEMORY.md, the best reasons first. `said` are the messages of kept
    conversations, `logs` the journal, if it is not in the folder."""
    curated = _read(notes, [path for path in notes.scan().notes if path in _CURATED])
    proposals = acceptable(notes, folder, said, logs)
    return [one for one in proposals if not _is_known(one, curated)][:MAX_PROPOSALS]


def acceptable(
    notes: NoteStore,
    folder: Path,
    said: Iterable[FoundMessage] = (),
    logs: Logs | None = None,
) -> list[Proposal]:
    """Also what MEMORY.md says already, or a part of it: a process may have been killed while it
    wrote a proposal, and who accepts it again must not be refused."""
    paths = sorted(notes.scan().notes, key=_day_of, reverse=True)
    daily = _read(notes, [path for path in paths if _DAY.fullmatch(path)])
    both = sorted([*daily, *said_statements(said)], key=_said_on, reverse=True)
    recalled = recall_days(logs or folder)
    declined = read_json(folder / DECLINED)
    proposals = [
        _proposal(group, tuple(reasons))
        # The newest come first, so the limit drops the oldest.
        for group in _grouped(both[:MAX_STATEMENTS])
        if (reasons := _reasons(group, recalled))
    ]
    # The sort is stable: among equals the newest stays first.
    proposals.sort(key=lambda proposal: -len(proposal.why))
    return [proposal for proposal in proposals if proposal.id not in declined]


def addition(proposal: Proposal, section: str = SECTION) -> tuple[Entry, Section]:
    """The entry that accepting it appends, and where."""
    text = f"{proposal.text} (from {proposal.sources[0]})"
    # With the id: accepted twice, it is written once, even if the user has edited it.
    return Entry(text, ORIGIN, proposal.id), Section(section)


def accept(writer: NoteWriter, proposal: Proposal, section: str, *, now: datetime) -> Appended:
    """Write it to MEMORY.md, on the user's decision."""
    entry, to = addition(proposal, section)
    return writer.append(entry, to, now=now)


def decline(folder: Path, ids: Collection[str], *, now: datetime) -> None:
    """Never propose these again."""
    file = folder / DECLINED
    with state_lock(file):
        declined = {**read_json(file), **dict.fromkeys(ids, now.isoformat())}
        write_json(file, dict(list(declined.items())[-MAX_DECLINED:]))


def preview(data: bytes, proposal: Proposal, section: str = SECTION) -> str:
    """The change as a diff against MEMORY.md as it is; empty if nothing can be added."""
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
    match = _DAY.fullmatch(path)
    return match[1] if match else ""


def _said_on(statement: Statement) -> str:
    return statement.day or _day_of(statement.path)


def _is_asked(statement: Statement) -> bool:
    if statement.is_said:
        return statement.cue == "asked"
    return bool(_ASKED.search(statement.text))


def said_statements(said: Iterable[FoundMessage]) -> Iterator[Statement]:
    """The statements of the user in conversations."""
    from notewell.capture.review_said import said_sentences

    for message in said:
        if message.speaker != "User" or message.at is None:
            continue
        day = message.at.astimezone().date().isoformat()
        span = Span(message.line, message.line)
        for text, cue in said_sentences(message.text):
            words = word_set(text)
            if len(words) >= MIN_WORDS:
                yield Statement(message.path, span, text, words, day, cue)


def _read(notes: NoteStore, paths: Iterable[str]) -> list[Statement]:
    read: list[Statement] = []
    for path in paths:
        try:
            read += statements(path, notes.read(path).text)
        except NoteUnreadable:
            continue  # `notewell status` reports it; the other notes can still be reviewed.
    return read


# -- grouping ------------------------------------------------------------------------------------


def _grouped(daily: Sequence[Statement]) -> list[list[Statement]]:
    """Statements that say the same, each in the group of the first one it resembles.

    Two sets of words this similar share one of their few rarest words (prefix filtering), so an
    inverted index of those is enough: 5000 statements take a second, and half a minute pairwise.
    """
    common = Counter(word for statement in daily for word in statement.words)
    groups: list[list[Statement]] = []
    by_word: dict[str, list[int]] = {}
    for statement in daily:
        rarest = sorted(statement.words, key=lambda word: (common[word], word))
        rarest = rarest[: len(rarest) - ceil(ALIKE * len(rarest)) + 1]
        # In order of the groups, so that the result is the one of a pairwise comparison.
        near = sorted({number for word in rarest for number in by_word.get(word, ())})
        same = next(
            (number for number in near if _alike(statement.words, groups[number][0].words)), None
        )
        if same is not None:
            groups[same].append(statement)
            continue
        for word in rarest:
            by_word.setdefault(word, []).append(len(groups))
        groups.append([statement])
    return groups


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    if len(left & right) < ALIKE * len(left | right):
        return False
    return not any(character.isdigit() for word in left ^ right for character in word)


def _reasons(
    group: Sequence[Statement], recalled: Mapping[tuple[str, int], set[str]]
) -> list[str]:
    reasons = []
    if any(_is_asked(statement) for statement in group):
        reasons.append("you asked to remember it")
    cues = {statement.cue for statement in group}
    reasons += [reason for cue, reason in _REASONS.items() if cue in cues]
    days = {_said_on(statement) for statement in group}
    if len(days) >= REPEATED_DAYS:
        # A session note repeats a conversation, so one that was said counts as said.
        how = "said" if any(statement.is_said for statement in group) else "written"
        reasons.append(f"{how} on {len(days)} days")
    # Days are counted, not lines: a long statement must not look important.
    shown: set[str] = set()
    for statement in group:
        for line in range(statement.span.start_line, statement.span.end_line + 1):
            shown |= recalled.get((statement.path, line), set())
    if len(shown) >= RECALLED_DAYS:
        reasons.append(f"recalled on {len(shown)} days")
    return reasons


def _is_known(proposal: Proposal, curated: Iterable[Statement]) -> bool:
    words = word_set(proposal.text)
    return any(len(words & statement.words) >= KNOWN * len(words) for statement in curated)


def _proposal(group: Sequence[Statement], why: tuple[str, ...]) -> Proposal:
    # The wording of the user's request is the best one; otherwise the newest.
    best = next((statement for statement in group if _is_asked(statement)), group[0])
    text = _LEAD.sub("", best.text, count=1) if _LEAD.match(best.text) else best.text
    text = text[:1].upper() + text[1:]
    key = " ".join(sorted(best.words))
    cited = [best, *(statement for statement in group if statement is not best)]
    sources = tuple(f"{statement.path}#{statement.span}" for statement in cited)
    return Proposal(hashlib.sha256(key.encode()).hexdigest()[:8], text, why, sources)


# -- the statements of a note --------------------------------------------------------------------


def statements(path: str, text: str) -> Iterator[Statement]:
    """The statements of a note, from its top."""
    for first, lines in _blocks(text.split("\n")):
        statement = _plain_text(lines)
        words = word_set(statement)
        if len(words) >= MIN_WORDS and len(statement) <= MAX_CHARS:
            yield Statement(path, Span(first, first + len(lines) - 1), statement, words)


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Each block of lines with the number of its first line."""
    block: list[str] = []
    start = 0
    in_code = False
    for number, line in enumerate(lines, 1):
        is_fence = bool(_FENCE.match(line))
        in_code ^= is_fence
        if block and line.startswith((" ", "\t")) and not (is_fence or in_code):
            block.append(line)  # An indented line belongs to the item above it.
            continue
        if block:
            yield start, block
        is_text = not (is_fence or in_code or line.startswith("#") or not line.strip())
        block, start = ([line] if is_text else []), number
    if block:
        yield start, block


def _plain_text(lines: list[str]) -> str:
    if _FACT.match(lines[0]) or lines[0].startswith("Assistant: "):
        return ""
    text = " ".join(_without_comments(" ".join(lines)).split())
    return _BULLET.sub("", text, count=1).removeprefix("User: ").strip()


def _without_comments(text: str) -> str:
    """Without a regex: a lazy pattern takes quadratic time if many comments are never closed."""
    kept, at = list[str](), 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        kept.append(text[at:begin])
        at = end + 3
    return "".join((*kept, text[at:]))
