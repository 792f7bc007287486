"""A host asks after each turn whether its agent should write notes, by the user's own settings."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from notewell import Memory, open_memory
from notewell.capture import (
    Conversation,
    FlushFacts,
    Message,
    ModelReply,
    RunFlush,
    Saved,
    Skip,
    ToolCall,
)
from notewell.config import load_settings
from notewell.errors import BadRequest, BadSetting
from notewell.testing import HashEmbedder
from notewell.tools import CallContext, Failure, FlushInput, FlushOutput, memory_flush

NOW_NS = int(datetime(2026, 11, 15, 12, tzinfo=UTC).timestamp() * 1e9)


def opened(tmp_path: Path, defaults: dict[str, Any], **more: Any) -> Memory:
    file = tmp_path / "own.json"
    file.write_text(json.dumps({"agents": {"defaults": defaults}, **more}), encoding="utf-8")
    workspace = tmp_path / "workspace"
    workspace.mkdir(exist_ok=True)
    environment = {"HOME": str(tmp_path), "NOTEWELL_CONFIG": str(file)}
    return open_memory(
        workspace,
        state_dir=tmp_path / "state",
        settings=load_settings(workspace, "main", environment),
        embedder=HashEmbedder(),
        now_ns=lambda: NOW_NS,
    )


def ask(memory: Memory, **arguments: object) -> dict[str, Any]:
    output = memory_flush(memory, FlushInput.parse({"contextWindow": 100_000, **arguments}))
    assert isinstance(output, FlushOutput)
    return output.to_json()


def test_a_host_is_told_once_per_cycle_with_the_prompts_of_the_settings(tmp_path: Path) -> None:
    flush = {"softThresholdTokens": 10_000, "prompt": "Note it in YYYY-MM-DD", "systemPrompt": "S"}
    compaction = {"reserveTokensFloor": 30_000, "memoryFlush": flush}
    with opened(tmp_path, {"compaction": compaction}) as memory:
        early = ask(memory, usedTokens=59_999)
        assert early == {"flush": False, "why": "59999 tokens are used; it is time at 60000"}
        due = ask(memory, usedTokens=60_000, compactions=0)
        assert due["flush"] is True
        assert (due["path"], due["tool"]) == ("memory/2026-11-15.md", "memory_append")
        assert due["prompt"].startswith("Note it in 2026-11-15\n")
        assert "NO_REPLY" in due["prompt"]
        assert due["systemPrompt"].startswith("S\n")
        again = ask(memory, usedTokens=61_000, compactions=0)
        assert again == {"flush": False, "why": "this compaction cycle had its flush"}
        assert ask(memory, usedTokens=61_000, compactions=1)["flush"] is True


def test_a_turn_that_failed_is_handed_out_once_more_and_not_for_ever(tmp_path: Path) -> None:
    with opened(tmp_path, {}) as memory:
        assert ask(memory, usedTokens=99_000)["flush"] is True
        assert ask(memory, usedTokens=99_000, failed=True)["flush"] is True
        third = ask(memory, usedTokens=99_000, failed=True)
        assert third["flush"] is False
        assert "failed 2 times" in third["why"]


def test_two_conversations_have_cycles_of_their_own(tmp_path: Path) -> None:
    with opened(tmp_path, {}) as memory:
        assert ask(memory, usedTokens=99_000, session="a")["flush"] is True
        assert ask(memory, usedTokens=99_000, session="b")["flush"] is True
        context = CallContext(session_key="agent:main:main")
        request = FlushInput(FlushFacts(99_000, 100_000))
        output = memory_flush(memory, request, context)
        assert isinstance(output, FlushOutput)
        assert isinstance(output.decision, RunFlush)
        assert "memory/2026-11-15.md" in output.to_text()


def test_switched_off_in_the_settings_it_says_so(tmp_path: Path) -> None:
    with opened(tmp_path, {"compaction": {"memoryFlush": {"enabled": False}}}) as memory:
        answer = ask(memory, usedTokens=99_000, compacting=True)
        assert answer == {"flush": False, "why": "compaction.memoryFlush.enabled is false"}


def test_the_note_is_that_of_the_users_day(tmp_path: Path) -> None:
    with opened(tmp_path, {"userTimezone": "Pacific/Auckland"}) as memory:
        assert ask(memory, usedTokens=99_000)["path"] == "memory/2026-11-16.md"
        assert memory.append("we ship").path == "memory/2026-11-16.md"


@pytest.mark.parametrize(
    ("zone", "day"), [("Pacific/Auckland", "2026-11-15"), ("Europe/Berlin", "2026-11-14")]
)
def test_yesterday_in_a_question_is_the_users(tmp_path: Path, zone: str, day: str) -> None:
    with opened(tmp_path, {"userTimezone": zone}) as memory:
        folder = memory.workspace / "memory"
        folder.mkdir()
        for date in ("2026-11-14", "2026-11-15"):
            text = f"the walrus slept on {date}\n"
            (folder / f"{date}.md").write_text(text, encoding="utf-8")
        memory.sync(vectors=False)
        answer = memory.search("where did the walrus sleep yesterday?", mode="keyword")
        assert answer.hits[0].path == f"memory/{day}.md"


def test_a_zone_that_does_not_exist_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="Berlin/Europe"):
        opened(tmp_path, {"userTimezone": "Berlin/Europe"})


def test_with_a_model_the_turn_runs_by_the_settings(tmp_path: Path) -> None:
    def model(messages: Any, tools: Any) -> ModelReply:
        if messages[-1].role == "tool":
            return ModelReply("NO_REPLY")
        assert messages[-1].text.startswith("Mine")
        return ModelReply(calls=(ToolCall("memory_append", {"text": "We ship on Friday."}, "1"),))

    defaults = {"compaction": {"memoryFlush": {"prompt": "Mine"}}, "userTimezone": "Asia/Tokyo"}
    with opened(tmp_path, defaults) as memory:
        talk = [Message("user", "Let us ship on Friday.")]
        report = memory.journal.flush("s", FlushFacts(99_000, 100_000), talk, model)
        assert [entry.path for entry in report.entries] == ["memory/2026-11-15.md"]
        assert isinstance(memory.journal.flush_due("s", FlushFacts(99_000, 100_000)), Skip)


@pytest.mark.parametrize(
    "arguments", [{"usedTokens": -1}, {"compacting": "yes"}, {"tokens": 5}, {"session": 7}]
)
def test_bad_input_gets_a_clear_error(tmp_path: Path, arguments: dict[str, object]) -> None:
    with pytest.raises(BadRequest, match=next(iter(arguments))):
        FlushInput.parse(arguments)


def test_a_conversation_without_memory_is_told_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, {}) as memory:
        request = FlushInput(FlushFacts(99_000, 100_000))
        assert isinstance(memory_flush(memory, request, CallContext(enabled=False)), Failure)
        assert not (memory.journal.folder / "flush.jsonl").exists()


# -- the end of a conversation -------------------------------------------------------------------

TALK = Conversation(["User: one", "Assistant: two", "User: three"], reason="/new")


def session_memory(**entry: Any) -> dict[str, Any]:
    return {"hooks": {"internal": {"entries": {"session-memory": entry}}}}


def test_a_conversation_is_saved_by_the_settings(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('From the program')"]
    defaults = {"userTimezone": "Pacific/Auckland"}
    with opened(tmp_path, defaults, **session_memory(messages=2, slugCommand=command)) as memory:
        saved = memory.journal.save_session(TALK)
        assert saved == Saved("memory/2026-11-16-from-the-program.md", 2)
        named = memory.journal.save_session(TALK, name_it=lambda text: "by the model")
        assert named == Saved("memory/2026-11-16-by-the-model.md", 2)


def test_a_user_who_wants_no_session_notes_gets_none(tmp_path: Path) -> None:
    with opened(tmp_path, {}, **session_memory(enabled=False)) as memory:
        assert isinstance(memory.journal.save_session(TALK), Skip)
        assert not (memory.workspace / "memory").exists()
