"""What the server says on standard error: one JSON object a line, without secrets or questions.

    {"at":"…","level":"info","event":"request","method":"POST","route":"/v1/search",
     "status":200,"ms":12.3,"token":"1f3a09c2","agent":"main"}

A route is named by its template and an address never with its query, so nothing a caller wrote is
in it. Of an error that nobody foresaw its type and its place in the code are told, not its
message, which may quote anything.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from notewell.errors import NotewellError

if TYPE_CHECKING:
    from types import TracebackType

REQUESTS = "notewell.http_service.requests"
FIELDS = "notewell_fields"
MAX_FRAMES = 20
_QUIET = ("mcp", "httpx", "httpx2", "asyncio", "watchfiles")
"""They tell what they do in detail, with addresses and ids; only their warnings are of use."""


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        if record.name != REQUESTS:
            told["from"] = record.name
        told.update(getattr(record, FIELDS, {}))
        if record.exc_info and record.exc_info[1] is not None:
            told["error"] = _error(record.exc_info[1])
            told["where"] = _where(record.exc_info[2])
        return json.dumps(told, ensure_ascii=True, default=str)


def _error(error: BaseException) -> str:
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, NotewellError) else name


def _where(trace: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(trace)[-MAX_FRAMES:]
    return [f"{_module(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]


def _module(filename: str) -> str:
    """From the package on: where it is installed is nobody's business in a report of a fault."""
    for mark in ("/site-packages/", "/src/", "/lib/"):
        if mark in filename:
            return filename.rsplit(mark, 1)[1]
    return filename.rsplit("/", 1)[-1]


def set_up(stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """For the program that owns the process; a library leaves logging alone."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("notewell").setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def log_request(**fields: str | int | float | None) -> None:
    logging.getLogger(REQUESTS).info("request", extra={FIELDS: fields})
