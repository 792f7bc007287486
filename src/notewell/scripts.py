"""The script of a text: which letters most of it is written in.

A model reads some scripts and not others, and words cannot compare two scripts: a Chinese question
has no word in common with an English note.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, TypeAlias

Script: TypeAlias = Literal["latin", "han", "other"]
"""`han` is Chinese, `other` all the rest: Cyrillic, Arabic, Korean, Japanese, …, signs alone."""

HAN_LETTERS = 2
"""A Chinese character says as much as so many letters."""
KANJI_PER_KANA = 4
"""Japanese mixes both, about half and half; in Chinese kana are names of products."""

_ASCII_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ASCII = re.compile(r"[\x00-\x7f]+")
_FIRST_HAN = "\u3400"


def script_of(text: str) -> Script:
    """The script of most letters; Latin if there are only digits. Signs alone, such as emoji, are
    `other`: a model that knows none of them finds all such texts alike, and near to anything."""
    if not any(map(str.isalnum, text)):
        return "other"
    # In runs, not letter by letter: every chunk that a search finds is asked.
    if text.isascii():
        return "latin"
    ascii_text = text.encode("ascii", "ignore")
    rest = "".join(_ASCII.split(text))
    others = "".join(_han().split(rest)) if max(rest) >= _FIRST_HAN else rest
    accented = sum(map(_is_latin, others))
    latin = len(ascii_text) - len(ascii_text.translate(None, _ASCII_LETTERS)) + accented
    han = len(rest) - len(others)
    other = sum(map(str.isalpha, others)) - accented
    if latin >= HAN_LETTERS * han + other:
        return "latin"
    return "han" if KANJI_PER_KANA * other <= han else "other"


@cache
def _han() -> re.Pattern[str]:
    """Compiled for the first text that needs it: its large classes take milliseconds."""
    return re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]+")


def _is_latin(character: str) -> bool:
    """Behind ASCII."""
    is_letter = character < "\u0250" or "\u1e00" <= character < "\u1f00"
    return is_letter and character.isalpha()
