"""The files of evaluation sets: JSON and TSV. Every error names the file, the line and the key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from notewell.errors import NotADataset
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object and its position."""

    values: dict[str, Any]
    file: Path
    line: int | None = None
    name: str = ""
    """The path inside a file that is one object: `queries[3]`."""

    def wrong(self, why: str) -> NotADataset:
        return NotADataset(str(self.file), f"{self.name}: {why}" if self.name else why, self.line)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.values.get(key, default)
        # Public datasets often have plain numbers as ids.
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            raise self.wrong(f"expected a text as {key!r}, not {value!r}")
        return value

    def line_number(self, key: str) -> int:
        value = self.values.get(key)
        # `bool` is a subclass of `int`.
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.wrong(f"expected a line number from 1 as {key!r}, not {value!r}")
        return value

    def records(self, key: str) -> list[Record]:
        values = self.values.get(key)
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise self.wrong(f"expected a list of objects as {key!r}")
        parent = f"{self.name}." if self.name else ""
        return [
            Record(value, self.file, self.line, f"{parent}{key}[{number}]")
            for number, value in enumerate(values)
        ]

    def object(self, key: str) -> Record:
        value = self.values.get(key)
        if not isinstance(value, dict):
            raise self.wrong(f"expected an object as {key!r}")
        return Record(value, self.file, self.line, f"{self.name}.{key}" if self.name else key)

    @property
    def category(self) -> str:
        meta = self.values.get("meta")
        return str(meta.get("category", "")) if isinstance(meta, dict) else ""


def read_object(file: Path) -> Record:
    return Record(_parse("".join(_text_lines(file)), file, None), file)


def read_objects(file: Path) -> Iterator[Record]:
    """One object per line; empty lines are skipped."""
    for number, line in enumerate(_text_lines(file), start=1):
        if line.strip():
            yield Record(_parse(line, file, number), file, number)


def read_rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """The number and the cells of each line; empty lines are skipped."""
    for number, line in enumerate(_text_lines(file), start=1):
        if line.strip():
            yield number, line.rstrip("\r\n").split("\t")


def _text_lines(file: Path) -> Iterator[str]:
    try:
        # Only \n ends a line, so that the numbers in errors are those of JSON Lines.
        with file.open(encoding="utf-8-sig", newline="\n") as opened:
            yield from opened
    except OSError as error:
        raise NotADataset(str(file), error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise NotADataset(str(file), f"not UTF-8 ({error.reason})") from error


def _parse(text: str, file: Path, line: int | None) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:  # RecursionError: deeply nested brackets
        raise NotADataset(str(file), f"not valid JSON: {error}", line) from error
    if not isinstance(value, dict):
        raise NotADataset(str(file), "expected a JSON object { … }", line)
    return value
