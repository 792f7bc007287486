"""What a key takes: each check turns a value of a file into ours, or says why it cannot.

A number outside its bounds is brought to the nearest one, as OpenClaw does, and a note says so; a
value of the wrong type is an error. A check also describes itself, to people (`says`) and to
editors (`schema`), so that the pages and the JSON Schema cannot drift from what is done.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple, Protocol

from notewell.config.positions import shown

JsonSchema = dict[str, Any]


class Checked(NamedTuple):
    value: Any
    note: str = ""
    """What the user should know: the value was understood, but not taken as it stands."""


class Wrong(Exception):
    """The value cannot be used; the message says what is expected."""


class Check(Protocol):
    @property
    def says(self) -> str: ...

    def schema(self) -> JsonSchema: ...

    def __call__(self, value: object) -> Checked: ...


def expected(what: str, value: object) -> Wrong:
    return Wrong(f"expected {what}, not {shown(value)}")


class Flag(NamedTuple):
    says: str = "true or false"

    def schema(self) -> JsonSchema:
        return {"type": "boolean"}

    def __call__(self, value: object) -> Checked:
        if not isinstance(value, bool):
            raise expected("true or false", value)
        return Checked(value)


class Number(NamedTuple):
    """A number within bounds; `whole` ones lose their fraction."""

    low: float
    high: float
    whole: bool = True

    @property
    def says(self) -> str:
        return f"a {'whole ' if self.whole else ''}number from {self.low:g} to {self._high}"

    @property
    def _high(self) -> str:
        return f"{self.high:g}" if self.high < 1e6 else f"{int(self.high)}"

    def schema(self) -> JsonSchema:
        # No minimum and maximum: a value outside is taken as the nearest bound, not refused.
        return {"type": "integer" if self.whole else "number"}

    def __call__(self, value: object) -> Checked:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise expected(self.says, value)
        if not math.isfinite(value):
            raise expected(self.says, value)
        taken = min(self.high, max(self.low, value))
        result = math.floor(taken) if self.whole else float(taken)
        note = "" if result == value else f"{shown(value)} is taken as {result} ({self.says})"
        return Checked(result, note)


class Text(NamedTuple):
    says: str = "a text"
    blank: bool = False

    def schema(self) -> JsonSchema:
        return {"type": "string"} if self.blank else {"type": "string", "minLength": 1}

    def __call__(self, value: object) -> Checked:
        if not isinstance(value, str) or "\0" in value:
            raise expected(self.says, value)
        if not self.blank and not value.strip():
            raise Wrong(f"expected {self.says}, not an empty one")
        return Checked(value if self.blank else value.strip())


class Choice(NamedTuple):
    choices: tuple[str, ...]

    @property
    def says(self) -> str:
        return " or ".join(f"`{choice}`" for choice in self.choices)

    def schema(self) -> JsonSchema:
        return {"enum": list(self.choices)}

    def __call__(self, value: object) -> Checked:
        # In YAML 1.1, which many tools still write, a bare on or off is a boolean.
        if isinstance(value, bool) and {"on", "off"} <= set(self.choices):
            value = "on" if value else "off"
        told = value.strip().lower() if isinstance(value, str) else value
        if told not in self.choices:
            raise expected(" or ".join(map(repr, self.choices)), value)
        return Checked(told)


class Sources(NamedTuple):
    says: str = "a list of `memory` and `sessions`"

    def schema(self) -> JsonSchema:
        return {"type": "array", "items": {"enum": ["memory", "sessions"]}}

    def __call__(self, value: object) -> Checked:
        if not isinstance(value, list):
            raise expected("a list of 'memory' and 'sessions'", value)
        for one in value:
            if one not in ("memory", "sessions"):
                raise expected("'memory' or 'sessions' in the list", one)
        kept = tuple(dict.fromkeys(value))
        return Checked(kept or ("memory",), "" if kept else "an empty list is taken as [memory]")


class Paths(NamedTuple):
    """Folders and files, each a path or `{path, pattern}`, with a name where qmd wants one."""

    named: bool = False

    @property
    def says(self) -> str:
        inner = "{path, pattern, name}" if self.named else "{path, pattern}"
        return f"a list of paths or `{inner}`"

    def _keys(self) -> tuple[str, ...]:
        return ("path", "pattern", "name") if self.named else ("path", "pattern")

    def schema(self) -> JsonSchema:
        item = {
            "type": "object",
            "properties": {key: {"type": "string", "minLength": 1} for key in self._keys()},
            "required": ["path"],
            "additionalProperties": False,
        }
        return {"type": "array", "items": {"oneOf": [{"type": "string", "minLength": 1}, item]}}

    def __call__(self, value: object) -> Checked:
        if not isinstance(value, list):
            raise expected("a list of paths", value)
        return Checked(tuple(dict.fromkeys(self._one(one) for one in value)))

    def _one(self, value: object) -> tuple[str | None, ...]:
        told = {"path": value} if isinstance(value, str) else value
        if not isinstance(told, dict) or not told.keys() <= set(self._keys()):
            raise expected(f"a path or {{{', '.join(self._keys())}}}", value)
        parts = tuple(told.get(key) for key in self._keys())
        if not isinstance(parts[0], str) or not parts[0].strip() or "\0" in parts[0]:
            raise expected("a path", parts[0])
        for part in parts[1:]:
            if part is not None and (not isinstance(part, str) or not part):
                raise expected("a text", part)
        return (parts[0].strip(), *parts[1:])


class Url(NamedTuple):
    says: str = "an http or https address"

    def schema(self) -> JsonSchema:
        return {"type": "string", "pattern": "^https?://"}

    def __call__(self, value: object) -> Checked:
        from urllib.parse import urlsplit

        if not isinstance(value, str) or re.search(r"[\s\0]", value.strip()):
            raise expected(self.says, value)
        try:
            parts = urlsplit(value.strip())
            host = parts.hostname
            _ = parts.port  # Checked by asking for it.
        except ValueError as error:
            raise expected(self.says, value) from error
        if parts.scheme not in ("http", "https") or not host:
            raise expected(self.says, value)
        local = host in ("localhost", "::1") or host.startswith("127.") or "." not in host
        note = "" if parts.scheme == "https" or local else "without https others can read along"
        return Checked(value.strip().rstrip("/"), note)


class Duration(NamedTuple):
    """`"30s"`, `"5m"`, `"1h"`; a bare number is minutes, as OpenClaw has it. Kept in seconds."""

    says: str = "a duration such as `30s`, `5m` or `1h`"

    def schema(self) -> JsonSchema:
        return {"type": ["string", "number"]}

    def __call__(self, value: object) -> Checked:
        match = None
        if not isinstance(value, bool):
            match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)?", str(value).strip())
        if not match:
            raise expected("a duration such as '30s', '5m' or '1h'", value)
        unit_s = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2] or "m"]
        return Checked(float(match[1]) * unit_s)


class Unused(NamedTuple):
    """Part of a profile that others use; Notewell takes it as it is and does nothing with it."""

    says: str = "anything; not used by Notewell"

    def schema(self) -> JsonSchema:
        return {}

    def __call__(self, value: object) -> Checked:
        return Checked(value)
