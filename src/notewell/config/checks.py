"""One row of the table of settings: a key, and the check that its values must pass.

A check converts a value of a file into ours, or raises `BadValue`. A number outside its bounds is
replaced by the nearest bound, as OpenClaw does, and a note reports it; a value of the wrong type
is an error. A check also describes itself, to people (`says`) and to editors (`schema`), so that
the reference page and the JSON Schema cannot differ from what the code does.
"""

from __future__ import annotations

import math
import re
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from notewell.config.document import shown

JsonSchema = dict[str, Any]


class Checked(NamedTuple):
    value: Any
    note: str = ""
    """What the user should know: the value was understood, but changed."""


class BadValue(Exception):
    """The value cannot be used; the message says what is expected."""


class Check(Protocol):
    @property
    def says(self) -> str: ...

    def schema(self) -> JsonSchema: ...

    def __call__(self, value: object) -> Checked: ...


def expected(what: str, value: object) -> BadValue:
    return BadValue(f"expected {what}, not {shown(value)}")


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
        # No minimum and maximum: a value outside is replaced by the nearest bound, not refused.
        return {"type": "integer" if self.whole else "number"}

    def __call__(self, value: object) -> Checked:
        # `true` is an int in Python, but not in a configuration file.
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise expected(self.says, value)
        if not math.isfinite(value):
            raise expected(self.says, value)
        bounded = min(self.high, max(self.low, value))
        result = math.floor(bounded) if self.whole else float(bounded)
        note = "" if result == value else f"{shown(value)} is taken as {result} ({self.says})"
        return Checked(result, note)


class Text(NamedTuple):
    says: str = "a text"
    blank: bool = False

    def schema(self) -> JsonSchema:
        return {"type": "string"} if self.blank else {"type": "string", "minLength": 1}

    def __call__(self, value: object) -> Checked:
        # No path, name or model contains NUL, and system calls fail on it in odd ways.
        if not isinstance(value, str) or "\0" in value:
            raise expected(self.says, value)
        if not self.blank and not value.strip():
            raise BadValue(f"expected {self.says}, not an empty one")
        return Checked(value if self.blank else value.strip())


class TimeZone(NamedTuple):
    says: str = "a time zone such as `Europe/Berlin`"

    def schema(self) -> JsonSchema:
        return {"type": "string", "minLength": 1}

    def __call__(self, value: object) -> Checked:
        from zoneinfo import ZoneInfo  # Imported late: few files name one.

        name = Text(self.says)(value).value
        try:
            ZoneInfo(name)
        # Not found (a KeyError), a name with `..`, or a folder of the database.
        except (KeyError, ValueError, OSError) as error:
            raise expected("a time zone such as 'Europe/Berlin'", value) from error
        return Checked(name)


class Texts(NamedTuple):
    """A list of texts, such as a program and its arguments. No shell sees them."""

    says: str

    def schema(self) -> JsonSchema:
        return {"type": "array", "items": {"type": "string"}}

    def __call__(self, value: object) -> Checked:
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise expected(self.says, value)
        if value and (not value[0].strip() or any("\0" in word for word in value)):
            raise expected(self.says, value)
        return Checked(tuple(value))


class Choice(NamedTuple):
    choices: tuple[str, ...]

    @property
    def says(self) -> str:
        return " or ".join(f"`{choice}`" for choice in self.choices)

    def schema(self) -> JsonSchema:
        return {"enum": list(self.choices)}

    def __call__(self, value: object) -> Checked:
        # Tools that write YAML 1.1 turn a plain on or off into a boolean.
        if isinstance(value, bool) and {"on", "off"} <= set(self.choices):
            value = "on" if value else "off"
        choice = value.strip().lower() if isinstance(value, str) else value
        if choice not in self.choices:
            raise expected(" or ".join(map(repr, self.choices)), value)
        return Checked(choice)


class Sources(NamedTuple):
    says: str = "a list of `memory` and `sessions`"

    def schema(self) -> JsonSchema:
        return {"type": "array", "items": {"enum": ["memory", "sessions"]}}

    def __call__(self, value: object) -> Checked:
        if not isinstance(value, list):
            raise expected("a list of 'memory' and 'sessions'", value)
        for source in value:
            if source not in ("memory", "sessions"):
                raise expected("'memory' or 'sessions' in the list", source)
        sources = tuple(dict.fromkeys(value))
        if not sources:
            # A memory without sources could never answer.
            return Checked(("memory",), "an empty list is taken as [memory]")
        return Checked(sources)


