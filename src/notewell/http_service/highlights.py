"""Which characters of a snippet are words of the question: what a page makes bold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core import text_query
from notewell.core.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable

Range = tuple[int, int]
"""Where it begins and where it ends, in characters (code points); the end is not part of it."""


def highlights(snippet: str, query: str) -> list[Range]:
    """In order, none touching another: pairs of Chinese characters overlap and become one."""
    terms = frozenset(text_query(query).terms)
    return _joined(
        (word.start, word.end)
        for word in words(snippet)
        if not word.single and not terms.isdisjoint(word.forms)
    )


def _joined(found: Iterable[Range]) -> list[Range]:
    joined: list[Range] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
