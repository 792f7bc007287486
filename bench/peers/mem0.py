"""mem0 as a library, with qdrant's local store: its defaults apart from `infer=False`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers.installs import venv
from bench.peers.peer import MAX_RESULTS, PeerAnswer, PeerHit
from bench.peers.processes import Command, LineProcess, started
from bench.peers.settings import NotesUnchanged, environ, passages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench.peers.peer import PeerHome, Serving

VERSION = "2.2.1"
_DRIVER = Path(__file__).parent / "drivers" / "mem0_lines.py"


class Mem0(NotesUnchanged):
    name = "mem0"
    packages: Mapping[str, str] = {"mem0ai": VERSION}
    about = "library, infer=False; it reads no files, so it is given passages of 1600 characters"
    has_own_vectors = False

    def __init__(self) -> None:
        self._bin = Path()

    def install(self, cache: Path) -> tuple[Path, ...]:
        self._bin = venv(cache / "mem0", f"mem0ai=={VERSION}")
        return (cache / "mem0",)

    def index(self, home: PeerHome) -> None:
        with self._open(home) as lines:
            for number, passage in enumerate(passages(home.notes)):
                lines.ask({"id": number, "add": passage._asdict()})

    @contextmanager
    def serve(self, home: PeerHome) -> Iterator[Serving]:
        with self._open(home) as lines:
            yield _Asked(lines)

    def ask_once(self, home: PeerHome, question: str) -> None:
        with self.serve(home) as serving:
            serving.ask(question)

    @contextmanager
    def _open(self, home: PeerHome) -> Iterator[LineProcess]:
        command: Command = [self._bin / "python", _DRIVER, str(home.state), home.embeddings]
        settings = environ(home, self._bin) | {"MEM0_DIR": str(home.state / ".mem0")}
        with started(command, settings, home.state, lines=True) as process:
            yield LineProcess(process)


class _Asked:
    def __init__(self, lines: LineProcess) -> None:
        self._lines = lines
        self.pid = lines.pid

    def ask(self, question: str) -> PeerAnswer:
        message = {"id": 1, "question": question, "limit": MAX_RESULTS}
        results = self._lines.ask(message)["results"]
        hits = tuple(
            PeerHit(
                hit["metadata"]["path"],
                hit["memory"],
                hit["metadata"]["start_line"],
                hit["metadata"]["end_line"],
            )
            for hit in results
        )
        # As the quick start of mem0 pastes memories into a prompt.
        return PeerAnswer(hits, "\n".join(f"- {hit.text}" for hit in hits))
