"""A connection to a provider on which no wait outlives the deadline of the call.

HTTP libraries bound each single wait: a server that sends a byte of a header every second keeps
them reading for hours. So the socket itself is wrapped, and every read and write gets what is left
of the whole budget. Looking up a host name cannot be bounded at all; that is done in a thread that
is left behind when it is too late.

    Line ── httpx2.Client ── transport ── httpcore2 pool ── network ── TimedStream ── socket
      └── Timer: the deadline of the call under way, looked at before every wait

A line is used by one thread at a time, and kept open between calls.
This file imports the HTTP library, so it is itself imported only when a call is made.
"""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType

    from notewell.embedders.deadline import Deadline

KEPT_OPEN_S = 30.0
"""How long an idle connection is kept; most servers close theirs after a minute or more."""

WRITE_BYTES = 64 * 1024
"""Written at once: a peer that reads slowly is noticed after each such piece."""

FOREIGN: tuple[type[Exception], ...] = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.StreamError,
    httpx2.CookieConflict,
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
    httpcore2.ConnectionNotAvailable,
)
"""Everything the library raises: `calls.py` turns it into ours."""

TOO_LATE: tuple[type[Exception], ...] = (httpcore2.TimeoutException, httpx2.TimeoutException)


class Line:
    """One connection to one address."""

    def __init__(self, base_url: str, trust: ssl.SSLContext | None) -> None:
        self._timer = _Timer()
        pool = _pool(base_url, trust, _Network(self._timer))
        # `trust_env` would send passwords from ~/.netrc; proxies are looked up in `_pool`.
        self._client = httpx2.Client(transport=_Transport(pool), trust_env=False)

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        deadline: Deadline,
    ) -> Posted:
        """Send and wait for the answer's headers; the body is read through what is returned."""
        self._timer.deadline = deadline
        request = self._client.build_request(method, url, headers=dict(headers), content=content)
        return Posted(self._client.send(request, stream=True, follow_redirects=False))

    def close(self) -> None:
        self._client.close()


class Posted:
    """An answer whose body has not been read yet."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.status = response.status_code

    def header(self, name: str) -> str | None:
        value = self._response.headers.get(name)
        return value if isinstance(value, str) else None

    def read(self, cap: int) -> tuple[bytes, bool]:
        """At most `cap` bytes, unpacked, and whether that was all. Unpacking goes in pieces of a
        megabyte, so a small answer that unpacks to a huge one costs no more than the cap."""
        content = bytearray()
        for piece in self._response.iter_bytes():
            content += piece
            if len(content) > cap:
                return bytes(content[:cap]), False
        return bytes(content), True

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes, unpacked, for what is too large to be held whole."""
        yield from self._response.iter_bytes()

    def __enter__(self) -> Posted:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._response.close()


class _Timer:
    """The deadline of the call under way, shared by a line and its streams."""

    deadline: Deadline

    def left_s(self, late: type[Exception]) -> float:
        left = self.deadline.left_s()
        if left <= 0:
            raise late("the deadline of the call has passed")
        return left


class _Network(httpcore2.NetworkBackend):
    def __init__(self, timer: _Timer) -> None:
        self._timer = timer
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        left = self._timer.left_s(httpcore2.ConnectTimeout)
        attempt = _Attempt()
        # A daemon, so that a name server that never answers does not keep the program alive.
        threading.Thread(
            target=attempt.run,
            args=(self._sockets, host, port, left, socket_options),
            name="notewell-connect",
            daemon=True,
        ).start()
        return _TimedStream(attempt.result(left), self._timer)


class _Attempt:
    """A connection being made in another thread; one that comes too late is closed again."""

    def __init__(self) -> None:
        self._made: queue.SimpleQueue[httpcore2.NetworkStream | Exception] = queue.SimpleQueue()
        self._settling = threading.Lock()
        self._given_up = False

    def run(
        self,
        sockets: httpcore2.SyncBackend,
        host: str,
        port: int,
        left: float,
        options: Iterable[Any] | None,
    ) -> None:
        made: httpcore2.NetworkStream | Exception
        try:
            made = sockets.connect_tcp(host, port, timeout=left, socket_options=options)
        except Exception as error:  # noqa: BLE001 - the root of a thread: raised again by `result`
            made = error
        with self._settling:
            if not self._given_up:
                self._made.put(made)
            elif isinstance(made, httpcore2.NetworkStream):
                made.close()

    def result(self, left: float) -> httpcore2.NetworkStream:
        try:
            made = self._made.get(timeout=left)
        except queue.Empty:
            made = self._give_up()
        if isinstance(made, Exception):
            raise made
        return made

    def _give_up(self) -> httpcore2.NetworkStream | Exception:
        with self._settling:
            self._given_up = True
            if not self._made.empty():
                return self._made.get()
        return httpcore2.ConnectTimeout("no connection before the deadline")


class _TimedStream(httpcore2.NetworkStream):
    """A socket of which every wait ends with the deadline, whatever timeout it is handed."""

    def __init__(self, stream: httpcore2.NetworkStream, timer: _Timer) -> None:
        self._stream = stream
        self._timer = timer

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._timer.left_s(httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), WRITE_BYTES):
            left = self._timer.left_s(httpcore2.WriteTimeout)
            self._stream.write(buffer[start : start + WRITE_BYTES], left)

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = self._timer.left_s(httpcore2.ConnectTimeout)
        return _TimedStream(
            self._stream.start_tls(ssl_context, server_hostname, left), self._timer
        )

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Transport(httpx2.BaseTransport):
    """The library's own, over a pool that has our network below it."""

    def __init__(self, pool: httpcore2.ConnectionPool) -> None:
        self._pool = pool

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        answer = self._pool.handle_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx2.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(answer),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


def _pool(
    base_url: str, trust: ssl.SSLContext | None, network: _Network
) -> httpcore2.ConnectionPool:
    common: dict[str, Any] = {
        "ssl_context": trust,
        "max_connections": 1,
        "keepalive_expiry": KEPT_OPEN_S,
        "network_backend": network,
    }
    proxy = _proxy_for(base_url)
    if proxy is None:
        return httpcore2.ConnectionPool(**common)
    parsed = httpx2.Proxy(proxy)
    return httpcore2.HTTPProxy(proxy_url=str(parsed.url), proxy_auth=parsed.raw_auth, **common)


def _proxy_for(base_url: str) -> str | None:
    """The proxy that the environment names for this address, as other programs find it."""
    parts = urlsplit(base_url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
