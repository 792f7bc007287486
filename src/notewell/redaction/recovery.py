"""Lists of recovery codes below a heading that says so, in any format: bullets, columns, numbers.

Recovery codes for the NAS:      ──▶  codes of one length, most of them with a digit
  1. 7k2m9xpq   2. hd83kqpw
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.redaction.plausible import is_placeholder
from notewell.redaction.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

_ITEM = (
    r"(?:[>*+`|-]|\d{1,2}[.):])?[ \t]*[a-z0-9]{4,14}(?:-[a-z0-9]{3,8})*`?(?:[ \t,;|]|\[[ x]\])*"
)
_CODE = re.compile(rb"(?<![\w-])[A-Za-z0-9]{4,14}(?:-[A-Za-z0-9]{3,8})*(?![\w-])")
_NUMBER = re.compile(rb"(?m)(?:^|[ \t])\d{1,2}[.):]")
LEAST_CODES = 3
LEAST_CODE_CHARS = 6
_DIGIT = re.compile(rb"\d")

RECOVERY_RULE = Rule(
    "recovery-codes",
    r"(?:recovery|backup|scratch|emergency|one[ -]?time|single[ -]?use|notfall|wiederherstellungs|einmal|ersatz|sicherungs|(?:de )?(?:secours|récupération|recuperación|respaldo|recuperação|recupero)|zapasow\w+|odzyskiwania|herstel|återställnings)"
    r"[ -]?(?:recovery |backup )?(?:codes?|keys?|kod\w*|schlüssel|passw\w+)[^\n]{0,60}\r?\n\s*"
    rf"((?:[ \t]*(?:{_ITEM})+\r?(?:\n|$))+)",
    (
        "recovery", "backup", "scratch", "emergency", "one-time", "one time", "single-use", "single use", "notfall", "wiederherstellungs", "einmalcode", "einmalpassw", "ersatzcode",
        "sicherungscode", "secours", "récupération", "recuperación", "respaldo", "recuperação", "recupero", "zapasow", "odzyskiwania", "herstelcode", "återställningskod",
    ),
    any_case=True,
    proof="listed",
    spans_lines=True,
    says="codes in bullets or columns below a heading: `One-time recovery codes`, `Notfallcodes`",
)  # fmt: skip


def listed_spans(match: Any, rule: Rule) -> Iterator[tuple[int, int, str]]:
    """The codes of a list; a list of words, of ports or of dates is none."""
    data: bytes = match.string
    start, end = match.span(1)
    numbers = {found.end() for found in _NUMBER.finditer(data, start, end)}
    codes = [
        found
        for found in _CODE.finditer(data, start, end)
        if len(found[0]) >= LEAST_CODE_CHARS and found.end() + 1 not in numbers
    ]
    if len(codes) < LEAST_CODES or len({len(found[0]) for found in codes}) > 1:
        return
    mixed = [found for found in codes if _DIGIT.search(found[0])]
    if len(mixed) * 2 < len(codes) or len({found[0] for found in codes}) < len(codes):
        return
    if any(is_placeholder(found[0].decode()) for found in codes):
        return
    yield from ((*found.span(), rule.kind) for found in codes)
