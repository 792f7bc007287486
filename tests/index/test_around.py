"""The chunks around a hit, in short notes and in long ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from notewell import Settings, open_memory
from notewell.index.sqlite.view import SHORT_NOTE
from notewell.testing import HashEmbedder


def write_note(workspace: Path, sections: int, first: int = 0) -> None:
    numbers = range(first, first + sections)
    # Long enough that each section is a chunk.
    text = "\n".join(f"## {number}\n\n{f'zebra {number} ' * 60}\n" for number in numbers)
    (workspace / "MEMORY.md").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("sections", [3, SHORT_NOTE + 20])
def test_the_chunks_that_begin_in_these_lines_are_given(tmp_path: Path, sections: int) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with open_memory(
        workspace, state_dir=tmp_path / "state", settings=Settings(), embedder=HashEmbedder()
    ) as memory:
        # The second time, what the reader kept is no longer true.
        for first in (0, 1000):
            write_note(workspace, sections, first)
            memory.sync()
            with memory.indexer.store.view() as view:
                assert view is not None
                chunks = view.chunks(view.chunks_of("MEMORY.md")).values()
                assert len(chunks) == sections
                for start, end in ((1, 4), (5, 5), (-70, 9), (2, 10**6), (10**6, 10**6 + 1)):
                    found = view.around("MEMORY.md", start, end)
                    assert list(found) == [
                        chunk for chunk in chunks if start <= chunk.span.start_line <= end
                    ]
                assert not view.around("memory/none.md", 1, 9)
