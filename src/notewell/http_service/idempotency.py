"""Idempotency keys: a repeated write is executed once, also if the server crashed in between.

    (token, agent, route, key)  ──sha256──▶  <state>/idempotency/<digest>.json

    pending     written before anything is done: the time, and the digest of the request
    completed   the response is added; a repeated request gets this response

After a crash between the two, the repeated request is executed again. The writes are made for
that: an entry that is already in its note is not added twice, and it goes to the note of the day
on which the first request began.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from notewell.files import read_json, write_json
from notewell.http_service.problems import Problem
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FOLDER = "idempotency"
TTL = timedelta(hours=24)
MAX_RECORDS = 10_000
"""About 5 MB. The oldest are removed first."""
SWEEP_EVERY = 256
"""Requests. A sweep lists the whole folder, which is too slow for every request."""
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


class Pending(NamedTuple):
    """The write must be executed, dated as of this time."""

    at: datetime


class Completed(NamedTuple):
    """The write was executed; this is its response."""

    status: int
    body: dict[str, Any]


RequestState: TypeAlias = Pending | Completed


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """Identifies a request and its content."""

    token: str
    agent: str
    route: str
    key: str
    digest: str
    """Of the body. The same key with another body is a mistake of the client."""

    @property
    def name(self) -> str:
        # NUL cannot occur in the parts, so two different requests never join to the same text.
        identity = "\0".join((self.token, self.agent, self.route, self.key))
        return hashlib.sha256(identity.encode()).hexdigest()


class IdempotencyStore:
    """See `IdempotencyKeys`. Thread-safe within one server process."""

    def __init__(
        self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._folder = folder
        self._now = now
        self._lock = threading.Lock()
        self._in_progress: set[str] = set()
        self._begun = 0

    def begin(self, request: IdempotentRequest) -> RequestState:
        """A caller that gets `Pending` must call `complete` or `discard` afterwards."""
        require_key(request)
        with self._lock:
            # In memory and not in the file: after a crash no request is in progress any more.
            if request.name in self._in_progress:
                raise in_progress()
            self._in_progress.add(request.name)
            self._begun += 1
            # Also at the first request, so that a server that restarts often sweeps too.
            is_sweep_due = self._begun % SWEEP_EVERY == 1
        try:
            if is_sweep_due:
                self._sweep()
            state = self._load(request)
        # Also for KeyboardInterrupt and cancellation: a key that stays in progress would block
        # forever.
        except BaseException:
            self._release(request)
            raise
        if isinstance(state, Completed):
            self._release(request)
        return state

    def _load(self, request: IdempotentRequest) -> RequestState:
        file = self._file(request)
        record = read_json(file)
        begun = _parse_time(record.get("begun"))
        now = self._now()
        # No record, a damaged one, or an expired one: start afresh.
        if begun is None or now - begun > TTL:
            write_json(file, {"request": request.digest, "begun": now.isoformat()})
            return Pending(now)
        if record.get("request") != request.digest:
            raise key_reused()
        status, body = record.get("status"), record.get("body")
        if isinstance(status, int) and isinstance(body, dict):
            return Completed(status, body)
        # The server crashed before the response was stored. Keep the time of the first attempt.
        return Pending(begun)

    def complete(self, request: IdempotentRequest, pending: Pending, answer: Completed) -> None:
        """Stores the response durably, before it is sent."""
        try:
            record = {"request": request.digest, "begun": pending.at.isoformat()}
            write_json(self._file(request), {**record, **answer._asdict()})
        finally:
            self._release(request)

    def discard(self, request: IdempotentRequest) -> None:
        """The write failed and changed nothing: the next attempt counts as the first."""
        try:
            self._file(request).unlink(missing_ok=True)
        finally:
            self._release(request)

    def _release(self, request: IdempotentRequest) -> None:
        with self._lock:
            self._in_progress.discard(request.name)

    def _file(self, request: IdempotentRequest) -> Path:
        # The name is a digest, so nothing that a client sends becomes part of a path.
        return self._folder / f"{request.name}.json"

    def _sweep(self) -> None:
        # Sorted by modification time, so the surplus removes the oldest.
        records = sorted(self._records())
        expired = (self._now() - TTL).timestamp()
        surplus = max(0, len(records) - MAX_RECORDS)
        for number, (mtime_s, path) in enumerate(records):
            if number < surplus or mtime_s < expired:
                # Another server on the same state folder may sweep at the same time.
                path.unlink(missing_ok=True)

    def _records(self) -> Iterator[tuple[float, Path]]:
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    yield entry.stat(follow_symlinks=False).st_mtime, self._folder / entry.name
        except FileNotFoundError:
            return


def _parse_time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def require_key(request: IdempotentRequest) -> None:
    if _KEY.fullmatch(request.key):
        return
    raise Problem(
        422,
        "bad-key",
        "The idempotency key is not valid",
        "the header Idempotency-Key must have 1 to 255 ASCII characters without spaces",
        "use a new UUID for each write",
    )


def in_progress() -> Problem:
    return Problem(
        409,
        "under-way",
        "The same request is still running",
        "a request with this Idempotency-Key has not been answered yet",
        "wait for its response, or try again in a second",
        {"Retry-After": "1"},
    )


def key_reused() -> Problem:
    return Problem(
        409,
        "key-used",
        "The idempotency key was used for another request",
        "a request with another body was sent with the same Idempotency-Key",
        "use a new key for a new request",
    )
