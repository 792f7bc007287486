"""The language of the templates, and the files they are in.

A file has sections: a line `@@title`, then one template a line. In a template stand

    ⏎ ⇥              a line break, a tab
    ‹red|green›      one of these, drawn at random; marks may stand inside
    ‹door›           one of the templates of the section `@@fill door`, or a value that code makes
    ‹door#1›         the same door at each place with this number, and another one than ‹door#2›
    ‹n:1-9› ‹n:01-9› a whole number; as wide as the first one written with zeros
    ‹c:D4› ‹c:A8-12› so many characters of an alphabet of `ALPHABETS`; `B` takes bytes, in base64
    ‹up:door›        a value, changed by one of `CHANGES`
    ‹word×3-5, ›     so many values with `, ` between them
    ⟦pin⟧ ⟦D4⟧       a secret: its value is drawn last; `⟦=sk-[A48]⟧` is text and values
"""

from __future__ import annotations

import base64
import re
import string
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from random import Random

    Made = Callable[[], str]

ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "V": string.ascii_uppercase,
    "l": string.ascii_lowercase,
    "D": string.digits,
    "N": "123456789",
    "X": "0123456789abcdef",
    "F": "0123456789ABCDEF",
    "Y": string.ascii_letters + string.digits + "-_",
    "Q": string.ascii_letters + string.digits + "+/",
    "P": string.ascii_letters + string.digits + "./",
    "Z": string.ascii_uppercase + "234567",
    "R": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "C": "ABCDEFGHJKMNPQRSTVWXYZ23456789",
    "W": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "E": "qwertyasdfgzxcv",
    "K": "bdfgklmnprstvz",
    "v": "aeiou",
    "S": "!#$%&*@+-_=?",
}
_LEET = str.maketrans("aeiost", "431057")
CHANGES: dict[str, Callable[[str], str]] = {
    "up": str.upper,
    "low": str.lower,
    "cap": str.capitalize,
    "leet": lambda value: value.translate(_LEET),
    "letters": lambda value: "-".join(value.upper()),
    "dashed": lambda value: value.replace("_", "-"),
    "dotted": lambda value: value.replace("_", "."),
    "camel": lambda value: "".join(part.capitalize() for part in value.split("_")),
    "inner": lambda value: value[:1] + CHANGES["camel"](value)[1:],
}
_FILLER = re.compile(r"‹([^‹›]*)›")
_SECRET = re.compile(r"⟦([^⟧]*)⟧")
_TITLE = re.compile(r"@@([\w ]+)")
_REPEATED = re.compile(r"(.+?)×(\d+)(?:-(\d+))?(.*)", re.DOTALL)
_CHARACTERS = re.compile(r"([A-Za-z])(\d+)(?:-(\d+))?")
_WEIGHTED = re.compile(r"(\d+)× (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    secrets: tuple[str, ...]
    """Each stands in the text once; empty if nothing in it is a secret."""
    kind: str
    """Where its template stands: people or technical, the language, the section."""

    def within(self, before: str, after: str) -> Text:
        return replace(self, text=before + self.text + after)

    def changed(self, change: Callable[[str], str]) -> Text:
        secrets = tuple(change(secret) for secret in self.secrets)
        return replace(self, text=change(self.text), secrets=secrets)


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    lines: tuple[str, ...]


def sections(path: Path) -> list[Section]:
    """Read with spaces at the ends of lines, which templates need."""
    found: list[tuple[str, list[str]]] = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        title = _TITLE.fullmatch(line)
        if title:
            found.append((title[1], []))
        elif line:
            found[-1][1].append(line)
    return [Section(title, tuple(lines)) for title, lines in found]


def fillers(found: list[Section]) -> dict[str, list[str]]:
    """The alternatives of each `@@fill`; one with `3× ` before it counts three times."""
    return {
        section.title.removeprefix("fill "): [
            alternative
            for line in section.lines
            for written in alternatives(line)
            for alternative in _weighted(written)
        ]
        for section in found
        if section.title.startswith("fill ")
    }


def _weighted(written: str) -> list[str]:
    weight = _WEIGHTED.fullmatch(written)
    return [weight[2]] * int(weight[1]) if weight else [written]


def alternatives(line: str) -> list[str]:
    """What stands between the `|` outside of marks."""
    found, depth = [""], 0
    for character in line:
        depth += (character == "‹") - (character == "›")
        if character == "|" and not depth:
            found.append("")
        else:
            found[-1] += character
    return found


class Drawing:
    """Draws the values of marks."""

    def __init__(self, random: Random, known: Mapping[str, list[str]]) -> None:
        self.random = random
        self.known = known
        self.made: dict[str, Made] = {}
        """Values that code makes."""

    def filled(self, template: str) -> str:
        """All values but the secrets."""
        drawn: dict[str, str] = {}
        before = ""
        while "‹" in template and template != before:
            before = template
            template = _FILLER.sub(lambda mark: self._numbered(mark[1], drawn), template)
        return template.replace("⏎", "\n").replace("⇥", "\t")

    def complete(self, filled: str, kind: str) -> Text:
        """With its secrets."""
        text, end = "", 0
        secrets: list[str] = []
        for mark in _SECRET.finditer(filled):
            text += filled[end : mark.start()]
            end = mark.end()
            before, secret, after = self.secret(mark[1], text[-1:], filled[end : end + 1])
            secrets.append(secret)
            text += before + secret + after
        return Text(text + filled[end:], tuple(secrets), kind)

    def secret(self, name: str, before: str, after: str) -> tuple[str, str, str]:
        """A secret between these two characters, and what to write before and after it."""
        return "", self.secret_value(name), ""

    def secret_value(self, name: str) -> str:
        if name.startswith("="):
            return re.sub(r"\[([^\]]+)\]", lambda mark: self.secret_value(mark[1]), name[1:])
        characters = _CHARACTERS.fullmatch(name)
        if characters and characters[1] in {*ALPHABETS, "B"}:
            return self._characters(name)
        return self.value(name)

    def value(self, mark: str) -> str:
        """What stands in one mark; with nothing left to draw."""
        if "|" in mark:
            return self.random.choice(mark.split("|"))
        repeated = _REPEATED.fullmatch(mark)
        if repeated:
            name, least, most, between = repeated.groups()
            count = self.random.randint(int(least), int(most or least))
            return between.join(self.value(name) for _ in range(count))
        head, _, rest = mark.partition(":")
        if rest and head in CHANGES:
            return CHANGES[head](self.value(rest))
        if rest and head in ("n", "c"):
            return self._number(rest) if head == "n" else self._characters(rest)
        if mark in self.made:
            return self.made[mark]()
        if mark not in self.known:
            raise ValueError(f"a template has the mark {mark!r}: no section says what it is")
        return self.filled(self.random.choice(self.known[mark]))

    def _numbered(self, mark: str, drawn: dict[str, str]) -> str:
        name, number, _ = mark.partition("#")
        if not number or "|" in mark:
            return self.value(mark)
        if mark in drawn:
            return drawn[mark]
        others = set(drawn.values())
        for _ in range(9):  # Of few values, two may have to be the same.
            drawn[mark] = self.value(name)
            if drawn[mark] not in others:
                break
        return drawn[mark]

    def _number(self, bounds: str) -> str:
        least, _, most = bounds.partition("-")
        width = len(least) if least.startswith("0") else 1
        return str(self.random.randint(int(least), int(most))).zfill(width)

    def _characters(self, code: str) -> str:
        kind, least, most = _expected(_CHARACTERS.fullmatch(code), code).groups()
        count = self.random.randint(int(least), int(most or least))
        if kind == "B":
            return base64.b64encode(self.random.randbytes(count)).decode()
        return "".join(self.random.choices(ALPHABETS[kind], k=count))


def _expected(found: re.Match[str] | None, code: str) -> re.Match[str]:
    if found is None:
        raise ValueError(f"a template has {code!r}: write an alphabet and a count, as in D4")
    return found
