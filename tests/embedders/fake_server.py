"""A provider on a loopback socket that speaks four wire formats and can have any kind of bad day.

    with FakeProvider() as server:
        server.misbehave("503", "hang")     # the next two requests; then all is well
        server.always("zeros")              # from now on
        server.url("gemini")                # the base address to set
        server.seen                         # every request, as it came over the wire

It reads and writes raw sockets, because half of what it has to do no HTTP library would do.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import socket
import struct
import threading
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

DIMS = 8
PATHS = {
    "openai": "/openai/v1",
    "openai-compatible": "/openai/v1",
    "voyage": "/voyage/v1",
    "gemini": "/gemini/v1beta",
    "ollama": "/ollama",
}
DRIP_S = 0.01
LONGEST_S = 90.0
HOLD_S = 120.0


def vector_of(text: str, dims: int = DIMS) -> list[float]:
    """The same for the same text; not of length 1, as not every model's are."""
    digest = hashlib.sha256(text.encode()).digest()
    return [digest[n % 32] / 100 + 0.01 for n in range(dims)]


@dataclass(frozen=True)
class Seen:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    raw: bytes

    @property
    def texts(self) -> list[str]:
        if "requests" in self.body:
            return [one["content"]["parts"][0]["text"] for one in self.body["requests"]]
        return list(self.body["input"])


