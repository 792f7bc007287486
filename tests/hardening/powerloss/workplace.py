"""The small memory that the stories are about: `ws` holds the notes, `state` all the rest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from notewell import Memory, SyncSettings, open_memory
from notewell.config import Settings
from notewell.errors import EmbedderFailed
from notewell.ports import Embedder, Kind
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from notewell.ports import Vectors

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
NOTHING = "nothing is indexed"

THINGS = (
    "router", "printer", "bicycle", "garden", "passport", "piano", "kettle", "violin", "ladder",
    "lantern", "compass", "teapot", "umbrella", "notebook", "telescope", "hammock", "sledge",
    "blanket",
)  # fmt: skip
PROBES = ("When was the router bought?", "violin", "umbrella in the hall", "the new telescope")


class StopsAfter(HashEmbedder):
    """Fails once it has embedded so many texts: a sync that came so far and no further."""

    def __init__(self, texts: int) -> None:
        super().__init__()
        self._left = texts

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if kind == "document":
            self._left -= len(texts)
            if self._left < 0:
                raise EmbedderFailed("hash", "it was told to stop here")
        return super().embed(texts, kind)


def memory(root: Path, embedder: Embedder | None = None) -> Memory:
    """As it is on disk: a search takes nothing in."""
    return open_memory(
        root / "ws",
        state_dir=root / "state",
        settings=Settings(sync=SyncSettings(on_search=False)),
        embedder=embedder or HashEmbedder(),
        environment={},
        now_ns=lambda: int(NOW.timestamp() * 1e9),
    )


def write_notes(root: Path) -> None:
    notes = root / "ws" / "memory"
    notes.mkdir(parents=True)
    (root / "state").mkdir()
    for thing in THINGS:
        (notes / f"{thing}.md").write_text(note_text(thing), encoding="utf-8")


def note_text(thing: str) -> str:
    first = 2000 + THINGS.index(thing)
    lines = (f"- The {thing} of room {room} was bought in {first + room}.\n" for room in range(12))
    return f"# {thing.title()}\n\n{''.join(lines)}"


def edit_notes(root: Path) -> None:
    """One note longer, one other, one new, one gone."""
    notes = root / "ws" / "memory"
    with (notes / "router.md").open("a", encoding="utf-8") as file:
        file.write("\n## Later\n\nThe router was sold.\n")
    (notes / "violin.md").write_text("# Violin\n\nIt is a viola now.\n", encoding="utf-8")
    (notes / "new.md").write_text("# New\n\nThe new telescope has a stand.\n", encoding="utf-8")
    (notes / "umbrella.md").unlink()


def look(root: Path) -> str:
    """What the index answers, so short that it can be shown; raises what a search would raise."""
    with memory(root) as opened:
        answers = [
            opened.search(question, mode=mode)
            for question in PROBES
            for mode in ("hybrid", "keyword")
        ]
        if any((one.reason or "").startswith(NOTHING) for one in answers):
            assert all(not one.hits for one in answers), "some of it is indexed and some not"
            return NOTHING
        with opened.indexer.store.view() as view:
            assert view is not None
            counts = view.counts()
            known = {path: note.digest for path, note in view.notes().items()}
            found = view.chunks([one for path in known for one in view.chunks_of(path)])
    hits = [[(h.citation, round(h.score, 6), h.snippet) for h in one.hits] for one in answers]
    texts = sorted((one.path, one.span, one.text) for one in found.values())
    whole = hashlib.sha256(json.dumps([known, texts, hits], sort_keys=True).encode()).hexdigest()
    return f"{counts.files} notes, {counts.chunks} chunks, {counts.embedded} vectors, {whole[:8]}"


def index_folder(root: Path) -> Path | None:
    return next((root / "state" / "memory").glob("*"), None)


def leftovers(root: Path) -> list[str]:
    """What has no business in the folder of an index that is up to date."""
    folder = index_folder(root)
    if folder is None:
        return []
    current = (folder / "CURRENT").read_text(encoding="ascii").strip()
    known = {"CURRENT", "writer.lock", "embedder.lock", "cache.lock"}
    for name in (current, "cache.sqlite"):
        known |= {name, f"{name}-wal", f"{name}-shm"}
    return sorted(path.name for path in folder.iterdir() if path.name not in known)
