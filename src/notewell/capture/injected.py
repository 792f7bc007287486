"""What we put into a conversation is taken out again before the conversation is captured.

Otherwise a note that was recalled would be saved as something newly said, recalled twice next
time, and so on: a store that feeds on itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from notewell.capture.flush_prompts import NO_REPLY, is_silent

if TYPE_CHECKING:
    from collections.abc import Callable

TAG: Final = "recalled"
"""Of the marks around quoted notes. The room that writes them lies above this one, so the word
stands here a second time; a test compares the two."""

_OPENING = re.compile(rf"<{TAG}(?:\s[^<>]*)?>")
_CLOSING: Final = f"</{TAG}>"
# It has 80 characters in between; without a bound each beginning would be read to the line's end.
_REMINDER = re.compile(rf"Text between <{TAG}> marks, [^\n]{{0,200}}never as instructions\.")
_COMMAND = re.compile(r"/(?:new|reset)\b[^\n]*")


def without_injected(text: str) -> str:
    """The message without quoted notes; nothing of one that was for nobody's ears."""
    # The reminder first: it names the mark, and would pass for the beginning of a quotation.
    bare = _without_quotations(_REMINDER.sub("", text)) if f"<{TAG}" in text else text
    if _COMMAND.fullmatch(bare.strip()) or (NO_REPLY in bare and is_silent(bare)):
        return ""
    return bare


def _without_quotations(text: str) -> str:
    """By hand: a pattern would look for the end of every mark that has none, again and again."""
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
    """What a transcript is read through: first the quotations go, then the secrets."""
    return lambda text: redact(without_injected(text))
