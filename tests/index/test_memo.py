"""A reader keeps what it has read, and forgets it when somebody commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell import Settings, open_memory
from notewell.index.sqlite.memo import KEPT_CHUNKS, LEAST_CHUNKS, ReadMemo
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from notewell import Memory


def opened(tmp_path: Path) -> Memory:
    return open_memory(
        tmp_path / "notes",
        state_dir=tmp_path / "state",
        settings=Settings(),
        embedder=HashEmbedder(),
    )


def test_a_search_after_a_write_of_another_process_has_its_texts_and_counts(
    tmp_path: Path,
) -> None:
    note = tmp_path / "notes" / "memory" / "router.md"
    note.parent.mkdir(parents=True)
    note.write_text("# Router\n\nThe router is in the cellar.\n", encoding="utf-8")
    with opened(tmp_path) as memory, opened(tmp_path) as other:
        memory.sync()
        before = memory.search("router cellar", mode="keyword")
        note.write_text("# Router\n\nThe router is in the attic.\n", encoding="utf-8")
        other.sync()
        after = memory.search("router attic", mode="keyword")
        with memory.indexer.store.view() as view:
            assert view is not None
            assert view.having(["cellar", "attic"]) == {"attic": 1}
    assert "cellar" in before.hits[0].snippet
    assert "attic" in after.hits[0].snippet
    assert after.nearness is not None
    assert after.nearness.value == 1.0


def test_no_more_than_a_few_chunks_are_kept(tmp_path: Path) -> None:
    # With so many other readers, each has the least.
    readers = [ReadMemo() for _ in range(KEPT_CHUNKS // LEAST_CHUNKS)]
    folder = tmp_path / "notes" / "memory"
    folder.mkdir(parents=True)
    for number in range(LEAST_CHUNKS + 40):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nword\n", encoding="utf-8")
    with opened(tmp_path) as memory:
        memory.sync()
        store = memory.indexer.store
        with store.view() as view:
            assert view is not None
            ids = range(1, LEAST_CHUNKS + 41)
            assert len(view.chunks(ids)) == len(ids)
        with store.view() as view:
            assert view is not None
            assert len(view.chunks([1])) == 1
            assert len(store._reader._memo.chunks) == 1  # type: ignore[attr-defined]
    assert not any(reader.chunks for reader in readers)
