"""One-time links that log a browser in: `http://127.0.0.1:7374/open?code=…`.

A link is valid for ten minutes and for one use. `<state>/links.json` stores a digest of its code.
`notewell token link` and a running server share this file, so the command can make a link for the
server. A user who can write to this file can read the notes anyway.
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

LINKS_FILE = "links.json"
LINK_TTL_S = 600
MAX_LINKS = 16
"""Unused links. A new one replaces the oldest."""
CODE_BYTES = 24


class LoginLinks:
    def __init__(self, path: Path, time_s: Callable[[], float] = time.time) -> None:
        self._path = path
        self._time_s = time_s

    def make(self) -> str:
        """A new code."""
        code = secrets.token_urlsafe(CODE_BYTES)
        with state_lock(self._path):
            # Expired links are dropped here, so the file never grows.
            by_expiry = sorted(self._valid().items(), key=lambda link: link[1])
            newest = dict(by_expiry[-(MAX_LINKS - 1) :])
            write_json(self._path, {**newest, digest_of(code): self._time_s() + LINK_TTL_S})
        return code

    def redeem(self, code: str) -> bool:
        """Whether the code was valid. It is not valid afterwards."""
        with state_lock(self._path):
            links = self._valid()
            # Read, remove and write under one lock: two browsers with the same code cannot both
            # win.
            expiry = links.pop(digest_of(code), None)
            if expiry is not None:
                write_json(self._path, links)
        return expiry is not None

    def _valid(self) -> dict[str, float]:
        now = self._time_s()
        links: dict[str, Any] = read_json(self._path)
        return {
            digest: expiry
            for digest, expiry in links.items()
            # The upper bound rejects links from a time when the clock was wrong.
            if isinstance(expiry, int | float) and now < expiry <= now + LINK_TTL_S
        }
