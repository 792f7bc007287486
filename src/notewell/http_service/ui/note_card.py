"""What a list of notes shows of one note: its title, two lines of its text, its tags.

---                          front matter: title, tags and summary are read
title: Release plan
tags: [release, ops]
---
# Release plan                the title, if the front matter has none; the note of a day is known
                              by its sections
We ship on **Friday**.        the text, without its markup
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from notewell.core import read_front_matter
from notewell.errors import NotANote, NoteUnreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from notewell.index import ListedNote
    from notewell.memory import Memory

MAX_TITLE_CHARS = 120
MAX_TEXT_CHARS = 240
"""Two lines of a wide list."""
MAX_READ_CHARS = 8_000
"""Of a note: what comes later is not shown in a list."""
MAX_TAGS = 8
MAX_HEADINGS = 8
"""Of a day: more do not fit into a title."""
MAX_CARDS = 20_000
"""Cards that are kept in memory, about 10 MB."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}[ \t]")
_TARGET = r"\((?:[^()]|\([^()]*\))*\)"
_EMPHASIS = (
    (re.compile(r"(\*\*|__|~~|`)(.+?)\1"), r"\2"),
    (re.compile(r"(?<!\w)\*([^\s*](?:[^*]*[^\s*])?)\*(?!\w)"), r"\1"),
    # An underscore inside a word is part of a name.
    (re.compile(r"(?<!\w)_([^\s_](?:(?:[^_]|(?<=\w)_(?=\w))*[^\s_])?)_(?!\w)"), r"\1"),
)
_MARKUP = (
    # None reads past where the next one of its kind begins: the time grows with the text alone.
    (re.compile(r"<!--(?:(?!<!--).)*?-->"), ""),
    (re.compile(r"</?[A-Za-z][^<>]*>"), ""),
    (re.compile(rf"!\[([^\[\]]*)\]{_TARGET}"), r"\1"),
    (re.compile(rf"\[([^\[\]]+)\]{_TARGET}"), r"\1"),
    (re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]"), r"\1"),
    *_EMPHASIS,
)
_LINE_MARK = re.compile(r"^\s*(?:>\s?)*(?:[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+)?")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"^\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?[\s–—:,·-]*")
_RULE = re.compile(r"\s*([-*_=|:]\s*){3,}$")


class NoteCard(NamedTuple):
    title: str
    text: str
    tags: tuple[str, ...]
    front_lines: int
    """The first lines of the note that are front matter."""


def note_card(path: str, text: str) -> NoteCard:
    lines = text[:MAX_READ_CHARS].split("\n")
    front, front_lines = read_front_matter(lines)
    headings, words = _opening(lines[front_lines:])
    title = _plain(_first(front.get("title"))) or _heading(path, headings)
    summary = _plain(_first(front.get("summary")) or _first(front.get("description")))
    if not title and words:
        # A note without headings is known by its first sentence, which is then not shown twice.
        title, words = words[0], [words[1].removeprefix("· "), *words[2:]] if words[1:] else []
    return NoteCard(
        _cut(title or path.rpartition("/")[2].removesuffix(".md"), MAX_TITLE_CHARS),
        _cut(summary or _without_emphasis(" ".join(words)), MAX_TEXT_CHARS),
        tuple(tag.lstrip("#")[:40] for tag in front.get("tags", ()) if tag.strip("# "))[:MAX_TAGS],
        front_lines,
    )


def _first(values: Sequence[str] | None) -> str:
    return values[0] if values else ""


def _heading(path: str, headings: Sequence[str]) -> str:
    """The first heading. If it repeats the day in the name, which is shown beside it anyway, the
    headings of the sections without the time of day: `Garden · Router`."""
    if not headings:
        return ""
    if not (_DAY.fullmatch(headings[0]) and f"/{headings[0]}" in f"/{path}"):
        return headings[0]
    sections = (_TIME.sub("", heading) for heading in headings[1:])
    return " · ".join(dict.fromkeys(section for section in sections if section))


def _opening(lines: Iterable[str]) -> tuple[list[str], list[str]]:
    """The headings, and the first lines of text after the front matter, without their markup."""
    fence, chars = "", 0
    headings: list[str] = []
    words: list[str] = []
    code: list[str] = []
    for line in lines:
        mark = _FENCE.match(line)
        if fence or mark:
            if not fence and mark:
                fence = mark[1]
            elif mark and mark[1].startswith(fence):
                fence = ""
            elif line.strip():
                code.append(line.strip())
            continue
        if found := _HEADING.match(line):
            if (heading := _plain(_unclosed(line[found.end() :].strip()))) and (
                len(headings) < MAX_HEADINGS
            ):
                headings.append(heading)
        elif chars <= MAX_TEXT_CHARS + MAX_TITLE_CHARS and (plain := _plain(line)):
            is_next_item = words and _ITEM.match(line)
            words.append(f"· {plain}" if is_next_item else plain)
            chars += len(plain)
    # A note of nothing but code is known by its code.
    return headings, words or code[:3]


def _unclosed(heading: str) -> str:
    """Without the marks that close it: they follow a space, so `C#` is a name."""
    name = heading.rstrip("#")
    return name if name != name.rstrip() or not name else heading


def _without_emphasis(text: str) -> str:
    """Of what goes on in the next line."""
    for pattern, kept in _EMPHASIS:
        text = pattern.sub(kept, text)
    return text


def _plain(line: str) -> str:
    if _RULE.match(line):
        return ""
    for pattern, kept in _MARKUP:
        line = pattern.sub(kept, line)
    if line.lstrip().startswith("|"):
        line = line.replace("|", " ")
    return " ".join(_LINE_MARK.sub("", line).split())


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    # At a space, if one is near: half a word at the end looks like a mistake.
    shorter = text[: limit - 1]
    space = shorter.rfind(" ")
    return f"{shorter[:space] if space > limit * 2 // 3 else shorter}…"


class NoteCards:
    """The cards of one memory; a note is read again only after a change. Thread-safe."""

    def __init__(self) -> None:
        self._cards: dict[str, tuple[tuple[int, int], NoteCard]] = {}

    def card(self, memory: Memory, note: ListedNote) -> NoteCard:
        stamp = (note.mtime_ns, note.size)
        entry = self._cards.get(note.path)
        if entry is not None and entry[0] == stamp:
            return entry[1]
        try:
            card = note_card(note.path, memory.inspect.text(note.path))
        except (NotANote, NoteUnreadable):
            # It was removed or locked since it was indexed. Its name is still in the list.
            return note_card(note.path, "")
        # A negative time: it changed right before it was indexed, and may have changed since.
        if note.mtime_ns > 0:
            if len(self._cards) >= MAX_CARDS:
                self._cards.clear()
            self._cards[note.path] = (stamp, card)
        return card
