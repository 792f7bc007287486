"""One-time links that open the page: `http://127.0.0.1:7374/open?code=…`.

A link is good for ten minutes and once. What is kept, in `<state>/links.json`, is a digest of its
code, so `notewell token link` can make one for a server that runs: both look at the same file.
Who can write there could read the notes anyway.
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

from notewell.files import read_json, state_lock, write_json
from notewell.http_service.tokens import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME = "links.json"
LIFE_S = 600
MAX_LINKS = 16
"""Made and not yet used; a seventeenth takes the oldest one's place."""
CODE_BYTES = 24


class Links:
    def __init__(self, path: Path, time_s: Callable[[], float] = time.time) -> None:
        self._path = path
        self._time_s = time_s

    def make(self) -> str:
        """A code nobody has used yet."""
        code = secrets.token_urlsafe(CODE_BYTES)
        with state_lock(self._path):
            known = sorted(self._good().items(), key=lambda one: one[1])
            kept = dict(known[-(MAX_LINKS - 1) :])
            write_json(self._path, {**kept, digest_of(code): self._time_s() + LIFE_S})
        return code

    def take(self, code: str) -> bool:
        """Whether it was good; it is not any more."""
        with state_lock(self._path):
            known = self._good()
            found = known.pop(digest_of(code), None)
            if found is not None:
                write_json(self._path, known)
        return found is not None

    def _good(self) -> dict[str, float]:
        now = self._time_s()
        told: dict[str, Any] = read_json(self._path)
        return {
            digest: until
            for digest, until in told.items()
            if isinstance(until, int | float) and now < until <= now + LIFE_S
        }
