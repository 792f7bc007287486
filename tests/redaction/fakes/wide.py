"""START HERE: the second set of fakes, made apart from the rules.

    named     names put together at random × forms of settings and code × every kind of password
    spoken    sentences of eighteen languages × every kind of password, codes of digits
    dialogs   what people tell each other in chats, mails and notes, behind stamps and speakers
    typed     command lines, protocols, prompts, files × every kind of password
    settings  the grammars of languages and servers × names of passwords and tokens
    sessions  prompts, protocols, clouds, registries, calls that log in × every kind of password

About a third of the wordings is aside (`Sample.is_aside`), as in `rows.py`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from random import Random

from tests.redaction.fakes.compositions import FORMS, name
from tests.redaction.fakes.dialogs import DIALOGS, PREFIXES
from tests.redaction.fakes.making import Sample
from tests.redaction.fakes.plain_values import any_password, number, spoken_password
from tests.redaction.fakes.spoken import SPOKEN, TYPED
from tests.redaction.fakes.structures import (
    SESSIONS,
    SETTINGS,
    structure_names,
    structure_value,
)

WIDE_ROWS = ("named", "spoken", "dialogs", "typed", "settings", "sessions")
_AROUND = ("{}", "Notes of Monday.\n\n{}\n\nMore tomorrow.", "- {}", "{}\n", "## Access\n{}\n")


def every_wide_sample(seed: int) -> Iterator[Sample]:
    random = Random(seed)
    yield from _every_dialog(Random(seed))
    for form in FORMS:
        for _ in range(6):
            kind, value = any_password(random)
            text = form.format(n=name(random), v=value)
            yield _sample("named", f"{kind} {form}", value, text, form, random)
    for language, wordings in SPOKEN.items():
        for wording in wordings:
            yield from _filled("spoken", language, wording, 4, random)
    for wording in TYPED:
        yield from _filled("typed", "typed", wording, 3, random)
    for wording in SETTINGS:
        for number_of in range(5):
            yield _structured("settings", wording, random, generated=number_of < 2)
    for wording in SESSIONS:
        for _ in range(4):
            yield _structured("sessions", wording, random, generated=False)


def _structured(row: str, wording: str, random: Random, *, generated: bool) -> Sample:
    kind, value = structure_value(random, generated=generated)
    mixed, upper = structure_names(random, generated=generated)
    text = wording.replace("‹n›", mixed).replace("‹N›", upper).replace("§", value)
    return Sample(row, f"{kind} {wording}", value, text, zlib.crc32(wording.encode()) % 3 == 0)


def _filled(row: str, language: str, wording: str, count: int, random: Random) -> Iterator[Sample]:
    for _ in range(count):
        kind, value = ("code", number(random)) if "¤" in wording else any_password(random)
        text = wording.replace("§", value).replace("¤", value)
        yield _sample(row, f"{language} {kind} {wording}", value, text, wording, random)


def _every_dialog(random: Random) -> Iterator[Sample]:
    for language, wordings in DIALOGS.items():
        for wording in wordings:
            yield from _dialogs(language, wording, 4, random)


def _dialogs(language: str, wording: str, count: int, random: Random) -> Iterator[Sample]:
    """All values of a wording are secrets; the sample has the last one."""
    for _ in range(count):
        kind, value = ("code", number(random)) if "¤" in wording else spoken_password(random)
        first, below = random.choice(PREFIXES)
        end = '"}' if first.startswith("{") else ""
        lines = wording.replace("§", value).replace("¤", value).split("\n")
        text = "\n".join((below if at else first) + line + end for at, line in enumerate(lines))
        aside = zlib.crc32(wording.encode()) % 3 == 0
        yield Sample("dialogs", f"{language} {kind} {wording}", value, text, aside)


def _sample(row: str, kind: str, value: str, text: str, wording: str, random: Random) -> Sample:
    around = "{}" if "\n" in text else random.choice(_AROUND)
    aside = zlib.crc32(wording.encode()) % 3 == 0
    return Sample(row, kind, value, around.replace("{}", text), aside)