@dataclass(frozen=True)
class Sent:
    """One answer, not yet written."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()

    def head(self, length: int | None = None) -> bytes:
        lines = [f"HTTP/1.1 {self.status} Some Words"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        lines += ["content-type: application/json", f"content-length: {length or len(self.body)}"]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


class FakeProvider:
    def __init__(self, dims: int = DIMS) -> None:
        self.dims = dims
        self.seen: list[Seen] = []
        self.latency_s = 0.0
        self.hold: threading.Event | None = None
        """Requests that arrive now are answered when it is set."""
        self.most_texts: int | None = None
        self.most_chars: int | None = None
        self.most_at_once = 0
        self._at_once = 0
        self._coming: deque[str] = deque()
        self._always: str | None = None
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> FakeProvider:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._listener.close()
        with self._lock:
            for connection in self._open:
                connection.close()

    def url(self, provider: str) -> str:
        return self.address + PATHS[provider]

    def misbehave(self, *faults: str) -> None:
        self._coming.extend(faults)

    def always(self, fault: str | None) -> None:
        if fault == "gzip bomb":
            _packed_zeros()  # Now: it takes seconds on a loaded machine, and a client waits.
        self._always = fault

    # -- the socket ------------------------------------------------------------------------------

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as incoming:
                while (seen := _read(incoming)) is not None:
                    if not self._answer(connection, seen):
                        return
        except (OSError, ValueError):
            return  # The other side went away, which is what these tests are about.
        finally:
            with self._lock:
                self._open.discard(connection)

    def _answer(self, connection: socket.socket, seen: Seen) -> bool:
        with self._lock:
            self.seen.append(seen)
            fault = self._coming.popleft() if self._coming else self._always
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if self.hold is not None:
                self.hold.wait(HOLD_S)
            if self.latency_s:
                self._closing.wait(self.latency_s)
            return self._write(connection, seen, fault)
        finally:
            with self._lock:
                self._at_once -= 1

    def _write(self, connection: socket.socket, seen: Seen, fault: str | None) -> bool:
        if fault is None:
            sent = self._too_large(seen) or good(seen, self.dims)
            connection.sendall(sent.head() + sent.body)
            return True
        if fault in BROKEN:
            BROKEN[fault](self, connection, good(seen, self.dims))
            return False
        sent = ANSWERS[fault](seen, self.dims)
        connection.sendall(sent.head() + sent.body)
        return True

    def _too_large(self, seen: Seen) -> Sent | None:
        if self.most_texts is not None and len(seen.texts) > self.most_texts:
            return refused(seen, 400, "max_tokens_per_request", "too many texts")
        if self.most_chars is not None and max(map(len, seen.texts)) > self.most_chars:
            return refused(seen, 400, "context_length_exceeded", "a text is too long")
        return None

    def drip(self, connection: socket.socket, data: bytes) -> None:
        for at in range(len(data)):
            if self._closing.wait(DRIP_S):
                return
            connection.sendall(data[at : at + 1])

    def hang(self) -> None:
        self._closing.wait(LONGEST_S)


def _read(incoming: Any) -> Seen | None:
    """None when the other side has gone, also in the middle of a request."""
    first = incoming.readline().decode("latin-1").split()
    if len(first) != 3:
        return None
    headers = {}
    while (line := incoming.readline().decode("latin-1")) not in ("", "\r\n"):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    length = int(headers.get("content-length", 0))
    raw = incoming.read(length)
    if not line or len(raw) < length:
        return None
    is_json = raw and headers.get("content-type") == "application/json"
    return Seen(first[0], first[1], headers, json.loads(raw) if is_json else None, raw)


# -- answers in the provider's own format --------------------------------------------------------


def good(seen: Seen, dims: int) -> Sent:
    return answer(seen, [vector_of(text, asked_dims(seen, dims)) for text in seen.texts])


def asked_dims(seen: Seen, dims: int) -> int:
    first = seen.body["requests"][0] if "requests" in seen.body else seen.body
    names = ("dimensions", "output_dimension", "outputDimensionality")
    return next((int(first[name]) for name in names if name in first), dims)


def answer(seen: Seen, rows: list[Any], numbers: list[int] | None = None) -> Sent:
    body: dict[str, Any]
    if seen.path.startswith(PATHS["gemini"]):
        body = {"embeddings": [{"values": row} for row in rows]}
    elif seen.path.startswith(PATHS["ollama"]):
        body = {"model": "m", "embeddings": rows, "prompt_eval_count": 7 * len(rows)}
    else:
        if seen.body.get("encoding_format") == "base64":
            rows = [base64.b64encode(struct.pack(f"<{len(r)}f", *r)).decode() for r in rows]
        order = numbers or list(range(len(rows)))
        data = [
            {"object": "embedding", "index": number, "embedding": row}
            for number, row in zip(order, rows, strict=True)
        ]
        body = {"object": "list", "data": data, "usage": {"total_tokens": 7 * len(rows)}}
    return Sent(200, json.dumps(body).encode())


def refused(
    seen: Seen, status: int, code: str | None, words: str, *headers: tuple[str, str]
) -> Sent:
    """An error; it quotes the key it was sent, as careless servers do."""
    key = seen.headers.get("x-goog-api-key") or seen.headers.get("authorization", "")
    words = f"{words} (you sent {key})"
    body: dict[str, Any]
    if seen.path.startswith(PATHS["gemini"]):
        body = _google_error(status, code, words)
    elif seen.path.startswith(PATHS["voyage"]):
        body = {"detail": words}
    elif seen.path.startswith(PATHS["ollama"]):
        body = {"error": words}
    else:
        kind = "insufficient_quota" if code == "insufficient_quota" else "invalid_request_error"
        body = {"error": {"message": words, "type": kind, "param": "model", "code": code}}
    return Sent(status, json.dumps(body).encode(), headers)


def _google_error(status: int, code: str | None, words: str) -> dict[str, Any]:
    names = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 429: "RESOURCE_EXHAUSTED"}
    details: list[dict[str, Any]] = []
    if code == "insufficient_quota":
        quota = {"quotaId": "EmbedContentRequestsPerDayPerProjectPerModel-FreeTier"}
        kind = "type.googleapis.com/google.rpc.QuotaFailure"
        details.append({"@type": kind, "violations": [quota]})
    if code == "invalid_api_key":
        kind = "type.googleapis.com/google.rpc.ErrorInfo"
        details.append({"@type": kind, "reason": "API_KEY_INVALID"})
    error = {"code": status, "message": words, "status": names.get(status, "INTERNAL")}
    return {"error": {**error, "details": details}}


def _changed(change: Callable[[list[list[float]]], list[Any]]) -> Callable[[Seen, int], Sent]:
    def made(seen: Seen, dims: int) -> Sent:
        return answer(seen, change([vector_of(text, dims) for text in seen.texts]))

    return made


def _shuffled(seen: Seen, dims: int) -> Sent:
    """Out of order, but each row says whose it is."""
    rows = [vector_of(text, dims) for text in seen.texts]
    return answer(seen, rows[::-1], list(range(len(rows)))[::-1])


def _numbered_twice(seen: Seen, dims: int) -> Sent:
    rows = [vector_of(text, dims) for text in seen.texts]
    return answer(seen, rows, [0] * len(rows))


@functools.cache
def _packed_zeros() -> bytes:
    """A hundred kilobytes that unpack to a hundred megabytes."""
    packer = zlib.compressobj(level=9, wbits=31)
    piece = bytes(1_000_000)
    return b"".join([*(packer.compress(piece) for _ in range(100)), packer.flush()])


ANSWERS: dict[str, Callable[[Seen, int], Sent]] = {
    "400": lambda seen, _: refused(seen, 400, "invalid_value", "no such encoding"),
    "401": lambda seen, _: refused(seen, 401, "invalid_api_key", "bad key"),
    "403": lambda seen, _: refused(seen, 403, None, "not for you"),
    "404": lambda seen, _: refused(seen, 404, "model_not_found", "no such model"),
    "408": lambda seen, _: refused(seen, 408, None, "too slow"),
    "413": lambda seen, _: refused(seen, 413, None, "too much"),
    "429": lambda seen, _: refused(seen, 429, "rate_limit_exceeded", "slow down"),
    "429 retry-after": lambda seen, _: refused(
        seen, 429, "rate_limit_exceeded", "slow down", ("retry-after", "7")
    ),
    "quota": lambda seen, _: refused(seen, 429, "insufficient_quota", "pay first"),
    "402": lambda seen, _: refused(seen, 402, None, "pay first"),
    "500": lambda seen, _: refused(seen, 500, None, "oops"),
    "502 html": lambda *_: Sent(502, b"<html><h1>Bad Gateway</h1></html>"),
    "503": lambda seen, _: refused(seen, 503, None, "busy"),
    "200 html": lambda *_: Sent(200, b"<html>log in first</html>"),
    "redirect": lambda *_: Sent(307, b"", (("location", "http://elsewhere.invalid/v1"),)),
    "wrong count": _changed(lambda rows: rows[:-1]),
    "wrong order": _shuffled,
    "numbered twice": _numbered_twice,
    "wrong dims": _changed(lambda rows: [row[:-1] for row in rows]),
    "ragged": _changed(lambda rows: [*rows[:-1], rows[-1][:-1]] if len(rows) > 1 else [[[]]]),
    "nan": _changed(lambda rows: [[float("nan"), *row[1:]] for row in rows]),
    "infinite": _changed(lambda rows: [[float("inf"), *row[1:]] for row in rows]),
    "zeros": _changed(lambda rows: [[0.0] * len(row) for row in rows]),
    "no numbers": _changed(lambda rows: [None for _ in rows]),
    "empty object": lambda *_: Sent(200, b"{}"),
    "truncated json": lambda seen, dims: Sent(200, good(seen, dims).body[:-7]),
    "gzip bomb": lambda *_: Sent(200, _packed_zeros(), (("content-encoding", "gzip"),)),
    "not gzip": lambda *_: Sent(200, b"plain", (("content-encoding", "gzip"),)),
    "deep json": lambda *_: Sent(200, b"[" * 100_000),
}


# -- connections that break ----------------------------------------------------------------------


def _hang(server: FakeProvider, connection: socket.socket, sent: Sent) -> None:
    server.hang()


def _drip_headers(server: FakeProvider, connection: socket.socket, sent: Sent) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    server.drip(connection, b"x-slow: " + b"a" * 100_000)


def _drip_body(server: FakeProvider, connection: socket.socket, sent: Sent) -> None:
    connection.sendall(sent.head(100_000))
    server.drip(connection, b" " * 100_000)


def _cut_off(server: FakeProvider, connection: socket.socket, sent: Sent) -> None:
    connection.sendall(sent.head() + sent.body[:-10])


def _reset(server: FakeProvider, connection: socket.socket, sent: Sent) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _hang_up(server: FakeProvider, connection: socket.socket, sent: Sent) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def _no_http(server: FakeProvider, connection: socket.socket, sent: Sent) -> None:
    connection.sendall(b"220 mail.example ESMTP\r\n\r\n")


BROKEN: dict[str, Callable[[FakeProvider, socket.socket, Sent], None]] = {
    "hang": _hang,
    "dripping headers": _drip_headers,
    "dripping body": _drip_body,
    "cut off": _cut_off,
    "connection reset": _reset,
    "hang up": _hang_up,
    "not http": _no_http,
}
