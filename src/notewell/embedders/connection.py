"""An HTTP connection on which no wait outlives the deadline of the call.

HTTP libraries limit each single wait: a server that sends one byte of a header every second keeps
them reading for hours. So the socket is wrapped, and every read and write gets what is left of the
complete time budget. The lookup of a host name has no timeout at all; it runs in a thread, which
is abandoned when the deadline has passed.

    HttpConnection ── httpx2.Client ── transport ── httpcore2 pool ── network ── socket
      └── Timer: the deadline of the current call, checked before every wait

One thread at a time uses a connection; it stays open between calls.
Importing this module imports the HTTP library, so it is imported only when a call is made.
"""

from __future__ import annotations

import ipaddress
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

    from notewell.embedders.retrying import Deadline

KEPT_OPEN_S = 30.0
"""How long an idle connection is kept. Most servers close theirs after a minute or more, so
we seldom send on a connection that the server has just closed."""

WRITE_BYTES = 64 * 1024
"""Written at once; the deadline is checked after each piece, so a slow reader is noticed."""

# Both libraries: our transport does not map the exceptions of httpcore2 to those of httpx2.
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
"""Everything that the library raises; `http_client.py` maps it to our exceptions."""

TIMEOUTS: tuple[type[Exception], ...] = (httpcore2.TimeoutException, httpx2.TimeoutException)


class HttpConnection:
    """One connection to one address."""

    def __init__(self, base_url: str, ssl_context: ssl.SSLContext | None) -> None:
        self._timer = _Timer()
        pool = _pool(base_url, ssl_context, _Network(self._timer))
        # `trust_env` would send passwords from ~/.netrc. `_pool` reads the proxies instead.
        self._client = httpx2.Client(transport=_Transport(pool), trust_env=False)

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        deadline: Deadline,
    ) -> OpenReply:
        """Send, and wait for the headers of the reply; its body is read through the result."""
        self._timer.deadline = deadline
        request = self._client.build_request(method, url, headers=dict(headers), content=content)
        return OpenReply(self._client.send(request, stream=True, follow_redirects=False))

    def close(self) -> None:
        self._client.close()


class OpenReply:
    """A reply whose body has not been read yet."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.status = response.status_code

    def header(self, name: str) -> str | None:
        value = self._response.headers.get(name)
        return value if isinstance(value, str) else None

    def read(self, max_bytes: int) -> tuple[bytes, bool]:
        """At most `max_bytes` bytes, decompressed, and whether that was all.

        The library decompresses in pieces of a megabyte, so a small reply that decompresses to a
        huge one (a zip bomb) costs no more memory than the limit.
        """
        content = bytearray()
        for piece in self._response.iter_bytes():
            content += piece
            if len(content) > max_bytes:
                return bytes(content[:max_bytes]), False
        return bytes(content), True

    def pieces(self) -> Iterator[bytes]:
        """The body as it arrives, decompressed, for a file that is too large for memory."""
        yield from self._response.iter_bytes()

    def __enter__(self) -> OpenReply:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._response.close()


class _Timer:
    """The deadline of the current call, shared by a connection and its streams."""

    # Looked up at every wait and not stored in a stream: a stream outlives the call (keep-alive),
    # and the next call has another deadline.
    deadline: Deadline

    def left_s(self, timeout: type[Exception]) -> float:
        left = self.deadline.left_s()
        if left <= 0:
            raise timeout("the deadline of the call has passed")
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
        # A daemon thread, so that a name server that never answers does not block the exit.
        threading.Thread(
            target=attempt.run,
            args=(self._sockets, host, port, left, socket_options),
            name="notewell-connect",
            daemon=True,
        ).start()
        return _TimedStream(attempt.result(left), self._timer)


class _Attempt:
    """A connection that another thread opens; one that is ready too late is closed again."""

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
        # Under the lock: otherwise the caller could give up between the check and the put, and
        # the socket would stay open with nobody to close it.
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
    """A socket on which every wait ends at the deadline, whatever `timeout` is passed."""

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
        # The TLS stream replaces this one, so it must be wrapped as well.
        return _TimedStream(
            self._stream.start_tls(ssl_context, server_hostname, left), self._timer
        )

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Transport(httpx2.BaseTransport):
    """Like the library's own transport, with a pool that uses our network backend."""

    def __init__(self, pool: httpcore2.ConnectionPool) -> None:
        self._pool = pool

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        reply = self._pool.handle_request(
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
            status_code=reply.status,
            headers=reply.headers,
            stream=_Body(reply),
            extensions=reply.extensions,
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, reply: httpcore2.Response) -> None:
        self._answer = reply

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


def _pool(
    base_url: str, ssl_context: ssl.SSLContext | None, network: _Network
) -> httpcore2.ConnectionPool:
    common: dict[str, Any] = {
        "ssl_context": ssl_context,
        # `HttpClient` has the pool; each of its connections must be exactly one.
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
    """The proxy for this address, from the environment variables that other programs use too."""
    parts = urlsplit(base_url)
    if _is_loopback(parts.hostname or ""):
        # A model of this machine, such as Ollama's: no text for it may leave the machine.
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc):
        return None
    # `HTTPS_PROXY=host:3128`, without a scheme, is common.
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # Another name.
