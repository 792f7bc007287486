"""A configuration file as a tree in which every value knows its line.

Parsing and checking are two steps: the parsers return a `Document`, and `validate` compares it
with the table of keys. Both report a `ConfigFinding` instead of raising, so that one run of
`notewell config check` names every problem of a file and not only the first.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

FindingKind: TypeAlias = Literal["error", "refused", "note", "taken", "left"]
"""error: the file cannot be used as it is · refused: a workspace's file may not set this key ·
note: understood, but perhaps not as meant · taken, left: what happened to a key of OpenClaw's."""

MAX_DEPTH = 32
"""The deepest key in the table is eight levels down."""
MAX_VALUES = 20_000
"""A YAML file of a few lines can name a million values by aliases; real files have hundreds."""

Data: TypeAlias = "dict[str, Located] | list[Located] | str | int | float | bool | None"


class Located(NamedTuple):
    """A value and its line; a member of an object has the line of its key."""

    data: Data
    line: int


class ConfigFinding(NamedTuple):
    """One remark about a configuration file."""

    kind: FindingKind
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
    """A parsed file; `root` has what could be understood of it."""

    file: str
    root: Located
    findings: tuple[ConfigFinding, ...] = ()


class Malformed(Exception):
    """The text does not follow its format. Parsers raise it; `read_document` reports it."""

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
    """A value in a message: on one line, of limited length, with control characters escaped."""
    # repr() escapes them: a value from a stranger's file must not send sequences to a terminal.
    text = repr(value)
    return text if len(text) <= chars else f"{text[: chars - 1]}…"
