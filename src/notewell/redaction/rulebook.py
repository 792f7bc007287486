"""All rules in one list, and the pass over a text that says which of them can match.

Every literal that some rule requires is in an `re2.Set`, an automaton: it reads a text
once, at about 250 MB/s, and reports which literals occur. Rules without literals are in other
sets, with their patterns. A long text is read in blocks of whole lines, because a text of
megabytes has every literal somewhere.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

from notewell.native_calls import native_calls
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

BLOCKS_AT_ONCE = 32
"""256 kB: they are copied, so not all of 20 MB."""

MAX_MATCH_BYTES = 4 * 1024
"""How far a match can reach into the blocks behind its own."""


class Rulebook:
    """All rules, compiled when they are first needed."""

    def __init__(self) -> None:
        # Imported here: a process that redacts nothing does not load RE2.
        import re2  # type: ignore[import-untyped]

        self._re2 = re2
        self._compiled: dict[int, Any] = {}
        # Nearly every block has a word that could be the name of a secret, and rows of words make
        # an automaton large.
        self._always = {RULES.index(rule) for rule in (LABEL_RULE, SENTENCE_RULE, SEED_RULE)}
        every = [(number, rule) for number, rule in enumerate(RULES) if number not in self._always]
        self._twice = {number for number, rule in every if rule.also}
        # Some automata are faster than one: each stays small enough for its cache.
        self._sets: list[tuple[Any, list[list[int]], list[list[int]]]] = []
        for any_case in (False, True):
            rules = [(number, rule) for number, rule in every if rule.any_case == any_case]
            shapes = [(number, rule) for number, rule in rules if not rule.choosing]
            literals = [(number, rule) for number, rule in rules if rule.choosing]
            self._sets += map(self._set, (literals, shapes[::2], shapes[1::2]))
        self.masks = re2.compile(MASK)

    def candidates(self, blocks: Sequence[bytes]) -> dict[int, list[int]]:
        """The numbers of the rules that could match, in order, each with the numbers of the blocks
        where it could."""
        numbers = [set(self._always) for _ in blocks]
        twice: list[set[int]] = [set() for _ in blocks]
        # One automaton after the other over all blocks: it stays in the cache of the processor.
        for patterns, users, also in self._sets:
            for at, block in enumerate(blocks):
                for hit in patterns.Match(block) or ():  # RE2 returns None if nothing matches.
                    numbers[at].update(users[hit])
                    twice[at].update(also[hit])
        places: defaultdict[int, list[int]] = defaultdict(list)
        for at in range(len(blocks)):
            for number in numbers[at] - (self._twice - twice[at]):
                places[number].append(at)
        return dict(sorted(places.items()))

    def matches(self, data: bytes) -> Iterator[tuple[int, Rule, Any, int]]:
        """Every match of every rule, with the number of the rule, which is its rank, and where the
        text of the match begins in `data`."""
        spans = lines_in_blocks(data)
        over_lines: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for first in range(0, len(spans), BLOCKS_AT_ONCE):
            if first:  # A text of megabytes must not hold up the end of the process.
                native_calls().check()
            part = spans[first : first + BLOCKS_AT_ONCE]
            # Texts of their own: RE2 is slower in the middle of a longer text.
            blocks = [data[start:end] for start, end in part]
            for number, places in self.candidates(blocks).items():
                rule = RULES[number]
                if rule.spans_lines:
                    over_lines[number] += [part[at] for at in places]
                    continue
                pattern = self._pattern(number)
                for at in places:
                    for match in pattern.finditer(blocks[at]):
                        yield number, rule, match, part[at][0]
        for number, parts in over_lines.items():
            yield from self._over_lines(data, number, parts)

    def _over_lines(
        self, data: bytes, number: int, parts: list[tuple[int, int]]
    ) -> Iterator[tuple[int, Rule, Any, int]]:
        """Matches that begin in one of the parts; they may end behind it."""
        for start, end in _joined(parts):
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

    def _set(self, rules: list[tuple[int, Rule]]) -> tuple[Any, list[list[int]], list[list[int]]]:
        """Literals, or the patterns of rules that have none, and for each the numbers of the rules
        that need it: as one of their literals, as one that they need, too."""
        users: defaultdict[str, list[int]] = defaultdict(list)
        also: defaultdict[str, list[int]] = defaultdict(list)
        for number, rule in rules:
            case = "(?i)" if rule.any_case else ""
            for literal in rule.choosing:
                users[case + self._re2.escape(literal)].append(number)
            for literal in rule.also:
                also[case + self._re2.escape(literal)].append(number)
            if not rule.choosing:
                users[case + rule.pattern].append(number)
        patterns, found = list(dict.fromkeys([*users, *also])), self._re2.Set.SearchSet()
        for pattern in patterns:
            found.Add(pattern)
        found.Compile()
        return found, [users[one] for one in patterns], [also[one] for one in patterns]


def _joined(parts: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Neighbours as one."""
    first, last = parts[0]
    for start, end in parts[1:]:
        if start > last:
            yield first, last
            first = start
        last = end
    yield first, last


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
