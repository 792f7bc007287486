"""A configuration file from disk to a tree in which every value knows its line.

Parsing and checking are two steps: the parsers return a `Document`, and `validate` compares it
with the table of keys. Both report a `ConfigFinding` instead of raising, so that one run of
`notewell config check` names every problem of a file and not only the first.

A file may come with a stranger's folder. It is opened without waiting (O_NONBLOCK) and, in a
workspace, without following links (O_NOFOLLOW); its size, depth and number of values are limited.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

FindingKind: TypeAlias = Literal["error", "refused", "note", "taken", "left"]
"""error: the file cannot be used as it is · refused: a workspace's file may not set this key ·
note: understood, but perhaps not as meant · taken, left: what happened to a key of OpenClaw's."""

MAX_FILE_BYTES = 1024 * 1024
"""The largest configuration seen in public repositories is a fiftieth of this."""
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


# -- reading -------------------------------------------------------------------------------------


def read_document(path: Path, *, follow_links: bool = True) -> Document:
    """The content of the file; a file that cannot be read is a finding, never an exception."""
    file = str(path)
    try:
        data = _read_regular(path, follow_links=follow_links)
        # Editors on Windows put a byte order mark before UTF-8.
        text = data.decode("utf-8-sig")
        root, findings = _parsed(text, file, path.suffix)
    except Malformed as error:
        return _unreadable(file, error.line, str(error))
    except UnicodeDecodeError as error:
        return _unreadable(file, data.count(b"\n", 0, error.start) + 1, "not UTF-8")
    except OSError as error:
        return _unreadable(file, 0, f"cannot be read: {error.strerror or error}")
    if not isinstance(root.data, dict):
        return _unreadable(file, root.line, "expected an object { … } at the top of the file")
    return Document(file, root, findings)


def _unreadable(file: str, line: int, message: str) -> Document:
    return Document(file, Located({}, 1), (ConfigFinding("error", file, line, "", message),))


def _parsed(text: str, file: str, suffix: str) -> tuple[Located, tuple[ConfigFinding, ...]]:
    # Only a YAML file pays for importing PyYAML.
    if suffix in (".yaml", ".yml"):
        from notewell.config.read_yaml import read_yaml

        return read_yaml(text, file)
    from notewell.config.read_json5 import read_json5

    return read_json5(text, file)


def _read_regular(path: Path, *, follow_links: bool) -> bytes:
    """The bytes of a regular file of limited size."""
    # O_NOFOLLOW alone is not enough: Windows has none, and its error says nothing about links.
    if not follow_links and path.is_symlink():
        raise Malformed("a link; links are not followed here: put the file itself there", 0)
    # Opening a pipe blocks until somebody writes to it; O_NONBLOCK opens it at once, and the
    # check below refuses it.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
    if not follow_links:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
        # fstat, not stat: the name may point to another file by now.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Malformed("not a regular file", 0)
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise Malformed(f"larger than {MAX_FILE_BYTES} bytes", 0)
    return data
