"""What a prompt gets from the notes: little, near, and nothing where nothing is near."""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from notewell import Memory, open_memory
from notewell.cli.hook_turns import RECALL_CHARS, recalled_notes
from notewell.testing import HashEmbedder
from notewell.tools import is_near

SHORT = Path(__file__).parents[2] / "bench" / "recall_short"
"""Notes and short prompts in several languages; see `bench/recall.py`."""

NOTES = {
    "MEMORY.md": "The router in the office is a Fritzbox.\n\nOur dentist is Dr. Novak.\n",
    "memory/2026-11-02.md": "Run the tests of the parser before each release.\n",
    "memory/2026-11-03.md": "Commit a828e60 is about the leaking tap.\n",
    "memory/2026-11-04.md": "明天下午三点在图书馆见面。\n",
}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    for name, text in NOTES.items():
        (workspace / name).write_text(text, encoding="utf-8")
    return open_memory(workspace, state_dir=tmp_path / "state", embedder=HashEmbedder())


@pytest.mark.parametrize(
    ("prompt", "passage"),
    [
        ("Which router do we have in the office?", "Fritzbox"),
        ("Who is our dentist again?", "Novak"),
        ("Could somebody look at this long list with a828e60 in it today?", "leaking tap"),
        ("明天在哪里见面?", "图书馆"),
        ("Fritzbox", "Fritzbox"),
        ("novak?", "Novak"),
    ],
)
def test_a_prompt_about_the_notes_gets_its_passage(
    memory: Memory, prompt: str, passage: str
) -> None:
    with memory:
        assert passage in recalled_notes(memory, prompt, within_s=60).text


def test_a_recall_while_another_process_indexes_says_so(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    opened = partial(
        open_memory,
        workspace,
        state_dir=tmp_path / "state",
        embedder=HashEmbedder(),
        lease_wait_s=0,
    )
    question = "Which router do we have in the office?"
    with opened() as memory, opened() as other:
        with other.indexer.store.writing(wait_s=0):
            assert recalled_notes(memory, question, within_s=60) == ("", None)  # No notes.
            (workspace / "MEMORY.md").write_text(NOTES["MEMORY.md"], encoding="utf-8")
            recalled = recalled_notes(memory, question, within_s=60)
        assert recalled.text == "(Memory could not be searched: the notes are not indexed yet)"
        assert "Fritzbox" in recalled_notes(memory, question, within_s=60).text


@pytest.mark.parametrize(
    "prompt",
    [
        "Fix the failing test in the login form of the shop and write a changelog line",
        "Rename the office variable in all these modules to something short",
        "yes please",
        "Run it",
        "continue",
        "Explain what this regular expression does",
        "what is the next step before each release of it?",
        "Run the tests",
    ],
)
def test_any_other_prompt_gets_nothing(memory: Memory, prompt: str) -> None:
    with memory:
        assert recalled_notes(memory, prompt, within_s=60) == ("", None)


def test_a_recall_fits_its_budget_with_its_marks(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    for number in range(4):
        text = f"The harbour crane number {number} is red. </recalled> " * 60
        (workspace / "memory" / f"crane-{number}.md").write_text(text, encoding="utf-8")
    with open_memory(workspace, state_dir=tmp_path / "s", embedder=HashEmbedder()) as memory:
        text = recalled_notes(memory, "Where is the red harbour crane?", within_s=60).text
        assert RECALL_CHARS // 2 < len(text) <= RECALL_CHARS
        assert text.count("<recalled path=") == text.count("</recalled>") >= 1
        hits = memory.search("Where is the red harbour crane?", mode="keyword").hits
        assert is_near("Where is the red harbour crane?", hits[0])


@pytest.mark.parametrize("language", ["de", "en", "es", "fr", "zh"])
def test_a_short_prompt_gets_a_passage_only_for_its_content(tmp_path: Path, language: str) -> None:
    content = tomllib.loads((SHORT / f"{language}.toml").read_text(encoding="utf-8"))
    for name, text in content["notes"].items():
        path = tmp_path / "workspace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    prompts: list[dict[str, Any]] = [
        content[part] for part in ("look", "aside") if part in content
    ]
    unrelated = [prompt for part in prompts for prompt in part["unrelated"]]
    names = {prompt: name for part in prompts for prompt, name in part["names"].items()}
    state = tmp_path / "state"
    with open_memory(tmp_path / "workspace", state_dir=state, embedder=HashEmbedder()) as memory:
        noise = [one for one in unrelated if recalled_notes(memory, one, within_s=60).text]
        missed = [
            prompt
            for prompt, name in names.items()
            if name not in recalled_notes(memory, prompt, within_s=60).text
        ]
    assert len(noise) <= 0.1 * len(unrelated), noise
    assert len(missed) <= 0.1 * len(names), missed


def test_the_passage_that_is_shortened_shows_the_words_of_the_prompt(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    padding = "The ferry was late and the sea was calm all day.\n"
    first = f"The red harbour crane is number 0.\n{padding * 14}"
    second = f"The harbour is open.\n{padding * 10}The crane number 1 is red.\n"
    for number, text in enumerate((first, second)):
        (workspace / "memory" / f"crane-{number}.md").write_text(text, encoding="utf-8")
    with open_memory(workspace, state_dir=tmp_path / "s", embedder=HashEmbedder()) as memory:
        text = recalled_notes(memory, "Where is the red harbour crane?", within_s=60).text
    assert len(text) <= RECALL_CHARS
    assert "crane is number 0" in text
    assert "crane number 1 is red" in text
