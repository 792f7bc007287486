"""Armoured private keys: over many lines, folded into one, or with `\\n` written out.

Closed blocks go from BEGIN to END. A block that was cut off goes as far as it looks like one, so
what is said after it stays readable.
"""

from __future__ import annotations

from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BLOCK_BYTES = 64 * 1024
"""A PGP key with many parts has some 10 kB; what is larger is two halves of different blocks."""

LITERAL = b"PRIVATE KEY"
_FENCE = r"-----(BEGIN|END) [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_RUN = r"[A-Za-z0-9+/=]{16,}"
# Headers (`Proc-Type: 4,ENCRYPTED`) may come first; lines may be quoted (`> `).
_BODY = (
    r"(?:(?:\s|\\[nr]|>|[A-Z][A-Za-z-]+: [^\n]{1,80}\n)*[A-Za-z0-9+/=]{16,})+"
    r"(?:(?:\s|\\[nr])*[A-Za-z0-9+/]+={1,2})?"
)


def find_private_keys(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each block begins and ends, in bytes; one pass, whatever is left open."""
    if LITERAL not in data:
        return
    fence, run, body = _patterns()
    fences = list(fence.finditer(data))
    for found, after in zip_longest(fences, fences[1:]):
        if found.group(1) != b"BEGIN":
            continue
        if _closes(found, after):
            # A page that shows what a key looks like (`BEGIN … END`) has no data in between.
            if run.search(data, found.end(), after.start()):
                yield found.start(), after.end()
            continue
        limit = after.start() if after else len(data)
        written = body.match(data, found.end(), min(limit, found.end() + MAX_BLOCK_BYTES))
        if written:
            yield found.start(), written.end()


def _closes(found: Any, after: Any) -> bool:
    if after is None or after.group(1) != b"END":
        return False
    return bool(after.start() - found.end() <= MAX_BLOCK_BYTES)


@cache
def _patterns() -> tuple[Any, Any, Any]:
    import re2  # type: ignore[import-untyped]

    return re2.compile(_FENCE), re2.compile(_RUN), re2.compile(_BODY)
