"""One entry more in a client's file, put in as text: not a character that is there changes.

The file belongs to another program and to the user: it may have comments, its own indentation,
numbers that a parser would round, keys in an order that means something to somebody. So it is
parsed only to find the place and to check the outcome; the outcome must say what it said before,
and the entry. Where that cannot be done the file is refused, and the user gets the entry to paste.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from notewell.errors import BadRequest

if TYPE_CHECKING:
    from notewell.clients.hosts import Client

# A text or a comment that never ends is taken to its end all the same (and refused afterwards):
# else every quotation mark in it would be tried for a beginning, and each read to the end.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]')
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|//[^\n\r]*|/\*(?s:.*?)\*/|(?P<endless>/\*(?s:.*))')
_TRAILING = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[}\]])')
_INDENT = re.compile(r"[{\[]\r?\n([ \t]+)\S")


class CannotMerge(BadRequest):
    """The file is left as it is."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}; nothing was changed. Print the entry with --print and paste it")
        self.why = why


def merged(text: str, client: Client, name: str, entry: dict[str, Any]) -> str | None:
    """The file with the entry; None when it has the same one already. Raises `CannotMerge`."""
    if client.format == "toml":
        return _merged_toml(text, client.key, name, entry)
    return _merged_json(text, client.key, name, entry)


def alone(client: Client, name: str, entry: dict[str, Any]) -> str:
    """A file that holds nothing else."""
    if client.format == "toml":
        return _toml_table(client.key, name, entry)
    return json.dumps({client.key: {name: entry}}, indent=2, ensure_ascii=False) + "\n"


def _already(found: dict[str, Any], key: str, name: str, entry: dict[str, Any]) -> bool:
    """Whether the very same entry is there; another one of that name is not ours to replace."""
    servers = found.get(key, {})
    if not isinstance(servers, dict):
        raise CannotMerge(f"{key!r} is not an object there")
    if name in servers and servers[name] != entry:
        raise CannotMerge(
            f"it has another server named {name!r} already: take that out, or choose a --name"
        )
    return name in servers


# -- TOML ----------------------------------------------------------------------------------------


def _merged_toml(text: str, key: str, name: str, entry: dict[str, Any]) -> str | None:
    before = _toml(text)
    if _already(before, key, name, entry):
        return None
    line_break = _line_break(text)
    gap = "" if not text.strip() else line_break if text.endswith("\n") else line_break * 2
    after = text + gap + _toml_table(key, name, entry).replace("\n", line_break)
    try:
        as_meant = _toml(after) == _with_entry(before, key, name, entry)
    except CannotMerge:
        as_meant = False
    if not as_meant:
        raise CannotMerge(f"a table cannot be added below {key!r} as it is written there")
    return after


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CannotMerge(f"it is not valid TOML ({error})") from error


def _toml_table(key: str, name: str, entry: dict[str, Any]) -> str:
    args = ", ".join(_toml_text(one) for one in entry["args"])
    return f"[{key}.{name}]\ncommand = {_toml_text(entry['command'])}\nargs = [{args}]\n"


def _toml_text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# -- JSON, with comments -------------------------------------------------------------------------


def _merged_json(text: str, key: str, name: str, entry: dict[str, Any]) -> str | None:
    bare = _COMMENT.sub(_blanked, text)
    if not bare.strip():
        made = alone_json(key, name, entry, _line_break(text))
        return text + ("" if not text or text.endswith("\n") else _line_break(text)) + made
    before = _json(bare)
    if _already(before, key, name, entry):
        return None
    places = _Places(bare, key)
    if places.servers is not None:
        after = _put_in(text, bare, places.servers, {name: entry}, depth=2)
    else:
        after = _put_in(text, bare, places.root, {key: {name: entry}}, depth=1)
    if _json(_COMMENT.sub(_blanked, after)) != _with_entry(before, key, name, entry):
        raise CannotMerge(f"the place for it could not be found below {key!r}")
    return after


def alone_json(key: str, name: str, entry: dict[str, Any], line_break: str) -> str:
    made = json.dumps({key: {name: entry}}, indent=2, ensure_ascii=False) + "\n"
    return made.replace("\n", line_break)


def _blanked(match: re.Match[str]) -> str:
    """Same length, same lines, so that a position in one text is one in the other."""
    if match["endless"]:
        raise CannotMerge("a comment in it is not closed")
    return match[1] or re.sub(r"[^\n\r]", " ", match[0])


def _json(bare: str) -> dict[str, Any]:
    strict = _TRAILING.sub(lambda match: match[1] or " ", bare)
    try:
        found = json.loads(strict)
    except (ValueError, RecursionError) as error:
        raise CannotMerge(f"it is not valid JSON ({error})") from error
    if not isinstance(found, dict):
        raise CannotMerge("it does not hold an object")
    return found


@dataclass(frozen=True, slots=True)
class _Braces:
    opening: int
    closing: int


class _Places:
    """Where the outermost object and the one with the servers begin and end."""

    def __init__(self, bare: str, key: str) -> None:
        self.servers: _Braces | None = None
        opened: list[int] = []
        last = name = ""
        for token in _TOKEN.finditer(bare):
            text = token.group()
            if text in "{[":
                opened.append(token.start())
            elif text in "}]":
                begin = opened.pop()
                if len(opened) == 1 and name == key:
                    self.servers = _Braces(begin, token.start())
                if not opened:
                    self.root = _Braces(begin, token.start())
            elif len(opened) == 1 and text == ":":
                name = last
            elif len(opened) == 1 and text != ",":
                last = json.loads(text)


def _put_in(text: str, bare: str, place: _Braces, what: dict[str, Any], *, depth: int) -> str:
    """The members of `what` behind those between the braces, in the file's own indentation."""
    line_break, found = _line_break(text), _INDENT.search(bare)
    unit = found[1] if found else "  "
    inside = bare[place.opening + 1 : place.closing].rstrip()
    comma = place.opening + 1 + len(inside)
    needs_comma = bool(inside) and not inside.endswith(",")
    # Behind the last comment, which belongs to what stands before it.
    end = len(text[: place.closing].rstrip())
    lines = json.dumps(what, indent=unit, ensure_ascii=False).split("\n")[1:-1]
    block = "".join(line_break + unit * (depth - 1) + line for line in lines)
    rest = text[end:]
    if "\n" not in text[end : place.closing]:
        rest = line_break + unit * (depth - 1) + text[place.closing :]
    return text[:comma] + ("," if needs_comma else "") + text[comma:end] + block + rest


def _with_entry(
    before: dict[str, Any], key: str, name: str, entry: dict[str, Any]
) -> dict[str, Any]:
    return {**before, key: {**before.get(key, {}), name: entry}}


def _line_break(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
