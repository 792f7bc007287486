"""What a prompt gets from earlier conversations: with the answer, and nothing of its own one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.talking_host import TalkingHost

from notewell import open_memory
from notewell.cli import hook_setup
from notewell.cli.hook_call import HookTime
from notewell.cli.hook_turns import RECALL_CHARS
from notewell.testing import HashEmbedder

CODE = "which alarm does the depot have?"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TalkingHost:
    # A busy machine must not decide what these tests find.
    monkeypatch.setattr(hook_setup, "time_of", lambda *_, **__: HookTime(600, 600))
    return TalkingHost(tmp_path, monkeypatch)


def recalled(
    host: TalkingHost, prompt: str, capsys: pytest.CaptureFixture[str], session: str
) -> str:
    """What the hook hands to the host for a prompt."""
    payload: dict[str, Any] = {"session_id": session, "cwd": "/code/shop", "prompt": prompt}
    payload["transcript_path"] = str(host.transcript(session))
    with open_memory(host.workspace, state_dir=host.state, embedder=HashEmbedder()) as memory:
        memory.sync(vectors=False)
    capsys.readouterr()
    words = ("hook", "prompt", "--host", "claude", "--keep", "--recall")
    assert host.run(*words, payload=payload) == 0
    out = capsys.readouterr().out
    context: str = json.loads(out)["hookSpecificOutput"]["additionalContext"] if out else ""
    return context


def test_a_prompt_gets_nothing_of_its_own_conversation(
    host: TalkingHost, capsys: pytest.CaptureFixture[str]
) -> None:
    host.say("the alarm of the depot is a Zirkon 4711", "Noted.")
    host.hook("stop")
    assert recalled(host, CODE, capsys, "cc-1") == ""
    assert "4711" in recalled(host, CODE, capsys, "cc-2")


def test_other_conversations_take_the_place_of_the_own_one(
    host: TalkingHost, capsys: pytest.CaptureFixture[str]
) -> None:
    host.say("the alarm of the depot is a Zirkon 4711", "Noted.", session="cc-2")
    host.hook("stop", "cc-2")
    for number in range(30):
        host.say(f"alarm of the depot: attempt {number}", "That failed.")
    host.hook("stop")
    text = recalled(host, CODE, capsys, "cc-1")
    assert "4711" in text
    assert "attempt" not in text


def test_what_was_said_before_a_compaction_is_recalled_from_its_note(
    host: TalkingHost, capsys: pytest.CaptureFixture[str]
) -> None:
    """The host no longer has it, and no transcript of the same session hides the note."""
    host.say("the alarm of the depot is a Zirkon 4711", "Noted.")
    host.hook("pre-compact")
    text = recalled(host, CODE, capsys, "cc-1")
    assert "4711" in text
    assert '<recalled path="memory/' in text


def test_a_quoted_question_has_its_answer(
    host: TalkingHost, capsys: pytest.CaptureFixture[str]
) -> None:
    context = " ".join(f"Attempt {number} went wrong." for number in range(25))
    host.say(
        "Good morning.",
        "Good morning.",
        f"Which supplier delivers the bolts of the harbour crane? {context}",
        f"{' '.join(f'Ledger {number} was checked.' for number in range(9))} It is Lindqvist.",
        *(f"Line {number} of another subject." for number in range(20)),
    )
    host.hook("stop")
    prompt = "Which supplier delivers bolts of the harbour crane?"
    text = recalled(host, prompt, capsys, "cc-2")
    assert "User: Which supplier delivers the bolts" in text
    assert "It is Lindqvist." in text
    assert len(text) <= RECALL_CHARS
