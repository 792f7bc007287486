"""OpenClaw's builtin memory: the gateway's `memory_search`, and `openclaw memory`."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bench.peers.installs import NODE, npm
from bench.peers.peer import MAX_RESULTS, PeerAnswer, PeerHit
from bench.peers.processes import Command, ask_http, await_http, free_port, run, started
from bench.peers.settings import environ

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from bench.peers.peer import PeerHome, Serving

VERSION = "2026.9.6"
TOKEN = "bench"
"""For a gateway on loopback with notes that are public."""
_DAY = re.compile(r"(?<=/)(?=\d{4}-\d\d-\d\d\.md$)")
_UNDATED = "on-"


class OpenClaw:
    """With `is_ageless`, no note is older than another one, and no hit is too weak.

    OpenClaw halves the score of a note `memory/YYYY-MM-DD.md` every 30 days, and no setting turns
    that off; a note with another name does not age.
    """

    packages: Mapping[str, str] = {"openclaw": VERSION}
    has_own_vectors = False

    def __init__(self, *, is_ageless: bool = False) -> None:
        self._is_ageless = is_ageless
        self.name = "OpenClaw, no ageing" if is_ageless else "OpenClaw"
        self.about = (
            "notes renamed so that its decay by date does not apply, and minScore 0"
            if is_ageless
            else "defaults (decay by date, minScore 0.35); asked over its gateway's HTTP"
        )
        self._programs: tuple[Path, ...] = ()

    def install(self, cache: Path) -> tuple[Path, ...]:
        self._programs = (
            npm(cache / "node", NODE),
            npm(cache / "openclaw", f"openclaw@{VERSION}"),
        )
        return cache / "node", cache / "openclaw"

    def note_path(self, path: str) -> str:
        return _DAY.sub(_UNDATED, path) if self._is_ageless else path

    def index(self, home: PeerHome) -> None:
        self._configure(home, free_port())
        self._run(home, "index", "--force", "--agent", "main")

    @contextmanager
    def serve(self, home: PeerHome) -> Iterator[Serving]:
        port = free_port()
        self._configure(home, port)
        command: Command = [self._programs[1] / "openclaw", "gateway", "run"]
        with started(command, environ(home, *self._programs), home.state) as process:
            await_http(f"http://127.0.0.1:{port}/healthz", process)
            yield _Asked(process.pid, port)

    def ask_once(self, home: PeerHome, question: str) -> None:
        limit = ["--max-results", str(MAX_RESULTS)]
        json.loads(self._run(home, "search", "--json", *limit, "--query", question))

    def _run(self, home: PeerHome, *arguments: str) -> str:
        command: Command = [self._programs[1] / "openclaw", "memory", *arguments]
        return run(command, environ(home, *self._programs), home.state)

    def _configure(self, home: PeerHome, port: int) -> None:
        search: dict[str, Any] = {
            "provider": "openai-compatible",
            "model": "notewell-embed",
            "remote": {"baseUrl": home.embeddings, "apiKey": "x"},
        }
        if self._is_ageless:
            search["query"] = {"minScore": 0}
        settings = {
            "agents": {"defaults": {"workspace": str(home.notes), "skipBootstrap": True}},
            "gateway": {
                "mode": "local",
                "port": port,
                "bind": "loopback",
                "auth": {"mode": "token", "token": TOKEN},
            },
            "memory": {"search": search},
        }
        file = home.state / ".openclaw" / "openclaw.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(settings), encoding="utf-8")


class _Asked:
    def __init__(self, pid: int, port: int) -> None:
        self.pid = pid
        self._url = f"http://127.0.0.1:{port}/tools/invoke"

    def ask(self, question: str) -> PeerAnswer:
        call = {
            "tool": "memory_search",
            "args": {"query": question, "maxResults": MAX_RESULTS},
        }
        answer = ask_http(self._url, call, {"Authorization": f"Bearer {TOKEN}"})
        text = answer["result"]["content"][0]["text"]
        hits = (
            PeerHit(
                hit["path"].replace(f"/{_UNDATED}", "/"),
                hit["snippet"],
                hit["startLine"],
                hit["endLine"],
            )
            for hit in json.loads(text).get("results", ())
        )
        return PeerAnswer(tuple(hits), text, is_json=True)
