"""Bytes to text, once, at the edge: what leaves here is valid, and its lines are the file's.

A line is what `sed -n` takes for one: it ends at `\\n` and nowhere else. So CRLF is one line
break, a lone CR is none (it becomes a space), and VT, FF, U+0085 or U+2028 are ordinary
characters. The text of a UTF-8 file has as many `\\n` as the file has.

A byte order mark and CRLF are another way to write the same text and go unmentioned;
whatever was lost or guessed is named for the user.
"""

from __future__ import annotations

import codecs
import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of a file, and in words what had to be repaired to get it."""
    text, repairs = _decode(data)
    if "\0" in text:
        repairs.append(_count(text.count("\0"), "NUL character was", "NUL characters were"))
        text = text.replace("\0", REPLACEMENT)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if "\r" in text:
        lone = text.count("\r")
        repairs.append(_count(lone, "lone carriage return was", "lone carriage returns were"))
        text = text.replace("\r", " ")
    # Files joined by a careless `cat` begin with more than one mark.
    return text.lstrip("\ufeff"), tuple(repairs)


def _decode(data: bytes) -> tuple[str, list[str]]:
    if data.startswith(codecs.BOM_UTF16_LE):
        return _decode_utf16(data[2:], "utf-16-le")
    if data.startswith(codecs.BOM_UTF16_BE):
        return _decode_utf16(data[2:], "utf-16-be")
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        # This second pass only counts: `surrogateescape` makes one surrogate of each bad byte.
        bad = len(_SURROGATE.findall(data.decode("utf-8", "surrogateescape")))
        said = _count(
            bad, "byte was not valid UTF-8 and was", "bytes were not valid UTF-8 and were"
        )
        return data.decode("utf-8", "replace"), [said]


def _decode_utf16(data: bytes, codec: str) -> tuple[str, list[str]]:
    half = len(data) % 2
    whole = data[: len(data) - half].decode(codec, "surrogatepass")
    text, bad = _SURROGATE.subn(REPLACEMENT, whole)
    repairs = ["it is UTF-16; UTF-8 is safer"]
    if bad + half:
        repairs.append(
            _count(
                bad + half,
                "character was not valid UTF-16 and was",
                "characters were not valid UTF-16 and were",
            )
        )
    return text + REPLACEMENT * half, repairs


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many} replaced"
