"""A whole service in process: two agents, tokens of every kind, and a client that asks it.

The event loop runs in a thread of its own, so a test reads from top to bottom, and as many threads
as a test likes can ask at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal

from notewell.config import Settings
from notewell.http_service.agents import Agents, ServedAgent
from notewell.http_service.app import create_app
from notewell.http_service.auth import AllowedHosts
from notewell.http_service.limits import ServiceLimits
from notewell.http_service.token_file import Scope
from notewell.http_service.tokens import TOKENS_FILE, TokenRequest, TokenStore
from notewell.ports import Embedder
from notewell.testing import HashEmbedder

PORT = 7374
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"
COOKIE = f"notewell-{PORT}"
PLENTY = ServiceLimits(
    requests_a_minute=600_000,
    burst=100_000,
    stranger_cost_a_minute=600_000,
    stranger_burst=100_000,
    wait_s=60,
)
"""For tests that are neither about rates nor about a queue: on a busy machine, too, each request
is answered."""


@dataclass(frozen=True)
class Served:
    app: Any
    agents: Agents
    book: TokenStore
    state: Path
    workspaces: dict[str, Path]
    tokens: dict[str, str]
    """By what they are: none, garbage, revoked, expired, read, append, admin, other, both."""
    portal: BlockingPortal
    client: httpx2.AsyncClient

    def ask(self, method: str, path: str, token: str = "read", **options: Any) -> httpx2.Response:
        """`token` is one of `tokens`, or empty for a request without."""
        headers = dict(options.pop("headers", {}))
        if token:
            headers.setdefault("Authorization", f"Bearer {self.tokens[token]}")
        asked = partial(self.client.request, method, path, headers=headers, **options)
        return self.portal.call(asked)

    def search(self, query: str, token: str = "read", **told: Any) -> dict[str, Any]:
        answer = self.ask("POST", "/v1/search", token, json={"query": query, **told})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def audit(self) -> list[dict[str, Any]]:
        file = self.state / "audit.jsonl"
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@contextmanager
def serving(
    folder: Path,
    *,
    limits: ServiceLimits = PLENTY,
    embedder: Embedder | None = None,
    monotonic_s: Callable[[], float] = time.monotonic,
    watch: bool = False,
    tokens: dict[str, str] | None = None,
    settings: Settings | None = None,
    route: Callable[[str], str | None] = lambda _: None,
) -> Iterator[Served]:
    """`tokens` are those of an earlier one in the same folder, which this one carries on."""
    workspaces = {agent: _workspace(folder / agent, agent) for agent in ("main", "work")}
    state = folder / "state"
    book = TokenStore(state / TOKENS_FILE)
    tokens = tokens or make_tokens(book)
    places = {agent: ServedAgent(str(path), settings) for agent, path in workspaces.items()}
    agents = Agents(places, state, watch=watch, embedder=embedder or HashEmbedder(), route=route)
    app = create_app(
        agents, book, allowed_hosts=AllowedHosts.of(PORT), limits=limits, monotonic_s=monotonic_s
    )
    with start_blocking_portal() as portal:
        client = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), base_url=ORIGIN, timeout=60
        )
        with portal.wrap_async_context_manager(running(app)):
            yield Served(app, agents, book, state, workspaces, tokens, portal, client)
        portal.call(client.aclose)


def _workspace(path: Path, agent: str) -> Path:
    (path / "memory").mkdir(parents=True, exist_ok=True)
    text = f"# Storage\n\nThe {agent} agent keeps its readings in SQLite.\n"
    if not (path / "MEMORY.md").exists():
        (path / "MEMORY.md").write_text(text, encoding="utf-8")
    return path


def make_tokens(book: TokenStore) -> dict[str, str]:
    def made(*scopes: Scope, agents: tuple[str, ...] = ("main",)) -> str:
        return book.create(TokenRequest("-".join(scopes), agents, scopes))[1]

    long_ago = TokenStore(book.path, lambda: datetime.now(UTC) - timedelta(days=100))
    revoked, gone = book.create(TokenRequest("revoked", ("main",), ("admin",)))
    tokens = {
        "garbage": "nwt_" + "A" * 43,
        "revoked": gone,
        "expired": long_ago.create(TokenRequest("expired", ("main",), ("admin",), 1))[1],
        "read": made("read"),
        "append": made("append"),
        "admin": made("admin"),
        "other": made("admin", agents=("work",)),
        "both": made("read", agents=("main", "work")),
        "nobody's": made("admin", agents=("elsewhere",)),
        "page": book.create(TokenRequest("page", ("main", "work"), ("admin",), 30, "page"))[1],
    }
    book.revoke(revoked.id)
    return tokens


@asynccontextmanager
async def running(app: Any) -> AsyncIterator[None]:
    """What a server does around an application: its start and its end."""
    send_in, receive = anyio.create_memory_object_stream[dict[str, str]](2)
    send, receive_out = anyio.create_memory_object_stream[dict[str, str]](2)
    async with AsyncExitStack() as stack:
        for stream in (send_in, receive, send, receive_out):
            stack.enter_context(stream)
        group = await stack.enter_async_context(anyio.create_task_group())
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        group.start_soon(app, scope, receive.receive, send.send)
        await send_in.send({"type": "lifespan.startup"})
        assert (await receive_out.receive())["type"] == "lifespan.startup.complete"
        yield
        await send_in.send({"type": "lifespan.shutdown"})
        assert (await receive_out.receive())["type"] == "lifespan.shutdown.complete"
