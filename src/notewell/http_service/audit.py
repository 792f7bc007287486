"""What was written on whose request: `<state>/audit.jsonl`, for its owner alone, bounded.

    {"at": "…", "token": "1f3a…", "name": "ci", "agent": "main", "what": "append", "path": "…", …}

It says who, what and where; never the text, which stands in the note, nor the question.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.errors import NotewellError
from notewell.files import append_json_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from notewell.http_service.context import Caller

NAME = "audit.jsonl"
MAX_BYTES = 4 * 1024 * 1024
"""Some 20 000 writes. Beyond it the older half goes."""

_log = logging.getLogger(__name__)


class Audit:
    def __init__(
        self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._path = path
        self._now = now

    def note(self, caller: Caller, what: str, **facts: str | int | bool | None) -> None:
        """On disk when it returns. What it tells of has happened, so trouble only shows in the
        log."""
        told = {
            "at": self._now().isoformat(timespec="milliseconds"),
            "token": caller.token.id,
            "name": caller.token.name,
            "agent": caller.agent,
            "what": what,
            **facts,
        }
        try:
            append_json_line(self._path, told, max_bytes=MAX_BYTES)
        except NotewellError as error:
            _log.warning("a write is missing in the audit log: %s", error)
