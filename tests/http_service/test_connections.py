"""Connections that hold on: silent, slow, half a request, or too many of them."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from tests.http_service.listening import Listening, listening
from tests.http_service.served import PLENTY, serving

from notewell.http_service import connections
from notewell.http_service.connections import LimitedH11Protocol, limited_httptools_protocol
from notewell.http_service.serving import MAX_HEADER_BYTES
from notewell.records import replace

WAIT_S = 60
LIMIT = 40
"""Connections of the attacked service; the attackers open more."""


def problem_in(answer: bytes) -> tuple[int, str]:
    """The status and the kind of an answer that is a problem."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head.lower()
    told = json.loads(body)
    assert int(head.split()[1]) == told["status"]
    return told["status"], told["type"].rpartition(":")[2]


def protocols() -> list[Any]:
    """Both parsers, if both are installed: the service uses the first one that is."""
    h11 = pytest.param(LimitedH11Protocol, id="h11")
    if find_spec("httptools") is None:
        return [h11]
    return [h11, pytest.param(limited_httptools_protocol(), id="httptools")]


async def opened(
    protocol: Any, app: Any, limit: int = 2**16
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, asyncio.Server]:
    """A connection to a server of this application: reader, writer, server."""
    config = uvicorn.Config(
        app, http=protocol, log_config=None, h11_max_incomplete_event_size=MAX_HEADER_BYTES
    )
    config.load()
    state = uvicorn.server.ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: protocol(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    place = server.sockets[0].getsockname()
    reader, writer = await asyncio.open_connection(*place, limit=limit)
    return reader, writer, server


async def answer_to(protocol: Any, app: Any, *pieces: bytes) -> bytes:
    """What a server says to these pieces before it closes the connection."""
    reader, writer, server = await opened(protocol, app)
    with suppress(ConnectionError):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
    try:
        return await asyncio.wait_for(reader.read(), WAIT_S)
    except ConnectionError:
        return b""
    finally:
        writer.close()
        server.close()


async def nobody(scope: object, receive: object, send: object) -> None:
    raise AssertionError("nobody has asked")


@pytest.mark.parametrize("protocol", protocols())
@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHo"], ids=["silent", "half"])
def test_who_connects_and_does_not_ask_is_hung_up_on(
    protocol: Any, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One of both: half a request may come late on a busy machine.
    monkeypatch.setattr(connections, "HEAD_S" if sent else "FIRST_S", 0.05)
    answer = asyncio.run(answer_to(protocol, nobody, sent))
    if not sent:
        assert answer == b""
    else:
        assert problem_in(answer) == (408, "too-slow")


@pytest.mark.parametrize("protocol", protocols())
def test_a_body_that_does_not_come_is_not_waited_for(
    protocol: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()

    async def app(scope: object, receive: Any, send: object) -> None:
        while (await receive())["type"] != "http.disconnect":
            continue
        ended.set()

    monkeypatch.setattr(connections, "BODY_S", 0.05)
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12"
    assert problem_in(asyncio.run(answer_to(protocol, app, head))) == (408, "too-slow")
    assert ended.is_set()


@pytest.mark.parametrize("protocol", protocols())
@pytest.mark.parametrize("line", [b"x", b"x: y\r\n"], ids=["one", "many"])
def test_headers_that_do_not_end_are_cut_off(protocol: Any, line: bytes) -> None:
    start = b"GET / HTTP/1.1\r\nHost: x\r\n"
    endless = [line * 10_000] * 100
    answer = asyncio.run(answer_to(protocol, nobody, start, *endless))
    # The connection may be reset before the answer is read.
    assert answer == b"" or problem_in(answer) == (400, "bad-request")


@pytest.mark.parametrize("protocol", protocols())
def test_a_large_body_in_small_chunks_is_read(protocol: Any) -> None:
    async def app(scope: object, receive: Any, send: Any) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            size, more = size + len(message["body"]), message["more_body"]
        headers = [(b"content-length", b"7"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"%07d" % size})

    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = [b"40\r\n" + b"x" * 64 + b"\r\n"] * 16_384
    answer = asyncio.run(answer_to(protocol, app, head, *chunks, b"0\r\n\r\n"))
    assert answer.endswith(b"1048576")


@pytest.mark.parametrize("protocol", protocols())
def test_another_byte_does_not_move_the_deadline(
    protocol: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.3)

    async def drip() -> bytes:
        reader, writer, server = await opened(protocol, nobody)
        writer.write(b"GET / HTTP/1.1\r\nx: ")
        reading = asyncio.create_task(reader.read())
        while not reading.done():
            with suppress(ConnectionError):
                writer.write(b"y")
            await asyncio.wait([reading], timeout=0.01)
        writer.close()
        server.close()
        # A byte that was under way resets the connection, and may take the answer with it.
        return b"" if reading.exception() else reading.result()

    answer = asyncio.run(asyncio.wait_for(drip(), WAIT_S))
    assert answer == b"" or problem_in(answer) == (408, "too-slow")


@pytest.mark.parametrize("protocol", protocols())
def test_one_byte_of_a_second_request_is_no_request(
    protocol: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.05)

    async def app(scope: object, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})

    async def ask_twice() -> bytes:
        reader, writer, server = await opened(protocol, app)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.write(b"G")
        rest = await reader.read()
        writer.close()
        server.close()
        return rest

    assert problem_in(asyncio.run(asyncio.wait_for(ask_twice(), WAIT_S))) == (408, "too-slow")


@pytest.mark.parametrize("protocol", protocols())
def test_a_client_that_does_not_read_its_answer_is_cut_off(
    protocol: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "STALL_S", 0.1)
    ended = asyncio.Event()

    async def app(scope: object, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        block = {"type": "http.response.body", "body": b"x" * 2**20, "more_body": True}
        streaming = asyncio.create_task(_send_for_ever(send, block))
        while (await receive())["type"] != "http.disconnect":
            continue
        streaming.cancel()
        ended.set()

    async def ask() -> None:
        _, writer, server = await opened(protocol, app, limit=2**10)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await ended.wait()
        writer.close()
        server.close()

    asyncio.run(asyncio.wait_for(ask(), WAIT_S))


async def _send_for_ever(send: Any, block: Any) -> None:
    while True:
        await send(block)


# -- many connections at a whole service ---------------------------------------------------------


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    limits = replace(PLENTY, connections=LIMIT)
    with listening(tmp_path_factory.mktemp("attacked"), limits) as one:
        yield one


WHOLE = b"GET /healthz HTTP/1.1\r\nHost: %b\r\n\r\n"
ATTACKS = {
    "silent": b"",
    "half a head": b"GET / HTTP/1.1\r\nHo",
    "a whole request": WHOLE,
    "one byte of a second": WHOLE + b"G",
    "a body without a token": (
        b"POST /v1/search HTTP/1.1\r\nHost: %b\r\nContent-Length: 100000\r\n\r\n{"
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_connections_that_wait_for_nothing_lock_nobody_out(
    service: Listening, attack: str
) -> None:
    sent = ATTACKS[attack].replace(b"%b", service.address.encode())
    with ExitStack() as stack:
        for _ in range(LIMIT + 20):
            sock = stack.enter_context(socket.create_connection(service.place, timeout=WAIT_S))
            sock.sendall(sent)
            if b"\r\n\r\n" in sent:
                # Evicted ones have read their answer before, or get none.
                with suppress(ConnectionError):
                    sock.recv(10)
        for _ in range(3):
            with httpx2.Client(timeout=WAIT_S) as client:
                answer = client.post(
                    f"{service.url}/v1/search",
                    headers={"Authorization": f"Bearer {service.token}"},
                    json={"query": "readings"},
                )
                assert answer.status_code == 200, answer.text


def test_a_client_with_a_token_keeps_its_connection_while_strangers_lose_theirs(
    service: Listening,
) -> None:
    with ExitStack() as stack, httpx2.Client(timeout=WAIT_S) as client:
        headers = {"Authorization": f"Bearer {service.token}"}
        first = client.get(f"{service.url}/v1/status", headers=headers)
        port = first.extensions["network_stream"].get_extra_info("client_addr")[1]
        for _ in range(LIMIT + 20):
            stack.enter_context(socket.create_connection(service.place, timeout=WAIT_S))
        again = client.get(f"{service.url}/v1/status", headers=headers)
        assert again.extensions["network_stream"].get_extra_info("client_addr")[1] == port


def test_when_all_connections_are_at_work_the_next_is_told_so(service: Listening) -> None:
    head = f"GET /v1/page/events HTTP/1.1\r\nHost: {service.address}\r\n"
    head += f"Authorization: Bearer {service.token}\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(int(LIMIT * connections.PEER_SHARE)):
            sock = stack.enter_context(socket.create_connection(service.place, timeout=WAIT_S))
            sock.sendall(head.encode())
            assert sock.recv(12) == b"HTTP/1.1 200"
        answer = httpx2.get(f"{service.url}/healthz", timeout=WAIT_S)
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"] == "2"
    assert answer.json()["type"].endswith("too-many-connections")


@pytest.mark.parametrize("protocol", protocols())
def test_a_body_with_two_lengths_is_refused(protocol: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        head = b"POST /healthz HTTP/1.1\r\nHost: 127.0.0.1:7374\r\nContent-Length: 5\r\n"
        rest = b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        answer = asyncio.run(answer_to(protocol, served.app, head + rest))
    assert problem_in(answer) == (400, "bad-request")
