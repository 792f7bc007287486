"""The formats of hosts' files: how a text is read, and which comments it has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.clients.merge import (
    CannotMerge,
    blanked_json,
    comments_json,
    parse_json,
    parse_toml,
)
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.hosts import McpFile

# A quotation mark in a comment begins no string, and a hash in a string no comment. A string that
# is not closed matches up to the end of its line: otherwise each mark in it would be tried again.
_HASH_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|#[^\n\r]*')


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How to read the text of a host's file."""

    parse: Callable[[str], dict[str, Any]]
    """Raises `CannotMerge`."""
    comments: Callable[[str], set[str]]
    """Raises `CannotMerge`."""
    new_file: str = ""
    """What the installer writes before an entry if there is no file."""


def parsed(parse: Callable[[str], dict[str, Any]], text: str) -> dict[str, Any] | None:
    """The document; None if the text is not valid."""
    try:
        return parse(text)
    except CannotMerge:
        return None


def json_format(new_file: str = "") -> FileFormat:
    return FileFormat(_parse_json_or_nothing, comments_json, new_file)


def format_of(mcp: McpFile) -> FileFormat:
    """The format of a file with MCP servers."""
    if mcp.format == "toml":
        return FileFormat(parse_toml, _hash_comments)
    if mcp.format == "yaml":
        from notewell.clients.merge_yaml import NEW_FILE, parse_yaml

        return FileFormat(parse_yaml, _hash_comments, NEW_FILE)
    return json_format()


def _parse_json_or_nothing(text: str) -> dict[str, Any]:
    """A file without a value has no settings, like an empty one of TOML or YAML."""
    return parse_json(text) if blanked_json(text).strip() else {}


def _hash_comments(text: str) -> set[str]:
    return {match[0].strip() for match in _HASH_COMMENT.finditer(text) if not match[1]}
