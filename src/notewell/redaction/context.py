"""What stands around a value, as numbers: its shape, the words beside it, the lines around.

    line ──▶ elements (words and values, without the signs between them)
         ──▶ features of each value (hashes into one table) ──▶ learned.py

Every feature is an index into a table of weights: no dictionary of words is kept.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from notewell.redaction.compiled import compile_later
from notewell.redaction.plausible import entropy

if TYPE_CHECKING:
    from collections.abc import Sequence

TABLE_BITS = 16
MASKED = "§"
"""Stands for what is masked: what is found may not depend on what was found before."""

STEM_CHARS = 6
"""Endings differ by language and grammar; six letters are a word's own."""
MAX_WORDS_BEFORE = 12
MAX_WORDS_BEHIND = 8

_SPACED = r"\u0e00-\u0e7f\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
"""Scripts whose words touch their neighbours: a value ends where the script changes."""
_CHUNK = compile_later(r"[^\s\"'`“”„«»‘’|<>(){}\[\],;，。；：、！？…（）「」『』【】《》→·]+")
_PIECE = compile_later(rf"[{_SPACED}]+|[^{_SPACED}]+")
_SETTING = compile_later(r"([^\W\d][\w.-]*[^\W_]|-{1,2}[a-z][\w-]*)(?:=>|:=|[=:])(?!/)(?=.)")
_PARTS = compile_later(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_LEADS, _TRAILS = "*_~:.!?=", ".,:;!?*_~…-=\\"
_VERSION = compile_later(r"\d\.\d")
_UNSPEAKABLE = compile_later(
    r"(?i)[bcdfghjklmnpqrstvwxz]{4}|[qxzjv][bcdfghjklmnpqrstvwxz]|[aeiou]{4}"
)
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'"})


class Element(NamedTuple):
    """A word or a value of a line, and where it is."""

    start: int
    end: int
    text: str


def elements(line: str) -> list[Element]:
    """`DB_PASSWORD="foo!Bar2" # test` ──▶ DB_PASSWORD, foo!Bar2, #, test"""
    found = []
    for chunk in _CHUNK.finditer(line):
        for piece in _PIECE.finditer(line, *chunk.span()):
            start, end = piece.span()
            while (name := _SETTING.match(line, start, end)) and name.end() < end:
                found.append(Element(*name.span(1), name[1]))
                start = name.end()
            text = line[start:end]
            start += len(text) - len(text := text.lstrip(_LEADS))
            if text := text.rstrip(_TRAILS):
                found.append(Element(start, start + len(text), text))
    return found


# -- words ---------------------------------------------------------------------------------------


@lru_cache(1 << 14)
def stems(word: str) -> tuple[int, ...]:
    """The parts of a name or a word, the last first; pairs of characters where words touch."""
    if "\u0e00" <= word[0] <= "\u0e7f" or "\u2e80" <= word[0] <= "\ud7af":
        last = word[-12:]
        return tuple(_hash(last[at : at + 2]) for at in range(max(len(last) - 2, 0), -1, -1))
    parts = _PARTS.findall(word)[-4:]
    return tuple(_stem(part) for part in reversed(parts)) or (3,)


def _stem(part: str) -> int:
    if part.isdigit():
        return 7 if len(part) < 3 else 8 if len(part) < 5 else 9
    return _hash(part.lower()[:STEM_CHARS])


@lru_cache(1 << 10)
def bag(part: str) -> tuple[int, ...]:
    """The words of a part of a line, without their order."""
    hashes = [one for word in elements(part) for one in stems(word.text)[:3]]
    return tuple(dict.fromkeys(hashes))


@lru_cache(1 << 12)
def _sign(between: str) -> int:
    return _hash(re.sub(r"\s+", " ", between).translate(_QUOTES)[-4:])


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))


# -- shapes --------------------------------------------------------------------------------------

_CLASSES = (
    ("hex", compile_later(r"[0-9a-f]{7,}|[0-9A-F]{7,}")),
    ("word-digits", compile_later(r"[a-z]+\d+")),
    ("Word-digits", compile_later(r"[A-Z][a-z]+\d+")),
    ("WORD-digits", compile_later(r"[A-Z]+\d+")),
    ("Words-digits", compile_later(r"[A-Za-z]+\d+")),
    ("digits-word", compile_later(r"\d+[a-z]+")),
    ("grouped", compile_later(r"\d+(?:[-./:]\d+)+")),
    ("digits-signs", compile_later(r"[^\w]*\d(?:[\d\W_])*")),
    ("alnum", compile_later(r"[^\W_]+")),
    ("joined", compile_later(r"[^\W_]+(?:[-_.][^\W_]+)+")),
    ("ends-with-sign", compile_later(r"[^\W_]+[!?#$*+%&]{1,3}")),
)


