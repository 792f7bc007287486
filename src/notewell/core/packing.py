"""What a reader gets of the hits: their best lines, as many as a budget has room for.

Six hits have 8000 characters and an answer 4000, and of a hit often one line in ten answers. So
an answer is made of groups of lines, not of hits:

    hit 1   ░░ ▓▓ ░░ ▓▓ ▓▓        groups of lines that are read together
    hit 2   ░░ ░░ ▓▓              ▓ the best of all hits, until the budget is full
    shown   L3-L5, L9-L14; L7-L8  neighbours are joined; hits and lines keep their order

A group scores as its hit, and more for each word of the question in it, and more if it is near
in meaning, or if the user says it and the question is about the user. The line before lends a part
of its words, because an answer often follows its question, and so does the line after it.

`search` calls `score_lines`; each surface calls `pack_hits` with its own budget.
"""

from __future__ import annotations

from math import fsum
from types import MappingProxyType
from typing import TYPE_CHECKING

from notewell.core.line_rows import BLANK, LINE_END, shared_forms
from notewell.core.passages import ELLIPSIS
from notewell.core.speakers import are_users
from notewell.records import NamedTuple, from_rows, replace
from notewell.types import SPEAKERS, QuotedLines, ScoredLines, Span, gap_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from notewell.core.line_rows import LineRow
    from notewell.core.long_lines import Extent
    from notewell.core.passages import ChunkLines
    from notewell.types import Hit, Utterance

    _GroupKey: TypeAlias = tuple[int, int, bool]
    """The number of a hit, of a group in it, and whether it is a heading."""

WORDS_WEIGHT = 0.4
"""Of all words of the question, against 1 for the score of the best hit."""
BEFORE, AFTER = 0.4, 0.2
"""The part of its words that a line lends to the next line, and to the previous one."""
NEAR_WEIGHT = 0.8
"""Of the vector score of its window, which is in 0..1."""
USER_WEIGHT = 0.3
"""Of a line of the user, if the question is about the user (see `speakers.py`)."""
AROUND = 0.95
"""For lines of a hit that are not in its best chunk. All weights were measured with
`notewell eval` (see docs/ranking.md)."""

LEAST_CHARS = 80
"""A shorter part of a line tells nothing; the rest of the budget is better left unused."""
ROOM_CHARS = 600
"""If a budget has so much for each hit, each one is shown with its best lines at least."""


# -- scores --------------------------------------------------------------------------------------

NO_NEARNESS: Mapping[int, Sequence[tuple[Extent, float]]] = MappingProxyType({})


class LineScores(NamedTuple):
    """What the lines of one hit are scored by."""

    hit: float
    """The score of the hit, as a part of that of the best hit."""
    best: Span
    """Its best chunk."""
    weights: Mapping[str, float]
    """The weight of each term of the query."""
    best_part: Extent | None = None
    """If the best chunk is a piece of a long line, where it is in this line."""
    near: Mapping[int, Sequence[tuple[Extent, float]]] = NO_NEARNESS
    """The vector scores of the windows in each line, and which of its characters they have."""
    typical: float = 0.0
    """The same for lines without a window."""
    prefers_user: bool = False
    """Whether lines of the user count more than those of the assistant."""


def score_lines(
    lines: ChunkLines, span: Span, scores: LineScores, part: Extent | None = None
) -> tuple[ScoredLines, ...]:
    """The lines of a hit in groups, each with its score; with `part`, those of one long line."""
    if part is None:
        rows, is_near, groups = lines.groups(span)
    else:
        rows, is_near, groups = lines.groups_of_part(span.start_line, part)
    if not groups:
        return ()
    # The rows around the hit only lend their words.
    begin, end = groups[0].first, groups[-1].end
    values = _row_scores(rows, is_near, range(begin, end), scores)
    of_groups = [
        values[first - begin] if stop - first == 1 else max(values[first - begin : stop - begin])
        for first, stop, _, _, _, _, _ in groups
    ]
    return tuple(
        from_rows(
            ScoredLines,
            [
                (lines, text, score, joint, starts, ends)
                for (_, _, lines, text, joint, starts, ends), score in zip(
                    groups, of_groups, strict=True
                )
            ],
        )
    )


def _row_scores(
    rows: Sequence[LineRow], is_near: Sequence[bool], wanted: range, scores: LineScores
) -> list[float]:
    hit, (first, last), weights, best_part, near_of, typical, prefers_user = scores
    words = [*_word_shares(rows, weights), 0.0]
    users = are_users(row.text for row in rows) if prefers_user else None
    around = hit * AROUND
    values: list[float] = []
    for at in wanted:
        row = rows[at]
        line, part = row.line, row.part
        # Before the first row is the last number, which is 0.
        lent = BEFORE * words[at - 1] if is_near[at] else 0.0
        if is_near[at + 1]:
            lent += AFTER * words[at + 1]
        is_best = first <= line <= last and (part is None or _meets(part, best_part))
        value = hit if is_best else around
        if share := words[at] + lent:
            value += WORDS_WEIGHT * min(1.0, share)
        extents = near_of.get(line)
        value += NEAR_WEIGHT * (_nearness(part, extents, typical) if extents else typical)
        values.append(value + USER_WEIGHT if users and users[at] else value)
    return values


def _word_shares(rows: Sequence[LineRow], weights: Mapping[str, float]) -> list[float]:
    """The part of all words of the query that each row has."""
    total = fsum(weights.values()) or 1.0
    # `fsum`: the order of a set differs between processes, and so would a rounded sum.
    return [
        fsum([weights[form] for form in forms]) / total if forms else 0.0
        for forms in shared_forms(rows, frozenset(weights))
    ]


