"""What a user merely asked does not outrank what is known, and is shown once."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Literal

import pytest
from tests.search.echo_set import ANSWERED, KNOWN, TODAY, answered_in, write_notes

from notewell.assembly import open_memory
from notewell.cli import main
from notewell.core import text_query
from notewell.index import StoredChunk
from notewell.memory import Memory
from notewell.search.echoes import find_echoes
from notewell.testing import HashEmbedder
from notewell.types import Span

Mode = Literal["keyword", "hybrid"]
QUESTION = "Which router did we choose?"


def is_echo(text: str) -> bool:
    span = Span(1, text.count("\n") + 1)
    chunk = StoredChunk(1, "a.md", "memory", span, "", "", text, piece=False)
    return find_echoes([chunk], QUESTION, text_query(QUESTION).terms) == {1}


NOW_NS = int(datetime.combine(TODAY, time(12), UTC).timestamp()) * 10**9


def opened(workspace: Path) -> Memory:
    memory = open_memory(
        workspace,
        state_dir=workspace.parent / "state",
        embedder=HashEmbedder(),
        now_ns=lambda: NOW_NS,
    )
    memory.sync()
    return memory


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    return folder


def say(workspace: Path, name: str, *lines: str) -> None:
    text = "# Session 2026-11-08 14:05\n\n- session: `s`\n\n## Conversation\n\n"
    file = workspace / "memory" / name
    file.write_text(text + "\n\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_after_seven_sessions_that_asked_in_vain_what_is_known_comes_first(
    workspace: Path, mode: Mode
) -> None:
    write_notes(workspace)
    with opened(workspace) as memory:
        for question in KNOWN:
            hits = memory.search(question.text, max_results=3, mode=mode).hits
            assert hits[0].path == question.first, question.text
            copies = [hit for hit in hits if f"User: {question.text}" in hit.snippet]
            assert len(copies) <= 1, question.text


def test_an_answer_that_only_a_conversation_has_is_found_although_it_was_asked_again(
    workspace: Path,
) -> None:
    write_notes(workspace)
    with opened(workspace) as memory:
        for text in ANSWERED:
            hits = memory.search(text, max_results=3, mode="keyword").hits
            assert answered_in(text) in [hit.path for hit in hits], text


def test_of_questions_without_an_answer_the_latest_is_shown(workspace: Path) -> None:
    replies = ("I do not know.", "Nothing is noted.", "There is no note.")
    for day, reply in enumerate(replies, start=1):
        say(workspace, f"2026-11-0{day}-1405.md", f"User: {QUESTION}", f"Assistant: {reply}")
    with opened(workspace) as memory:
        hits = memory.search(QUESTION, mode="keyword").hits
    assert [hit.path for hit in hits] == ["memory/2026-11-03-1405.md"]
    assert hits[0].parts.echo < 1


@pytest.mark.parametrize(
    "line",
    [
        f"User: {QUESTION}",
        "user: which router did we choose",
        "**User**: So which router did we choose then?",
        "User: 'which ROUTER did we choose'",
    ],
)
def test_a_question_that_was_asked_before_is_an_echo(line: str) -> None:
    assert is_echo(f"# Session\n\n{line}\n\nAssistant: I do not know.")


@pytest.mark.parametrize(
    "line",
    [
        "User: we choose the router",
        "User: We chose a router. Which one did we choose?",
        "User: Which espresso machine did we choose?",
        "Assistant: Which router did we choose?",
        "Which router did we choose?",
        f"User: {QUESTION} " + "It is a long story of cables. " * 9 + "Or not?",
        "User:",
    ],
)
def test_what_tells_something_or_asks_something_else_is_no_echo(line: str) -> None:
    assert not is_echo(f"# Session\n\n{line}\n")


def test_a_statement_of_the_user_counts_in_full(workspace: Path) -> None:
    say(workspace, "2026-11-08-1405.md", "User: we ship the router on Friday", "Assistant: Noted.")
    with opened(workspace) as memory:
        (hit,) = memory.search("do we ship the router on Friday?", mode="keyword").hits
    assert hit.parts.echo == 1.0


def test_replies_in_a_script_without_capitals_are_folded_only_if_they_are_the_same(
    workspace: Path,
) -> None:
    question = "我们选了哪台路由器？"
    replies = ("笔记里没有记录。", "我们选了飞鱼星。", "笔记里没有记录。")
    for day, reply in enumerate(replies, start=1):
        say(workspace, f"2026-11-0{day}-1405.md", f"User: {question}", f"Assistant: {reply}")
    with opened(workspace) as memory:
        hits = memory.search(question, mode="keyword").hits
    paths = {"memory/2026-11-02-1405.md", "memory/2026-11-03-1405.md"}
    assert {hit.path for hit in hits} == paths


def test_a_search_explains_the_discount_and_why_a_copy_is_not_shown(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in (1, 2):
        lines = f"User: {QUESTION}", "Assistant: I do not know."
        say(workspace, f"2026-11-0{day}-1405.md", *lines)
    place = ["-w", str(workspace), "--state-dir", str(workspace.parent / "state")]
    command = ["search", QUESTION, "--mode", "keyword", *place]
    assert main(["index", *place]) == 0
    assert main([*command, "--explain"]) == 0
    assert "asked before × 0.60" in capsys.readouterr().out
    main([*command, "--explain", "--json"])
    (hit,) = json.loads(capsys.readouterr().out)["results"]
    assert hit["parts"]["echo"] == 0.6
    main([*command, "--why", "memory/2026-11-01-1405.md"])
    assert "they repeat the question, and a later note" in "".join(capsys.readouterr())
