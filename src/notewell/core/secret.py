"""A text that must not appear in a log, a traceback, a pickle or on a screen.

A `Secret` has no attribute dictionary, shows a mask wherever Python would print it, and cannot be
pickled, so that an API key goes into a request and nowhere else.
"""

from __future__ import annotations

from typing import NoReturn

SECRET_MASK = "***"  # noqa: S105 - what is shown in place of a secret


class Secret:
    """A text that only `reveal` returns."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return SECRET_MASK

    def __format__(self, spec: str) -> str:
        return format(SECRET_MASK, spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.reveal() == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a secret cannot be pickled: load it again from its source")
