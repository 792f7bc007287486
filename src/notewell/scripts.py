"""The script of a text: which letters most of it is written in.

A model reads some scripts and not others, and words cannot compare two scripts: a Chinese question
has no word in common with an English note.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, TypeAlias

from notewell.records import NamedTuple

Script: TypeAlias = Literal["latin", "han", "other"]
"""`han` is Chinese, `other` all the rest: Cyrillic, Arabic, Korean, Japanese, …, signs alone."""

HAN_LETTERS = 2
"""A Chinese character says as much as so many letters."""
KANJI_PER_KANA = 4
"""Japanese mixes both, about half and half; in Chinese kana are names of products."""

SOME_HAN = 20
"""In Chinese documentation, one of so many characters of a table of commands is Chinese. In
English notes, hardly any is."""

_ASCII_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ASCII = re.compile(r"[\x00-\x7f]+")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_FIRST_HAN = "\u3400"


def script_of(text: str) -> Script:
    """The script of most letters; Latin if there are only digits. Signs alone, such as emoji, are
    `other`: a model that knows none of them finds all such texts alike, and near to anything."""
    if not any(map(str.isalnum, text)):
        return "other"
    if text.isascii():
        return "latin"
    latin, han, other = _letters(text)
    if latin >= HAN_LETTERS * han + other:
        return "latin"
    return "han" if KANJI_PER_KANA * other <= han else "other"


def script_of_question(question: str) -> Script:
    """The script of most words: a Chinese question with the names of two products is Chinese."""
    script = script_of(question)
    if script == "latin" and not question.isascii():
        letters = _letters(question)
        words = len(_LATIN_WORD.findall(question))
        if letters.han >= max(1, words) and not letters.other:
            return "han"
    return script


def has_words_in(script: Script, text: str) -> bool:
    """Whether a question in that script can have words in common with a text. Chinese
    documentation is full of commands: most of its letters may be Latin, its words are Chinese."""
    if script != "han":
        return script_of(text) == script
    return not text.isascii() and SOME_HAN * _letters(text).han >= len(text)


class _Letters(NamedTuple):
    latin: int
    han: int
    other: int


def _letters(text: str) -> _Letters:
    # In runs, not letter by letter: every chunk that a search finds is asked.
    ascii_text = text.encode("ascii", "ignore")
    rest = "".join(_ASCII.split(text))
    others = "".join(_han().split(rest)) if max(rest, default="") >= _FIRST_HAN else rest
    accented = sum(map(_is_latin, others))
    latin = len(ascii_text) - len(ascii_text.translate(None, _ASCII_LETTERS)) + accented
    return _Letters(latin, len(rest) - len(others), sum(map(str.isalpha, others)) - accented)


@cache
def _han() -> re.Pattern[str]:
    """Compiled for the first text that needs it: its large classes take milliseconds."""
    return re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]+")


def _is_latin(character: str) -> bool:
    """Behind ASCII."""
    is_letter = character < "\u0250" or "\u1e00" <= character < "\u1f00"
    return is_letter and character.isalpha()