class Paths(NamedTuple):
    """Folders and files, each a path or `{path, pattern}`; QMD's also have a name."""

    named: bool = False
    whole: bool = False
    """Whether a folder always counts as a whole, so that a pattern has no effect."""

    @property
    def says(self) -> str:
        if self.whole:
            return "a list of folders"
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
        paths = tuple(dict.fromkeys(self._entry(entry) for entry in value))
        has_pattern = self.whole and any(entry[1] for entry in paths)
        return Checked(paths, "`pattern` is not used here: name folders" if has_pattern else "")

    def _entry(self, value: object) -> tuple[str | None, ...]:
        entry = {"path": value} if isinstance(value, str) else value
        if not isinstance(entry, dict) or not entry.keys() <= set(self._keys()):
            raise expected(f"a path or {{{', '.join(self._keys())}}}", value)
        parts = tuple(entry.get(key) for key in self._keys())
        # NUL makes every system call raise ValueError instead of OSError.
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
        from urllib.parse import urlsplit  # Imported late: few files have an address.

        if not isinstance(value, str) or re.search(r"[\s\0]", value.strip()):
            raise expected(self.says, value)
        try:
            parts = urlsplit(value.strip())
            host = parts.hostname
            _ = parts.port  # The property raises ValueError for a bad port.
        except ValueError as error:
            raise expected(self.says, value) from error
        if parts.scheme not in ("http", "https") or not host:
            raise expected(self.says, value)
        # A host without a dot is a name in the local network, of a container say.
        local = host in ("localhost", "::1") or host.startswith("127.") or "." not in host
        note = "" if parts.scheme == "https" or local else "without https others can read it"
        # Without the slash, so that `baseUrl` + `/embeddings` has one and not two.
        return Checked(value.strip().rstrip("/"), note)


class Duration(NamedTuple):
    """`"30s"`, `"5m"`, `"1h"`; a bare number is minutes, as in OpenClaw. Seconds inside."""

    says: str = "a duration such as `30s`, `5m` or `1h`"

    def schema(self) -> JsonSchema:
        return {"type": ["string", "number"]}

    def __call__(self, value: object) -> Checked:
        # A limited number of digits: float() of a long number is infinite.
        match = None
        if not isinstance(value, bool):
            match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)?", str(value).strip())
        if not match:
            raise expected("a duration such as '30s', '5m' or '1h'", value)
        unit_s = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2] or "m"]
        return Checked(float(match[1]) * unit_s)


class ModelIds(NamedTuple):
    """The models of a provider, each an id or an object with an id, as OpenClaw lists them."""

    says: str = "a list of ids or `{id}`"

    def schema(self) -> JsonSchema:
        item = {"type": "object", "required": ["id"]}
        return {"type": "array", "items": {"oneOf": [{"type": "string"}, item]}}

    def __call__(self, value: object) -> Checked:
        if not isinstance(value, list):
            raise expected("a list of models", value)
        return Checked(tuple(self._id(entry) for entry in value))

    def _id(self, entry: object) -> str:
        id_ = entry.get("id") if isinstance(entry, dict) else entry
        if not isinstance(id_, str) or not id_.strip():
            raise expected("the id of a model", id_)
        return id_.strip()


class Unused(NamedTuple):
    """A key of OpenClaw's that Notewell accepts and ignores; `config check` says so."""

    says: str = "anything; not used by Notewell"

    def schema(self) -> JsonSchema:
        return {}

    def __call__(self, value: object) -> Checked:
        return Checked(value)


# -- rows of the table ---------------------------------------------------------------------------

Since: TypeAlias = Literal["seed", "openclaw", "ours"]
"""Where a key comes from: the OpenClaw of Notewell's beginning, a later OpenClaw, or Notewell."""

AGENTS = ("agents.defaults", "agents.list[]")
"""A key below `agents.defaults` can also be in an agent's own entry, where it wins."""


class Key(NamedTuple):
    """A setting: what it accepts, its default, and the field that it decides."""

    path: str
    """Dotted; `[]` is an entry of a list, `*` any name. Relative to an agent where it has one."""
    check: Check
    default: Any
    meaning: str
    since: Since = "seed"
    field: str = ""
    """The field of `Settings` that the value decides, with its group: `search.max_results`.
    Empty for keys that the configuration itself uses, and for those that have no effect yet."""


def on(path: str, meaning: str, since: Since = "seed", *, field: str = "") -> Key:
    """A switch that is on by default."""
    return Key(path, Flag(), default=True, meaning=meaning, since=since, field=field)


def off(path: str, meaning: str, since: Since = "seed", *, field: str = "") -> Key:
    """A switch that is off by default."""
    return Key(path, Flag(), default=False, meaning=meaning, since=since, field=field)
