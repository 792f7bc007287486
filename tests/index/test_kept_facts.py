"""What a reader keeps of a small index is what the index has, also after it has changed."""

from pathlib import Path

import pytest

from notewell import Settings, open_memory
from notewell.core import window_cosines
from notewell.index.sqlite.memo import LEAST_CHUNKS
from notewell.testing import WindowedHashEmbedder

SENTENCE = "The heron stands in the reeds of the pond behind the house and waits for a fish. "


def write_note(workspace: Path, name: str, sections: int) -> None:
    texts = [
        f"## {name} {number}\n\n{SENTENCE * 5}\n{SENTENCE * 4}\n" for number in range(sections)
    ]
    (workspace / f"{name}.md").write_text("\n".join(texts), encoding="utf-8")


@pytest.mark.parametrize("sections", [3, LEAST_CHUNKS])
def test_a_reader_keeps_windows_and_facts_until_somebody_commits(
    tmp_path: Path, sections: int
) -> None:
    embedder, workspace = WindowedHashEmbedder(), tmp_path / "notes"
    (workspace / "memory").mkdir(parents=True)
    vector = embedder.embed(["a heron"], "query")[0]
    with open_memory(
        workspace, state_dir=tmp_path / "state", settings=Settings(), embedder=embedder
    ) as memory:
        for name in ("memory/2026-10-01", "memory/2026-10-02"):
            write_note(workspace, name, sections)
            memory.sync()
            with memory.indexer.store.view() as view:
                assert view is not None
                paths = view.notes()
                ids = [one for path in paths for one in view.chunks_of(path)]
                packed = {
                    chunk.id: view.vectors_of([chunk.path])[chunk.digest].windows
                    for chunk in view.chunks(ids[-3:]).values()
                }
                assert all(packed.values())
                for _ in range(2):  # The second time, from what is kept.
                    found = view.window_cosines(vector, ids)
                    assert len(found) == len(ids)
                    some = {one: found[one] for one in packed}
                    assert some == window_cosines(vector, packed)
                    chunks = view.chunks(ids)
                    assert view.facts(ids) == {one: chunks[one].facts for one in ids}
            assert f"{name}.md" in paths
