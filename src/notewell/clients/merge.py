"""One entry more in a host's file, inserted as text: no character that is there changes.

The file belongs to another program and to the user. It may have comments, its own indentation,
numbers that a parser would round, and an order of keys that matters to somebody. So it is parsed
only to find the position and to check the result: the result must contain what the file contained,
and the entry. Otherwise the file is refused, and the user can paste the entry.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from notewell.errors import BadRequest
from notewell.records import dataclass

if TYPE_CHECKING:
    from notewell.hosts import McpFile

# A string or comment that is not closed still matches up to the end (and is refused afterwards).
# Otherwise each quotation mark in it would start a new attempt that reads to the end: O(n²).
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]')
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|//[^\n\r]*|/\*(?s:.*?)\*/|(?P<endless>/\*(?s:.*))')
_TRAILING = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[}\]])')
_INDENT = re.compile(r"[{\[]\r?\n([ \t]+)\S")


class CannotMerge(BadRequest):
    """The file is not changed."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}; nothing was changed. Print the entry with --print and paste it")
        self.why = why


class EntryExists(CannotMerge):
    """The file has another server of this name; `entry` is what it has."""

    def __init__(self, name: str, entry: Any) -> None:
        super().__init__(
            f"it has another server named {name!r} already: remove that one, or choose a --name"
        )
        self.entry = entry


def merged(text: str, mcp: McpFile, name: str, entry: dict[str, Any]) -> str | None:
    """The file with the entry; None if it has the same one already. Raises `CannotMerge`."""
    if mcp.format == "toml":
        return _merged_toml(text, mcp.key, name, entry)
    if mcp.format == "yaml":
        from notewell.clients.merge_yaml import merged_yaml

        return merged_yaml(text, mcp.key, name, entry)
    return merged_json(text, mcp.key, name, entry)


def file_with(mcp: McpFile, name: str, entry: dict[str, Any]) -> str:
    """A file that contains only the entry."""
    if mcp.format == "toml":
        return toml_table(mcp.key, name, entry)
    if mcp.format == "yaml":
        from notewell.clients.merge_yaml import yaml_file_with

        return yaml_file_with(mcp.key, name, entry)
    return _json_with(mcp.key, name, entry, "\n")


def _has_entry(document: dict[str, Any], key: str, name: str, entry: Any) -> bool:
    """Whether the file has exactly this entry. An entry of that name with other contents may be
    the user's own, so it is not replaced."""
    servers = document.get(key, {})
    if not isinstance(servers, dict):
        raise CannotMerge(f"{key!r} is not an object there")
    if name in servers and servers[name] != entry:
        raise EntryExists(name, servers[name])
    return name in servers


# -- TOML ----------------------------------------------------------------------------------------


def _merged_toml(text: str, key: str, name: str, entry: dict[str, Any]) -> str | None:
    before = parse_toml(text)
    if _has_entry(before, key, name, entry):
        return None
    line_break = line_break_of(text)
    # A TOML table goes to the end of the file: anywhere else it would take the keys below it.
    gap = "" if not text.strip() else line_break if text.endswith("\n") else line_break * 2
    after = text + gap + toml_table(key, name, entry).replace("\n", line_break)
    try:
        is_as_expected = parse_toml(after) == _with_entry(before, key, name, entry)
    except CannotMerge:
        # An inline table or an array of tables: TOML does not let us add to these.
        is_as_expected = False
    if not is_as_expected:
        raise CannotMerge(f"a table cannot be added below {key!r} as it is written there")
    return after


def parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CannotMerge(f"it is not valid TOML ({error})") from error


def toml_table(key: str, name: str, entry: dict[str, Any]) -> str:
    lines = (f"{member} = {_toml_value(value)}\n" for member, value in entry.items())
    return f"[{key}.{name}]\n{''.join(lines)}"


def _toml_value(value: str | list[str] | bool | int) -> str:
    if isinstance(value, str):
        return _toml_string(value)
    if isinstance(value, list):
        return f"[{', '.join(_toml_string(word) for word in value)}]"
    return json.dumps(value)  # `true`, `false` and whole numbers are the same in both formats.


def _toml_string(value: str) -> str:
    # A JSON string is a TOML string, but for DEL, which only TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# -- JSON, with comments -------------------------------------------------------------------------


