"""Entries as one Markdown file, for people to read and for `notewell entries import`.

    # Entries of main

    ## preference, 2026-11-15T10:20:30.125Z

    - id: 1b4e28ba-2fa1-41d2-883f-0016d3cca427
    - importance: 0.7
    - model: embedded/notewell-embed-1/384

    > Tea, not coffee.

The text is quoted, so that nothing in it can look like a heading or like another entry.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from notewell.entries.entry import (
    MemoryEntry,
    clean_text,
    valid_category,
    valid_id,
    valid_importance,
)
from notewell.errors import BadRequest
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Enough for some 200 000 entries."""

_TITLE = re.compile(r"# Entries of ([A-Za-z0-9][A-Za-z0-9_-]{0,63})")
_HEADING = re.compile(r"## (\w+), (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")
_FIELD = re.compile(r"- (id|importance|model): (.*)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_markdown(entries: Iterable[MemoryEntry], owner: str) -> str:
    return "\n".join([f"# Entries of {owner}\n", *map(_section_text, entries)])


def _section_text(entry: MemoryEntry) -> str:
    at = _EPOCH + timedelta(milliseconds=entry.created_at_ms)
    # Quoted, so that a text with `## ` or `- id:` cannot end its own entry.
    quoted = "\n".join(f"> {line}" if line else ">" for line in entry.text.split("\n"))
    return (
        f"## {entry.category}, {at.strftime('%Y-%m-%dT%H:%M:%S')}.{at.microsecond // 1000:03}Z\n\n"
        f"- id: {entry.id}\n- importance: {entry.importance!r}\n- model: {entry.model}\n\n"
        f"{quoted}\n"
    )


def from_markdown(text: str) -> list[MemoryEntry]:
    """The entries of a file. Raises `BadRequest` with the number of the wrong line."""
    # Editors on Windows add a byte order mark and CRLF.
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    # Strict from the first line: a wrong file must be refused, not imported in part.
    title = _TITLE.fullmatch(lines[0])
    if title is None:
        raise _wrong(1, "expected `# Entries of <agent>`")
    sections: list[_Section] = []
    for number, line in enumerate(lines[1:], 2):
        if line.startswith("## "):
            sections.append(_start_section(number, line, title[1]))
        elif line.strip():
            if not sections:
                raise _wrong(number, "expected `## <category>, <time>`")
            sections[-1].add_line(number, line)
    return [section.entry() for section in sections]


@dataclass(slots=True)
class _Section:
    """The lines of one entry."""

    line: int
    owner: str
    category: str
    created_at_ms: int
    fields: dict[str, str]
    text: list[str]

    def add_line(self, number: int, line: str) -> None:
        field = _FIELD.fullmatch(line)
        if line == ">" or line.startswith("> "):
            self.text.append(line[2:])
        # After the first line of text a `- id:` belongs to nothing: the file was edited wrongly.
        elif field and not self.text:
            self.fields[field[1]] = field[2]
        else:
            raise _wrong(number, f"expected a field, or a line of text behind `>`: {line[:60]!r}")

    def entry(self) -> MemoryEntry:
        try:
            return MemoryEntry(
                valid_id(self.fields["id"]),
                clean_text("\n".join(self.text)),
                valid_importance(float(self.fields["importance"])),
                valid_category(self.category),
                self.created_at_ms,
                self.owner,
                self.fields.get("model", ""),
            )
        except KeyError as error:
            raise _wrong(self.line, f"the entry has no {error.args[0]}") from None
        except ValueError:
            raise _wrong(self.line, "its importance is not a number") from None
        except BadRequest as error:
            raise _wrong(self.line, str(error)) from None


def _start_section(number: int, line: str, owner: str) -> _Section:
    heading = _HEADING.fullmatch(line)
    if heading is None:
        raise _wrong(number, "expected `## <category>, 2026-11-15T10:20:30.000Z`")
    try:
        at = datetime.fromisoformat(heading[2])
    except ValueError:
        raise _wrong(number, f"{heading[2]!r} is not a time") from None
    return _Section(number, owner, heading[1], (at - _EPOCH) // timedelta(milliseconds=1), {}, [])


def _wrong(line: int, why: str) -> BadRequest:
    return BadRequest(f"this is not a file of entries: line {line}: {why}; nothing was imported")
