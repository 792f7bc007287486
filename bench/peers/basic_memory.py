"""basic-memory: its MCP server and `basic-memory tool search-notes`, over the folder of notes."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers.installs import python_for_extensions, venv
from bench.peers.peer import MAX_RESULTS, PeerAnswer, PeerHit
from bench.peers.processes import Command, McpProcess, run, started
from bench.peers.settings import NotesUnchanged, environ

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench.peers.peer import PeerHome, Serving

VERSION = "0.23.2"
_PROJECT = "main"


class BasicMemory(NotesUnchanged):
    name = "basic-memory"
    packages: Mapping[str, str] = {"basic-memory": VERSION}
    about = "defaults, vectors through LiteLLM; asked over MCP"
    has_own_vectors = False

    def __init__(self) -> None:
        self._bin = Path()

    def install(self, cache: Path) -> tuple[Path, ...]:
        folder = cache / "basic-memory"
        self._bin = venv(folder, f"basic-memory=={VERSION}", python=python_for_extensions())
        return (folder,)

    def index(self, home: PeerHome) -> None:
        self._configure(home)
        self._run(home, "reindex")

    @contextmanager
    def serve(self, home: PeerHome) -> Iterator[Serving]:
        self._configure(home)
        command: Command = [self._bin / "basic-memory", "mcp"]
        with started(command, environ(home, self._bin), home.state, lines=True) as process:
            yield _Asked(McpProcess(process))

    def ask_once(self, home: PeerHome, question: str) -> None:
        self._configure(home)
        limit = ["--page-size", str(MAX_RESULTS)]
        self._run(home, "tool", "search-notes", *limit, "--json", question)

    def _run(self, home: PeerHome, *arguments: str) -> str:
        program = self._bin / "basic-memory"
        return run([program, *arguments], environ(home, self._bin), home.state)

    def _configure(self, home: PeerHome) -> None:
        settings = {
            "projects": {_PROJECT: {"path": str(home.notes)}},
            "default_project": _PROJECT,
            "semantic_embedding_provider": "litellm",
            "semantic_embedding_model": "openai/notewell-embed",
            "semantic_embedding_api_base": home.embeddings,
            "semantic_embedding_api_key": "x",
            "semantic_embedding_dimensions": 384,
            "auto_update": False,
        }
        file = home.state / ".basic-memory" / "config.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(settings), encoding="utf-8")


class _Asked:
    def __init__(self, mcp: McpProcess) -> None:
        self._mcp = mcp
        self.pid = mcp.pid

    def ask(self, question: str) -> PeerAnswer:
        arguments = {"query": question, "page_size": MAX_RESULTS, "output_format": "json"}
        text, _ = self._mcp.call("search_notes", {**arguments, "project": _PROJECT})
        hits = (
            PeerHit(hit["file_path"], hit.get("content") or hit.get("matched_chunk") or "")
            for hit in json.loads(text).get("results", ())
        )
        return PeerAnswer(tuple(hits), text, is_json=True)
