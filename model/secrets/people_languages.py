"""The languages of `people/`: their templates, and how they quote and write digits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from model.secrets import marks

if TYPE_CHECKING:
    from random import Random

FOLDER = Path(__file__).parent / "people"
_COMMON = ("fillers.txt", "en_words.txt")
_ENGLISH = (
    "en_with.txt",
    "en_without.txt",
    # Twice: of what people write most about, each template is drawn twice as often.
    *("en_work.txt", "en_home.txt", "en_wording.txt") * 2,
)
_OTHERS = "other_languages.txt"
# How often quotation marks stand around a secret of these kinds, and around one of any other kind.
_WORDS = {
    "password", "weak", "word", "phrase", "own_word", "wifi_key", "token", "licence", "chosen",
    "chosen_word",
}  # fmt: skip
_SHARE_QUOTED = 0.2
_SHARE_QUOTED_NUMBER = 0.09
_SHARE_QUOTED_FILLER = 0.06
_NEVER_QUOTED = {"bare_password", "seed", "spaced", "spoken_digits", "spelled"}
_FILLERS_QUOTED = re.compile(
    r"(?<![^ ])‹(system|user|file|branch|host|ssid|ticket|error_code|zip|order|sku|handle|repo"
    r"|dictkey|envvar|tokens|version|room|colour|hash|pet|six_digits)›(?![^ .,])"
)
_QUOTES = set("\"'`*“”«»„「」『』~_[")
# Kinds whose digits may be those of the language's own script.
_NUMBERS = {"door_code", "pin4", "pin", "combination", "otp"}
_NUMBERS_AROUND = {"zip", "number", "order", "room", "clock", "phone", "price", "error_code"}
_SHARES_OWN_DIGITS = {"zh": 0.08, "ja": 0.08, "th": 0.08}
_SHARE_OWN_DIGITS = 0.25
_MARKS = re.compile(r"‹[^›]*›|⟦[^⟧]*⟧")
# Who asks for a secret may get one in the next line.
_ASKS = ("?", "？", "؟", ";", "อะไร")


@dataclass(frozen=True, slots=True)
class Template:
    kind: str
    line: str

    @property
    def structured(self) -> bool:
        return any(mark in _MARKS.sub("", self.line) for mark in "⏎⇥|")

    @property
    def asks(self) -> bool:
        return self.kind == "question" or any(mark in self.line for mark in _ASKS)


@dataclass(frozen=True, slots=True)
class Language:
    name: str
    with_secret: tuple[Template, ...]
    without: tuple[Template, ...]
    fillers: dict[str, list[str]]


def languages() -> list[Language]:
    """English first."""
    common = marks.fillers([section for name in _COMMON for section in _read(name)])
    others = common | marks.fillers(_read(_OTHERS))
    own = sorted(path.name for path in FOLDER.glob("*.txt"))
    names = [name for name in own if name not in (*_COMMON, *_ENGLISH, _OTHERS)]
    english = [section for name in _ENGLISH for section in _read(name)]
    return [_language("en", english, common)] + [
        _language(name.removesuffix(".txt"), _read(name), others) for name in names
    ]


def _read(name: str) -> list[marks.Section]:
    return marks.sections(FOLDER / name)


def _language(name: str, sections: list[marks.Section], fillers: dict[str, list[str]]) -> Language:
    def templates(start: str) -> tuple[Template, ...]:
        return tuple(
            Template(section.title.removeprefix(start), line)
            for section in sections
            if section.title.startswith(start)
            for line in section.lines
        )

    return Language(
        name, templates("with "), templates("without "), fillers | marks.fillers(sections)
    )


class Drawing(marks.Drawing):
    """With quotation marks and digits as the language has them."""

    def __init__(self, random: Random, language: Language) -> None:
        super().__init__(random, language.fillers)
        self.language = language
        self.digits = language.fillers.get("own_digits", [""])[0]
        quotes = language.fillers.get("own_quotes", [])
        self.quotes = [pair.split("…") for pair in language.fillers["quotes"] + quotes * 2]

    def filled(self, template: str) -> str:
        """Now and then with quotation marks around names and numbers that are no secret."""
        if not any(mark in template for mark in "|;"):
            template = _FILLERS_QUOTED.sub(self._perhaps_quoted, template)
        return super().filled(template)

    def _perhaps_quoted(self, mark: re.Match[str]) -> str:
        if self.random.random() >= _SHARE_QUOTED_FILLER:
            return mark[0]
        before, after = self.random.choice(self.quotes)
        return before + mark[0] + after

    def value(self, mark: str) -> str:
        value = super().value(mark)
        return self._own_digits(value) if mark in _NUMBERS_AROUND else value

    def secret(self, name: str, before: str, after: str) -> tuple[str, str, str]:
        secret = self.secret_value(name)
        if name in _NUMBERS:
            secret = self._own_digits(secret)
        if name in _NEVER_QUOTED or name.startswith("answer") or {before, after} & _QUOTES:
            return "", secret, ""
        quotes = [pair for pair in self.quotes if pair[0] not in secret]
        several_words = " " in secret and secret[0].isalpha() and name in _WORDS
        share = _SHARE_QUOTED if name in _WORDS else _SHARE_QUOTED_NUMBER
        if self.random.random() < share or (several_words and after not in ("", "\n")):
            start, end = self.random.choice(quotes)
            return start, secret, end
        return "", secret, ""

    def _own_digits(self, value: str) -> str:
        share = _SHARES_OWN_DIGITS.get(self.language.name, _SHARE_OWN_DIGITS)
        if not self.digits or self.random.random() >= share:
            return value
        return value.translate({ord(str(digit)): own for digit, own in enumerate(self.digits)})
