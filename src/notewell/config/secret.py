"""Settings that are secrets: how they are read, filled in and shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.config.checks import Checked, JsonSchema, Wrong
from notewell.core import MASK, Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

_REFERENCE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)\}")


class SecretText(NamedTuple):
    """A key; never part of a message, not even when it is wrong."""

    says: str = "a text, or `${NAME}` for a variable of the environment"

    def schema(self) -> JsonSchema:
        reference = {"type": "object", "required": ["source", "id"]}
        return {"oneOf": [{"type": "string", "minLength": 1}, reference]}

    def __call__(self, value: object) -> Checked:
        if not isinstance(value, str) or not value.strip():
            raise Wrong("expected a text, or ${NAME} for a variable of the environment")
        return Checked(Secret(value.strip()))


class Headers(NamedTuple):
    says: str = "an object of names and texts"

    def schema(self) -> JsonSchema:
        return {"type": "object", "additionalProperties": {"type": "string"}}

    def __call__(self, value: object) -> Checked:
        if not isinstance(value, dict):
            raise Wrong("expected an object of names and texts")
        for name, text in value.items():
            if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
                raise Wrong(f"{name!r} is no name for a header")
            if not isinstance(text, str) or not text.isprintable():
                raise Wrong(f"expected a text on one line for {name!r}")
        return Checked({name: Secret(text) for name, text in value.items()})


def environment_name(value: object) -> str | None:
    """The variable that OpenClaw's `{source: "env", id: "NAME"}` stands for."""
    if isinstance(value, dict) and value.get("source") == "env":
        name = value.get("id")
        return name if isinstance(name, str) else None
    return None


def substituted(text: str, environment: Mapping[str, str]) -> str:
    """The text with each `${NAME}` filled in; raises `Wrong` for one that is not set."""

    def fill(match: re.Match[str]) -> str:
        found = environment.get(match[1])
        if not found:
            raise Wrong(f"the environment has no {match[1]}: set it, or write the value here")
        return found

    return _REFERENCE.sub(fill, text)


def masked(value: Any) -> Any:
    """A value that may be shown: secrets, and passwords inside addresses, are not."""
    if isinstance(value, Secret):
        return MASK
    if isinstance(value, str):
        return re.sub(r"(?<=://)[^/@\s]*@", f"{MASK}@", value)
    if isinstance(value, dict):
        return {name: masked(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked(inner) for inner in value]
    return value
