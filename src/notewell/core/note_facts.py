"""What a note says of itself and of others: its tags, its other names, its day, its links.

    ---
    date: 2026-03-04                   the day, for a note without one in its name
    aliases: [edge router]             other names
    tags: [network/home]               tags, and those in the text:
    ---
    Moved to the cellar. #to-do        a `#` after a space, never in code
    See [[DNS|name server]].           `name server` is a name for the note DNS

All of it is in the text that is indexed, so no index has a table for it.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from notewell.core.front_matter import read_front_matter
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_TAGS = 1_000
"""Of one note."""
MAX_TAG_CHARS = 200

_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(`{3,}|~{3,})")
_TAG = re.compile(r"(?<![^\s(\[,;])#([\w/-]+)")
_CODE = re.compile(r"`[^`]*`")
_DAY = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)")


_WIKI_LINK = re.compile(
    r"\[\[([^\[\]|#^\n]{1,200})(?:[#^][^\[\]|\n]{0,200})?\|([^\[\]|\n]{1,200})\]\]"
)
_MARKDOWN_LINK = re.compile(
    r"(?<!!)\[([^\[\]\n]{1,200})\]\(<?([^()<>#\n]{1,500}\.md)(?:#[^()<>\n]{0,200})?>?\)"
)


class Link(NamedTuple):
    text: str
    """As a reader sees it."""
    target: str
    """As it is written, without the part after `#`."""


class NoteFacts(NamedTuple):
    tags: frozenset[str] = frozenset()
    """As `normal_tag` writes them."""
    aliases: tuple[str, ...] = ()
    day: date | None = None


def read_note_facts(text: str) -> NoteFacts:
    lines = text.split("\n")
    values, front_lines = read_front_matter(lines)
    tags = [*_words(values.get("tags", ())), *_words(values.get("tag", ()))]
    tags += _inline_tags(lines[front_lines:]) if "#" in text else ()
    return NoteFacts(
        frozenset(filter(None, map(normal_tag, tags[:MAX_TAGS]))),
        (*values.get("aliases", ()), *values.get("alias", ())),
        _day(values.get("date", ())),
    )


def normal_tag(tag: str) -> str:
    """`#Network/Home` and `network/home` are the same tag."""
    return tag.strip().lstrip("#").strip("/ \t").casefold()[:MAX_TAG_CHARS]


def has_tag(tags: Iterable[str], wanted: str) -> bool:
    """Whether a tag, or one below it, is among the tags: `network/home` is below `network`."""
    return any(tag == wanted or tag.startswith(f"{wanted}/") for tag in tags)


def note_links(text: str) -> Iterator[Link]:
    """The links to notes that have a text of their own: `[[DNS]]` only has the name."""
    for found in _WIKI_LINK.finditer(text):
        yield Link(found[2], found[1].strip())
    for found in _MARKDOWN_LINK.finditer(text):
        if ":" not in found[2]:
            yield Link(found[1], found[2].replace("%20", " "))


def linked_path(target: str, source: str, paths: Iterable[str]) -> str | None:
    """The note that a link of the note `source` means, among these paths: the one that the path
    leads to from there, else one whose path ends like it, the shortest first."""
    names = {path: _name(path) for path in paths}
    near, wanted = _name(f"{source.rpartition('/')[0]}/{target}"), _name(target)
    fitting = [path for path, name in names.items() if name == near]
    fitting = fitting or [path for path, name in names.items() if name.endswith(wanted)]
    return min(fitting, key=lambda path: (len(path), path), default=None)


def _name(path: str) -> str:
    """As paths are compared: with `/` first, without `.md`, `.` and `..`."""
    parts: list[str] = []
    for part in path.casefold().removesuffix(".md").split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def _words(values: Sequence[str]) -> Iterator[str]:
    """A list has one tag an item; a single text may have several: `tags: release, ops`."""
    for value in values:
        yield from value.replace(",", " ").split() if len(values) == 1 else (value,)


def _inline_tags(lines: Iterable[str]) -> Iterator[str]:
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif "#" in line:
            for tag in _TAG.findall(_CODE.sub("", line)):
                if not tag.isdigit():  # `#12` is the number of something.
                    yield tag


def _day(values: Sequence[str]) -> date | None:
    found = _DAY.match(values[0]) if values else None
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None
