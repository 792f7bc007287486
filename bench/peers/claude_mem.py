"""claude-mem: its worker and the API that its hooks and its MCP server use.

It captures conversations of Claude Code with a language model and reads no notes. So it is given
passages of the notes as memories that a user saves (`/api/memory/save`), and asked as its skill
tells an agent to: a search, which lists titles, then the observations it lists. Vectors come from
a Chroma server that downloads its own model, and take no embedding server: they are off.
"""

from __future__ import annotations

import json
import re
import urllib.parse
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.peers.installs import npm, npm_plugin
from bench.peers.peer import MAX_RESULTS, PeerAnswer, PeerHit
from bench.peers.processes import Command, ask_http, await_http, free_port, started
from bench.peers.settings import NotesUnchanged, content_words, environ, passages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from bench.peers.peer import PeerHome, Serving

VERSION = "13.25.3"
BUN = "bun@1.4.4"
MAX_SEARCHES = 10
_PROJECT = "bench"
_ID = re.compile(r"\| #(\d+) \|")
_TITLE = re.compile(r"(.+)#L(\d+)-L(\d+)")


class ClaudeMem(NotesUnchanged):
    """Without Chroma, a search finds its words only as they stand: as a phrase. With `by_word`, it
    is asked once for each word of the question, as an agent would try several, and the answers
    are merged by rank."""

    packages: Mapping[str, str] = {"claude-mem": VERSION}
    has_own_vectors = True

    def __init__(self, *, by_word: bool = False) -> None:
        self._by_word = by_word
        self.name = "claude-mem words, each alone" if by_word else "claude-mem words"
        self.about = "passages of 1600 characters saved by its API; " + (
            "a keyword search for each word of the question, merged here by rank"
            if by_word
            else "the question as one keyword search"
        )
        self._programs: tuple[Path, ...] = ()

    def install(self, cache: Path) -> tuple[Path, ...]:
        plugin = npm_plugin(cache / "claude-mem", f"claude-mem@{VERSION}", "plugin")
        self._programs = npm(cache / "bun", BUN), plugin / "scripts"
        return cache / "bun", cache / "claude-mem"

    def index(self, home: PeerHome) -> None:
        with self._worker(home) as (_, url):
            for passage in passages(home.notes):
                title = f"{passage.path}#L{passage.start_line}-L{passage.end_line}"
                memory = {"text": passage.text, "title": title, "project": _PROJECT}
                ask_http(f"{url}/memory/save", memory)

    @contextmanager
    def serve(self, home: PeerHome) -> Iterator[Serving]:
        with self._worker(home) as (pid, url):
            yield _Asked(pid, url, self._by_word)

    def ask_once(self, home: PeerHome, question: str) -> None:
        with self.serve(home) as serving:
            serving.ask(question)

    @contextmanager
    def _worker(self, home: PeerHome) -> Iterator[tuple[int, str]]:
        port = free_port()
        command: Command = [
            self._programs[0] / "bun", self._programs[1] / "worker-service.cjs", "--daemon"
        ]  # fmt: skip
        settings = environ(home, self._programs[0]) | {
            "CLAUDE_MEM_DATA_DIR": str(home.state / ".claude-mem"),
            "CLAUDE_MEM_WORKER_PORT": str(port),
            "CLAUDE_MEM_CHROMA_ENABLED": "false",
        }
        with started(command, settings, home.state) as process:
            await_http(f"http://127.0.0.1:{port}/api/readiness", process)
            yield process.pid, f"http://127.0.0.1:{port}/api"


class _Asked:
    def __init__(self, pid: int, url: str, by_word: bool) -> None:
        self.pid = pid
        self._url = url
        self._by_word = by_word

    def ask(self, question: str) -> PeerAnswer:
        queries = content_words(question)[:MAX_SEARCHES] if self._by_word else [question]
        lists = [self._search(query) for query in queries]
        titles = "\n".join(lists)
        ids = merged([_ID.findall(each) for each in lists])[:MAX_RESULTS]
        if not ids:
            return PeerAnswer((), titles)
        observations = ask_http(f"{self._url}/observations/batch", {"ids": list(map(int, ids))})
        by_id = {str(each["id"]): each for each in observations}
        hits = tuple(_hit(by_id[each]) for each in ids if each in by_id)
        details = json.dumps(observations, indent=2, ensure_ascii=False)
        # What an agent that tried several words has read before is not counted: titles only.
        text = details if self._by_word else f"{titles}\n{details}"
        return PeerAnswer(hits, text, is_json=True)

    def _search(self, query: str) -> str:
        words = {"query": query, "limit": str(MAX_RESULTS), "project": _PROJECT}
        found = ask_http(f"{self._url}/search?{urllib.parse.urlencode(words)}")
        titles: str = found["content"][0]["text"]
        return titles


def merged(lists: Sequence[Sequence[str]]) -> list[str]:
    """By reciprocal rank, the best first."""
    scores: dict[str, float] = {}
    for each in lists:
        for rank, name in enumerate(each, start=1):
            scores[name] = scores.get(name, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda name: -scores[name])


def _hit(observation: Mapping[str, str]) -> PeerHit:
    place = _TITLE.fullmatch(observation["title"])
    text = observation.get("narrative") or observation.get("text") or ""
    if place is None:
        return PeerHit("", text)
    return PeerHit(place[1], text, int(place[2]), int(place[3]))
