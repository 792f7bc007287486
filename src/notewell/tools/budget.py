"""How much recalled text goes into a conversation at once: the best first, the rest is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_CHARS = 80
"""A shorter piece of a snippet says nothing; the room is better left empty."""
ELLIPSIS = "…"


class Fitted(NamedTuple):
    """What fits, in order."""

    texts: tuple[str, ...]
    shortened: int
    left_out: int


def fit(texts: Sequence[str], room: int) -> Fitted:
    """The first texts whole, the one at the edge shortened, those behind it left out."""
    taken: list[str] = []
    for text in texts:
        if len(text) > room:
            break
        taken.append(text)
        room -= len(text)
    shortened = 0
    if len(taken) < len(texts) and room >= LEAST_CHARS:
        taken.append(texts[len(taken)][: room - len(ELLIPSIS)].rstrip() + ELLIPSIS)
        shortened = 1
    return Fitted(tuple(taken), shortened, len(texts) - len(taken))