def merged_json(text: str, key: str, name: str, entry: Any) -> str | None:
    """The same for JSON with comments and trailing commas; `entry` may be any JSON value."""
    bare = blanked_json(text)
    if not bare.strip():
        added = _json_with(key, name, entry, line_break_of(text))
        return text + ("" if not text or text.endswith("\n") else line_break_of(text)) + added
    before = _parse_bare(bare)
    if _has_entry(before, key, name, entry):
        return None
    braces = _BraceFinder(bare, key)
    if braces.servers is not None:
        after = inserted(text, bare, braces.servers, {name: entry}, depth=2)
    else:
        after = inserted(text, bare, braces.root, {key: {name: entry}}, depth=1)
    # Two objects under the same key, for example, would make the result mean something else.
    if parse_json(after) != _with_entry(before, key, name, entry):
        raise CannotMerge(f"the position for it could not be found below {key!r}")
    return after


def _json_with(key: str, name: str, entry: Any, line_break: str) -> str:
    text = json.dumps({key: {name: entry}}, indent=2, ensure_ascii=False) + "\n"
    return text.replace("\n", line_break)


def _blanked(match: re.Match[str]) -> str:
    """Spaces of the same length, so that positions in both texts are the same."""
    if match["endless"]:
        raise CannotMerge("a comment in it is not closed")
    return match[1] or re.sub(r"[^\n\r]", " ", match[0])


def blanked_json(text: str) -> str:
    """The text with spaces in place of comments: each position is the same in both."""
    return _COMMENT.sub(_blanked, text)


def comments_json(text: str) -> set[str]:
    """The comments of a JSON text. Raises `CannotMerge` if one is not closed."""
    blanked_json(text)
    return {match[0].strip() for match in _COMMENT.finditer(text) if not match[1]}


def parse_json(text: str) -> dict[str, Any]:
    """JSON with comments and trailing commas. Raises `CannotMerge`."""
    return _parse_bare(blanked_json(text))


def _parse_bare(bare: str) -> dict[str, Any]:
    strict = _TRAILING.sub(lambda match: match[1] or " ", bare)
    try:
        document = json.loads(strict)
    except (ValueError, RecursionError) as error:
        raise CannotMerge(f"it is not valid JSON ({error})") from error
    if not isinstance(document, dict):
        raise CannotMerge("it does not contain an object")
    return document


@dataclass(frozen=True, slots=True)
class Brackets:
    """Where an object or a list begins and ends."""

    opening: int
    closing: int


class _BraceFinder:
    """Where the outermost object, and the one with the servers, begin and end."""

    def __init__(self, bare: str, key: str) -> None:
        self.servers: Brackets | None = None
        opened: list[int] = []
        last = name = ""
        for token in TOKEN.finditer(bare):
            text = token.group()
            if text in "{[":
                opened.append(token.start())
            elif text in "}]":
                begin = opened.pop()
                if len(opened) == 1 and name == key:
                    self.servers = Brackets(begin, token.start())
                if not opened:
                    self.root = Brackets(begin, token.start())
            elif len(opened) == 1 and text == ":":
                name = last
            elif len(opened) == 1 and text != ",":
                last = json.loads(text)


def inserted(
    text: str, bare: str, at: Brackets, members: dict[str, Any] | list[Any], *, depth: int
) -> str:
    """The members after those between the brackets, in the file's own indentation."""
    line_break, unit = line_break_of(text), indent_of(bare)
    inside = bare[at.opening + 1 : at.closing].rstrip()
    comma = at.opening + 1 + len(inside)
    needs_comma = bool(inside) and not inside.endswith(",")
    # After the last comment, which belongs to the member before it.
    end = len(text[: at.closing].rstrip())
    lines = json.dumps(members, indent=unit, ensure_ascii=False).split("\n")[1:-1]
    block = "".join(line_break + unit * (depth - 1) + line for line in lines)
    rest = text[end:]
    if "\n" not in text[end : at.closing]:
        rest = line_break + unit * (depth - 1) + text[at.closing :]
    return text[:comma] + ("," if needs_comma else "") + text[comma:end] + block + rest


def _with_entry(before: dict[str, Any], key: str, name: str, entry: Any) -> dict[str, Any]:
    return {**before, key: {**before.get(key, {}), name: entry}}


def indent_of(text: str) -> str:
    match = _INDENT.search(text)
    return match[1] if match else "  "


def line_break_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
