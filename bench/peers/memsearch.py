"""memsearch with Milvus Lite, its default: its class in a process that stays, and its commands."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers.installs import venv
from bench.peers.peer import MAX_RESULTS, PeerAnswer, PeerHit
from bench.peers.processes import Command, LineProcess, run, started
from bench.peers.settings import NotesUnchanged, environ

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench.peers.peer import PeerHome, Serving

VERSION = "0.4.23"
_DRIVER = Path(__file__).parent / "drivers" / "memsearch_lines.py"


class Memsearch(NotesUnchanged):
    name = "memsearch"
    packages: Mapping[str, str] = {"memsearch": VERSION}
    about = "defaults (Milvus Lite, words and vectors); what `search --json-output` prints"
    has_own_vectors = False

    def __init__(self) -> None:
        self._bin = Path()

    def install(self, cache: Path) -> tuple[Path, ...]:
        self._bin = venv(cache / "memsearch", f"memsearch=={VERSION}")
        return (cache / "memsearch",)

    def index(self, home: PeerHome) -> None:
        self._run(home, "index", str(home.notes))

    @contextmanager
    def serve(self, home: PeerHome) -> Iterator[Serving]:
        command: Command = [self._bin / "python", _DRIVER, _database(home), home.embeddings]
        with started(command, environ(home, self._bin), home.state, lines=True) as process:
            yield _Asked(LineProcess(process), home.notes)

    def ask_once(self, home: PeerHome, question: str) -> None:
        limit = ["--top-k", str(MAX_RESULTS)]
        json.loads(self._run(home, "search", *limit, "--json-output", question))

    def _run(self, home: PeerHome, command: str, *arguments: str) -> str:
        options = ["--provider", "openai", "--model", "notewell-embed", "--api-key", "x"]
        options += ["--base-url", home.embeddings, "--milvus-uri", _database(home)]
        program = self._bin / "memsearch"
        return run([program, command, *options, *arguments], environ(home, self._bin), home.state)


def _database(home: PeerHome) -> str:
    return str(home.state / "milvus.db")


class _Asked:
    def __init__(self, lines: LineProcess, notes: Path) -> None:
        self._lines = lines
        self._notes = notes
        self.pid = lines.pid

    def ask(self, question: str) -> PeerAnswer:
        message = {"id": 1, "question": question, "limit": MAX_RESULTS}
        results = self._lines.ask(message)["results"]
        hits = (
            PeerHit(
                Path(hit["source"]).relative_to(self._notes.resolve()).as_posix(),
                hit["content"],
                hit["start_line"],
                hit["end_line"],
            )
            for hit in results
        )
        text = json.dumps(results, indent=2, ensure_ascii=False)
        return PeerAnswer(tuple(hits), text, is_json=True)
