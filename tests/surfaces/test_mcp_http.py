"""The MCP server over HTTP on this machine: who is let in, and that it answers them."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.surfaces.tool_text import text_of

PROGRAM = (
    "import argparse, sys; from notewell.cli import mcp; parser = argparse.ArgumentParser(); "
    "mcp.add_options(parser); sys.exit(mcp.run(parser.parse_args()))"
)
HELLO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "by hand", "version": "1"},
        },
    }
)
TOKEN = "a-token-for-tests-only"


class Served(NamedTuple):
    port: int
    errors: Path


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("We store readings in SQLite.\n", encoding="utf-8")
    token_file = tmp_path / "token"
    token_file.write_text(f"{TOKEN}\n", encoding="utf-8")
    options = [
        "-w",
        str(workspace),
        "--state-dir",
        str(tmp_path / "state"),
        "--http",
        "--port",
        "0",
    ]
    options += ["--token-file", str(token_file)]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "serve", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout
        assert process.stderr
        line = process.stderr.readline()
        found = re.fullmatch(r"serving http://127\.0\.0\.1:(\d+)/mcp\n", line)
        assert found, line + process.stderr.read()
        try:
            yield Served(int(found[1]), tmp_path)
        finally:
            process.terminate()
            assert process.stdout.read() == ""
            rest = process.stderr.read()
            process.wait(60)
    assert "Traceback" not in rest
    assert TOKEN not in rest


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_client_with_the_token_is_answered(served: Served, era: str) -> None:
    async def asking() -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        url = f"http://127.0.0.1:{served.port}/mcp"
        with anyio.fail_after(120):
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http_client,
                Client(streamable_http_client(url, http_client=http_client), mode=era) as client,
            ):
                saved = await client.call_tool("memory_append", {"text": f"A zebra, {era}."})
                assert text_of(saved).startswith("Saved: ")
                found = await client.call_tool("memory_search", {"query": f"zebra {era}"})
                assert f"A zebra, {era}." in text_of(found)
                (note,) = (await client.read_resource("memory://MEMORY.md")).contents
                assert "readings" in note.model_dump()["text"]

    anyio.run(asking)


def status_of(served: Served, path: str = "/mcp", **headers: str) -> int:
    sent = {
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    try:
        connection.request("POST", path, HELLO, {k: v for k, v in sent.items() if v})
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    return answer.status


def test_who_is_let_in(served: Served) -> None:
    port = served.port
    assert status_of(served) == 200
    assert status_of(served, Authorization=f"bearer {TOKEN}") == 200
    assert status_of(served, Host=f"localhost:{port}") == 200
    assert status_of(served, Origin=f"http://localhost:{port}") == 200
    # Without the token, whatever is asked for.
    for wrong in (
        "",
        "Bearer",
        f"Bearer {TOKEN}x",
        f"Basic {TOKEN}",
        f"Bearer  {TOKEN}",
        "Bearer ü",
    ):
        assert status_of(served, Authorization=wrong) == 401, wrong
    assert status_of(served, "/other", Authorization="") == 401
    assert status_of(served, "/other") == 404
    # Names that are not ours: a page that had its own name point here.
    for host in (
        "evil.example",
        f"evil.example:{port}",
        f"localhost.evil.example:{port}",
        "localhost",
    ):
        assert status_of(served, Host=host) == 421, host
    for origin in ("http://evil.example", "null", f"https://localhost:{port}", "http://localhost"):
        assert status_of(served, Origin=origin) == 403, origin


def test_an_enormous_body_is_refused(served: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    connection.request("POST", "/mcp", json.dumps({"x": "x" * 5_000_000}), headers)
    assert connection.getresponse().status == 413
    connection.close()
