"""Tells weak passwords (`dragon`, `4821`, `maple-otter-cedar`) from words, types and names in code.

Nothing in such a value says that it is a secret. So its place must say it, and these functions say
only that the value could be one.
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re

from notewell.redaction.plain_words import COMMON, NOT_PLAIN, TELLING
from notewell.redaction.plausible import (
    MAX_VALUE_CHARS,
    MEDIUM,
    is_placeholder,
    is_reference,
    password_strength,
)

MIN_WORD_CHARS = 4
MIN_DIGITS = 4
MAX_WORD_CHARS = 40
_DIGITS = re.compile(r"\d(?:[ -]?\d){2,19}")
_WORD = re.compile(r"[A-Za-zÀ-ɏḀ-ỿ]{4,40}")
_LONG_WORD = re.compile(r"[a-zß-öø-ɏḁ-ỿ]{13,40}|[\u0370-\u03ff]{16,40}|[а-яёіїєґ]{16,40}")
_ALONE = re.compile(r"[\u0370-\u03ff]{4,40}|[\u0400-\u052f]{4,40}")
_LONG_ENDINGS = (
    "ing", "ion", "ions", "ed", "able", "ible", "ment", "ments", "ness", "ity", "ies", "ly", "ous", "ive", "less", "ally", "ship",
    "ical", "ates", "ures", "ure", "izes", "ized", "ised", "ize", "ise", "ism", "ist", "ance", "ence", "ant", "ent", "ung", "ungen", "lich", "keit", "heit", "ción",
    "ação", "zione", "tion", "ität", "isch", "schaft", "erung", "ования", "ание", "ение", "ость", "ный", "ная", "ное", "ых", "ции", "ский", "ского", "ления", "ských", "ního",
)  # fmt: skip
_ODD_CASE = re.compile(r"[a-z][A-Z]{2,}[a-z]|[a-z][A-Z][a-z][A-Z]")
_ODD_PART = re.compile(
    r"[a-z]{1,2}[A-Z][a-z]?[A-Z]?[a-z]?|[A-Z]{2,}[a-z]{1,2}[A-Z]?[A-Za-z]?|[a-z][A-Z]{2,3}[a-z]{1,3}[A-Z]?"
)
_UNSPEAKABLE = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{4}|[aeiou]{4}|[a-z](?-i:[A-Z])$")
_ACRONYM = re.compile(
    r"ID$|URL|URI|API|JSON|HTTP|XML|CSS|DOM|SQL|UUID|^(?:is|on|my|to|in|no|us|of|as|by)[A-Z][a-z]+$|^[a-z]{3,}[A-Z][a-z]+$"
    r"|^[A-Z][a-z]+[A-Z][a-z]+$|^Mc|^Mac|s$"
)
_WORDS = re.compile(r"[^\W_]+(?:[-_.][^\W_]+)+")
_ROOTS = re.compile(
    r"(?:self|this|cls|config|cfg|conf|settings|options|opts|args|argv|params|props|state|req|request|res"
    r"|response|user|users|data|form|body|event|ctx|context|env|process|os|app|db|input|values|state|item"
    r"|row|record|account|auth|session|client|server|model|schema|types?|util|utils|core|lib|js|module|exports"
    r"|crypto|bcrypt|hashlib|getpass|fake|faker|tests?|mock|example|Config|Settings|var|local|each|module|data)[._-]"
)
_ENDS_WITH_DIGITS = re.compile(r"\d\W?$")
_EXAMPLE_DIGITS = frozenset({"0123", "01234", "012345", "0123456789", "1234567890"})
_OTHER_SCRIPT = re.compile(r"[^\x00-\u052f\u1e00-\u1eff]")
_IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u9fff"
_LETTERS = r"\uac00-\ud7af\u0590-\u05ff\u0600-\u06ff\u0900-\u097f"
_SHORT_SCRIPT = re.compile(
    rf"[{_IDEOGRAPHS}]{{1,5}}[-_.]?[a-z]{{0,8}}\d{{1,8}}[!?*#]?|[{_LETTERS}]{{2,16}}[-_.]?[a-z]{{0,8}}\d{{1,8}}[!?*#]?"
    rf"|[{_IDEOGRAPHS}{_LETTERS}]{{1,12}}(?:[-_.][{_IDEOGRAPHS}{_LETTERS}a-z]{{1,12}}){{1,5}}\d{{1,8}}"
    rf"|[{_IDEOGRAPHS}{_LETTERS}]{{1,12}}(?:[-_.][{_IDEOGRAPHS}{_LETTERS}]{{1,12}}){{2,5}}"
)
"""A word of a script without spaces is prose, unless it is short and ends with a number."""
_CAMEL = re.compile(
    r"\d{0,4}(?:[A-ZÀ-ÞА-ЯЁІЇЄΑ-Ω][a-zß-ÿā-žа-яёіїєά-ώ]{2,}\d{0,4}){2,8}[!?*#]{0,2}"
)
_CODE_SIGNS = re.compile(
    r"[a-z]{4}|[A-Z]{5}|[\s{}\[\]<>\\]|\$\(|://|%[sd]|A-Z|\(\)|^[$%/.]|[-.]\d+[-.]\d|::"
)
_CHANGES = re.compile(r"[a-z](?=[^a-z])|[A-Z](?=[^A-Z])|\d(?=[^\d])")
_DATE = re.compile(r"(?:19|20)\d\d-\d\d-\d\d")
_SEPARATORS = re.compile(r"[-_.]")
_MEASURE = re.compile(r"\d+(?:[.,]\d+)?(?:[nuµm]?s|sec|min|[hd]|[kMG]i?B|%|px|pt|x)")
"""`first pass: 69ms`"""
_PARAMETER = re.compile(r"[a-z][a-z_.-]{1,20}=|\?[A-Z]|\$_?[A-Za-z]")
"""Another parameter, a condition or a variable of a shell."""
_HUMPS = re.compile(r"[A-ZÀ-ÞА-ЯЁІЇЄΑ-Ω][^\WA-ZÀ-ÞА-ЯЁІЇЄΑ-Ω\d_]+|\d+")
_HUMP = re.compile(r"[a-z][A-Z]")


def is_code(value: str, *, least: int = MIN_DIGITS) -> bool:
    """Digits that could be a PIN: `4821`, `48-21`, `482 913`."""
    digits = value.replace(" ", "").replace("-", "")
    if _DATE.fullmatch(value):
        return False
    return bool(_DIGITS.fullmatch(value)) and len(digits) >= least and len(set(digits)) > 1


def is_weak_password(value: str) -> bool:
    """A value that a person could have chosen, in a place where nothing but a password can be."""
    if is_scattered(value) or value.lower() in COMMON:
        return True
    if _PARAMETER.match(value) or _MEASURE.fullmatch(value):
        return False
    if password_strength(value) >= MEDIUM:
        return True
    if not 3 <= len(value) <= MAX_VALUE_CHARS or any(char.isspace() for char in value):
        return False
    if _OTHER_SCRIPT.search(value):
        return bool(_SHORT_SCRIPT.fullmatch(value))
    if _DIGITS.fullmatch(value):
        return is_code(value) and value not in _EXAMPLE_DIGITS
    return (
        is_joined(value)
        or is_plain_word(value)
        or is_run_together(value)
        or is_odd(value)
        or is_long_word(value)
        or _is_short_mix(value)
    )


def is_scattered(value: str) -> bool:
    """`pe=j/oxFJ?b9DN`: generated, although it has signs that code has, too."""
    return (
        8 <= len(value) <= MAX_WORD_CHARS
        and not _CODE_SIGNS.search(value)
        and not is_placeholder(value)
        and len(_CHANGES.findall(value)) >= 4
        and any(char.isdigit() for char in value)
        and any(not char.isalnum() for char in value)
    )


def is_plain_word(value: str) -> bool:
    """`dragon`, `Schmetterling`: one word, no type, no state, no name of the thing itself."""
    if not _WORD.fullmatch(value) or is_placeholder(value):
        return False
    lower = value.lower()
    return lower not in NOT_PLAIN and not names_a_secret(lower) and not _HUMP.search(value)


def is_joined(value: str) -> bool:
    """`Kestrel.maple42`, `maple-otter-cedar`: words with a digit at the end, or three of them."""
    if not _WORDS.fullmatch(value) or is_placeholder(value) or _ROOTS.match(value):
        return False
    if names_a_secret(value.lower()) or is_reference(value) or not any(map(str.isalpha, value)):
        return False
    words = _SEPARATORS.split(value)
    plain = sum(word.lower() in NOT_PLAIN for word in words)
    # A long phrase may have such a word; a number at the end is nobody's identifier.
    if plain > len(words) // 3 and not value[-3:].isdigit():
        return False
    if any(char.isdigit() for char in value):
        return len(value) >= 6
    if len(words) == 2 and any(_has_odd_capitals(word) for word in words):
        return True
    return len(words) >= 3 and all(len(word) > 2 for word in words)


def _has_odd_capitals(word: str) -> bool:
    """`LPbR`, `sfPs`: part of what a generator added to a word."""
    return 4 <= len(word) <= 8 and word.isascii() and _ODD_PART.fullmatch(word) is not None


def is_run_together(value: str) -> bool:
    """`WaterfallChelseaHazelnut`: words in a row, each with a capital."""
    if not _CAMEL.fullmatch(value) or names_a_secret(value.lower()):
        return False
    humps = [hump.lower() for hump in _HUMPS.findall(value) if hump.isalpha()]
    return len(humps) >= 2 and NOT_PLAIN.isdisjoint(humps)


def is_phrase(value: str) -> bool:
    """Three or more words in a row: two may be the name of a class."""
    return is_run_together(value) and len(_HUMPS.findall(value)) >= 3


def is_long_word(value: str) -> bool:
    """`snowflakewhiskers`: longer than most words, and without the ending of a long one."""
    return (
        bool(_LONG_WORD.fullmatch(value))
        and not value.endswith(_LONG_ENDINGS)
        and value not in NOT_PLAIN
        and not is_placeholder(value)
        and not names_a_secret(value)
    )


def is_word_alone(value: str) -> bool:
    """`подсолнух`: a plain word of Greek or Cyrillic, which proves something only as a whole answer."""
    return (
        bool(_ALONE.fullmatch(value))
        and value.lower() not in NOT_PLAIN
        and not names_a_secret(value.lower())
    )


def is_odd(value: str) -> bool:
    """`RXSNxijUinLVbjx`, `dUNoLg`: letters alone, with capitals where no name has them."""
    if not 6 <= len(value) <= MAX_WORD_CHARS or not value.isalpha() or not value.isascii():
        return False
    if len(value) >= 8:
        return _ODD_CASE.search(value) is not None
    return _has_inner_capital(value) and (
        _ODD_CASE.search(value) is not None or _UNSPEAKABLE.search(value) is not None
    )


def _has_inner_capital(value: str) -> bool:
    return not value[1:].islower() and not value.isupper() and not _ACRONYM.search(value)


def names_a_secret(lower: str) -> bool:
    return any(part in lower for part in TELLING)


def _is_short_mix(value: str) -> bool:
    """`a1b2`, `Ab!x`: too short for a strength, but no word."""
    return (
        4 <= len(value) <= MAX_WORD_CHARS
        and any(char.isalpha() for char in value)
        and not value.isalpha()
        and not _WORDS.fullmatch(value)
        and not is_placeholder(value)
        and not is_reference(value)
        and value.lower().strip("!?.") not in NOT_PLAIN
        and not names_a_secret(value.lower())
    )
