"""Where a text has the words of a query: the same places as `split_words` finds, without splitting
the text.

A search looks for a handful of forms in some 20 000 characters of hits, so each form is searched
for as a string, and only the tokens around these places are split:

    form   stori                        the word may be stories, Story or backStory
    root   stor                         what each spelling of it contains
    text   … two stories of backStory   ─▶ stories, backStory ─▶ split_words

A token ends at a blank, where every word ends, too (UAX #29); so its words are the same whatever
is around it.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from notewell.core.words import DENSE, Word, is_sparse, split_words
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

# Not U+202F: a number may contain it, and is one word then.
_TOKEN = re.compile(r"[^ \t\r\n]+")
_APOSTROPHE = "'"
"""A word with one is split whatever its root is: the forms of o'brien and l'air do not have it."""

KEPT_TOKENS = 32_768
KEPT_TOKEN_CHARS = 64
"""Longer tokens (base64, addresses) seldom occur twice."""


class FormPlace(NamedTuple):
    """Where a form of a word stands in a text."""

    start: int
    end: int
    form: str


class FormFinder:
    """Finds forms of words, as `split_words` gives them."""

    def __init__(self, forms: Collection[str]) -> None:
        self._dense = [form for form in forms if _is_dense(form)]
        self._sparse = frozenset(forms).difference(self._dense)
        self._ascii = [form for form in self._sparse if form.isascii()]
        self._roots = {_APOSTROPHE, *map(_root, self._ascii)} if self._ascii else set()

    def places(self, text: str) -> list[FormPlace]:
        """In order."""
        if text.isascii():
            return sorted(self._among(text, 0, self._likely_tokens(text)))
        if is_sparse(text):
            return sorted(self._in_lines(text))
        places = [place for form in self._dense for place in _literal_places(text, form)]
        if self._sparse:
            # Spaces instead, so that the other words keep their places.
            places += self._in_lines(_dense_characters().sub(" ", text))
        return sorted(places)

    def _in_lines(self, text: str) -> Iterator[FormPlace]:
        """Most lines of a text with a dash or an accent are ASCII."""
        start = 0
        for line in text.split("\n"):
            tokens = self._likely_tokens(line) if line.isascii() else _tokens(line)
            yield from self._among(line, start, tokens)
            start += len(line) + 1

    def _likely_tokens(self, text: str) -> set[tuple[int, int]]:
        """The tokens of an ASCII text that may have one of the forms."""
        lower = text.lower().replace("\n", " ").replace("\t", " ").replace("\r", " ")
        tokens = set[tuple[int, int]]()
        for root in self._roots:
            at = lower.find(root)
            while at >= 0:
                end = lower.find(" ", at)
                if end < 0:
                    end = len(lower)
                tokens.add((lower.rfind(" ", 0, at) + 1, end))
                at = lower.find(root, end)
        return tokens

    def _among(
        self, text: str, offset: int, tokens: Collection[tuple[int, int]]
    ) -> Iterator[FormPlace]:
        for start, end in tokens:
            for word in token_words(text[start:end]):
                for form in word.forms:
                    if form in self._sparse:
                        first = offset + start
                        yield FormPlace(first + word.start, first + word.end, form)


@lru_cache(maxsize=64)
def finder_of(forms: frozenset[str]) -> FormFinder:
    """All hits of an answer have the same forms."""
    return FormFinder(forms)


def find_forms(text: str, forms: Collection[str]) -> list[FormPlace]:
    """Where a text has these forms, in order."""
    return finder_of(frozenset(forms)).places(text)


@lru_cache(maxsize=1024)
def _root(form: str) -> str:
    """What each ASCII word with this form contains, in lower case, unless it has an apostrophe."""
    if "_" in form:
        # An identifier: its segments stay as they are, whatever joins them.
        return max(form.split("_"), key=len)
    # `stem` makes parti of parties, and make of making.
    return form[:-1] if len(form) > 2 and form[-1] in "ie" else form


def _tokens(text: str) -> list[tuple[int, int]]:
    return [token.span() for token in _TOKEN.finditer(text)]


def all_forms(text: str) -> frozenset[str]:
    """The forms of all words of a text."""
    tokens = tokens_of(text)
    return frozenset(
        [form for token in tokens for word in token_words(token) for form in word.forms]
    )


def tokens_of(text: str) -> list[str]:
    """The parts of a text between blanks; no word of a text in a sparse script is in two."""
    return _TOKEN.findall(text)


def token_words(token: str) -> tuple[Word, ...]:
    """The words of a text without blanks. The same tokens come again in every hit."""
    return _kept_words(token) if len(token) <= KEPT_TOKEN_CHARS else tuple(split_words(token))


@lru_cache(maxsize=KEPT_TOKENS)
def _kept_words(token: str) -> tuple[Word, ...]:
    return tuple(split_words(token))


# -- scripts without spaces ----------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _is_dense(form: str) -> bool:
    return not is_sparse(form) and bool(_dense_characters().match(form))


@cache
def _dense_characters() -> re.Pattern[str]:
    """Compiled for the first text in another script: its large class takes milliseconds."""
    return re.compile(f"[{DENSE}]")


def _literal_places(text: str, form: str) -> Iterator[FormPlace]:
    at = text.find(form)
    while at >= 0:
        yield FormPlace(at, at + len(form), form)
        at = text.find(form, at + 1)
