"""The front matter of a note: keys and values between two lines `---` at its beginning.

    ---
    title: Release plan
    aliases: [the plan, "Plan, 2026"]
    tags:
      - release
      - ops/backup
    ---

It is read line by line: a note is no program, and a full YAML reader would be a dependency for a
few keys. What this reader does not understand is left out; no input is an error, and the time
grows with the text alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from notewell.core.chunking import front_matter_end
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_LINE_CHARS = 2_000
"""Of a line of front matter: what comes later is not read."""
MAX_VALUES = 200
"""Of one key."""

_KEY = re.compile(r"([^\W\d_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_LIST_PART = re.compile(r"\s*\"[^\"]*\"\s*|\s*'[^']*'\s*|[^,]+")
_COMMENT = re.compile(r"(?:^|\s)#(?=\s).*")


class FrontMatter(NamedTuple):
    values: dict[str, list[str]]
    """By key, in lower case. A key with one value has a list of one."""
    lines: int
    """The lines that it takes, both `---` included; 0 if there is none."""


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    end = front_matter_end(lines)
    return FrontMatter(_values(lines[1 : end - 1]) if end else {}, end)


def _values(lines: Sequence[str]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    key, open_list = "", ""
    for whole in lines:
        line = whole[:MAX_LINE_CHARS]
        if open_list:  # A list in brackets may take several lines.
            open_list = f"{open_list} {line.strip()}"[:MAX_LINE_CHARS]
        elif found := _KEY.match(line):
            key, value = found[1].lower(), _without_comment(found[2] or "")
            values[key] = []
            if value.startswith("[") and not value.endswith("]"):
                open_list = value
            else:
                values[key] = _listed(value)
        elif key and (item := _ITEM.match(line)) and len(values[key]) < MAX_VALUES:
            values[key] += filter(None, [_unquoted(_without_comment(item[1]))])
        if open_list.rstrip().endswith("]"):
            values[key], open_list = _listed(open_list), ""
    return values


def _listed(value: str) -> list[str]:
    value = value.strip()
    parts = _LIST_PART.findall(value[1:-1]) if value[:1] + value[-1:] == "[]" else [value]
    return [one for one in map(_unquoted, parts[:MAX_VALUES]) if one]


def _without_comment(value: str) -> str:
    value = value.strip()
    return value if value[:1] in ("'", '"') else _COMMENT.sub("", value).strip()


def _unquoted(value: str) -> str:
    value = value.strip()
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1].strip() if is_quoted else value
