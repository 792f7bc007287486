"""Which bytes to add at the end of a note so that an entry is on lines of its own.

The end of a note may have been cut off by its last writer: a line without its line break, half of
a CRLF, half of a character. The entry then begins on a new line below; nothing is removed, since
torn text may be all that is left of something.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, NamedTuple

from notewell.notes.note_file import clean
from notewell.notes.section import headings_above, headings_to_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.notes.section import Section

# After a list item, or what is indented below it, the next item needs no blank line.
_IN_A_LIST = re.compile(rb"[-*+] |[ \t]")


class Addition(NamedTuple):
    """The bytes to write in one piece: `lead + body`."""

    lead: bytes
    """What the entry needs above it: the end of a torn line, a blank line, headings."""
    body: bytes
    """The lines of the entry, each with its line break."""


def is_utf16(data: bytes) -> bool:
    return data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def add_lines(data: bytes, lines: Sequence[str]) -> Addition:
    """At the end of the note."""
    eol = _line_break(data)
    lead = _rest_of_line(data, eol)
    if not _IN_A_LIST.match(_last_line(data)):
        lead += _blank_line(data, eol)
    return Addition(lead, _joined(lines, eol))


def add_to_section(data: bytes, lines: Sequence[str], section: Section) -> Addition | None:
    """At the end of the note and under the heading of the section; None if that cannot be.

    An insertion higher up would rewrite the whole note, and would lose what another program
    writes meanwhile. So the heading is repeated, unless its section is the last one.
    """
    headings = headings_to_write(clean(data)[0], section)
    if not headings:
        return _if_below(section, data, add_lines(data, lines))
    eol = _line_break(data)
    lead = _rest_of_line(data, eol) + _blank_line(data, eol)
    lead += b"".join(_joined([heading, ""], eol) for heading in headings)
    return _if_below(section, data, Addition(lead, _joined(lines, eol)))


def _if_below(section: Section, data: bytes, addition: Addition) -> Addition | None:
    """An open fence or comment at the end of a note swallows headings and entries alike."""
    # Parsed as it would be after the write: only the parser knows what is still open.
    text = clean(data + addition.lead + addition.body)[0]
    line = (data + addition.lead).count(b"\n") + 1
    return addition if section.is_at_end_of(headings_above(text, line)) else None


def _line_break(data: bytes) -> bytes:
    """LF or CRLF, like the last line."""
    end = data.rfind(b"\n")
    return b"\r\n" if end > 0 and data[end - 1 : end] == b"\r" else b"\n"


def _rest_of_line(data: bytes, eol: bytes) -> bytes:
    if _is_empty(data) or data.endswith(b"\n"):
        return b""
    # Half of a CRLF is completed; a whole one would leave a lone CR before it.
    return b"\n" if data.endswith(b"\r") else eol


def _blank_line(data: bytes, eol: bytes) -> bytes:
    return eol if _last_line(data).strip() else b""


def _last_line(data: bytes) -> bytes:
    if _is_empty(data):
        return b""
    whole = data.removesuffix(b"\n")
    return whole[whole.rfind(b"\n") + 1 :]


def _is_empty(data: bytes) -> bool:
    # After a byte order mark alone there is no line to end, and no blank line is needed.
    return data in (b"", codecs.BOM_UTF8)


def _joined(lines: Sequence[str], eol: bytes) -> bytes:
    return b"".join(line.encode() + eol for line in lines)
