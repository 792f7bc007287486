"""All the rules, compiled as they are needed, and the one pass that says which are.

Every literal that some rule cannot do without goes into one set, which RE2 turns into one machine:
it reads a text once, at some 500 MB/s, and tells which of the literals are in it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from notewell.redaction import names
from notewell.redaction import rules_hosting as hosting
from notewell.redaction import rules_services as services
from notewell.redaction import rules_shapes as shapes
from notewell.redaction.mask import MASK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.redaction.rule import Rule

RULES: tuple[Rule, ...] = (
    *hosting.CLOUDS,
    *hosting.CODE,
    *services.MODELS,
    *services.MESSAGES,
    *services.MONEY,
    *services.WORK,
    *services.WATCH,
    *shapes.ASSURED,
    *shapes.HEADERS,
    *shapes.PASSWORDS,
    *names.RULES,
)
"""The surest first."""


class Rulebook:
    def __init__(self) -> None:
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

    def wanted(self, data: bytes) -> Iterator[tuple[Rule, Any]]:
        """The rules that could find something, in order, with their patterns."""
        hits = self._literals.Match(data) or ()  # None where nothing matches
        numbers = {number for hit in hits for number in self._users[hit]}
        for number in sorted(numbers):
            yield RULES[number], self._pattern(number)

    def _pattern(self, number: int) -> Any:
        if number not in self._compiled:
            rule = RULES[number]
            pattern = f"(?i){rule.pattern}" if rule.any_case else rule.pattern
            self._compiled[number] = self._re2.compile(pattern)
        return self._compiled[number]

    def _users_of_literals(self) -> dict[str, list[int]]:
        """Of each literal, as a pattern, the rules that need it."""
        users: dict[str, list[int]] = {}
        for number, rule in enumerate(RULES):
            for literal in rule.literals:
                escaped = self._re2.escape(literal)
                users.setdefault(f"(?i){escaped}" if rule.any_case else escaped, []).append(number)
        return users


@cache
def rulebook() -> Rulebook:
    return Rulebook()
