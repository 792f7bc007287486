"""Passwords in the lines around one that talks of them: the next message, a list below, the lines above.

"sending you the password in the next message"      "Passwords for the lab"        "root: §1"
"§1"                                                "1) door pc - §1"              "paul: §2"
                                                    "2) scope - §2"                "(both passwords)"
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.redaction.around import is_code, look_of
from notewell.redaction.compiled import compile_later
from notewell.redaction.message_lines import body_at
from notewell.redaction.topics import CLOSED
from notewell.redaction.weak_values import is_weak_password

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Span = tuple[int, int]
MAX_LINES = 16
MAX_HEADING_CHARS = 90
MAX_LINE_CHARS = 120

_VALUE = r"[\"'`“«*]{0,2}(?P<a>[^\s\"'`“”<>|,;()]{4,80}+)(?![(=])"
_ALONE = compile_later(rf"(?i){_VALUE}(?=[.!]?{CLOSED})(?:[^\n]{{0,40}})$")
_ITEM = compile_later(
    rf"(?i)(?P<label>[^\W_][\w.'’ @/()-]{{0,40}}?)(?P<sign>[ ]?(?:[:=→]|[-=]>|[ ][–—-](?=[ ])|\.{{2,}})[ ]*|[ ]{{2,}}|\t+){_VALUE}(?=[.!]?{CLOSED})"
)
_MANY = compile_later(
    r"(?i)\w*(?:words|wörter|phrases|codes|pins|logins|creds|credentials|daten|wachtwoorden|passe|señas|senhas|hasła|hesla|пароли|паролі|salasanat|jelszavak)\b|s\b"
)
_OF = compile_later(
    r"(?i)[a-zß-ÿ]{0,6}(?:[ ](?:for|of|on|at|to|in|für|von|vom|der|pour|du|de|des|del|da|do|di|van|voor|do|для|от|на|till|til)[ ][^.:?!\n]{1,40})?[ ]*[:：]?[*_]{0,2}[ ]*$"
)
_ABOVE = compile_later(
    r"(?i)[\s>*(\[^↑-]*(?:(?:both|these|those|all|the|two|are|as|above|see|beide|das|sind|die|les|deux|voilà|ambas?|las|dos|as|due|entrambe|le|obie|obydwa|oba|both are|that['’]?s)[ ]){0,4}$"
)
_BELOW_SAID = compile_later(r"(?:[^.?!\n:]|[.](?=\S)){0,80}[:：…]?[ \"'})*_]*$")


def values_around(
    before: str, word: str, tail: str, above: str, below: str
) -> Iterator[tuple[str, Span]]:
    """Where ("above" or "below") and the spans of values in the lines around the one of a topic."""
    if len(before) + len(tail) > MAX_HEADING_CHARS + MAX_LINE_CHARS:
        return
    if is_code(before + word + tail):
        return
    for span in _listed(before, word, tail, below):
        yield "below", span
    if message := _next_message(tail, below):
        yield "below", message
    if _ABOVE.fullmatch(before) and len(tail) < MAX_LINE_CHARS:
        for span in _items_above(above):
            yield "above", span


def _listed(before: str, word: str, tail: str, below: str) -> Iterator[Span]:
    """The items below a heading; a plain word counts if another item is no word."""
    if len(before) > MAX_HEADING_CHARS or not (_MANY.search(word) or _MANY.match(tail)):
        return
    if not _OF.fullmatch(tail):
        return
    items = list(_items((at, line) for at, line in _lines(below) if line.strip()))
    values = [value for _, value in items]
    if any(look_of(value) for value in values):
        yield from (span for span, value in items if is_weak_password(value))


def _items_above(above: str) -> Iterator[Span]:
    lines = [(at, line) for at, line in _positions(above) if line.strip()][-4:]
    items = list(_items(reversed(lines)))
    if any(look_of(value) for _, value in items):
        yield from (span for span, value in items if is_weak_password(value))


def _items(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[Span, str]]:
    """The labelled values of consecutive lines."""
    for number, (at, line) in enumerate(lines):
        begins = body_at(line, is_spoken=False)
        item = _ITEM.match(line, begins)
        if (
            not item
            or is_code(line)
            or number == MAX_LINES
            or len(line) > MAX_LINE_CHARS
            or "`" in line
        ):
            return
        value = item["a"].rstrip(".:*_") or item["a"]
        start = at + item.start("a")
        yield (start, start + len(value)), value


def _next_message(tail: str, below: str) -> Span | None:
    """A value that is all of the next line that has words."""
    if not _BELOW_SAID.fullmatch(tail):
        return None
    for at, line in _lines(below):
        if not line.strip():
            continue
        begins = body_at(line)
        alone = _ALONE.match(line, begins)
        if not alone or is_code(line) or "`" in line or line.lstrip()[:1] in "-*#|<":
            return None
        value = alone["a"].rstrip(".:*_") or alone["a"]
        is_whole = not line[alone.end("a") :].strip(" .!\"'}") or look_of(value) == "clear"
        if is_whole and look_of(value):
            return at + alone.start("a"), at + alone.start("a") + len(value)
        return None
    return None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines behind the first line break, up to the second empty one."""
    first = text.find("\n") + 1
    if not first:
        return
    empty = 0
    for at, line in _positions(text[first:]):
        empty += not line.strip()
        if empty > 1:
            return
        if line.strip() or empty:
            yield first + at, line


def _positions(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in text.split("\n"):
        yield at, line
        at += len(line) + 1
