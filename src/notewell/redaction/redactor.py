"""START HERE: a text in, the same lines without secrets out.

    text ──▶ which literals occur? ──▶ the rules that need them ──▶ spans ──▶ merged ──▶ masks

One pass over the text says which rules can match at all; for most texts that is none.

Invariant: the result has the same number of lines as the text, with the same numbers. Nothing
here changes the file that a text came from.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.records import dataclass, field
from notewell.redaction.mask import MASK, MASK_BEGINS, mask
from notewell.redaction.plausible import is_password, is_placeholder, is_token
from notewell.redaction.rules import (
    CERTAIN_RULES,
    HEADER_RULES,
    NAME_RULES,
    PASSWORD_RULES,
    family_in_prose,
    family_of,
    find_private_keys,
    value_span,
)
from notewell.redaction.vendor_rules import VENDOR_RULES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from notewell.redaction.rules import Rule

RULES_VERSION = 1
"""Increase it with every change of a rule: sources indexed with other rules are read again."""

RULES: tuple[Rule, ...] = (
    *VENDOR_RULES,
    *CERTAIN_RULES,
    *HEADER_RULES,
    *PASSWORD_RULES,
    *NAME_RULES,
)
"""The most certain first: where two rules match the same place, the first one names it."""

_WORD_ITSELF = frozenset({"password", "pass", "pwd", "secret"})


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text that may be shown, and what was removed from it."""

    text: str
    kinds: Mapping[str, int] = field(default_factory=dict)
    """How many secrets of each kind, for the report; never the secrets."""


class Redactor:
    """Keeps nothing of the texts that it has seen. Thread-safe."""

    def __init__(self, key: bytes | None = None, *, allowed: Collection[str] = ()) -> None:
        """Without a `key` masks have no digits. `allowed` are values that are no secrets."""
        self._key = key
        self._allowed = frozenset(value.encode("utf-8", "surrogatepass") for value in allowed)

    def __call__(self, text: str) -> str:
        return self.redact(text).text

    def redact(self, text: str) -> Redacted:
        # RE2 works on UTF-8, so all spans are in bytes. `surrogatepass` keeps lone surrogates,
        # which a transcript may contain.
        data = text.encode("utf-8", "surrogatepass")
        parts: list[bytes] = []
        kinds: Counter[str] = Counter()
        done = 0
        for secret in find_secrets(data):
            value = data[secret.start : secret.end]
            # Compared as a whole: an allowed value inside a longer secret allows nothing.
            if value in self._allowed:
                continue
            kinds[secret.kind] += 1
            parts += (data[done : secret.start], self._masked(secret.kind, value))
            done = secret.end
        # The text itself, without a copy: most texts contain no secret.
        if not kinds:
            return Redacted(text)
        redacted = b"".join([*parts, data[done:]])
        return Redacted(redacted.decode("utf-8", "surrogatepass"), dict(kinds))

    def _masked(self, kind: str, value: bytes) -> bytes:
        """The mask and the line breaks of the value: line numbers after it stay the same."""
        replacement = mask(kind, value.decode("utf-8", "surrogatepass"), self._key)
        return replacement.encode() + b"\n" * value.count(b"\n")


# -- finding -------------------------------------------------------------------------------------


class SecretSpan(NamedTuple):
    """Where a secret is, in bytes of UTF-8, and its kind."""

    start: int
    end: int
    kind: str


def find_secrets(data: bytes) -> list[SecretSpan]:
    """In order, without overlaps, and none inside an existing mask."""
    spans = list(_matches(data))
    # Two cheap tests first: almost every text fails one of them.
    if spans and MASK_BEGINS in data:
        spans = _outside([match.span() for match in rulebook().masks.finditer(data)], spans)
    return _merged(spans)


