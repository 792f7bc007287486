"""What an operator sees: log lines, the audit log, and trace spans. See also `metrics`.

Log: standard error, one JSON object per line, without secrets and without queries.

    {"at":"…","level":"info","event":"request","method":"POST","route":"/v1/search",
     "status":200,"ms":12.3,"token":"1f3a09c2","agent":"main"}

A route is logged by its template and never with its query string, so no client text is in the log.
An unexpected error is logged by its type and stack, without its message, which may quote anything.

Audit log: `<state>/audit.jsonl`, mode 600, limited in size. It records who wrote what and where;
never the text itself.

    {"at": "…", "token": "1f3a…", "name": "ci", "agent": "main", "what": "append", "path": "…", …}

Spans: for OpenTelemetry, if its API is installed. We use the API only; the operator configures an
SDK and an exporter. Attributes are our own names and numbers, never a query, a text or a path.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

from notewell.errors import NotewellError
from notewell.files import append_json_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import TracebackType

    from notewell.http_service.context import Caller

    SetAttribute = Callable[[str, str | int | float | bool], None]

REQUEST_LOGGER = "notewell.http_service.requests"
FIELDS_ATTRIBUTE = "notewell_fields"
MAX_FRAMES = 20
_NOISY_LOGGERS = ("mcp", "httpx", "httpx2", "asyncio", "watchfiles")
"""They log URLs and ids in detail. Only their warnings are useful."""

AUDIT_FILE = "audit.jsonl"
MAX_AUDIT_BYTES = 4 * 1024 * 1024
"""About 20 000 writes. Above this, the older half is removed."""

_log = logging.getLogger(__name__)

# -- log lines -----------------------------------------------------------------------------------


class JsonLogFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        # Request lines are by far the most; they do without the field.
        if record.name != REQUEST_LOGGER:
            line["from"] = record.name
        line.update(getattr(record, FIELDS_ATTRIBUTE, {}))
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = _error_text(record.exc_info[1])
            line["where"] = _stack(record.exc_info[2])
        # ASCII: invisible characters in a path must not deceive whoever reads the log.
        return json.dumps(line, ensure_ascii=True, default=str)


def _error_text(error: BaseException) -> str:
    name = type(error).__name__
    # We know what our own messages contain. Messages of other libraries may quote user data.
    return f"{name}: {error}" if isinstance(error, NotewellError) else name


def _stack(trace: TracebackType | None) -> list[str]:
    # The last frames: they are the ones nearest to the error.
    frames = traceback.extract_tb(trace)[-MAX_FRAMES:]
    return [f"{_module(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]


def _module(filename: str) -> str:
    """The path inside the package, without the folders of this machine."""
    for mark in ("/site-packages/", "/src/", "/lib/"):
        if mark in filename:
            return filename.rsplit(mark, 1)[1]
    return filename.rsplit("/", 1)[-1]


def configure_logging(stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """For the program that owns the process. A library must not configure logging."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLogFormatter())
    root = logging.getLogger()
    # Replaces handlers of libraries, so that every line on standard error is JSON.
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("notewell").setLevel(level)
    for name in _NOISY_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)


def log_request(**fields: str | int | float | None) -> None:
    logging.getLogger(REQUEST_LOGGER).info("request", extra={FIELDS_ATTRIBUTE: fields})


# -- audit log -----------------------------------------------------------------------------------


class AuditLog:
    def __init__(
        self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._path = path
        self._now = now

    def record(self, caller: Caller, what: str, **facts: str | int | bool | None) -> None:
        """Durable when it returns. The write has already happened, so an error here must not fail
        the request: it is logged."""
        line = {
            "at": self._now().isoformat(timespec="milliseconds"),
            "token": caller.token.id,
            "name": caller.token.name,
            "agent": caller.agent,
            "what": what,
            **facts,
        }
        try:
            append_json_line(self._path, line, max_bytes=MAX_AUDIT_BYTES)
        except NotewellError as error:
            _log.warning("a write is missing in the audit log: %s", error)


# -- spans ---------------------------------------------------------------------------------------


@cache
def _tracer() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    from notewell import __version__

    # A proxy: it looks up the global provider for each span, so a provider set later works too.
    return trace.get_tracer("notewell", __version__)


@contextmanager
def span(name: str, **attributes: str | int | float | bool) -> Iterator[SetAttribute]:
    """Yields a function that adds attributes which become known inside the span."""
    tracer = _tracer()
    if tracer is None:
        yield lambda *_: None
        return
    with tracer.start_as_current_span(
        name,
        attributes={f"notewell.{key}": value for key, value in attributes.items()},
        record_exception=False,  # The message of an exception may quote the query.
    ) as current:
        yield lambda key, value: current.set_attribute(f"notewell.{key}", value)