def _meets(part: Extent, best: Extent | None) -> bool:
    """Whether a part of a line is in the best piece of it. One that is partly there has words of
    it."""
    return best is None or part.meets(best)


def _nearness(
    part: Extent | None, extents: Sequence[tuple[Extent, float]], typical: float
) -> float:
    """That of the best window which a row shares text with."""
    if part is None:
        # Most lines are in one window.
        return extents[0][1] if len(extents) == 1 else max([score for _, score in extents])
    start, end = part
    found = [score for (first, last), score in extents if start < last and first < end]
    return max(found, default=typical)


# -- the choice ----------------------------------------------------------------------------------


def pack_hits(
    hits: Sequence[Hit], budget: int, as_shown: Callable[[str], str] = str
) -> tuple[Hit, ...]:
    """The same hits with the lines to show of each, in `budget` characters; with none, if others
    are better. `as_shown` is what a surface makes of a text, which may become longer by it."""
    groups = [hit.lines or (_whole(hit),) for hit in hits]
    if as_shown is not str:
        groups = [_as_shown(own, as_shown) for own in groups]
    return tuple(
        replace(hit, shown=shown, said=speaking(hit.said, shown))
        for hit, shown in zip(hits, choose_lines(groups, budget), strict=True)
    )


def choose_lines(
    groups: Sequence[Sequence[ScoredLines]], budget: int
) -> list[tuple[QuotedLines, ...]]:
    """For each hit the lines to show; `groups` are its lines with their scores."""
    return [
        tuple(
            [
                _quoted([own[number] for number in run], [chosen[number] for number in run])
                for run in _runs(own, sorted(chosen))
            ]
        )
        for own, chosen in zip(groups, _choose(groups, budget), strict=True)
    ]


def _as_shown(
    groups: Sequence[ScoredLines], as_shown: Callable[[str], str]
) -> tuple[ScoredLines, ...]:
    return tuple(group._replace(text=as_shown(group.text)) for group in groups)


def _whole(hit: Hit) -> ScoredLines:
    """Of an engine that scores no lines."""
    return ScoredLines(hit.span, hit.snippet, hit.score)


def _choose(groups: Sequence[Sequence[ScoredLines]], budget: int) -> list[dict[int, str]]:
    """For each hit the chosen groups, by number, with the text to show."""
    chosen: list[dict[int, str]] = [{} for _ in groups]
    left, too_long = budget, list[tuple[int, int]]()
    for at, number, is_heading in _by_score(groups, budget):
        if is_heading and not chosen[at]:
            continue
        group, of_hit = groups[at][number], chosen[at]
        cost = len(group.text) + len(group.joint or LINE_END)
        if number - 1 not in of_hit and number + 1 not in of_hit:
            cost += _gap_chars(group)
        if cost > left:
            # Not the end: shorter groups may fit, and are better than half of this one.
            too_long.append((at, number))
            continue
        of_hit[number] = group.text
        left -= cost
    if too_long:
        at, number = too_long[0]
        room = left - _gap_chars(groups[at][number]) - len(BLANK)
        if room >= LEAST_CHARS:
            kept = groups[at][number].text[: room - len(ELLIPSIS)]
            chosen[at][number] = kept.rstrip() + ELLIPSIS
    return chosen


def _gap_chars(group: ScoredLines) -> int:
    marks = (group.starts_inside + group.ends_inside) * len(ELLIPSIS)
    return len(gap_mark(group.span.end_line)) + 1 + marks


def _by_score(groups: Sequence[Sequence[ScoredLines]], budget: int) -> list[_GroupKey]:
    """In the order in which they are chosen."""
    # One line with a heading says something only together with other lines: headings come last.
    scored = [
        (text[:1] == "#" and first == last, -score, at, number)
        for at, own in enumerate(groups)
        for number, ((first, last), text, score, _, _, _) in enumerate(own)
    ]
    scored.sort()
    ordered = [(at, number, is_heading) for is_heading, _, at, number in scored]
    if budget < ROOM_CHARS * len(groups):
        return ordered
    first: dict[int, _GroupKey] = {}
    others: list[_GroupKey] = []
    for key in ordered:
        if key[0] in first:
            others.append(key)
        else:
            first[key[0]] = key
    return [*first.values(), *others]


# -- the lines that are shown --------------------------------------------------------------------


def _runs(groups: Sequence[ScoredLines], numbers: Sequence[int]) -> list[list[int]]:
    """The numbers of groups that are shown as one text."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1 and groups[number].joint is not None:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _quoted(groups: Sequence[ScoredLines], texts: list[str]) -> QuotedLines:
    first, last, text = groups[0], groups[-1], texts[0]
    for group, more in zip(groups[1:], texts[1:], strict=True):
        # What was cut ends a line.
        text += f"{group.joint if not text.endswith(ELLIPSIS) else LINE_END}{more}"
    if first.starts_inside:
        text = ELLIPSIS + text
    if last.ends_inside and not text.endswith(ELLIPSIS):
        text += ELLIPSIS
    return QuotedLines(
        Span(first.span.start_line, last.span.end_line),
        text,
        max([group.score for group in groups]),
        [group.text for group in groups] != texts,
    )


def speaking(said: Utterance | None, shown: Sequence[QuotedLines]) -> Utterance | None:
    """The same with the speaker of the first line that is shown; None for a note."""
    speaker = shown[0].text.partition(": ")[0] if said and shown else ""
    return said._replace(speaker=speaker) if said and speaker in SPEAKERS else said
