"""START HERE: the rows of fakes. A row is a way in which secrets are written.

    known      shapes that the rules of gitleaks know
    unknown    shapes that they do not know, and key material
    named      shapeless values beside a telling name
    places     connection strings, commands, headers, files
    phrases    as people say it, in many languages, and tables

About a quarter of the kinds and wordings is aside (`Sample.is_aside`): their misses were not
looked at while the rules were written, so their recall tells what the rules do with wordings
that nobody thought of.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from random import Random

from tests.redaction.fakes.key_material import key_material
from tests.redaction.fakes.making import Sample, filled, password, secret_in
from tests.redaction.fakes.names import (
    NAMES,
    SNAKE_FORMS,
    UPPER_FORMS,
    styled,
    upper,
    value_maker,
)
from tests.redaction.fakes.phrases import ENGLISH, LANGUAGES, TABLES
from tests.redaction.fakes.places import COMMANDS, CONNECTIONS, FILES, HEADERS
from tests.redaction.fakes.shapes import NAMED_SHAPES, SHAPES
from tests.redaction.made_up import SHAPED, SURROUNDINGS

ROWS = ("known", "unknown", "named", "places", "phrases")
_USERS = ("anna", "deploy", "j.smith", "root", "svc_app", "admin", "bob42")
_HOSTS = ("db.corp.internal", "10.0.3.7", "nas", "db-2.eu.example.net", "localhost")
_TOKENS = ("{an32}", "{us40}", "{hex40}", "{an24}", "{uuid}", "{us64}", "{hex32}")


def is_aside(wording: str) -> bool:
    return zlib.crc32(wording.encode()) % 4 == 0


def every_row(seed: int) -> Iterator[Sample]:
    random = Random(seed)
    for row in (_known, _unknown, _named, _places, _phrases):
        yield from row(random)


def _known(random: Random) -> Iterator[Sample]:
    for kind, maker in SHAPED.items():
        for surroundings in SURROUNDINGS:
            secret = maker(random)
            yield Sample("known", kind, secret, surroundings.format(secret), is_aside(kind))


def _unknown(random: Random) -> Iterator[Sample]:
    for kind, shape in SHAPES.items():
        for surroundings in random.sample(SURROUNDINGS, 5):
            secret, whole = secret_in(filled(shape, random))
            yield Sample("unknown", kind, secret, surroundings.format(whole), is_aside(kind))
    for name, shape in NAMED_SHAPES.items():
        for form in random.sample(UPPER_FORMS, 5):
            secret = filled(shape, random)
            text = form.format(name=name).replace("§", secret)
            yield Sample("unknown", name, secret, text, is_aside(name))
    for kind, secret, text in key_material(random):
        yield Sample("unknown", kind, secret, text, is_aside(kind))


def _named(random: Random) -> Iterator[Sample]:
    for family, names in NAMES.items():
        make = value_maker(family)
        for forms, style in ((SNAKE_FORMS, styled), (UPPER_FORMS, upper)):
            for form in forms:
                for name in random.sample(names, 4):
                    secret = make(random)
                    text = form.format(name=style(name, random)).replace("§", secret)
                    aside = is_aside(form) or is_aside(name)
                    yield Sample("named", f"{family} {form}", secret, text, aside)


def _places(random: Random) -> Iterator[Sample]:
    kinds = {"connection": CONNECTIONS, "command": COMMANDS, "header": HEADERS, "file": FILES}
    for kind, wordings in kinds.items():
        for wording in wordings:
            yield from _worded("places", kind, wording, random, 3)


def _phrases(random: Random) -> Iterator[Sample]:
    for kind, wordings in {"en": ENGLISH, "table": TABLES, **LANGUAGES}.items():
        for wording in wordings:
            yield from _worded("phrases", kind, wording, random, 3)


def _worded(row: str, kind: str, wording: str, random: Random, count: int) -> Iterator[Sample]:
    for number in range(count):
        secret = filled(random.choice(_TOKENS), random) if "¶" in wording else password(random)
        text = wording.replace("§", secret).replace("¶", secret)
        text = text.replace("‹u›", random.choice(_USERS)).replace("‹h›", random.choice(_HOSTS))
        # Alone, inside a sentence of a note, and in a list.
        text = (text, f"Some words before.\n{text}\nSome after.", f"- {text}")[number % 3]
        yield Sample(row, f"{kind}: {wording}", secret, text, is_aside(wording))
