"""What one append adds to a note: a list item, and a comment that says where it came from.

    - We ship on Friday. <!-- @flush -->
    - The plan:

      # Title
      1. test
      <!-- @mcp #7f3a -->

A list item is a container in Markdown: a heading, a fence that is never closed or an open comment
ends where the item ends, so no text can change the meaning of what is before or after it. It is
also one unit for the chunker, so an entry is found and shown as a whole. A text that is a plain
list already stays as it is.

The marker is a comment, so Markdown does not render it. It is written last: an entry without it is
a torn one. Search does not index it and hits do not show it, but a reader of the note sees it, so
it is short.

An entry is in a note, or in a section of it, if its lines are there with the same origin, or if
its id is in the note.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from notewell.core import MARKER_ID, MARKER_NAME, without_markers
from notewell.errors import BadEntry
from notewell.records import dataclass
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_ENTRY_BYTES = 64 * 1024
"""About 16 000 tokens. A longer text is a note of its own, not an entry."""

MAX_NAME_CHARS = 100
"""The key of a session fits; more would be noise in the note."""

_END_OF_MARK = re.compile(rf"{MARKER_ID} -->(?=\n|\Z)".encode())
_BULLET = re.compile(r"- \S")
_RULE = re.compile(r"[-\t ]*")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to remember."""

    text: str
    """Any Markdown; line breaks and indentation are kept, blank lines at the ends are not."""
    origin: str
    """Who wrote it, in one word: `mcp`, `flush`, the key of a session."""
    id: str | None = None
    """An idempotency key: an entry with this id is not written again, whatever its text."""


class Block:
    """An entry as lines of Markdown, none of them with a line break. Raises `BadEntry`."""

    def __init__(self, entry: Entry) -> None:
        _require_name("origin", entry.origin)
        if entry.id is not None:
            _require_name("id", entry.id)
        self._id = entry.id
        self._body = _as_list_item(_checked(entry.text))
        self._origin = f"<!-- @{entry.origin}"

    @property
    def lines(self) -> list[str]:
        name = "" if self._id is None else f" #{self._id}"
        return self._marked(f"{self._origin}{name} -->")

    def find(self, data: bytes, is_place: Callable[[int], bool] = lambda _: True) -> Span | None:
        """The lines of an entry that is there already; `is_place` accepts its first line."""
        text = data.removeprefix(_BOM).replace(b"\r\n", b"\n")
        return self._find_text(text, is_place) or self._find_id(text)

    def _find_text(self, text: bytes, is_place: Callable[[int], bool]) -> Span | None:
        # Without the end of the marker: the same text with another id is the same entry.
        needle = "\n".join(self._marked(self._origin)).encode()
        at = text.find(needle)
        while at >= 0:
            # Inside a line it is a quotation of the entry.
            is_line_start = at == 0 or text[at - 1 : at] == b"\n"
            if is_line_start and _END_OF_MARK.match(text, at + len(needle)):
                first = text.count(b"\n", 0, at) + 1
                if is_place(first):
                    return Span(first, first + needle.count(b"\n"))
            at = text.find(needle, at + 1)
        return None

    def _find_id(self, text: bytes) -> Span | None:
        """The user may have edited its lines: it begins at the last line without indentation."""
        if self._id is None:
            return None
        mark = rf"<!-- @{MARKER_NAME} #{re.escape(self._id)} -->(?=\n|\Z)".encode()
        match = re.search(mark, text)
        if not match:
            return None
        lines = text[: match.end()].split(b"\n")
        first = last = len(lines)
        # Blank lines belong to it: a list item may have several paragraphs.
        while first > 1 and lines[first - 1][:1] in (b" ", b"\t", b""):
            first -= 1
        return Span(first, last)

    def _marked(self, mark: str) -> list[str]:
        """After several lines on a line of its own: behind a closing fence it would reopen it."""
        if len(self._body) == 1:
            return [f"{self._body[0]} {mark}"]
        return [*self._body, f"  {mark}"]


def _require_name(what: str, name: str) -> None:
    # CommonMark before 0.31 does not accept `--` inside a comment and would show it as text.
    if len(name) > MAX_NAME_CHARS or "--" in name or not re.fullmatch(MARKER_NAME, name):
        raise BadEntry(
            f"its {what} {name[:MAX_NAME_CHARS]!r} must be one word of at most {MAX_NAME_CHARS} "
            f"letters, digits and . _ : / @ + - (not two dashes in a row)"
        )


def _checked(text: str) -> str:
    """The text without blank lines at its ends. Raises `BadEntry` if it cannot be an entry."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        why = f"character {error.start + 1} is half of a pair, which UTF-8 cannot hold"
        raise BadEntry(f"{why}; leave it out") from None
    if size > MAX_ENTRY_BYTES:
        raise BadEntry(
            f"it has {size} bytes, an entry at most {MAX_ENTRY_BYTES}; shorten it, or save it as "
            f"a note of its own"
        )
    if "\0" in text:
        raise BadEntry("it contains a NUL character; leave it out")
    # The same rules as for reading a note: CRLF is a line break, a lone CR is a space.
    text = text.replace("\r\n", "\n").replace("\r", " ")
    # A text copied from a note brings its marker along. Left in, it could make us believe that
    # an entry with that id had been written.
    text = textwrap.dedent(without_markers(text)).strip()
    if not text:
        raise BadEntry("it is empty; give it some text")
    return text


def _as_list_item(text: str) -> list[str]:
    lines = text.split("\n")
    if _is_list(lines):
        return lines
    # `- ---` would be a horizontal rule; `* ---` is a list item.
    bullet = "*" if _RULE.fullmatch(lines[0]) else "-"
    return [f"{bullet} {lines[0]}", *(f"  {line}" if line else "" for line in lines[1:])]


def _is_list(lines: list[str]) -> bool:
    """Whether every line clearly begins an item or is inside one."""
    return bool(_BULLET.match(lines[0])) and all(
        not line
        or line.startswith(("  ", "\t"))
        or (_BULLET.match(line) and not _RULE.fullmatch(line))
        for line in lines
    )
