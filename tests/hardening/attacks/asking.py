"""A small memory that is asked by words alone, and what it must keep to whatever it is asked."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from notewell import Memory, SearchSettings, SyncSettings, open_memory
from notewell.config import Settings
from notewell.core import text_query
from notewell.core.words import split_words
from notewell.errors import BadRequest
from notewell.testing import HashEmbedder

SLOWEST_S = 30.0
"""The longest question takes 0.4 s here; one that runs away takes minutes."""

NOTES = {
    "MEMORY.md": "# Zoo\n\nThe walrus sleeps in Basel.\n",
    "memory/2026-11-15.md": '- err-4711: "NEAR" and OR are words; text: too\n- 温室 frost\n',
    "memory/plain.md": "Nothing of all this.\n",
}


@contextmanager
def small_memory(root: Path) -> Iterator[Memory]:
    for name, text in NOTES.items():
        (root / "ws" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "ws" / name).write_text(text, encoding="utf-8")
    settings = Settings(
        sync=SyncSettings(on_search=False), search=SearchSettings(keyword_only=True)
    )
    with open_memory(
        root / "ws", state_dir=root / "state", settings=settings, embedder=HashEmbedder()
    ) as memory:
        memory.sync()
        yield memory


@dataclass(slots=True)
class Asked:
    queries: int = 0
    refused: int = 0
    answered: int = 0
    """With at least one hit."""
    slowest_s: float = 0.0
    slowest: str = ""
    stray: list[str] = field(default_factory=list)
    """Questions that found what has none of their words."""


def ask_all(memory: Memory, queries: Iterable[str]) -> Asked:
    """Raises whatever is raised but `BadRequest`."""
    asked = Asked()
    known = {path: _forms(f"{path}\n{text}") for path, text in NOTES.items()}
    for query in queries:
        asked.queries += 1
        began = time.perf_counter()
        try:
            answer = memory.search(query)
        except BadRequest:
            asked.refused += 1
            continue
        took_s = time.perf_counter() - began
        if took_s > asked.slowest_s:
            asked.slowest_s, asked.slowest = took_s, query[:60]
        asked.answered += bool(answer.hits)
        wanted = set(text_query(query).terms) if answer.hits else set()
        if any(wanted.isdisjoint(known[hit.path]) for hit in answer.hits):
            asked.stray.append(query[:200])
    return asked


def _forms(text: str) -> set[str]:
    return {form for word in split_words(text) for form in word.forms}


def digests(folder: Path) -> dict[str, str]:
    """Of every file but the shared memory of SQLite, in which readers leave their marks."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".sqlite-shm")
    return {
        str(path): sha256(path.read_bytes()).hexdigest()
        for path in files
        if not path.name.endswith("-shm")
    }
