"""Which bytes to put behind the bytes of a note so that an entry stands on lines of its own.

The end of a note is whatever the last writer left, and that may have been cut off: a line without
its line break, half of a CRLF, half of a character. It is healed by going on below it and never
by cutting, since what looks torn may be all that is left of something.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, NamedTuple

from notewell.notes.clean import clean
from notewell.notes.section import headings_above, headings_to_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.notes.section import Section

# Behind a list entry, or what is indented below one, the next entry needs no blank line.
_IN_A_LIST = re.compile(rb"[-*+] |[ \t]")


class Addition(NamedTuple):
    """What is written, in one piece: `lead + body`."""

    lead: bytes
    """The rest of a torn line, a blank line, headings: what the entry needs before it."""
    body: bytes
    """The lines of the entry, each with its line break."""


def is_utf16(data: bytes) -> bool:
    return data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def add_lines(data: bytes, lines: Sequence[str]) -> Addition:
    """Below everything that is there."""
    eol = _line_break(data)
    lead = _rest_of_line(data, eol)
    if not _IN_A_LIST.match(_last_line(data)):
        lead += _blank_line(data, eol)
    return Addition(lead, _joined(lines, eol))


def add_to_section(data: bytes, lines: Sequence[str], section: Section) -> Addition | None:
    """Below everything, and under the section's heading; None where no heading can stand.

    An insertion higher up would have to write the whole note anew, and whatever another program
    writes meanwhile would be lost. So the heading is repeated, unless its section is the last.
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
    text = clean(data + addition.lead + addition.body)[0]
    line = (data + addition.lead).count(b"\n") + 1
    return addition if section.is_at_end_of(headings_above(text, line)) else None


def _line_break(data: bytes) -> bytes:
    """As the last line has it."""
    end = data.rfind(b"\n")
    return b"\r\n" if end > 0 and data[end - 1 : end] == b"\r" else b"\n"


def _rest_of_line(data: bytes, eol: bytes) -> bytes:
    if _is_empty(data) or data.endswith(b"\n"):
        return b""
    return b"\n" if data.endswith(b"\r") else eol


def _blank_line(data: bytes, eol: bytes) -> bytes:
    return eol if _last_line(data).strip() else b""


def _last_line(data: bytes) -> bytes:
    if _is_empty(data):
        return b""
    whole = data.removesuffix(b"\n")
    return whole[whole.rfind(b"\n") + 1 :]


def _is_empty(data: bytes) -> bool:
    return data in (b"", codecs.BOM_UTF8)


def _joined(lines: Sequence[str], eol: bytes) -> bytes:
    return b"".join(line.encode() + eol for line in lines)
