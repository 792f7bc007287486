"""What the user said in passing is found between long replies about the same subject."""

from __future__ import annotations

from pathlib import Path

import pytest

from notewell import Memory, open_memory
from notewell.cli import main
from notewell.core.packing import USER_WEIGHT
from notewell.testing import HashEmbedder

ADVICE = (
    "Where you get a guitar serviced matters: get the guitar serviced twice.\n\n"
    "A guitar shop can get the frets levelled and the neck straight. Ask where the shop keeps "
    "the guitar, and where it gets its parts."
)
SAID = (
    "User: The shop on Mill Street serviced my guitar, by the way, and they were very kind about "
    "the scratch that the cat has left on it last winter. What strings suit it?"
)
TALK = f"# 2026-10-0{{day}}\n\n{{said}}\nAssistant: {ADVICE}\n"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    notes = tmp_path / "memory"
    notes.mkdir()
    for day in range(1, 9):
        said = SAID if day == 4 else "Assistant: Good morning."
        text = TALK.format(day=day, said=said)
        (notes / f"2026-10-0{day}.md").write_text(text, encoding="utf-8")
    memory = open_memory(tmp_path, state_dir=tmp_path / "state", embedder=HashEmbedder())
    memory.sync()
    return memory


def test_a_question_about_the_user_is_answered_by_the_user(memory: Memory) -> None:
    best = memory.search("Where did I get my guitar serviced?").hits[0]
    assert best.path == "memory/2026-10-04.md"
    assert best.parts.speaker > 1
    about_all = memory.search("Where should a guitar be serviced?")
    assert {hit.parts.speaker for hit in about_all.hits} == {1.0}


def test_only_lines_of_the_user_count_more_inside_a_hit(memory: Memory) -> None:
    def scores(question: str) -> dict[str, float]:
        (hit,) = [
            hit for hit in memory.search(question, max_results=8).hits if "10-04" in hit.path
        ]
        return {lines.text[:4]: lines.score - hit.score for lines in hit.lines}

    about_user, about_all = scores("my guitar serviced"), scores("guitar serviced")
    gained = {start: about_user[start] - about_all[start] for start in about_all}
    assert gained["User"] > gained["Assi"] + USER_WEIGHT / 2


def test_the_parts_of_a_score_say_who_speaks(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.close()
    arguments = ["search", "-w", str(tmp_path), "--state-dir", str(tmp_path / "state")]
    main([*arguments, "--explain", "--mode", "keyword", "Where did I get my guitar serviced?"])
    assert "the user speaks × 1.15" in capsys.readouterr().out
