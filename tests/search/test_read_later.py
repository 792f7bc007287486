"""A hit computes its lines, parts and snippet when they are read; they are those of the search."""

import pickle
from pathlib import Path

from notewell import Settings, open_memory
from notewell.testing import WindowedHashEmbedder

QUESTION = "where does the heron wait?"


def test_an_answer_that_is_read_later_is_the_same(tmp_path: Path) -> None:
    workspace = tmp_path / "notes"
    workspace.mkdir()
    note = workspace / "MEMORY.md"
    sections = [
        f"## Pond {number}\n\nA heron waits here.\n" + "Reeds. " * 90 for number in range(9)
    ]
    note.write_text("\n\n".join(sections), encoding="utf-8")
    embedder = WindowedHashEmbedder()
    with open_memory(
        workspace, state_dir=tmp_path / "state", settings=Settings(), embedder=embedder
    ) as memory:
        memory.sync()
        at_once = repr(memory.search(QUESTION))
        later, sent = memory.search(QUESTION), pickle.dumps(memory.search(QUESTION))
        note.write_text("Nothing is left.", encoding="utf-8")
        memory.sync()
    assert later.hits
    assert repr(later) == at_once
    assert repr(pickle.loads(sent)) == at_once
