"""Bytes to lines to JSON values, whatever state the file is in.

A transcript is written by a living process: its last line may be half there. That half waits; it
is taken once it parses, with or without its line break. A line in the middle that is not JSON
never will be: it is left out and counted. Two values on one line (a line break was lost when
somebody died) are both taken.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from notewell.sessions.turns import Record

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Pictures are written into the line that shows them; beyond this it is not a message."""

_BOM = b"\xef\xbb\xbf"
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


class Line(NamedTuple):
    number: int
    """From 1, as `sed -n` counts."""
    data: bytes | None
    """None for a line that is too long."""
    ended: bool


@dataclass(slots=True)
class Trouble:
    """What could not be used, by count."""

    broken: int = 0
    too_long: int = 0
    not_utf8: int = 0
    pending_bytes: int = 0
    """Of the last line, which is not all there yet."""

    def repairs(self) -> tuple[str, ...]:
        told = (
            (self.broken, "not JSON and left out"),
            (self.too_long, f"longer than {MAX_LINE_BYTES // 2**20} MiB and left out"),
            (self.not_utf8, "not valid UTF-8 and repaired"),
        )
        return tuple(f"{count} {_lines(count)} {what}" for count, what in told if count)


def split_lines(blocks: Iterable[bytes]) -> Iterator[Line]:
    """The lines of a file that is read block by block."""
    number, held, size = 1, list[bytes](), 0
    for block in blocks:
        *ended, rest = block.split(b"\n")
        for part in ended:
            yield Line(number, _joined(held, part, size), ended=True)
            number, held, size = number + 1, [], 0
        size += len(rest)
        if rest and size <= MAX_LINE_BYTES:
            held.append(rest)
    if size:
        yield Line(number, _joined(held, b"", size), ended=False)


def _joined(held: list[bytes], last: bytes, size: int) -> bytes | None:
    return b"".join([*held, last]) if size + len(last) <= MAX_LINE_BYTES else None


def records(lines: Iterable[Line], trouble: Trouble) -> Iterator[tuple[int, Record]]:
    """The JSON objects of a transcript, each with the number of its line."""
    for line in lines:
        if line.data is None:
            trouble.too_long += 1
            continue
        text = _decoded(line.data, trouble)
        values, rest = _values(text)
        if rest and line.ended:
            trouble.broken += 1
        elif rest:
            trouble.pending_bytes = len(rest.encode())
        yield from ((line.number, value) for value in values if isinstance(value, dict))


def _decoded(data: bytes, trouble: Trouble) -> str:
    data = data.removeprefix(_BOM)
    try:
        return data.decode()
    except UnicodeDecodeError:
        trouble.not_utf8 += 1
        return data.decode("utf-8", "replace")


def _values(text: str) -> tuple[list[Any], str]:
    """What stands on a line, one value after another, and the rest that is none."""
    values: list[Any] = []
    text = text.strip(_SPACE)
    at = 0
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):  # not JSON, or brackets without end
            break
        values.append(value)
        while at < len(text) and text[at] in _SPACE:
            at += 1
    return values, text[at:]


def _lines(count: int) -> str:
    return "line is" if count == 1 else "lines are"
