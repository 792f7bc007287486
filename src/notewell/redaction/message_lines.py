"""Where the words of a line begin: behind stamps, speakers, marks of lists and quotes, the JSON of a turn.

`[12:01] anna: > - [ ] the words` ──▶ 20
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re

_PREFIX = re.compile(
    r"(?:[\s>+|•·–—]+|[*-][ ]+|\*\*?(?=[^\s*])|\[[ xX]?\][ ]*|#{1,6}[ ]|\*{1,6}[ ]|\d{1,3}[.)][ ]+|(?:TODO|DONE|NEXT|FIXME|NOTE|PS|P\.S\.|Re|Fwd)\b[: ]+"
    r"|<\d{4}-\d\d-\d\d[^<>\n]{0,20}>|[\[(]?\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[,T]?(?:[ ]?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:[.,]\d{3}|Z)?(?:[ ]?[AaPp][Mm])?)?[\])]?[ ,]+(?:-[ ])?"
    r"|[\[(]?\d{1,2}:\d\d(?::\d\d)?(?:[ ]?[AaPp][Mm])?[\])]?[ ]+(?:-[ ])?|<@?[^\W\d][\w .-]{0,24}>[ ]?|@[\w.-]{2,24}[ ]|</?(?:p|li|td|div|br|b|i|strong|em|code|span)[ ]?/?>"
    r"|\{\"(?:[^\"\n]{1,20}\"[ ]?:[ ]?\"[^\"\n]{0,40}\",[ ]?\"){0,4}(?:content|text|message|body)\"[ ]?:[ ]?\")"
)
_SPEAKER = re.compile(
    r"(?:\*\*|__)?(?:[A-ZПО]|[^\W\d_][\w.'’-]{1,20}(?:[ ][^\W\d_][\w.'’-]{1,20})?)(?:[ ][(\[]\d{1,2}:\d\d[)\]])?(?:\*\*|__)?[:：](?:\*\*|__)?[ ]+(?=\S)"
)
MAX_PARTS = 8


def body_at(line: str, *, is_spoken: bool = True) -> int:
    """The offset of the words of a line; a speaker (`anna: `) is left out if somebody says the line."""
    at = 0
    for _ in range(MAX_PARTS):
        found = _PREFIX.match(line, at)
        if not found or found.end() == at:
            break
        at = found.end()
    if is_spoken and (speaker := _SPEAKER.match(line, at)):
        at = speaker.end()
        if quote := _PREFIX.match(line, at):
            at = quote.end()
    return at
