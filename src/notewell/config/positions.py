"""A configuration file as a tree in which every value still knows its line.

Reading and judging are two steps: the readers give a `Document`, `walk` holds it against the table
of keys. What either has to say is a `Finding`, so that one run can name every problem of a file
and not only the first.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["error", "refused", "note", "taken", "left"]
"""error: the file cannot be used as it stands · refused: a workspace's file may not say this ·
note: understood, but perhaps not as meant · taken, left: what became of a foreign file's keys."""

MAX_FILE_BYTES = 1024 * 1024
"""The largest configuration seen in public repositories is a fiftieth of this."""
MAX_DEPTH = 32
"""The deepest key we know is eight levels down."""
MAX_VALUES = 20_000
"""A YAML file of a few lines can name a million values by aliases; ours have a few hundred."""

Data: TypeAlias = "dict[str, Located] | list[Located] | str | int | float | bool | None"


class Located(NamedTuple):
    """A value and the line it is on; a member of an object is on the line of its key."""

    data: Data
    line: int


class Finding(NamedTuple):
    """Something to say about a configuration."""

    kind: Kind
    file: str
    line: int
    key: str
    """Dotted, as the file has it: `agents.list[1].memorySearch.provider`; empty for the file."""
    message: str
    """What is wrong, with which value, and the next step."""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        return f"{self.where}: {key}{self.message}"


class Document(NamedTuple):
    """A file that was read; `root` holds what could be understood of it."""

    file: str
    root: Located
    findings: tuple[Finding, ...] = ()


class Malformed(Exception):
    """The text is not of its format; the readers raise it, `read_document` makes it a finding."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def plain(value: Located) -> object:
    """The value without its lines."""
    if isinstance(value.data, dict):
        return {key: plain(inner) for key, inner in value.data.items()}
    if isinstance(value.data, list):
        return [plain(inner) for inner in value.data]
    return value.data


def shown(value: object, chars: int = 60) -> str:
    """A value in a message: on one line, not endless, with control characters spelled out."""
    text = repr(value)
    return text if len(text) <= chars else f"{text[: chars - 1]}…"
