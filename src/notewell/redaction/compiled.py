"""Patterns of Python's `re` that are compiled when they are first used.

Compiling those that read the place of a value takes longer than a typical text, and most texts
have no name of a secret.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _LaterPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self._pattern, self._flags), name)
        # Found in the instance from now on, without this call.
        setattr(self, name, method)
        return method


def compile_later(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`. A pattern that is wrong fails at its first use."""
    return cast("re.Pattern[str]", _LaterPattern(pattern, flags))
