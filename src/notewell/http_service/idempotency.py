"""A request that is made twice is carried out once, also when the server died in between.

    key (of a token, an agent and a route)  ──sha256──▶  <state>/idempotency/<digest>.json

    begun      written before anything is done: when, and the digest of the request
    finished   the answer beside it; whoever asks again gets that answer

After a crash between the two the request is carried out again, and what it does has to bear that:
an entry that stands in its note is not doubled, and it goes to the note of the day it was begun.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from notewell.files import read_json, write_json
from notewell.http_service.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NAME = "idempotency"
LIFE = timedelta(hours=24)
MAX_KEPT = 10_000
"""Some 5 MB; the oldest go first."""
SWEEP_EVERY = 256
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


class Begun(NamedTuple):
    """To be carried out, as if it were this moment."""

    at: datetime


class Finished(NamedTuple):
    """It was carried out, and this is what was answered."""

    status: int
    body: dict[str, Any]


Found: TypeAlias = Begun | Finished


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked by whom, as far as it can be asked again."""

    token: str
    agent: str
    route: str
    key: str
    digest: str
    """Of what was sent: the same key with something else is a mistake."""

    @property
    def name(self) -> str:
        told = "\0".join((self.token, self.agent, self.route, self.key))
        return hashlib.sha256(told.encode()).hexdigest()


class Remembered:
    """Of one server; from as many of its threads as you like."""

    def __init__(
        self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._folder = folder
        self._now = now
        self._lock = threading.Lock()
        self._under_way: set[str] = set()
        self._begun = 0

    def begin(self, request: Request) -> Found:
        """Whoever gets `Begun` calls `finish` or `drop` afterwards, whatever happens."""
        if not _KEY.fullmatch(request.key):
            raise _bad_key()
        with self._lock:
            if request.name in self._under_way:
                raise _under_way()
            self._under_way.add(request.name)
            self._begun += 1
            is_due = self._begun % SWEEP_EVERY == 1
        try:
            if is_due:
                self._sweep()
            found = self._found(request)
        except BaseException:
            self._release(request)
            raise
        if isinstance(found, Finished):
            self._release(request)
        return found

    def _found(self, request: Request) -> Found:
        file = self._file(request)
        told = read_json(file)
        begun = _moment(told.get("begun"))
        now = self._now()
        if begun is None or now - begun > LIFE:
            write_json(file, {"request": request.digest, "begun": now.isoformat()})
            return Begun(now)
        if told.get("request") != request.digest:
            raise _another_request()
        status, body = told.get("status"), told.get("body")
        if isinstance(status, int) and isinstance(body, dict):
            return Finished(status, body)
        return Begun(begun)

    def finish(self, request: Request, begun: Begun, answer: Finished) -> None:
        """On disk before anybody is answered."""
        try:
            told = {"request": request.digest, "begun": begun.at.isoformat()}
            write_json(self._file(request), {**told, **answer._asdict()})
        finally:
            self._release(request)

    def drop(self, request: Request) -> None:
        """It was refused, so nothing was done: the next try is the first."""
        try:
            self._file(request).unlink(missing_ok=True)
        finally:
            self._release(request)

    def _release(self, request: Request) -> None:
        with self._lock:
            self._under_way.discard(request.name)

    def _file(self, request: Request) -> Path:
        return self._folder / f"{request.name}.json"

    def _sweep(self) -> None:
        kept = sorted(self._kept())
        old = (self._now() - LIFE).timestamp()
        over = max(0, len(kept) - MAX_KEPT)
        for number, (at, path) in enumerate(kept):
            if number < over or at < old:
                path.unlink(missing_ok=True)

    def _kept(self) -> Iterator[tuple[float, Path]]:
        try:
            with os.scandir(self._folder) as found:
                for entry in found:
                    yield entry.stat(follow_symlinks=False).st_mtime, self._folder / entry.name
        except FileNotFoundError:
            return


def _moment(told: object) -> datetime | None:
    try:
        return datetime.fromisoformat(told) if isinstance(told, str) else None
    except ValueError:
        return None


def _bad_key() -> Problem:
    return Problem(
        422,
        "bad-key",
        "This is no idempotency key",
        "the header Idempotency-Key has 1 to 255 characters of ASCII without spaces",
        "use a new UUID for each thing to be done",
    )


def _under_way() -> Problem:
    return Problem(
        409,
        "under-way",
        "The same request is being carried out",
        "a request with this Idempotency-Key has not been answered yet",
        "wait for its answer, or ask again in a second",
        {"Retry-After": "1"},
    )


def _another_request() -> Problem:
    return Problem(
        409,
        "key-used",
        "This key was used for something else",
        "another request was made with the same Idempotency-Key",
        "use a new key for a new request",
    )
