"""A conversation that is compacted in the middle of a turn, as real hosts write it: whatever was
said before, between and after the compactions is in one session note, and nothing else is."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.made_up import (
    claude_record,
    codex_item,
    codex_record,
    gemini_message,
    line,
    qwen_record,
)

from notewell.cli import main

SUMMARY = "the summary of everything so far"
Step = list[dict[str, Any]]


def claude_turn(number: int) -> tuple[Step, Step]:
    """What Claude Code 2.1 writes before and after its compaction."""
    tool = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "a file"}
    base = number * 10
    before = [
        claude_record(base, "user", f"question {number}"),
        claude_record(base + 1, "assistant", [{"type": "text", "text": f"remark {number}"}]),
        claude_record(base + 2, "assistant", [tool]),
        claude_record(base + 3, "user", [result]),
    ]
    marks = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
    after = [
        {"type": "system", "subtype": "compact_boundary", "sessionId": "cc-1", "uuid": "b"},
        claude_record(base + 4, "user", f"This session is being continued: {SUMMARY}", **marks),
        claude_record(base + 5, "assistant", f"answer {number}"),
    ]
    return before, after


def codex_turn(number: int, **metadata: Any) -> tuple[Step, Step]:
    """What Codex 0.166 writes; earlier versions have no metadata."""
    call = {"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c"}
    before = [
        codex_item("user", f"question {number}"),
        codex_item("assistant", f"remark {number}"),
        codex_record("response_item", call),
    ]
    # The history that the model gets from now on repeats what the user said.
    history = [one["payload"] for one in before[:1]]
    lead = "Another language model started to solve this problem and produced a summary:\n"
    compacted = {"message": f"{lead}{SUMMARY}", "replacement_history": history}
    after = [
        {**codex_item("assistant", SUMMARY), **metadata},
        codex_record("event_msg", {"type": "token_count", "info": None}),
        codex_record("compacted", compacted),
        codex_item("assistant", f"answer {number}"),
    ]
    return before, after


def codex_turn_with_metadata(number: int) -> tuple[Step, Step]:
    return codex_turn(number, metadata={"client_authored": False, "compaction_output": True})


def gemini_turn(number: int) -> tuple[Step, Step]:
    base = number * 10
    before = [
        gemini_message(base, "user", f"question {number}"),
        gemini_message(base + 1, "assistant", f"remark {number}", toolCalls=[]),
    ]
    snapshot = gemini_message(base + 2, "user", f"<state_snapshot>{SUMMARY}</state_snapshot>")
    reply = gemini_message(base + 3, "assistant", "Got it. Thanks for the additional context!")
    after = [
        {"$set": {"messages": [snapshot, reply], "lastUpdated": "2026-10-05T11:00:00.000Z"}},
        snapshot,
        reply,
        gemini_message(base + 4, "assistant", f"answer {number}"),
    ]
    return before, after


def qwen_turn(number: int) -> tuple[Step, Step]:
    base = number * 10
    before = [
        qwen_record(base, "user", f"question {number}"),
        qwen_record(base + 1, "assistant", f"remark {number}"),
    ]
    payload = {"compressedHistory": [{"role": "user", "parts": [{"text": SUMMARY}]}]}
    after = [
        qwen_record(base + 2, "system", None, subtype="chat_compression", systemPayload=payload),
        qwen_record(base + 3, "assistant", f"answer {number}"),
    ]
    return before, after


TURNS: dict[str, tuple[str, Callable[[int], tuple[Step, Step]]]] = {
    "claude": ("claude", claude_turn),
    "codex": ("codex", codex_turn_with_metadata),
    "codex, earlier": ("codex", codex_turn),
    "gemini": ("gemini", gemini_turn),
    "qwen": ("qwen", qwen_turn),
}


class Session:
    """One conversation in a host that calls our hooks."""

    def __init__(self, tmp_path: Path, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = tmp_path
        self.host = host
        self.transcript = tmp_path / "session.jsonl"
        self.monkeypatch = monkeypatch
        (tmp_path / "workspace").mkdir()

    def write(self, records: Sequence[Any]) -> None:
        with self.transcript.open("ab") as file:
            file.writelines(line(record) for record in records)

    def hook(self, event: str, **facts: str) -> None:
        call = {"session_id": "s-1", "transcript_path": str(self.transcript), **facts}
        stdin = io.TextIOWrapper(io.BytesIO(json.dumps(call).encode()), encoding="utf-8")
        self.monkeypatch.setattr(sys, "stdin", stdin)
        place = ["-w", str(self.folder / "workspace"), "--state-dir", str(self.folder / "state")]
        assert main(["hook", event, "--host", self.host, *place]) == 0

    def notes(self) -> list[str]:
        files = (self.folder / "workspace" / "memory").glob("*.md")
        return [file.read_text(encoding="utf-8") for file in sorted(files)]

    def said(self) -> Counter[str]:
        lines = (text for note in self.notes() for text in note.splitlines())
        return Counter(text for text in lines if text.startswith(("User: ", "Assistant: ")))


def everything(turns: int) -> Counter[str]:
    said = (
        (f"User: question {n}", f"Assistant: remark {n}", f"Assistant: answer {n}")
        for n in range(turns)
    )
    return Counter(text for turn in said for text in turn)


@pytest.mark.parametrize("name", TURNS)
def test_all_that_was_said_around_compactions_is_in_one_note(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    host, turn = TURNS[name]
    session = Session(tmp_path, host, monkeypatch)
    for number in range(3):
        before, after = turn(number)
        session.write(before)
        for _ in range(2):  # Hosts call a hook more than once.
            session.hook("pre-compact", trigger="auto")
        session.write(after)
    for _ in range(2):
        session.hook("session-end", reason="other")
    assert session.said() == everything(3)
    assert not any(SUMMARY in note for note in session.notes())
    assert capsys.readouterr().err == ""


def test_a_long_conversation_is_saved_completely_before_a_compaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(tmp_path, "claude", monkeypatch)
    session.write([claude_record(n, "user", f"question {n}") for n in range(100)])
    session.hook("pre-compact", trigger="auto")
    session.write([claude_record(n, "user", f"question {n}") for n in range(100, 150)])
    session.hook("session-end", reason="other")
    assert session.said() == Counter(f"User: question {n}" for n in range(150))


@pytest.mark.parametrize(("event", "session"), [("session-end", "s-1"), ("session-start", "s-2")])
def test_a_compaction_that_could_not_be_saved_is_made_up_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: str, session: str
) -> None:
    conversation = Session(tmp_path, "claude", monkeypatch)
    conversation.write([claude_record(n, "user", f"question {n}") for n in range(100)])
    # As if the host had ended the hook.
    away = conversation.transcript.rename(tmp_path / "away")
    conversation.hook("pre-compact", trigger="auto")
    assert conversation.notes() == []
    away.rename(conversation.transcript)
    conversation.hook("stop")
    conversation.hook(event, session_id=session)
    assert conversation.said() == Counter(f"User: question {n}" for n in range(100))


def test_a_long_turn_of_the_assistant_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(tmp_path, "claude", monkeypatch)
    session.write([claude_record(0, "user", "go on")])
    session.write([claude_record(n, "assistant", f"step {n}") for n in range(1, 40)])
    session.hook("session-end", reason="other")
    assert session.said() == Counter(f"Assistant: step {n}" for n in range(25, 40))


def test_a_note_names_the_one_that_it_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(tmp_path, "claude", monkeypatch)
    before, after = claude_turn(1)
    session.write(before)
    session.hook("pre-compact", trigger="auto")
    (first,) = (tmp_path / "workspace" / "memory").glob("*.md")
    session.write(after)
    session.hook("session-end", reason="other")
    heads = [note.split("## Conversation")[0] for note in session.notes()]
    assert [f"- continues: `memory/{first.name}`" in head for head in heads].count(True) == 1


def test_what_follows_a_compaction_is_saved_although_the_host_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(tmp_path, "claude", monkeypatch)
    before, after = claude_turn(0)
    session.write(before)
    session.hook("pre-compact", trigger="auto")
    session.write(after)
    session.hook("session-start", session_id="s-2", source="startup")
    assert session.said() == everything(1)


def gemini_questions(first: int, end: int) -> Step:
    return [gemini_message(n, "user", f"question {n}") for n in range(first, end)]


@pytest.mark.parametrize(("event", "id_"), [("session-end", "s-1"), ("session-start", "s-2")])
def test_a_host_that_reports_compactions_it_does_not_make_gets_one_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: str, id_: str
) -> None:
    """Gemini CLI calls `PreCompress` before each request to the model."""
    session = Session(tmp_path, "gemini", monkeypatch)
    for turn in range(10):
        session.write(gemini_questions(turn * 2, turn * 2 + 2))
        session.hook("pre-compact", trigger="auto")
    assert session.notes() == []
    session.hook(event, session_id=id_)
    assert len(session.notes()) == 1
    # As many as the settings say, as of any conversation that was not compacted.
    assert session.said() == Counter(f"User: question {n}" for n in range(5, 20))


@pytest.mark.parametrize(("event", "id_"), [("session-end", "s-1"), ("session-start", "s-2")])
def test_a_compaction_that_only_the_transcript_shows_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: str, id_: str
) -> None:
    session = Session(tmp_path, "gemini", monkeypatch)
    session.write(gemini_questions(0, 60))
    session.hook("pre-compact", trigger="auto")
    summary = gemini_message(61, "user", f"<state_snapshot>{SUMMARY}</state_snapshot>")
    session.write([{"$set": {"messages": [summary]}}, summary, *gemini_questions(62, 90)])
    session.hook(event, session_id=id_)
    assert len(session.notes()) == 1
    expected = [*range(60), *range(62, 90)]
    assert session.said() == Counter(f"User: question {n}" for n in expected)