def _outside(masks: Sequence[tuple[int, int]], spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Without this, redacting twice would mask the digits of a mask."""
    starts = [start for start, _ in masks]
    nearest = ((span, bisect_right(starts, span.start) - 1) for span in spans)
    return [span for span, number in nearest if number < 0 or span.start >= masks[number][1]]


def _matches(data: bytes) -> Iterator[SecretSpan]:
    """In the order of `RULES`, overlaps included."""
    # First, so that a private key keeps its kind where other rules match inside it.
    yield from (SecretSpan(start, end, "private-key") for start, end in find_private_keys(data))
    for rule, pattern in rulebook().candidates(data):
        check = _named if rule.proof in ("name", "prose") else _shaped
        for match in pattern.finditer(data):
            if span := check(rule, match):
                yield span


def _shaped(rule: Rule, match: Any) -> SecretSpan | None:
    start, end = match.span(1)
    return SecretSpan(start, end, rule.kind) if _is_secret(rule, _text(match.group(1))) else None


def _is_secret(rule: Rule, value: str) -> bool:
    match rule.proof:
        case "random":
            return is_token(value)
        case "password":
            return is_password(value)
        case "address":  # In `user:…@host` every value is a password except the word itself.
            return not is_placeholder(value) and value.lower() not in _WORD_ITSELF
    return not is_placeholder(value)


def _named(rule: Rule, match: Any) -> SecretSpan | None:
    name = _text(match.group(1))
    family = family_in_prose(name) if rule.proof == "prose" else family_of(name)
    if family is None:
        return None
    start, end = value_span(match)
    value = _text(match.string[start:end])
    # A name alone is no proof: `token: string` in documentation is no secret.
    is_plausible = is_password(value) if family == "password" else is_token(value)
    return SecretSpan(start, end, family) if is_plausible else None


def _merged(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Overlapping spans become one that covers both, so that no end of a secret remains. Its kind
    is that of the more certain rule, which came first."""
    # The rank is the position in `RULES` order, which `_matches` has kept.
    ranked = sorted(enumerate(spans), key=lambda entry: (entry[1].start, entry[0]))
    merged: list[tuple[int, SecretSpan]] = []
    for rank, span in ranked:
        if merged and span.start < merged[-1][1].end:
            before_rank, before = merged[-1]
            kind = before.kind if before_rank < rank else span.kind
            union = SecretSpan(before.start, max(before.end, span.end), kind)
            merged[-1] = (min(rank, before_rank), union)
        else:
            merged.append((rank, span))
    return [span for _, span in merged]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


# -- which rules can match -----------------------------------------------------------------------


class Rulebook:
    """All rules, compiled when they are first needed.

    Every literal that some rule requires is in one `re2.Set`, a single automaton: it reads a text
    once, at about 500 MB/s, and reports which literals occur.
    """

    def __init__(self) -> None:
        # Imported here: a process that redacts nothing does not load RE2.
        import re2  # type: ignore[import-untyped]

        self._re2 = re2
        self._compiled: dict[int, Any] = {}
        users = self._users_of_literals()
        self._users = list(users.values())
        self._literals = re2.Set.SearchSet()
        for literal in users:
            self._literals.Add(literal)
        self._literals.Compile()
        self.masks = re2.compile(MASK)

    def candidates(self, data: bytes) -> Iterator[tuple[Rule, Any]]:
        """The rules that could match, in order, with their compiled patterns."""
        hits = self._literals.Match(data) or ()  # RE2 returns None if nothing matches.
        numbers = {number for hit in hits for number in self._users[hit]}
        for number in sorted(numbers):
            yield RULES[number], self._pattern(number)

    def _pattern(self, number: int) -> Any:
        # Compiling all of them takes longer than a typical text; most runs need a few.
        if number not in self._compiled:
            rule = RULES[number]
            pattern = f"(?i){rule.pattern}" if rule.any_case else rule.pattern
            self._compiled[number] = self._re2.compile(pattern)
        return self._compiled[number]

    def _users_of_literals(self) -> dict[str, list[int]]:
        """The numbers of the rules that need a literal, by the literal as a pattern."""
        users: dict[str, list[int]] = {}
        for number, rule in enumerate(RULES):
            for literal in rule.literals:
                escaped = self._re2.escape(literal)
                users.setdefault(f"(?i){escaped}" if rule.any_case else escaped, []).append(number)
        return users


@cache
def rulebook() -> Rulebook:
    return Rulebook()
