"""What a reader gets of the hits: their best lines, as many as a budget has room for.

Six hits have 8000 characters and an answer 4000, and of a hit often one line in ten answers. So
an answer is made of groups of lines, not of hits:

    hit 1   ░░ ▓▓ ░░ ▓▓ ▓▓        groups of lines that are read together
    hit 2   ░░ ░░ ▓▓              ▓ the best of all hits, until the budget is full
    shown   L3-L5, L9-L14; L7-L8  neighbours are joined; hits and lines keep their order

A group scores as its hit, and more for each word of the question in it. The line before lends a
part of its words, because an answer often follows its question, and so does the line after it.

`search` calls `score_lines`; each surface calls `pack_hits` with its own budget.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from notewell.core.passages import ELLIPSIS, snippet
from notewell.core.words import split_words, without_markers
from notewell.limits import SNIPPET_CHARS
from notewell.records import replace
from notewell.types import SPEAKERS, QuotedLines, ScoredLines, Span, gap_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from notewell.core.passages import ChunkLines
    from notewell.types import Hit, Utterance

GROUP_CHARS = 160
"""Lines are joined until a group has so many: a line of hard-wrapped text says little alone."""
GROUP_MOST_CHARS = 400
"""A line is not joined to a group that would then be longer than this."""

WORDS_WEIGHT = 0.4
"""Of all words of the question, against 1 for the score of the best hit."""
BEFORE, AFTER = 0.4, 0.2
"""The part of its words that a line lends to the next line, and to the previous one."""
AROUND = 0.95
"""For lines of a hit that are not in its best chunk. All weights were measured with
`notewell eval` (see docs/ranking.md)."""

LEAST_CHARS = 80
"""A shorter part of a line tells nothing; the rest of the budget is better left unused."""
ROOM_CHARS = 600
"""If a budget has so much for each hit, each one is shown with its best lines at least."""


# -- scores --------------------------------------------------------------------------------------


class LineScores(NamedTuple):
    """What the lines of one hit are scored by."""

    hit: float
    """The score of the hit, as a part of that of the best hit."""
    best: Span
    """Its best chunk."""
    weights: Mapping[str, float]
    """The weight of each term of the query."""


def score_lines(lines: ChunkLines, span: Span, scores: LineScores) -> tuple[ScoredLines, ...]:
    """The lines of a hit in groups, each with its score."""
    total = fsum(scores.weights.values()) or 1.0
    # One more on both sides: they lend their words too.
    words = {
        number: _words_in(lines.text(number, number), scores.weights) / total
        for number in range(span.start_line - 1, span.end_line + 2)
    }

    def score(number: int) -> float:
        lent = BEFORE * words[number - 1] + AFTER * words[number + 1]
        base = scores.hit * (1.0 if _covers(scores.best, number) else AROUND)
        return base + WORDS_WEIGHT * min(1.0, words[number] + lent)

    return tuple(
        ScoredLines(
            group,
            snippet(without_markers(lines.text(*group)), scores.weights, SNIPPET_CHARS),
            max(map(score, range(group.start_line, group.end_line + 1))),
        )
        for group in _groups(lines, span)
    )


def _covers(span: Span, line: int) -> bool:
    return span.start_line <= line <= span.end_line


def _words_in(line: str, weights: Mapping[str, float]) -> float:
    if not line or not weights:
        return 0.0
    forms = {form for word in split_words(line) for form in word.forms if form in weights}
    # `fsum`: the order of a set differs between processes, and so would a rounded sum.
    return fsum(weights[form] for form in forms)


def _groups(lines: ChunkLines, span: Span) -> Iterator[Span]:
    """Every line with text is in one group; a blank line ends a group."""
    first, chars = 0, 0
    for number in range(span.start_line, span.end_line + 1):
        size = len(lines.text(number, number).strip())
        is_full = chars >= GROUP_CHARS or chars + size > GROUP_MOST_CHARS
        if first and (not size or is_full):
            yield Span(first, number - 1)
            first, chars = 0, 0
        if size:
            first, chars = first or number, chars + size
    if first:
        yield Span(first, span.end_line)


# -- the choice ----------------------------------------------------------------------------------


def pack_hits(
    hits: Sequence[Hit], budget: int, as_shown: Callable[[str], str] = str
) -> tuple[Hit, ...]:
    """The same hits with the lines to show of each, in `budget` characters; with none, if others
    are better. `as_shown` is what a surface makes of a text, which may become longer by it."""
    groups = [
        [group._replace(text=as_shown(group.text)) for group in hit.lines or (_whole(hit),)]
        for hit in hits
    ]
    chosen = _choose(groups, budget)
    return tuple(
        _showing(hit, own, chosen[at])
        for at, (hit, own) in enumerate(zip(hits, groups, strict=True))
    )


def _whole(hit: Hit) -> ScoredLines:
    """Of an engine that scores no lines."""
    return ScoredLines(hit.span, hit.snippet, hit.score)


def _choose(groups: Sequence[Sequence[ScoredLines]], budget: int) -> list[dict[int, str]]:
    """For each hit the chosen groups, by number, with the text to show."""
    chosen: list[dict[int, str]] = [{} for _ in groups]
    left, too_long = budget, list[tuple[int, int]]()
    for at, number in _by_score(groups, budget):
        group = groups[at][number]
        if _is_heading(group) and not chosen[at]:
            continue
        is_joined = number - 1 in chosen[at] or number + 1 in chosen[at]
        cost = len(group.text) + 1 + (0 if is_joined else _gap_chars(group))
        if cost > left:
            # Not the end: shorter groups may fit, and are better than half of this one.
            too_long.append((at, number))
            continue
        chosen[at][number] = group.text
        left -= cost
    if too_long:
        at, number = too_long[0]
        room = left - _gap_chars(groups[at][number]) - 1
        if room >= LEAST_CHARS:
            kept = groups[at][number].text[: room - len(ELLIPSIS)]
            chosen[at][number] = kept.rstrip() + ELLIPSIS
    return chosen


def _is_heading(group: ScoredLines) -> bool:
    """One line with a heading says something only together with other lines."""
    return group.span.start_line == group.span.end_line and group.text.startswith("#")


def _gap_chars(group: ScoredLines) -> int:
    return len(gap_mark(group.span.end_line)) + 1


def _by_score(groups: Sequence[Sequence[ScoredLines]], budget: int) -> list[tuple[int, int]]:
    """The number of a hit and of a group in it, in the order in which they are chosen."""

    def order(key: tuple[int, int]) -> tuple[bool, float, tuple[int, int]]:
        group = groups[key[0]][key[1]]
        return _is_heading(group), -group.score, key

    ordered = sorted(
        ((at, number) for at, own in enumerate(groups) for number in range(len(own))), key=order
    )
    if budget < ROOM_CHARS * len(groups):
        return ordered
    first: dict[int, int] = {}
    for at, number in ordered:
        first.setdefault(at, number)
    return [*first.items(), *(key for key in ordered if first[key[0]] != key[1])]


# -- the lines that are shown --------------------------------------------------------------------


def _showing(hit: Hit, groups: Sequence[ScoredLines], chosen: Mapping[int, str]) -> Hit:
    shown: list[QuotedLines] = []
    for number in sorted(chosen):
        span, text, score = groups[number].span, chosen[number], groups[number].score
        is_cut = text != groups[number].text
        if number - 1 in chosen:
            before = shown.pop()
            # Between two groups there are only blank lines.
            blank = "\n" if span.start_line - before.span.end_line > 1 else ""
            text = f"{before.text}\n{blank}{text}"
            span, is_cut = Span(before.span.start_line, span.end_line), is_cut or before.is_cut
            score = max(score, before.score)
        shown.append(QuotedLines(span, text, score, is_cut))
    said = _speaking(hit.said, shown[0].text) if hit.said and shown else hit.said
    return replace(hit, shown=tuple(shown), said=said)


def _speaking(said: Utterance, text: str) -> Utterance:
    """The speaker of the first line that is shown."""
    speaker = text.partition(": ")[0]
    return said._replace(speaker=speaker) if speaker in SPEAKERS else said
