"""Passwords and codes as people choose them, the weak ones included.

`making.password` makes those with a digit or a symbol in a place that gives them away. These here
look like a word, a number, a name in code or a piece of prose: only their place tells what they are.
"""
# ruff: noqa: E501 - a wording stands on one line

from __future__ import annotations

from random import Random

from tests.redaction.fakes.making import ALPHABETS, DIGITS, password, some

WORDS = tuple(
    """
    dragon sunflower liverpool monkey butterfly pumpkin chocolate arsenal snowball pineapple
    tinkerbell cheeseburger midnight whiskey gandalf skywalker batman mustang yellowstone peanut
    Schmetterling Zitrone Bergsteiger papillon bonheur estrella mariposa cachorro girasole zonnebloem
    """.split()  # noqa: SIM905
)
_NAMES = ("Kestrel", "Harbor", "Juniper", "Marlow", "Cobalt", "Tundra", "Sabine", "Pavel")
_SMALL = ("maple", "otter", "lantern", "cedar", "pixel", "comet", "walnut", "tango", "ember")


def word(random: Random) -> str:
    return random.choice(WORDS)


def number(random: Random) -> str:
    """No run and no repetition: those are examples."""
    while True:
        digits = some(random, DIGITS, random.choice([4, 4, 6, 6, 8]))
        if len(set(digits)) > 2 and digits not in "0123456789":
            return digits


def dotted(random: Random) -> str:
    """`Kestrel.maple42`: like an attribute of an object."""
    name, small = random.choice(_NAMES), random.choice(_SMALL)
    digits = some(random, DIGITS, random.choice([2, 3, 4]))
    return random.choice(
        [f"{name}.{small}{digits}", f"{name}_{small}{digits}", f"{small}.{digits}.{name}"]
    )


def hyphened(random: Random) -> str:
    """`maple-otter-cedar`: like an identifier of a package."""
    count = random.choice([3, 4])
    return "-".join(random.sample(_SMALL, count))


def habitual(random: Random) -> str:
    """Walks on the keyboard, letters replaced by digits, years, umlauts."""
    digits = some(random, DIGITS, 2)
    return random.choice([
        f"1q2w3e4r{digits}", f"qwertz{digits}", f"P@ssw0rd{digits}", f"Welcome{digits}!", f"Admin@{digits}7",
        f"Müller{digits}89", f"ilove{random.choice(_SMALL)}", f"zaq1ZAQ!{digits}", f"{random.choice(_SMALL).title()}#{digits}",
        f"l3tM3in_{digits}", f"Sommer20{digits}", f"{random.choice(_SMALL)}{random.choice(_SMALL)}{digits}",
        some(random, ALPHABETS["an"], 7) + "4kQ", f"¡Hola{digits}!", f"{digits}Jahre!alt",
    ])  # fmt: skip


def run_together(random: Random) -> str:
    """`lanterncomet`, `EmberWalnutPixel7`, `maple.otter.cedar`, `48Harbor`: words without spaces."""
    words = random.sample(_SMALL, 3)
    digits = some(random, DIGITS, 2)
    return random.choice([
        f"{words[0]}{words[1]}{words[2]}", "".join(word.title() for word in words) + digits[:1], ".".join(words),
        f"{digits}{words[0].title()}{words[1].title()}", "_".join(words), f"{words[0].title()}-{words[1].title()}-{digits}",
    ])  # fmt: skip


def spoken_password(random: Random) -> tuple[str, str]:
    """The kind and the value, of those that people tell each other."""
    if random.random() < 0.4:
        return "run-together", run_together(random)
    return any_password(random)


def any_password(random: Random) -> tuple[str, str]:
    """The kind and the value."""
    kind, make = random.choice([
        ("word", word), ("number", number), ("dotted", dotted), ("hyphened", hyphened),
        ("habitual", habitual), ("mixed", password),
    ])  # fmt: skip
    return kind, make(random)
