"""All rules in one list, and the pass over a text that says which of them can match.

Every literal that some rule requires is in an `re2.Set`, an automaton: it reads a text
once, at about 250 MB/s, and reports which literals occur. A long text is read in blocks of whole
lines, because a text of megabytes has every literal somewhere.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from notewell.redaction.codes import ANSWER_RULE, CARD_RULE, CODE_LINE_RULE, CODE_RULE, PET_RULE
from notewell.redaction.commands import COMMAND_RULES
from notewell.redaction.declared import DECLARED_RULES
from notewell.redaction.dialogs import PAIR_RULES
from notewell.redaction.labelled import LABEL_RULE
from notewell.redaction.logins import LOGIN_RULES
from notewell.redaction.mask import MASK
from notewell.redaction.names import NAME_RULES
from notewell.redaction.phrases import ACCOUNT_RULES, PHRASE_RULE
from notewell.redaction.places import (
    FILE_RULES,
    HEADER_RULES,
    LINK_RULES,
    QUERY_RULES,
    URL_RULES,
)
from notewell.redaction.positions import POSITION_RULES
from notewell.redaction.prefixed import PREFIXED_RULE
from notewell.redaction.recovery import RECOVERY_RULE
from notewell.redaction.seed_phrases import SEED_RULE
from notewell.redaction.sentences import SENTENCE_RULE
from notewell.redaction.standard_rules import STANDARD_RULES
from notewell.redaction.tables import HTML_TABLE_RULE, TABLE_RULES
from notewell.redaction.typed import TYPED_RULES
from notewell.redaction.vendor_rules import VENDOR_RULES
from notewell.redaction.wires import WIRE_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notewell.redaction.rules import Rule

RULES: tuple[Rule, ...] = (
    *VENDOR_RULES,
    *STANDARD_RULES,
    SEED_RULE,
    RECOVERY_RULE,
    *HEADER_RULES,
    *URL_RULES,
    *LINK_RULES,
    *COMMAND_RULES,
    *TYPED_RULES,
    *LOGIN_RULES,
    *WIRE_RULES,
    *QUERY_RULES,
    *FILE_RULES,
    *NAME_RULES,
    *DECLARED_RULES,
    *POSITION_RULES,
    LABEL_RULE,
    CODE_RULE,
    ANSWER_RULE,
    PET_RULE,
    CODE_LINE_RULE,
    CARD_RULE,
    *PAIR_RULES,
    *TABLE_RULES,
    HTML_TABLE_RULE,
    *ACCOUNT_RULES,
    SENTENCE_RULE,
    PHRASE_RULE,
    PREFIXED_RULE,
)
"""The most certain first: where two rules match the same place, the first one names it."""

BLOCK_BYTES = 8 * 1024
"""Measured: from 2 to 16 kB the speed is the same; one block for 20 MB is ten times slower."""

MAX_MATCH_BYTES = 4 * 1024
"""How far a match can reach into the blocks behind its own."""

GATES = 2
"""Patterns without a literal are asked together. Measured: two automata, 240 MB/s; one, 180."""


class Rulebook:
    """All rules, compiled when they are first needed."""

    def __init__(self) -> None:
        # Imported here: a process that redacts nothing does not load RE2.
        import re2  # type: ignore[import-untyped]

        self._re2 = re2
        self._compiled: dict[int, Any] = {}
        # Two automata are faster than one: each stays small enough for its cache.
        self._sets = [self._literal_set(any_case) for any_case in (False, True)]
        self._always = {
            RULES.index(LABEL_RULE),
            RULES.index(CODE_RULE),
            RULES.index(SENTENCE_RULE),
        }
        without = [
            number
            for number, rule in enumerate(RULES)
            if not rule.literals and number not in self._always
        ]
        self._gates = [self._gate(without[part::GATES]) for part in range(GATES)]
        self.masks = re2.compile(MASK)

    def candidates(self, data: bytes) -> list[tuple[int, Rule, Any]]:
        """The rules that could match, in order, with their numbers and compiled patterns."""
        # Nearly every block has a word that could be the name of a secret.
        numbers = set(self._always)
        for literals, users in self._sets:
            for hit in literals.Match(data) or ():  # RE2 returns None if nothing matches.
                numbers.update(users[hit])
        for gate, gated in self._gates:
            if gate.search(data):
                numbers.update(gated)
        return [(number, RULES[number], self._pattern(number)) for number in sorted(numbers)]

    def matches(self, data: bytes) -> Iterator[tuple[int, Rule, Any, int]]:
        """Every match of every rule, with the number of the rule, which is its rank, and where the
        text of the match begins in `data`."""
        spans: dict[int, list[tuple[int, int]]] = {}
        for start, end in lines_in_blocks(data):
            # A part of its own: RE2 is slower in the middle of a longer text.
            block = data[start:end] if len(data) > end - start else data
            for number, rule, pattern in self.candidates(block):
                if not rule.spans_lines:
                    for match in pattern.finditer(block):
                        yield number, rule, match, start
                elif number in spans and spans[number][-1][1] == start:
                    spans[number][-1] = (spans[number][-1][0], end)
                else:
                    spans.setdefault(number, []).append((start, end))
        for number, parts in spans.items():
            yield from self._over_lines(data, number, parts)

    def _over_lines(
        self, data: bytes, number: int, parts: list[tuple[int, int]]
    ) -> Iterator[tuple[int, Rule, Any, int]]:
        """Matches that begin in one of the parts; they may end behind it."""
        for start, end in parts:
            limit = min(len(data), end + MAX_MATCH_BYTES)
            for match in self._pattern(number).finditer(data, start, limit):
                if match.start() >= end:
                    break
                yield number, RULES[number], match, 0

    def _pattern(self, number: int) -> Any:
        # Compiling all of them takes longer than a typical text; most runs need a few.
        if number not in self._compiled:
            rule = RULES[number]
            pattern = f"(?i){rule.pattern}" if rule.any_case else rule.pattern
            self._compiled[number] = self._re2.compile(pattern)
        return self._compiled[number]

    def _literal_set(self, any_case: bool) -> tuple[Any, list[list[int]]]:
        """The literals of the rules, and for each the numbers of the rules that need it."""
        users: dict[str, list[int]] = {}
        for number, rule in enumerate(RULES):
            for literal in rule.literals if rule.any_case == any_case else ():
                users.setdefault(self._re2.escape(literal), []).append(number)
        literals = self._re2.Set.SearchSet()
        for literal in users:
            literals.Add(f"(?i){literal}" if any_case else literal)
        literals.Compile()
        return literals, list(users.values())

    def _gate(self, numbers: list[int]) -> tuple[Any, list[int]]:
        """One pattern for several rules: where it does not match, none of them does."""
        rules = [RULES[number] for number in numbers]
        shapes = "|".join(f"(?{'i' if rule.any_case else ''}:{rule.pattern})" for rule in rules)
        return self._re2.compile(shapes), numbers


def lines_in_blocks(data: bytes) -> Sequence[tuple[int, int]]:
    """The spans of blocks of whole lines, each of about `BLOCK_BYTES`."""
    if len(data) <= BLOCK_BYTES:
        return [(0, len(data))]
    blocks, start = [], 0
    while start < len(data):
        end = data.find(b"\n", min(start + BLOCK_BYTES, len(data)))
        end = len(data) if end < 0 else end + 1
        blocks.append((start, end))
        start = end
    return blocks


@cache
def rulebook() -> Rulebook:
    return Rulebook()
