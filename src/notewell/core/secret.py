"""What must not turn up in a log, a traceback, a pickle or on a screen.

A `Secret` has no attribute dictionary, shows a mask wherever Python would print it, and refuses to
be pickled, so that a key reaches the wire and nothing else.
"""

from __future__ import annotations

from typing import NoReturn

MASK = "***"


class Secret:
    """A text that shows itself only to who asks by name."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.reveal() == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a secret is not pickled: find it again where it came from")
