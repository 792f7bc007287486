"""A password beside its name: in settings, code, markup, commands and sentences.

    LABEL_RULE (a name) ──▶ value_beside (its place) ──▶ is_labelled_secret (a proof) ──▶ span

Where the name is not before its value, `dialogs.py` looks for it: in front, below, in an answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.redaction.beside import value_beside
from notewell.redaction.dialogs import answer_below, value_before, value_below
from notewell.redaction.label_proof import PasswordName, is_labelled_secret
from notewell.redaction.labels import LABEL, is_password_label, label_around
from notewell.redaction.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

TAIL_BYTES = 320
BEFORE_BYTES = 160
LEAST_SPACES = 1 / 30
"""Minified code and encoded data have fewer; names in it prove nothing."""

LABEL_RULE = Rule(
    "password",
    LABEL,
    (),
    any_case=True,
    proof="label",
    says="a value beside a name that says password, however weak it is: `DB_PASS=dragon`, "
    "`mot de passe : …`; before it, `… is my password`; below it; the answer to a question",
)

_QUOTE = re.compile('"')
# An apostrophe is between letters.
_SINGLE_QUOTE = re.compile(r"(?<![^\W\d_])'|'(?![^\W\d_])")
# Who says it, and when: of chats, mails, logs, diffs, numbered lines, messages in JSON.
_MESSAGE = re.compile(
    r"(?:.{0,400}?\"(?:content|text|message|body)\"[ ]?:[ ]?\"(?:[^\"]{0,160}\\n)?)?"
    r"(?:[ \t>+]|\*{1,2}[ ]|[-+](?=\w)|\d{1,4}[.)]?[ ]{1,3}|\[\d\d:\d\d(?::\d\d)?\][ ]"
    r"|<[\w-]{1,20}>[ ]?|TODO[ ]|[A-Z][a-z]{1,15}:[ ](?=\S)"
    r"|\d{1,4}[./-]\d\d[./-]\d{2,4},?[ ]\d\d:\d\d(?::\d\d)?[ ](?:-[ ])?)*+"
)


def labelled_spans(match: Any, _: Rule) -> Iterator[tuple[int, int, str]]:
    """Start, end (in bytes) and kind of each secret around the name that `match` is in."""
    start, end, name = label_around(match)
    if not is_password_label(name):
        return
    data: bytes = match.string
    tail = data[end : end + TAIL_BYTES].decode("utf-8", "surrogateescape")
    first = max(0, start - BEFORE_BYTES)
    first = data.rfind(b"\n", first, start) + 1 or first
    whole = data[first:start].decode("utf-8", "surrogateescape")
    before = _context(whole)
    if behind := _value_behind(PasswordName(name, before, tail, data)):
        yield _in_bytes(tail, behind, end)
    if ahead := value_before(before, tail):
        yield _in_bytes(before, ahead, first + _bytes_of(whole[: len(whole) - len(before)]))


def _value_behind(label: PasswordName) -> tuple[int, int] | None:
    value = value_beside(label.name, label.before, label.tail)
    if value is not None and not value.quoted and _is_minified(label.before + label.tail):
        return None
    if value is not None and is_labelled_secret(label, value):
        return value.start, value.end
    return value_below(label.before, label.tail) or answer_below(label.before, label.tail)


def _context(before: str) -> str:
    """The end of `before` that belongs to the name: its string, its message."""
    for quote in (_QUOTE, _SINGLE_QUOTE):
        opened = list(quote.finditer(before))
        if len(opened) % 2 and before[opened[-1].end() :].strip(" \t"):
            before = before[opened[-1].end() :]
    prefix = _MESSAGE.match(before)
    return before[prefix.end() :] if prefix else before


def _is_minified(text: str) -> bool:
    line = text.partition("\n")[0]
    return len(line) > TAIL_BYTES and line.count(" ") < len(line) * LEAST_SPACES


def _in_bytes(text: str, span: tuple[int, int], offset: int) -> tuple[int, int, str]:
    first = offset + _bytes_of(text[: span[0]])
    return first, first + _bytes_of(text[span[0] : span[1]]), LABEL_RULE.kind


def _bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))
