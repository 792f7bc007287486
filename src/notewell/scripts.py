"""The script of a text: which letters most of it is written in.

A model reads some scripts and not others, and words cannot compare two scripts: a Chinese question
has no word in common with an English note.
"""

from __future__ import annotations

import re
import string
from typing import Literal, TypeAlias

Script: TypeAlias = Literal["latin", "han", "other"]
"""`han` is Chinese, `other` all the rest: Cyrillic, Arabic, Korean, Japanese, …"""

HAN_LETTERS = 2
"""A Chinese character says as much as so many letters."""
KANJI_PER_KANA = 4
"""Japanese mixes both, about half and half; in Chinese kana are names of products."""

_LETTERS = string.ascii_letters.encode()
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")


def script_of(text: str) -> Script:
    """The script of most letters; Latin if there are none."""
    # Most notes are English with a dash here and there: ASCII is counted without a loop.
    if text.isascii():
        return "latin"
    plain = text.encode("ascii", "ignore")
    rest = "".join(_NOT_ASCII.findall(text))
    letters = [character for character in rest if character.isalpha()]
    accented = sum(map(_is_latin, letters))
    han = len(_HAN.findall(rest))
    latin = len(plain) - len(plain.translate(None, _LETTERS)) + accented
    other = len(letters) - accented - han
    if latin >= HAN_LETTERS * han + other:
        return "latin"
    return "han" if KANJI_PER_KANA * other <= han else "other"


def _is_latin(letter: str) -> bool:
    return letter < "\u0250" or "\u1e00" <= letter < "\u1f00"
