"""Values that may be secrets: the checks of API keys and headers, references to variables, masks.

No message contains a secret, not even one about a bad value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.config.checks import BadValue, Checked
from notewell.core import SECRET_MASK, Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.config.checks import JsonSchema

_REFERENCE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)\}")
_WHOLE_REFERENCE = re.compile(r"\$\{(\w+)\}|env:(\w+)")
"""A key that is a reference to a variable and nothing else, as the embedders follow it."""


class SecretText(NamedTuple):
    """An API key. No message contains it, not even one about a bad value."""

    says: str = "a text, or `${NAME}` for a variable of the environment"

    def schema(self) -> JsonSchema:
        # OpenClaw also writes `{source: "env", id: "NAME"}`.
        reference = {"type": "object", "required": ["source", "id"]}
        return {"oneOf": [{"type": "string", "minLength": 1}, reference]}

    def __call__(self, value: object) -> Checked:
        if not isinstance(value, str) or not value.strip():
            raise BadValue("expected a text, or ${NAME} for a variable of the environment")
        return Checked(Secret(value.strip()))


class Headers(NamedTuple):
    says: str = "an object of names and texts"

    def schema(self) -> JsonSchema:
        return {"type": "object", "additionalProperties": {"type": "string"}}

    def __call__(self, value: object) -> Checked:
        if not isinstance(value, dict):
            raise BadValue("expected an object of names and texts")
        for name, text in value.items():
            # RFC 9110 tokens; a line break in a value could add a header of its own.
            if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
                raise BadValue(f"{name!r} is not a valid header name")
            if not isinstance(text, str) or not text.isprintable():
                raise BadValue(f"expected a text on one line for {name!r}")
        return Checked({name: Secret(text) for name, text in value.items()})


def environment_name(value: object) -> str | None:
    """The variable that OpenClaw's `{source: "env", id: "NAME"}` stands for."""
    if isinstance(value, dict) and value.get("source") == "env":
        name = value.get("id")
        return name if isinstance(name, str) else None
    return None


def substituted(text: str, environment: Mapping[str, str]) -> str:
    """The text with each `${NAME}` replaced; raises `BadValue` for a variable that is not set."""

    def fill(match: re.Match[str]) -> str:
        value = environment.get(match[1])
        # An empty variable counts as unset: an empty key would fail later, at the provider.
        if not value:
            raise BadValue(f"the environment has no {match[1]}: set it, or write the value here")
        return value

    return _REFERENCE.sub(fill, text)


def unset_variable(key: str, environment: Mapping[str, str]) -> str | None:
    """The first variable that an API key refers to and the environment does not have."""
    whole = _WHOLE_REFERENCE.fullmatch(key.strip())
    names = [whole[1] or whole[2]] if whole else _REFERENCE.findall(key)
    return next((name for name in names if not environment.get(name, "").strip()), None)


def masked(value: Any) -> Any:
    """A copy for people to read, without secrets and without passwords inside URLs."""
    if isinstance(value, Secret):
        return SECRET_MASK
    if isinstance(value, str):
        # `https://user:password@host`: the part before the @ is hidden.
        return re.sub(r"(?<=://)[^/@\s]*@", f"{SECRET_MASK}@", value)
    if isinstance(value, dict):
        return {name: masked(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked(inner) for inner in value]
    return value