@lru_cache(1 << 14)
def shape(value: str) -> tuple[int, tuple[int, ...]]:
    """The class of a value, and hashes of what else its characters say."""
    size = len(value)
    size_class = size if size < 8 else 8 + (size - 8) // 4 if size < 24 else 12 + (size - 24) // 12
    size_class = min(size_class, 17)
    kind = _class_of(value)
    parts = _PARTS.findall(value)[:4]
    looks = (
        f"c{kind}",
        f"l{size_class}",
        f"c{kind}l{size_class}",
        f"s{_outline(value)}",
        f"e{int(entropy(value) * 2)}{kind}",
        f"f{'' if value[0].isalnum() else value[0]}",
        f"x{_UNSPEAKABLE.search(value) is not None}{kind}",
        *(f"p{part.lower()[:STEM_CHARS]}" for part in parts if part.isalpha()),
    )
    return _hash(kind), tuple(map(_hash, looks))


def _class_of(value: str) -> str:
    if value.isdigit():
        return f"d{min(len(value), 10)}"
    name = next((name for name, pattern in _CLASSES if pattern.fullmatch(value)), "signs")
    size = len(value)
    if name in {"hex", "alnum", "signs"}:
        return name + ("S" if size < 8 else "M" if size < 16 else "L" if size < 40 else "X")
    if name == "joined" and _VERSION.search(value):
        return "version"
    return name + ("c" if name == "joined" and value != value.lower() else "")


def _outline(value: str) -> str:
    """`Sommer-2024!` ──▶ `Aa-d!`"""
    outline = ""
    for char in value:
        sign = char
        if char.isdigit():
            sign = "d"
        elif char.isalpha():
            sign = "a" if char.islower() else "A" if char.isupper() else "u"
        if outline[-1:] != sign:
            outline += sign
    return outline[:10]


# -- features ------------------------------------------------------------------------------------


class Around(NamedTuple):
    """The words of the lines above and below, without their order."""

    above: tuple[int, ...]
    further_above: tuple[int, ...]
    below: tuple[int, ...]


def own_features(line: str, words: Sequence[Element], number: int) -> set[int]:
    """Indexes into the table of weights for `words[number]` itself and the signs around it."""
    start, end, value = words[number]
    kind, looks = shape(value)
    before = _sign(line[words[number - 1].end : start] if number else "^" + line[:start][-3:])
    is_last = number + 1 == len(words)
    behind = _sign((line[end:][:3] + "$" if is_last else line[end : words[number + 1].start])[:4])
    found = {_index(look, 1) for look in looks}
    found |= {
        _index(0, 0),  # Every value has it: the bias.
        _index(before, 2),
        _index(behind, 3),
        _index(before ^ kind, 4),
        _index(behind ^ kind, 5),
        _index(before ^ behind << 1, 6),
    }
    if number:
        found.add(_index(stems(words[number - 1].text)[0] ^ before, 25))
    return found


def features_around(words: Sequence[Element], number: int, around: Around) -> set[int]:
    """The same for the words beside it and in the lines around."""
    kind, _ = shape(words[number].text)
    found: set[int] = set()
    _add_words_before(found, words, number, kind)
    _add_words_behind(found, words, number, kind)
    count = len(words)
    found |= {
        _index(count if count < 6 else min(6 + count // 6, 11), 50),
        _index(min(count, 4) ^ kind, 51),
        _index(min(number, 5), 52),
        _index(min(count - 1 - number, 5), 53),
    }
    for word in around.above:
        found |= {_index(word, 60), _index(word ^ kind, 61)}
    found |= {_index(word, 62) for word in around.further_above}
    found |= {_index(word, 63) for word in around.below}
    return found


def _add_words_before(found: set[int], words: Sequence[Element], number: int, kind: int) -> None:
    near = [stems(word.text) for word in words[max(0, number - MAX_WORDS_BEFORE) : number]]
    near.reverse()
    for place, parts in enumerate(near[:4]):
        found.add(_index(parts[0], 10 + place))
    found |= {_index(parts[0] ^ kind, 20 + place) for place, parts in enumerate(near[:2])}
    if not near:
        found.add(_index(kind, 27))
    if len(near) > 1:
        found.add(_index(near[0][0] ^ near[1][0] >> 1, 26))
    for word in {part for parts in near for part in parts[:3]}:
        found |= {_index(word, 30), _index(word ^ kind, 31)}


def _add_words_behind(found: set[int], words: Sequence[Element], number: int, kind: int) -> None:
    near = [stems(word.text) for word in words[number + 1 : number + 1 + MAX_WORDS_BEHIND]]
    found |= {_index(parts[0], 40 + place) for place, parts in enumerate(near[:2])}
    if near:
        found.add(_index(near[0][0] ^ kind, 42))
    for word in {part for parts in near for part in parts[:3]}:
        found |= {_index(word, 43), _index(word ^ kind, 44)}


def _index(word: int, place: int) -> int:
    """Multiplied as Knuth proposes: neighbouring hashes are spread over the table."""
    return ((word + place * 0x9E3779B1) * 0x9E3779B1 & 0xFFFFFFFF) >> (32 - TABLE_BITS)
