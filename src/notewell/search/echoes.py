"""Echoes: earlier conversations in which the user asked the same question.

Conversations are saved as notes, and a question that nobody could answer is asked again. Its line
has the words and the meaning of the query, so each of these notes would come before what is known.

    discount    an echo counts DISCOUNT of its score: what is known wins a near tie
    folding     of echoes whose reply tells nothing, or the same, the latest is shown

An echo is not hidden by its discount: the threshold applies to the relevance. A conversation that
has the only answer is still found: a reply with a name or a number is not folded into one without.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from notewell.core import text_query
from notewell.core.speakers import SPOKEN_LINE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from notewell.core import Candidate
    from notewell.index import StoredChunk

    Ranked = tuple[Candidate, StoredChunk]

DISCOUNT = 0.6
"""A note that answers a question has seldom less than .6 of the score of the question itself. See
docs/ranking.md."""

SAME_QUESTION = 0.6
"""The share of terms that two questions have in common. "Which router did we choose?" has .25 in
common with "Which espresso machine did we choose?"."""

SAME_REPLY = 0.6

MAX_STRETCH = 3
"""A line so many times longer than the query says more than the query."""

_SENTENCE_ENDS = ".!?:…\"'*"
_PUNCTUATION = ".,;:!?…()[]\"'`*"
_DIGITS = frozenset("0123456789")
_QUESTION_MARKS = ("?", "？", "؟", "՞", "፧")


def find_echoes(chunks: Iterable[StoredChunk], question: str, terms: Collection[str]) -> set[int]:
    """The chunks in which the user asks this question; `terms` are those of it. `chunks` are those
    in which the user speaks: most texts are no conversations."""
    return {
        chunk.id
        for chunk in chunks
        if next(_asked(chunk.text.split("\n"), question, terms), None) is not None
    }


def folded(
    ranked: Sequence[Ranked],
    question: str,
    terms: Collection[str],
    age: Callable[[StoredChunk], tuple[str, str]],
) -> list[Ranked]:
    """The same chunks in no order; of echoes with the same reply, only the latest by `age`."""
    kept = [pair for pair in ranked if pair[0].echo == 1.0]
    echoes: list[tuple[frozenset[str], Ranked]] = []
    for pair in ranked:
        if pair[0].echo == 1.0:
            continue
        reply = _content(_reply(pair[1].text, question, terms), question)
        at = next((at for at, (other, _) in enumerate(echoes) if _is_same(reply, other)), None)
        if at is None:
            echoes.append((reply, pair))
        elif age(pair[1]) > age(echoes[at][1][1]):
            echoes[at] = (reply, pair)
    return kept + [pair for _, pair in echoes]


def _asked(lines: Sequence[str], question: str, terms: Collection[str]) -> Iterator[int]:
    """The numbers of the lines in which the user asks the question."""
    wanted = frozenset(terms)
    longest = MAX_STRETCH * len(question)
    for number, line in enumerate(lines):
        # Cheap tests first: a search looks at some two hundred chunks.
        if not wanted or len(line) > longest + 20 or ":" not in line[:16]:
            continue
        spoken = SPOKEN_LINE.match(line)
        if spoken is None or spoken[1].lower() != "user":
            continue
        said = spoken[2].strip()
        if _bare(said) == _bare(question) or (
            _is_only_question(said)
            and _in_common(frozenset(text_query(said).terms), wanted) >= SAME_QUESTION
        ):
            yield number


def _bare(text: str) -> str:
    return text.casefold().strip(_PUNCTUATION + " ")


def _is_only_question(said: str) -> bool:
    """Not "I moved the dentist to Tuesday. Is that all right?": that tells something."""
    return said.endswith(_QUESTION_MARKS) and not re.search(r"[.!;…]\s|[。！；]", said)


def _reply(text: str, question: str, terms: Collection[str]) -> str:
    """What follows the question, up to the next message of the user."""
    lines = text.split("\n")
    said: list[str] = []
    for number in _asked(lines, question, terms):
        for line in lines[number + 1 :]:
            spoken = SPOKEN_LINE.match(line)
            if spoken is not None and spoken[1].lower() == "user":
                break
            said.append(spoken[2] if spoken else line)
    return " ".join(" ".join(said).split())


def _content(reply: str, question: str) -> frozenset[str]:
    """The terms of a reply; none if it has neither a name nor a number besides those of the
    question, as "I find nothing about a router in the notes"."""
    return frozenset(text_query(reply).terms) if _is_telling(reply, question) else frozenset()


def _is_telling(reply: str, question: str) -> bool:
    if reply.lower() == reply.upper():
        return bool(reply)  # A script without capitals: there is no sign of a name.
    asked = question.casefold()
    before = "."
    for word in reply.split():
        bare = word.strip(_PUNCTUATION)
        is_name = bare[1:] and bare[0].isupper() and before[-1] not in _SENTENCE_ENDS
        if (is_name or not _DIGITS.isdisjoint(bare)) and bare.casefold() not in asked:
            return True
        before = word
    return False


def _is_same(reply: frozenset[str], other: frozenset[str]) -> bool:
    return _in_common(reply, other) >= SAME_REPLY


def _in_common(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first or second else 1.0
