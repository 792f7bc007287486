"""A fact that is mentioned in passing is found, shown and explained by the window it is in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell import SearchSettings, Settings, open_memory
from notewell.testing import HashEmbedder, WindowedHashEmbedder

if TYPE_CHECKING:
    from notewell import Memory
    from notewell.ports import Embedder

OTHERS = [
    f"- {name} wrote about {topic} for a long while and then went home, as on every other day."
    for name, topic in zip(
        ("Ada", "Ben", "Cleo", "Dora", "Emil", "Finn", "Gita", "Hugo"),
        ("trains", "bread", "music", "taxes", "rivers", "maps", "chess", "glass"),
        strict=True,
    )
]
PASSING = "- The walrus antenna on the pier was repainted."
LONG = "\n".join(["# Log", "", *OTHERS[:5], PASSING, *OTHERS[5:]])
LINE = LONG.split("\n").index(PASSING) + 1
HALF = "# Other\n\n- The walrus slept on a stone, and nobody minded it, says the zoo.\n"
VECTORS_ALONE = Settings(search=SearchSettings(hybrid=False))
QUESTION = "walrus antenna pier repainted"


def remember(root: Path, embedder: Embedder, settings: Settings = VECTORS_ALONE) -> Memory:
    for name, text in (("long", LONG), ("half", HALF)):
        note = root / "workspace" / "memory" / f"{name}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(text, encoding="utf-8")
    memory = open_memory(
        root / "workspace", state_dir=root / "state", embedder=embedder, settings=settings
    )
    memory.sync()
    return memory


def first(memory: Memory) -> str:
    with memory:
        return memory.search(QUESTION, min_score=0.0).hits[0].path


def test_the_best_window_lifts_its_chunk(tmp_path: Path) -> None:
    assert first(remember(tmp_path / "chunks", HashEmbedder())) == "memory/half.md"
    windowed = WindowedHashEmbedder(share=0.8)
    assert first(remember(tmp_path / "windows", windowed)) == "memory/long.md"


def test_a_model_of_which_windows_have_no_share_computes_none(tmp_path: Path) -> None:
    embedder = WindowedHashEmbedder(share=0.0)
    assert first(remember(tmp_path, embedder)) == "memory/half.md"
    assert embedder.embedded_texts == 3  # Two chunks and the question.


def test_the_parts_of_a_score_name_the_nearest_lines(tmp_path: Path) -> None:
    with remember(tmp_path, WindowedHashEmbedder()) as memory:
        hits = {hit.path: hit for hit in memory.search(QUESTION, min_score=0.0).hits}
    window = hits["memory/long.md"].parts.window
    assert window is not None
    assert window.span.start_line <= LINE <= window.span.end_line
    assert window.span.end_line - window.span.start_line < 4
    assert window.vector > (hits["memory/long.md"].parts.vector or 0)
    # A short chunk is one window by itself.
    assert hits["memory/half.md"].parts.window is None


@pytest.mark.parametrize("mode", ["vectors", "hybrid"])
def test_an_answer_shows_the_nearest_lines(tmp_path: Path, mode: str) -> None:
    settings = VECTORS_ALONE if mode == "vectors" else Settings()
    note = "\n".join([*OTHERS * 4, PASSING, *OTHERS * 4])
    embedder = WindowedHashEmbedder()
    folder = tmp_path / "workspace" / "memory"
    folder.mkdir(parents=True)
    (folder / "much.md").write_text(note, encoding="utf-8")
    with remember(tmp_path, embedder, settings) as memory:
        hit = memory.search(QUESTION, min_score=0.0).hits[0]
    assert PASSING in hit.shown_text
    assert PASSING in hit.snippet
