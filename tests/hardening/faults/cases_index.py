"""What is done to an index: the first one, changes, rebuilds, publishing, and the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.hardening.faults.scene import CHUNK_TOKENS, Scene, Seen, told

from notewell import Answer
from notewell.core import VERSION, ChunkLimits, chunk
from notewell.embedders import Cached
from notewell.index import Identity
from notewell.index.sqlite import SqliteStore
from notewell.index.sqlite.cache import SqliteVectorCache
from notewell.memory import Memory
from notewell.stores import index_dir
from notewell.types import NoteStat

TOPICS = ("amber", "basalt", "cobalt", "dolomite", "emerald")
CHANGED, GONE, ADDED = ("amber", "basalt"), "cobalt", ("jasper",)


def page(topic: str, version: str) -> str:
    """A note of three chunks; its topic stands in no other."""
    parts = (
        f"## {part}\n\nThe {topic} of the {version} edition, {part}.\n" + f"{part} word " * 18
        for part in ("first", "second", "third")
    )
    return f"# All about {topic}\n\n" + "\n\n".join(parts) + "\n"


def write_pages(scene: Scene) -> None:
    for topic in TOPICS:
        scene.write(f"memory/{topic}.md", page(topic, "old"))


def change_pages(scene: Scene) -> None:
    for topic in (*CHANGED, *ADDED):
        scene.write(f"memory/{topic}.md", page(topic, "new"))
    (scene.workspace / "memory" / f"{GONE}.md").unlink()


def looked_up(scene: Scene, model: str) -> Seen:
    """One question that names every topic: it is answered for each note by itself."""
    with scene.memory(model) as memory:
        answer = told(lambda: _asked(memory, "keyword"))
        return {
            "parts": {topic: _said_of(topic, answer) for topic in (*TOPICS, *ADDED)},
            "whole": {
                "hybrid": told(lambda: _scores(_asked(memory, "hybrid"))),
                "counts": told(lambda: _counts(scene)),
            },
            "cached": _cached(scene, model),
        }


def _asked(memory: Memory, mode: Literal["keyword", "hybrid"]) -> Answer:
    return memory.search(" ".join((*TOPICS, *ADDED)), mode=mode, max_results=100, min_score=0)


def _said_of(topic: str, answer: Answer | Seen) -> Any:
    if isinstance(answer, dict):
        return answer
    hits = [hit for hit in answer.hits if hit.path == f"memory/{topic}.md"]
    if hits:
        return sorted([*hit.span, hit.snippet] for hit in hits)
    return "nothing" if answer.hits or answer.reason else "silence"


def _scores(answer: Answer) -> Any:
    return [answer.mode, [[hit.path, *hit.span, round(hit.score, 6)] for hit in answer.hits]]


def _counts(scene: Scene) -> Any:
    reader = SqliteStore(index_folder(scene), "segments").reader()
    with closing(reader), reader.view() as view:
        counts = view.counts() if view else None
    return [counts.files, counts.chunks, counts.embedded, counts.waiting] if counts else None


def index_folder(scene: Scene) -> Path:
    return index_dir(scene.state, "main", scene.workspace)


def _cached(scene: Scene, model: str) -> list[str]:
    """The digests of the texts whose vectors are kept and sound."""
    facts = scene.embedder(model).facts
    path = index_folder(scene) / "cache.sqlite"
    if not path.exists():
        return []
    import apsw

    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        rows = db.execute(
            "SELECT hash FROM embedding_cache WHERE model = ? ORDER BY hash", (facts.model,)
        ).fetchall()
    except apsw.SQLError:  # Made, but its table not yet.
        return []
    finally:
        db.close()
    return [str(row[0]) for row in rows]


@dataclass(frozen=True, slots=True)
class SyncCase:
    """A sync over what was prepared; notes are only read."""

    name: str
    indexed: bool = True
    changes: bool = False
    force: bool = False
    model: str = "first"
    writes_to: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        write_pages(scene)
        if self.indexed:
            with scene.memory() as memory:
                memory.sync()
        if self.changes:
            change_pages(scene)

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        with scene.memory(self.model) as memory:
            arm()
            report = memory.sync(force=self.force)
            if report.trouble is not None:
                raise report.trouble

    def look(self, scene: Scene) -> Seen:
        return looked_up(scene, self.model)


@dataclass(frozen=True, slots=True)
class PublishCase:
    """The one moment in which a finished generation takes the place of another."""

    name: str = "publish"
    writes_to: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        write_pages(scene)
        with scene.memory() as memory:
            memory.sync()
        change_pages(scene)

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        facts = scene.embedder().facts
        index = SqliteStore(index_folder(scene), "segments")
        identity = Identity(
            provider=facts.provider,
            model=facts.model,
            dims=facts.dims,
            chunk_tokens=CHUNK_TOKENS,
            chunk_overlap=0,
            sources=("memory",),
            words_version=VERSION,
            vector_driver="segments",
        )
        limits = ChunkLimits(CHUNK_TOKENS, 0)
        with index.writing(wait_s=1) as writer:
            writer.start_generation(identity)
            with writer.transaction():
                for number, path in enumerate(sorted((scene.workspace / "memory").iterdir())):
                    text = path.read_text(encoding="utf-8")
                    stat = NoteStat(len(text), 1, 1, number)
                    digest = hashlib.sha256(text.encode()).hexdigest()
                    key = f"memory/{path.name}"
                    writer.replace(key, "memory", digest, stat, chunk(text, limits))
            arm()
            writer.publish()

    def look(self, scene: Scene) -> Seen:
        return looked_up(scene, "first")


@dataclass(frozen=True, slots=True)
class CacheCase:
    """Vectors are paid for and kept, a call's worth at a time."""

    name: str = "cache"
    writes_to: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        self._embed(scene, 12)

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        arm()
        self._embed(scene, 44)

    def _embed(self, scene: Scene, count: int) -> None:
        embedder = scene.embedder()
        folder = index_folder(scene)
        folder.mkdir(parents=True, exist_ok=True)
        cache = SqliteVectorCache(folder / "cache.sqlite", embedder.facts, now_s=lambda: 1.0)
        try:
            Cached(embedder, cache).embed(self._texts(count), "document")
        finally:
            cache.close()

    def _texts(self, count: int) -> list[str]:
        return [f"text number {number} of a note" for number in range(count)]

    def look(self, scene: Scene) -> Seen:
        return {"parts": told(lambda: self._kept(scene)), "cached": _cached(scene, "first")}

    def _kept(self, scene: Scene) -> dict[str, Any]:
        """A vector is there and right, or it is not there."""
        import numpy as np

        facts = scene.embedder().facts
        texts = {hashlib.sha256(text.encode()).hexdigest(): text for text in self._texts(44)}
        right = dict(zip(texts, _hashed(list(texts.values())), strict=True))
        cache = SqliteVectorCache(index_folder(scene) / "cache.sqlite", facts)
        try:
            found = cache.get(list(texts))
        finally:
            cache.close()
        return {
            digest: "right" if np.array_equal(found[digest], right[digest]) else "wrong"
            for digest in found
        }


def _hashed(texts: list[str]) -> Any:
    from notewell.testing import HashEmbedder

    return HashEmbedder(dims=32, model="first").embed(texts, "document")


INDEX_CASES = (
    SyncCase("first index", indexed=False),
    SyncCase("sync", changes=True),
    SyncCase("rebuild", changes=True, force=True),
    SyncCase("new model", model="second"),
    PublishCase(),
    CacheCase(),
)
