"""What only looks like a secret: placeholders, variables, paths, plain words.

A rule with a vendor's prefix is right about the shape, and wrong only where a page shows an
example (`ghp_xxxxxxxx…`). A name (`token: …`) proves much less, so what stands behind one must
look made by a machine, or, behind `password`, by a person who wanted it hard to guess.
"""

from __future__ import annotations

import math
import re
from collections import Counter

MIN_PASSWORD_CHARS = 6
MIN_TOKEN_CHARS = 10
MAX_VALUE_CHARS = 4096  # Longer than any key that stands in one line.
TOKEN_BITS = 2.8
"""Bits a character: 16 random hexadecimal digits have 3 and more, repeated words have less."""


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STRONG_SYMBOLS = frozenset("!@#$%^&*+=?~")

# Told apart from chance by what stands around it: `your-key`, never `aYourB`.
_STAND_IN = re.compile(
    r"(?i:example|placeholder|redacted|changeme|change[-_]me|insert[-_]|replace[-_]|dummy"
    r"|(?:^|[-_])(?:your|my|some|fake|sample|todo|demo|mock)(?:[-_]|$))"
    r"|x{4}|X{4}|\.\.\.|…|\*{3}|•{3}|_{4}|-{4}|0{8}|1234567|abcdefg|deadbeef"
)
_PLAIN = word_set(
    "string str text value number boolean bool true false null none nil undefined required"
    " optional password passwd passphrase pass secret token key apikey user username login admin"
    " root test changeit letmein hidden empty default any object unknown"
)
_WORDS = re.compile(r"[-_.:/+ ]+")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|\$[A-Za-z_]\w*|%\w+%")
_CODE = re.compile(r"(?:process\.env|os\.environ|import\.meta|env\.|self\.|this\.|config\.|op://)")


def entropy(text: str) -> float:
    """Shannon's, in bits a character."""
    count = len(text)
    return -sum(n / count * math.log2(n / count) for n in Counter(text).values()) if text else 0.0


def is_stand_in(value: str) -> bool:
    """An example, a mask or a reference, whatever it stands behind."""
    if len(set(value)) < 5 or value.startswith(("${", "$(", "<", "{", "[", "&lt;")):
        return True
    return bool(_STAND_IN.search(value) or _VARIABLE.fullmatch(value))


def is_password(value: str) -> bool:
    """Behind a name that says password: something nobody would write as a plain word."""
    if not MIN_PASSWORD_CHARS <= len(value) <= MAX_VALUE_CHARS or _is_ordinary(value):
        return False
    letters = any(one.isalpha() for one in value)
    digits = any(one.isdigit() for one in value)
    return (letters and digits) or (letters and not STRONG_SYMBOLS.isdisjoint(value))


def is_token(value: str) -> bool:
    """Behind a name that says token, secret or key: something a machine made."""
    if not MIN_TOKEN_CHARS <= len(value) <= MAX_VALUE_CHARS or _is_ordinary(value):
        return False
    if _are_words(value):
        return False
    letters = "".join(one for one in value if one.isalpha())
    mixed = any(one.isdigit() for one in value) or _is_scrambled(letters)
    return bool(letters) and mixed and entropy(value) >= TOKEN_BITS


def _is_ordinary(value: str) -> bool:
    return (
        is_stand_in(value)
        or value.lower() in _PLAIN
        or any(one.isspace() for one in value)
        or _is_reference(value)
    )


def _is_reference(value: str) -> bool:
    """A path, an address, a variable, a call: where to find a secret, not the secret."""
    return (
        "://" in value
        or "(" in value
        or "${" in value
        or "{{" in value
        or value.startswith(("./", "../", "~/", "--"))
        or (value.startswith(("/", "@")) and _are_words(value))
        or bool(_CODE.match(value))
    )


def _are_words(value: str) -> bool:
    """`text-embedding-3-small`, `agent:main:main`: words and small numbers, one after another."""
    parts = [part for part in _WORDS.split(value) if part]
    return len(parts) > 1 and all(_is_word(part) for part in parts)


def _is_word(part: str) -> bool:
    if part.isdigit():
        return len(part) <= 4
    letters = part.rstrip("0123456789")
    return letters.isalpha() and len(part) - len(letters) <= 2 and not _is_scrambled(letters)


def _is_scrambled(letters: str) -> bool:
    """Capitals in the middle are no word, unless each begins one: `sessionKey`."""
    humps = sum(one.isupper() for one in letters)
    return not letters.isupper() and humps * 3 > len(letters)
