"""QMD by words: its MCP server, and `qmd search`.

Its vectors, its expansion of queries and its reranker need three GGUF models (about 2 GB) that it
downloads from Hugging Face, and it takes no embedding server. Where that is out of reach, only
keyword search works, and only that is measured here.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.peers.installs import NODE, npm
from bench.peers.peer import MAX_RESULTS, PeerAnswer, PeerHit
from bench.peers.processes import Command, McpProcess, run, started
from bench.peers.settings import NotesUnchanged, all_words, content_words, environ

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from bench.peers.peer import PeerHome, Serving

VERSION = "2.8.3"
MAX_SEARCHES = 10
"""QMD takes no more in one call."""
_COLLECTION = "notes"
_PLACE = re.compile(r"@@ -(\d+),(\d+) @@")


class Qmd(NotesUnchanged):
    """With `by_word`, a question is asked as its words and as each word alone, which QMD fuses:
    what its documentation calls a query with several `lex` searches."""

    packages: Mapping[str, str] = {"@tobilu/qmd": VERSION}
    has_own_vectors = True

    def __init__(self, *, by_word: bool = False) -> None:
        self._by_word = by_word
        self.name = "QMD words, each alone" if by_word else "QMD words"
        self.about = (
            "no models; the words of the question together and each alone, fused by QMD"
            if by_word
            else "no models (they come from Hugging Face); the question as one keyword search"
        )
        self._programs: tuple[Path, ...] = ()

    def install(self, cache: Path) -> tuple[Path, ...]:
        self._programs = npm(cache / "node", NODE), npm(cache / "qmd", f"@tobilu/qmd@{VERSION}")
        return cache / "node", cache / "qmd"

    def index(self, home: PeerHome) -> None:
        self._run(home, "collection", "add", str(home.notes), "--name", _COLLECTION)

    @contextmanager
    def serve(self, home: PeerHome) -> Iterator[Serving]:
        command: Command = [self._programs[1] / "qmd", "mcp"]
        with started(command, self._environ(home), home.state, lines=True) as process:
            yield _Asked(McpProcess(process), self._by_word)

    def ask_once(self, home: PeerHome, question: str) -> None:
        self._run(home, "search", "--json", "-n", str(MAX_RESULTS), "--", question)

    def _run(self, home: PeerHome, *arguments: str) -> str:
        return run([self._programs[1] / "qmd", *arguments], self._environ(home), home.state)

    def _environ(self, home: PeerHome) -> dict[str, str]:
        folders = {"XDG_CACHE_HOME": ".cache", "XDG_CONFIG_HOME": ".config"}
        return environ(home, *self._programs) | {
            name: str(home.state / folder) for name, folder in folders.items()
        }


class _Asked:
    def __init__(self, mcp: McpProcess, by_word: bool) -> None:
        self._mcp = mcp
        self._by_word = by_word
        self.pid = mcp.pid

    def ask(self, question: str) -> PeerAnswer:
        searches = by_words(question) if self._by_word else [" ".join(all_words(question))]
        arguments = {
            "searches": [{"type": "lex", "query": search} for search in searches],
            "limit": MAX_RESULTS,
            "rerank": False,
        }
        _, structured = self._mcp.call("query", arguments)
        hits = tuple(_hit(result) for result in structured["results"])
        # Its text has titles alone; the lines are in the structured part.
        return PeerAnswer(hits, json.dumps(structured, ensure_ascii=False), is_json=True)


def by_words(question: str) -> list[str]:
    words = content_words(question)
    return [" ".join(words), *words][:MAX_SEARCHES]


def _hit(result: Mapping[str, str]) -> PeerHit:
    path = result["file"].removeprefix("qmd://").removeprefix(f"{_COLLECTION}/")
    place = _PLACE.search(result["snippet"])
    if place is None:
        return PeerHit(path, result["snippet"])
    start, count = map(int, place.groups())
    return PeerHit(path, result["snippet"], start, start + count - 1)
