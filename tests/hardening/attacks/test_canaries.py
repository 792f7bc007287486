"""Keys from everywhere, a provider that quotes them in every answer: none turns up anywhere.

How one error words itself is in tests/embedders/test_remote_faults.py; here whole commands run,
and everything they print, keep or serve is searched.
"""

from __future__ import annotations

import base64
import io
import itertools
import json
import logging
import os
import socketserver
import sys
import threading
import traceback
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from notewell import open_memory
from notewell.cli import main
from notewell.errors import NotewellError
from notewell.mcp_server import create_server
from notewell.tools import TOOLS, CallContext, call

CANARIES = {
    "the environment": "canary-env-5b1e77",
    "the settings": "canary-config-9a20c4",
    "a header": "canary-header-c3d8f0",
    "an address": "canary-address-71aa3e",
    "auth profiles": "canary-profile-e4490b",
}
PROVIDERS = ("openai", "gemini", "voyage")
STATUSES = (200, 400, 401, 404, 429, 500, 503)


class Echo(BaseHTTPRequestHandler):
    """Puts what it was sent into every field an answer has; each answer has another status."""

    protocol_version = "HTTP/1.1"
    statuses = itertools.cycle(STATUSES)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        sent = " ".join((self.path, *map(str, self.headers.values()), *_bare(self.headers)))
        error = {"message": sent, "type": sent, "code": sent, "param": sent, "status": sent}
        body = json.dumps({"error": error, "detail": sent, "data": sent, "model": sent}).encode()
        self.send_response(next(self.statuses))
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("x-request-id", sent[:500])
        self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, format: str, *words: object) -> None:  # noqa: A002 - its name there
        return None


def _bare(headers: Any) -> list[str]:
    """The key alone too, as it is and as it is told inside `Basic …`."""
    told = headers.get("authorization", "").split(" ")[-1]
    try:
        opened = base64.b64decode(told, validate=True).decode()
    except ValueError:
        opened = ""
    return [told, opened, headers.get("x-goog-api-key", "")]


@pytest.fixture
def echo() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def configured(home: Path, host: str, source: str, provider: str) -> dict[str, str]:
    """A home whose memory sends the key to `host`; returns its environment."""
    (home / "ws" / "memory").mkdir(parents=True)
    (home / "ws" / "MEMORY.md").write_text("We ship on Friday.\n", encoding="utf-8")
    canary = CANARIES[source]
    address = f"http://{host}/v1"
    remote: dict[str, Any] = {"baseUrl": address, "apiKey": "plain-key-000000"}
    if source == "the environment":
        remote["apiKey"] = "${CANARY_KEY}"
    elif source == "the settings":
        remote["apiKey"] = canary
    elif source == "a header":
        remote["headers"] = {"X-Proxy-Key": canary}
    elif source == "an address":
        remote["baseUrl"] = f"http://user:{canary}@{host}/v1?key={canary}"
    search: dict[str, Any] = {"provider": provider, "model": "some-model", "remote": remote}
    search["fallback"] = "none"
    told = {"agents": {"defaults": {"memorySearch": search}}}
    if source == "auth profiles":
        del remote["apiKey"]
        told["models"] = {"providers": {provider: {"apiKey": f"file:{home}/key"}}}
        (home / "key").write_text(canary, encoding="utf-8")
    (home / "config.json").write_text(json.dumps(told), encoding="utf-8")
    return {
        **{name: value for name, value in os.environ.items() if "KEY" not in name},
        "HOME": str(home),
        "NOTEWELL_CONFIG": str(home / "config.json"),
        "NOTEWELL_STATE_DIR": str(home / "state"),
        "CANARY_KEY": CANARIES["the environment"],
    }


COMMANDS = (
    ("index",),
    ("index", "--json"),
    ("search", "ship"),
    ("search", "--json", "--explain", "ship"),
    ("status", "--deep"),
    ("status", "--deep", "--json"),
    ("doctor",),
    ("doctor", "--json"),
    ("config", "show", "--origin"),
    ("config", "show", "--json"),
    ("config", "check"),
    ("append", "a new entry"),
    ("history",),
)


def everything_told(home: Path, environment: dict[str, str]) -> str:
    """What the commands print, what the tools and MCP answer, what errors say, what is kept."""
    out, log = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.INFO)
    try:
        for words in COMMANDS:
            place = [] if words[0] == "config" else ["-w", str(home / "ws")]
            out.write(_printed([words[0], *words[1:2], *place, *words[2:]], environment))
        out.write(_asked(home, environment))
    finally:
        logging.getLogger().removeHandler(handler)
        logging.getLogger().setLevel(logging.WARNING)
    return out.getvalue() + log.getvalue() + _kept(home)


def _printed(words: list[str], environment: dict[str, str]) -> str:
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "environ", environment)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        try:
            main(words)
        except SystemExit as error:
            err.write(f"usage {error}")
    return out.getvalue() + err.getvalue()


def _asked(home: Path, environment: dict[str, str]) -> str:
    try:
        memory = open_memory(home / "ws", state_dir=home / "state", environment=environment)
    except NotewellError as error:
        return "".join(traceback.format_exception(error)) + repr(error)
    with memory:
        told = [repr(memory.settings), repr(memory)]
        for work in (memory.sync, memory.status, memory.inspect.probe):
            try:
                told.append(repr(work()))
            except NotewellError as error:
                told += [*traceback.format_exception(error), repr(vars(error))]
        for spec in TOOLS:
            told.append(str(call(memory, spec.name, {"query": "ship"}).to_json()))
        told.append(_over_mcp(memory))
    return "\n".join(told)


def _over_mcp(memory: Any) -> str:
    async def ask() -> str:
        server = create_server(memory, CallContext(origin="mcp"), background_sync=False)
        async with Client(server) as client:
            answers = [
                await client.call_tool("memory_search", {"query": "ship"}),
                await client.call_tool("memory_status", {}),
            ]
        return repr(answers)

    return anyio.run(ask)


def _kept(home: Path) -> str:
    files = [path for folder in ("state", "ws") for path in (home / folder).rglob("*")]
    return "".join(path.read_bytes().decode("latin-1") for path in files if path.is_file())


@pytest.mark.parametrize(
    ("source", "provider"),
    [(source, PROVIDERS[n % 3]) for n, source in enumerate(CANARIES)],
)
def test_no_key_is_told_by_anybody(tmp_path: Path, echo: str, source: str, provider: str) -> None:
    environment = configured(tmp_path, echo, source, provider)
    told = everything_told(tmp_path, environment)
    canary = CANARIES[source]
    where = told.find(canary)
    assert where < 0, told[max(0, where - 300) : where + 60]
    assert base64.b64encode(f"user:{canary}".encode()).decode() not in told
    assert "We ship on Friday" in told
