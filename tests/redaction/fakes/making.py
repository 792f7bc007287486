"""How a fake is made: a shape, such as `gsk_{an52}`, filled from a seed.

No whole key is in these files: shapes are. A group in braces is an alphabet and a length.
"""

from __future__ import annotations

import base64
import json
import re
import string
from collections.abc import Callable
from random import Random
from typing import NamedTuple

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALPHABETS = {
    "an": string.ascii_letters + DIGITS,
    "al": string.ascii_letters,
    "lo": LOWER + DIGITS,
    "lc": LOWER,
    "up": UPPER + DIGITS,
    "uc": UPPER,
    "hex": DIGITS + "abcdef",
    "HEX": DIGITS + "ABCDEF",
    "us": string.ascii_letters + DIGITS + "-_",
    "b64": string.ascii_letters + DIGITS + "+/",
    "d": DIGITS,
    "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "b32": UPPER + "234567",
    "bech": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "sym": string.ascii_letters + DIGITS + "!@#%^&*-_=+",
}
_GROUP = re.compile(r"\{(" + "|".join(sorted(ALPHABETS, key=len, reverse=True)) + r")(\d+)\}")

Maker = Callable[[Random], str]


class Sample(NamedTuple):
    """One fake in a text; `is_aside` if its wording or kind was not looked at for the rules."""

    row: str
    kind: str
    secret: str
    text: str
    is_aside: bool


def some(random: Random, alphabet: str, count: int) -> str:
    return "".join(random.choices(alphabet, k=count))


def uuid(random: Random) -> str:
    return "-".join(some(random, ALPHABETS["hex"], count) for count in (8, 4, 4, 4, 12))


def filled(shape: str, random: Random) -> str:
    """`shape` with random characters: mixed alphabets get at least one digit and one letter."""

    def group(match: re.Match[str]) -> str:
        return some(random, ALPHABETS[match[1]], int(match[2]))

    while "{uuid}" in shape:
        shape = shape.replace("{uuid}", uuid(random), 1)
    while "{jwt}" in shape:
        shape = shape.replace("{jwt}", jwt(random), 1)
    return _GROUP.sub(group, shape)


def secret_in(text: str) -> tuple[str, str]:
    """The part in `«»`, or all of it; and the text without the marks."""
    marked = re.search("«(.*)»", text, re.DOTALL)
    return (marked[1] if marked else text), text.replace("«", "").replace("»", "")


def jwt(random: Random) -> str:
    payload = {"sub": some(random, DIGITS, 10), "iat": 1760000000 + random.randrange(10**6)}
    return f"{_json({'alg': 'HS256', 'typ': 'JWT'})}.{_json(payload)}." + some(
        random, ALPHABETS["us"], 43
    )


def jwe(random: Random) -> str:
    us = ALPHABETS["us"]
    lengths = (random.choice([0, 54, 342]), 16, 90, 22)
    return ".".join(
        [_json({"alg": "dir", "enc": "A256GCM"}), *(some(random, us, n) for n in lengths)]
    )


def _json(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


WORDS = tuple(
    """
    river copper lantern maple thunder violet saddle orbit pepper walnut harbor meadow falcon
    cinnamon marble rocket tulip canyon ember willow Sommer Regen Kaffee Wolke Garten soleil
    montagne chat fromage nieve playa gatos mesas cielo vento mare lupo kawa zima polska deniz
    """.split()  # noqa: SIM905
)


def password(random: Random) -> str:
    """As people and generators choose them: a letter and a digit or a symbol at the least."""
    word, other = random.choice(WORDS), random.choice(WORDS)
    digits, mark = some(random, DIGITS, random.choice([2, 3, 4])), random.choice("!@#$%*?+&")
    return random.choice([
        f"{word.capitalize()}{digits}{mark}",
        f"{word}{digits}",
        f"{word}-{other}-{digits}",
        f"{word.capitalize()}{mark}{other}{digits}",
        f"{word[:2]}{random.choice('013457')}{word[2:]}{mark}{digits}",
        some(random, ALPHABETS["an"], 9) + "7a",
        some(random, ALPHABETS["sym"], 13) + "x4",
        some(random, ALPHABETS["us"], 18) + "Q9",
    ])  # fmt: skip
