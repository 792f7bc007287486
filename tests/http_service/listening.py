"""A service with one agent on a socket, as `notewell serve` runs it, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import anyio

from notewell.http_service.agents import Agents, ServedAgent
from notewell.http_service.app import create_app
from notewell.http_service.auth import AllowedHosts
from notewell.http_service.limits import ServiceLimits
from notewell.http_service.serving import new_server
from notewell.http_service.tokens import TOKENS_FILE, TokenRequest, TokenStore
from notewell.mcp_server import listen
from notewell.testing import HashEmbedder

WAIT_S = 30


class Listening(NamedTuple):
    port: int
    token: str
    """Of an admin."""

    @property
    def place(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"


@contextmanager
def listening(folder: Path, limits: ServiceLimits) -> Iterator[Listening]:
    (folder / "notes" / "memory").mkdir(parents=True)
    (folder / "notes" / "MEMORY.md").write_text("We store readings.\n", encoding="utf-8")
    book = TokenStore(folder / "state" / TOKENS_FILE)
    _, secret = book.create(TokenRequest("all", ("main",), ("admin",)))
    places = {"main": ServedAgent(str(folder / "notes"))}
    agents = Agents(places, folder / "state", watch=False, embedder=HashEmbedder())
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    app = create_app(agents, book, allowed_hosts=AllowedHosts.of(port), limits=limits)
    up = threading.Event()
    server = new_server(app, anyio.Event(), limits, up.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        assert up.wait(WAIT_S)
        yield Listening(port, secret)
    finally:
        server.should_exit = True
        thread.join(WAIT_S)
