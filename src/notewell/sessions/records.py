"""Bytes to JSON records, also of a file that is damaged or still being written.

JSON lines: the last line may be incomplete, because the host is writing it. It is pending until it
parses, with or without its line break. A line in the middle that is not JSON never becomes JSON:
it is skipped and counted. Two values on one line are both read: a process that was killed may
have written the first without its line break. A record behind a torn one is read, too.

One document: the host rewrites the whole file, so a document is complete or it is pending.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from notewell.hosts import Record

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Hosts write images into the line of the message; a longer line is not a message."""

MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
"""A parsed document takes several times its size in memory. Lines are parsed one by one, so a file
of JSON lines may be larger."""

MAX_TORN_CHARS = 1024 * 1024
MAX_TRIES = 64
"""How many objects within a torn record are tried; it has a few, and each try reads the rest."""

_BOM = b"\xef\xbb\xbf"
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


class RawLine(NamedTuple):
    number: int
    """From 1, as `sed -n` counts."""
    data: bytes | None
    """None for a line that is too long."""
    ended: bool
    size: int
    """In bytes, with the line break if it has one."""


@dataclass(slots=True)
class ReadProblems:
    """Counts of what could not be read."""

    broken: int = 0
    too_long: int = 0
    not_utf8: int = 0
    pending_bytes: int = 0
    """The size of an incomplete last line."""

    def repairs(self) -> tuple[str, ...]:
        counts = (
            (self.broken, "not JSON and left out"),
            (self.too_long, f"longer than {MAX_LINE_BYTES // 2**20} MiB and left out"),
            (self.not_utf8, "not valid UTF-8 and repaired"),
        )
        return tuple(f"{count} {_lines(count)} {problem}" for count, problem in counts if count)


def split_lines(blocks: Iterable[bytes]) -> Iterator[RawLine]:
    """The lines of a file that is read block by block."""
    number, parts, size = 1, list[bytes](), 0
    for block in blocks:
        # Not `splitlines`: JSON strings may contain U+2028 and other separators.
        *ended, rest = block.split(b"\n")
        for part in ended:
            data = _joined(parts, part, size)
            yield RawLine(number, data, ended=True, size=size + len(part) + 1)
            number, parts, size = number + 1, [], 0
        size += len(rest)
        # Beyond the limit only the size is counted: an endless line must not fill the memory.
        if rest and size <= MAX_LINE_BYTES:
            parts.append(rest)
    if size:
        yield RawLine(number, _joined(parts, b"", size), ended=False, size=size)


def _joined(parts: list[bytes], last: bytes, size: int) -> bytes | None:
    return b"".join([*parts, last]) if size + len(last) <= MAX_LINE_BYTES else None


def line_records(
    lines: Iterable[RawLine], problems: ReadProblems, passes_over: Callable[[bytes], bool]
) -> Iterator[tuple[int, Record]]:
    """The JSON objects of a file with JSON lines, each with the number of its line. A line that
    `passes_over` accepts is not parsed; the last line always is, since it may be incomplete."""
    for line in lines:
        if line.ended and line.data is not None and passes_over(line.data):
            continue
        for record in records_of_line(line, problems):
            yield line.number, record


def records_of_line(line: RawLine, problems: ReadProblems) -> list[Record]:
    """The JSON objects of one line."""
    if line.data is None:
        problems.too_long += 1
        return []
    values, rest = _values(_decoded(line.data, problems))
    # A line with a line break never becomes complete; the last line may.
    if rest and line.ended:
        problems.broken += 1
        values += _behind_torn(rest)
    elif rest:
        problems.pending_bytes = len(rest.encode())
    return [value for value in values if isinstance(value, dict)]


def parse_document(data: bytes, problems: ReadProblems) -> Record | None:
    """The JSON object that a file consists of; None for anything else."""
    values, rest = _values(_decoded(data, problems))
    # A host that writes in place is between two writes: the next read sees the rest.
    if rest:
        problems.pending_bytes = len(data)
        return None
    return values[0] if values and isinstance(values[0], dict) else None


def _decoded(data: bytes, problems: ReadProblems) -> str:
    # Some Windows programs begin a file with a byte order mark, which JSON does not allow.
    data = data.removeprefix(_BOM)
    try:
        return data.decode()
    except UnicodeDecodeError:
        problems.not_utf8 += 1
        return data.decode("utf-8", "replace")


def _values(text: str) -> tuple[list[Any], str]:
    """The JSON values in a text, one after another, and the rest that is not JSON."""
    values: list[Any] = []
    text = text.strip(_SPACE)
    at = 0
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):  # not JSON, or nested too deep for the parser
            break
        values.append(value)
        while at < len(text) and text[at] in _SPACE:
            at += 1
    return values, text[at:]


def _behind_torn(text: str) -> list[Any]:
    """The record behind a torn one on the same line: a host that was killed in the middle of a
    write has gone on later. Only a whole record reaches to the end of the line."""
    if len(text) > MAX_TORN_CHARS:
        return []
    at = 0
    for _ in range(MAX_TRIES):
        at = text.find('{"', at + 1)
        if at < 0:
            break
        values, rest = _values(text[at:])
        if values and not rest:
            return values
    return []


def _lines(count: int) -> str:
    return "line is" if count == 1 else "lines are"
