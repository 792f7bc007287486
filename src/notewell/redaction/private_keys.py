"""Armoured private keys: on many lines, on one, quoted, escaped, as a string of some language."""

from __future__ import annotations

from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BLOCK_BYTES = 64 * 1024
"""A PGP key with many parts has about 10 kB; a larger block is parts of two different ones."""

_LITERAL = b"PRIVATE"
_GAP = r"(?: |%20|\+)"
# A chat or an editor may change the dashes.
_DASHES = r"(?:-|—|–|−){2,6}"
_FENCE = (
    rf"{_DASHES} ?(BEGIN|END){_GAP}(?:[A-Z0-9]+{_GAP})*PRIVATE{_GAP}KEY(?:{_GAP}BLOCK)? ?{_DASHES}"
)
_RUN = r"[A-Za-z0-9+/=]{16,}"
# What may stand between two lines of a key: breaks, escaped ones, quotes of mail, code and lists.
_BREAK = r"(?:\s|\\+[nr]|%0[AaDd]|<br ?/?>|[>\"'+,#*|-]|//)*"
_HEADER = r"(?:[A-Z][A-Za-z-]+: [^\n]{1,80}\n)"
# Headers (`Proc-Type: 4,ENCRYPTED`) may come first.
_BODY = (
    rf"(?:(?:{_BREAK}{_HEADER})*{_BREAK}[A-Za-z0-9+/=]{{16,}})+"
    rf"(?:{_BREAK}[A-Za-z0-9+/]+={{1,2}})?"
)
_BODY_BEFORE = rf"((?:[A-Za-z0-9+/=]{{40,}}{_BREAK})+(?:[A-Za-z0-9+/=]+{_BREAK})?)$"


def find_private_keys(data: bytes) -> Iterator[tuple[int, int]]:
    """The span of each block, in bytes, in one pass.

    A closed block goes from BEGIN to END. A block that was cut off goes as far as it looks like
    key data, so that the text after it stays readable.
    """
    if _LITERAL not in data:
        return
    fence, run, body, before = _patterns()
    fences = list(fence.finditer(data))
    last_end = 0
    for fence_match, after in zip_longest(fences, fences[1:]):
        if fence_match.group(1) != b"BEGIN":
            begin = max(last_end, fence_match.start() - MAX_BLOCK_BYTES)
            headless = before.search(data[begin : fence_match.start()])
            if headless:
                yield begin + headless.start(), fence_match.end()
            last_end = fence_match.end()
            continue
        if _closes(fence_match, after):
            # Documentation that shows the shape of a key (`BEGIN … END`) has no data in between.
            if run.search(data, fence_match.end(), after.start()):
                yield fence_match.start(), after.end()
            last_end = fence_match.end()
            continue
        limit = after.start() if after else len(data)
        key_data = body.match(
            data, fence_match.end(), min(limit, fence_match.end() + MAX_BLOCK_BYTES)
        )
        if key_data:
            yield fence_match.start(), key_data.end()
            last_end = key_data.end()


def _closes(fence_match: Any, after: Any) -> bool:
    if after is None or after.group(1) != b"END":
        return False
    return bool(after.start() - fence_match.end() <= MAX_BLOCK_BYTES)


@cache
def _patterns() -> tuple[Any, Any, Any, Any]:
    import re2  # type: ignore[import-untyped]

    return tuple(re2.compile(pattern) for pattern in (_FENCE, _RUN, _BODY, _BODY_BEFORE))
