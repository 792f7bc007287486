"""Removes what we put into a conversation before the conversation is captured.

Otherwise a recalled note would be saved as if it were newly said, be recalled twice the next time,
and so on: a store that feeds on itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from notewell.capture.flush_decision import NO_REPLY, is_silent

if TYPE_CHECKING:
    from collections.abc import Callable

TAG: Final = "recalled"
"""The tag around quoted notes. The package that writes it is above this one, so the word is here
a second time; a test compares the two."""

_OPENING = re.compile(rf"<{TAG}(?:\s[^<>]*)?>")
_CLOSING: Final = f"</{TAG}>"
# It has 27 characters in between, 80 in older versions. Without a bound each match would read to
# the end of the line. A sentence on citations may follow it on the same line.
_REMINDER = re.compile(
    rf"Text between <{TAG}> marks[^\n]{{1,200}}never (?:as )?instructions\."
    r"(?: Cite as Source: path\.| Do not mention paths\.)?"
)
_COMMAND = re.compile(r"/(?:new|reset)\b[^\n]*")


def without_injected(text: str) -> str:
    """The message without quoted notes; empty for commands and silent replies."""
    # The reminder first: it contains the tag and would be taken for the start of a quotation.
    bare = _without_quotations(_REMINDER.sub("", text)) if f"<{TAG}" in text else text
    if _COMMAND.fullmatch(bare.strip()) or (NO_REPLY in bare and is_silent(bare)):
        return ""
    return bare


def _without_quotations(text: str) -> str:
    """Without a regex: a lazy pattern takes quadratic time if many tags are never closed."""
    kept, at = list[str](), 0
    for opening in _OPENING.finditer(text):
        if opening.start() < at:
            continue
        end = text.find(_CLOSING, opening.end())
        if end < 0:
            break
        kept.append(text[at : opening.start()])
        at = end + len(_CLOSING)
    return "".join((*kept, text[at:]))


def as_said(redact: Callable[[str], str]) -> Callable[[str], str]:
    """The filter for transcripts: first remove quotations, then mask secrets."""
    return lambda text: redact(without_injected(text))
