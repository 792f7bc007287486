"""What a provider is to the rest of this room: data, and four pure functions.

    texts ──request──▶ Request ──(calls.py)──▶ Reply ──rows──▶ numbers, one row a text
                                                 └──told──▶ what an error answer says in codes

A provider does no I/O, so its whole wire format can be read, and tested, on one page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from notewell.core import Secret
    from notewell.ports import Kind

Json: TypeAlias = Any
"""What `json.loads` gave: of any shape until it was looked at."""

Rows: TypeAlias = "Sequence[Any]"
"""One row of numbers a text, in the order of the texts; not yet checked."""


class NotRows(Exception):
    """The answer does not have the shape the provider documents; says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Model:
    """What the makers publish about a model."""

    dims: int
    text_tokens: int
    """The longest text it reads."""
    usd_per_million: float
    """The list price of a million tokens, for estimates only."""
    other_dims: Container[int] = ()
    """The lengths one can ask for instead."""
    request_tokens: int = 1_000_000
    """All texts of a request together."""


@dataclass(frozen=True, slots=True)
class Target:
    """Whom a request goes to."""

    base_url: str
    model: str
    dims: int | None
    """The length to ask for; None leaves it to the model."""
    own_address: bool
    """The provider's own servers, where everything it documents can be relied on."""


@dataclass(frozen=True, slots=True)
class Request:
    url: str
    body: Json
    """Sent as JSON; bytes as they are, and None not at all."""
    method: str = "POST"
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer that is no success says, read from its fields, never from its prose."""

    code: str | None = None
    message: str | None = None
    """For people; nothing is decided by it."""
    too_large: bool = False
    out_of_quota: bool = False
    bad_key: bool = False
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    default_url: str | None
    """None: the user must name one."""
    default_model: str | None
    models: Mapping[str, Model]
    items: int
    """Texts in one request at most."""
    needs_key: bool
    """On its own address; another address may need none."""
    auth: Callable[[Secret], Mapping[str, Secret]]
    request: Callable[[Target, Sequence[str], Kind], Request]
    rows: Callable[[Json, int], Rows]
    tokens: Callable[[Json], int | None]
    told: Callable[[int, Json], Told]


def field(answer: Json, *path: str) -> Json:
    """The value under nested keys, or None where any of them is not there."""
    for key in path:
        if not isinstance(answer, dict):
            return None
        answer = answer.get(key)
    return answer


def text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


def count_or_none(value: Json) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and value >= 0 else None


def in_order(entries: Json, count: int, key: str) -> Rows:
    """Rows that carry the number of their text, put into that order."""
    if not isinstance(entries, list) or len(entries) != count:
        got = len(entries) if isinstance(entries, list) else "no list"
        raise NotRows(f"{got} vectors for {count} texts")
    rows: dict[int, Json] = {}
    for entry in entries:
        number = field(entry, "index")
        if count_or_none(number) is None or number in rows or number >= count:
            raise NotRows("vectors that do not say which text each belongs to")
        rows[number] = field(entry, key)
    return [rows[number] for number in range(count)]
