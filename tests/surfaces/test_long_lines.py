"""A line that is longer than a chunk is found and read in parts: the sentences that answer, with
what stands around them, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from notewell import Memory, open_memory
from notewell.cli import main
from notewell.index.sqlite import SqliteStore
from notewell.stores import index_dir
from notewell.testing import HashEmbedder
from notewell.tools import CallContext, call

FILLER = "They spoke about the weather and the long way home, and nobody was in a hurry."
ENGLISH = " ".join(
    [FILLER] * 30
    + ["The walrus in the harbour is called Olaf.", "It eats clams on a good day."]
    + [FILLER] * 30
)
CHINESE = (
    "他们谈到了天气和回家的路。" * 6
    + "港口里的海象叫奥拉夫，它每天吃五十公斤蛤蜊。"
    + "大家都不着急，慢慢地走着。" * 120
)


def memory_of(folder: Path, text: str) -> Memory:
    (folder / "workspace" / "memory").mkdir(parents=True, exist_ok=True)
    note = folder / "workspace" / "memory" / "one.md"
    note.write_text(text, encoding="utf-8")
    memory = open_memory(folder / "workspace", state_dir=folder / "state", embedder=HashEmbedder())
    memory.sync()
    return memory


@pytest.mark.parametrize(
    ("line", "question", "answer"),
    [
        (ENGLISH, "what is the walrus called?", "is called Olaf. It eats clams"),
        (CHINESE, "海象每天吃多少蛤蜊？", "港口里的海象叫奥拉夫，它每天吃五十公斤蛤蜊。"),
    ],
)
def test_the_sentences_that_answer_are_shown_with_those_around_them(
    tmp_path: Path, line: str, question: str, answer: str
) -> None:
    with memory_of(tmp_path, f"# Notes\n\n{line}\n") as memory:
        (hit, *_) = memory.search(question).hits
        text = hit.shown_text
        assert answer in text
        assert hit.span == (3, 3)
        # As it stands in the note, though it was stored in pieces; the marks say that it goes on.
        assert all(shown.text.strip("…") in line for shown in hit.shown)
        assert "…" in text
        small = call(memory, "memory_search", {"query": question}, CallContext(inject_chars=500))
        assert answer in small.to_text()


def test_two_places_of_one_line_are_two_hits(tmp_path: Path) -> None:
    line = " ".join(
        ["The walrus Olaf lives in the harbour.", *[FILLER] * 60, "The walrus Olaf eats clams."]
    )
    with memory_of(tmp_path, line) as memory:
        shown = [hit.shown_text for hit in memory.search("walrus Olaf").hits]
        assert len(shown) == 2
        assert any("lives in the harbour" in text for text in shown)
        assert any("eats clams" in text for text in shown)


def test_a_long_line_between_short_ones_hides_nothing(tmp_path: Path) -> None:
    lines = ["The walrus is old.", ENGLISH, "The walrus is grey."]
    with memory_of(tmp_path, "\n".join(lines)) as memory:
        hits = memory.search("walrus", max_results=10).hits
        text = "\n".join(hit.shown_text for hit in hits)
        assert "is old" in text
        assert "is grey" in text
        assert "is called Olaf" in text
        assert text.count("is called Olaf") == 1


def test_text_before_the_place_in_the_line_moves_it(tmp_path: Path) -> None:
    """The pieces after an inserted text are stored again only if their text changed."""
    line = "x" * 800 + " " + ENGLISH
    with memory_of(tmp_path, line) as memory:
        moved = "y" * 800 + " " + "z" * 799 + line[799:]
        (memory.workspace / "memory" / "one.md").write_text(moved, encoding="utf-8")
        memory.sync()
        folder = index_dir(tmp_path / "state", "main", memory.workspace)
        with SqliteStore(folder, "segments").view() as view:
            assert view is not None
            chunks = view.chunks(view.chunks_of("memory/one.md")).values()
        assert all(moved[one.offset :].startswith(one.text) for one in chunks)


def test_the_command_line_shows_the_same_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_of(tmp_path, ENGLISH).close()
    monkeypatch.setenv("NOTEWELL_STATE_DIR", str(tmp_path / "state"))
    arguments = ["--workspace", str(tmp_path / "workspace"), "walrus", "--mode", "keyword"]
    assert main(["search", *arguments]) == 0
    assert "The walrus in the harbour is called Olaf. It eats clams" in capsys.readouterr().out
