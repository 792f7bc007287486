"""Every secret in a text, each once.

    text ──▶ which literals occur? ──▶ the rules that need them ──▶ spans ──▶ laid side by side

One pass over the text says which rules can match at all; for most texts that is none.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.redaction.mask import MASK_BEGINS
from notewell.redaction.names import family_of, is_plausible, said_family, value_span
from notewell.redaction.plausible import is_password, is_stand_in, is_token
from notewell.redaction.private_keys import find_private_keys
from notewell.redaction.rulebook import rulebook

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from notewell.redaction.rule import Rule

_ITSELF = frozenset({"password", "pass", "pwd", "secret"})


class Secret(NamedTuple):
    """Where a secret stands, in bytes of UTF-8, and what it is."""

    start: int
    end: int
    kind: str


def find_secrets(data: bytes) -> list[Secret]:
    """In order, none touching another, none inside a mask that is there already."""
    found = list(_found(data))
    if found and MASK_BEGINS in data:
        found = _outside([one.span() for one in rulebook().masks.finditer(data)], found)
    return _side_by_side(found)


def _outside(masks: Sequence[tuple[int, int]], found: Iterable[Secret]) -> list[Secret]:
    starts = [start for start, _ in masks]
    nearest = ((one, bisect_right(starts, one.start) - 1) for one in found)
    return [one for one, place in nearest if place < 0 or one.start >= masks[place][1]]


def _found(data: bytes) -> Iterator[Secret]:
    """The surest first: where two rules speak of the same place, the first names it."""
    yield from (Secret(start, end, "private-key") for start, end in find_private_keys(data))
    for rule, pattern in rulebook().wanted(data):
        for found in pattern.finditer(data):
            secret = (
                _named(rule, found) if rule.proof in ("name", "prose") else _shaped(rule, found)
            )
            if secret:
                yield secret


def _shaped(rule: Rule, found: Any) -> Secret | None:
    start, end = found.span(1)
    return Secret(start, end, rule.kind) if _holds(rule, _text(found.group(1))) else None


def _holds(rule: Rule, value: str) -> bool:
    match rule.proof:
        case "random":
            return is_token(value)
        case "password":
            return is_password(value)
        case "address":  # Anything is a password there but the word itself, or a variable.
            return not is_stand_in(value) and value.lower() not in _ITSELF
    return not is_stand_in(value)


def _named(rule: Rule, found: Any) -> Secret | None:
    name = _text(found.group(1))
    family = said_family(name) if rule.proof == "prose" else family_of(name)
    if family is None:
        return None
    start, end = value_span(found)
    value = _text(found.string[start:end])
    return Secret(start, end, family) if is_plausible(family, value) else None


def _side_by_side(found: Iterable[Secret]) -> list[Secret]:
    """Where two overlap, all they cover goes, so that no end of a secret stays behind."""
    ranked = sorted(enumerate(found), key=lambda one: (one[1].start, one[0]))
    laid: list[tuple[int, Secret]] = []
    for rank, secret in ranked:
        if laid and secret.start < laid[-1][1].end:
            before_rank, before = laid[-1]
            kind = before.kind if before_rank < rank else secret.kind
            whole = Secret(before.start, max(before.end, secret.end), kind)
            laid[-1] = (min(rank, before_rank), whole)
        else:
            laid.append((rank, secret))
    return [secret for _, secret in laid]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
