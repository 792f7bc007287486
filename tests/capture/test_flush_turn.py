"""The silent turn with a scripted model: one flush a cycle, one note, nothing lost or doubled."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from notewell.capture import (
    FlushFacts,
    FlushReport,
    FlushSettings,
    Message,
    ModelReply,
    NoteWriter,
    RunFlush,
    Skip,
    ToolCall,
    flush,
)
from notewell.capture.flush_turn import LOG, MAX_ENTRIES
from notewell.files import read_json_lines

NOW = datetime(2026, 11, 15, 23, 59, 59, 900_000, tzinfo=UTC)
FULL = FlushFacts(used_tokens=9_000, context_window=10_000, compactions=0)
SETTINGS = FlushSettings(reserve_tokens=1_000, soft_threshold_tokens=500)


class Scripted:
    """A model that says one line of its script after another, and keeps what it was shown."""

    def __init__(self, *script: ModelReply) -> None:
        self.script = list(script)
        self.shown: list[Sequence[Message]] = []
        self.tools: Sequence[Mapping[str, Any]] = ()

    def __call__(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], /
    ) -> ModelReply:
        self.shown.append(messages)
        self.tools = tools
        return self.script.pop(0)


def writes(text: str, **more: Any) -> ModelReply:
    return ModelReply(calls=(ToolCall("memory_append", {"text": text, **more}, "c1"),))


SILENT = ModelReply("NO_REPLY")


def run(
    place: NoteWriter,
    model: Any,
    facts: FlushFacts = FULL,
    *,
    now: datetime = NOW,
    settings: FlushSettings = SETTINGS,
) -> FlushReport:
    said = [Message("user", "we ship on Friday"), Message("assistant", "noted")]
    return flush(
        place, "agent:main:main", facts, said, model, settings=settings, zone=UTC,
        clock=lambda: now,
    )  # fmt: skip


def day(place: NoteWriter, name: str = "2026-11-15") -> str:
    return (Path(place.notes.location) / "memory" / f"{name}.md").read_text(encoding="utf-8")


def test_an_agent_that_fills_its_window_three_times_flushes_three_times(place: NoteWriter) -> None:
    """Turn by turn, as a host would: it asks after each turn, and compacts when it is full."""
    used, compactions, flushed = 0, 0, 0
    while compactions < 3:
        used += 700
        model = Scripted(writes(f"Decision {compactions}: we ship."), SILENT)
        report = run(place, model, FlushFacts(used, 10_000, compactions))
        flushed += isinstance(report.decision, RunFlush)
        if used >= 10_000 - SETTINGS.reserve_tokens:
            used, compactions = 1_000, compactions + 1
    assert flushed == 3
    assert day(place) == "".join(f"- Decision {n}: we ship. <!-- @flush -->\n" for n in range(3))


def test_the_same_without_anybody_who_counts_compactions(place: NoteWriter) -> None:
    used, filled, flushed = 0, 0, 0
    while filled < 3:
        used += 700
        model = Scripted(writes(f"Decision {filled}: we ship."), SILENT)
        flushed += isinstance(run(place, model, FlushFacts(used, 10_000)).decision, RunFlush)
        if used >= 10_000 - SETTINGS.reserve_tokens:
            used, filled = 1_000, filled + 1
    assert flushed == 3
    assert day(place).count("- Decision") == 3


def test_a_cycle_that_had_its_flush_has_no_other_however_long_it_lasts(place: NoteWriter) -> None:
    run(place, Scripted(writes("One."), SILENT))
    for days in (1, 365, -365):
        report = run(place, Scripted(), now=NOW + timedelta(days=days))
        assert report.decision == Skip("this compaction cycle had its flush")


def test_an_identical_entry_is_not_doubled(place: NoteWriter) -> None:
    for cycle in range(3):
        model = Scripted(writes("We ship on Friday."), SILENT)
        run(place, model, replace(FULL, compactions=cycle))
    assert day(place) == "- We ship on Friday. <!-- @flush -->\n"


def test_a_read_only_workspace_is_skipped_with_the_reason(place: NoteWriter) -> None:
    model = Scripted()
    report = run(place, model, replace(FULL, access="ro"))
    assert report.decision == Skip("the workspace is read-only: there is no note to write to")
    assert not model.shown
    assert not (Path(place.notes.location) / "memory").exists()


def test_every_decision_is_logged_with_its_reason(place: NoteWriter) -> None:
    run(place, Scripted(writes("One."), SILENT))
    run(place, Scripted())
    run(place, Scripted(), replace(FULL, provider="cli"))
    lines = list(read_json_lines(place.folder / LOG))
    assert [line["decision"] for line in lines] == ["run", "skip", "skip"]
    assert all(line["why"] for line in lines)
    assert lines[0]["entries"] == ["memory/2026-11-15.md#L1-L1"]


def test_the_turn_shows_the_conversation_between_its_prompts(place: NoteWriter) -> None:
    model = Scripted(SILENT)
    run(place, model)
    roles = [message.role for message in model.shown[0]]
    assert roles == ["system", "user", "assistant", "user"]
    assert "memory/2026-11-15.md" in model.shown[0][-1].text
    assert [tool["name"] for tool in model.tools] == ["memory_append"]


def test_a_turn_that_passes_midnight_keeps_its_note(place: NoteWriter) -> None:
    moments = iter([NOW, NOW + timedelta(seconds=5), NOW + timedelta(days=1)])
    model = Scripted(writes("Before."), writes("After."), SILENT)
    said = [Message("user", "hello there")]
    flush(place, "s", FULL, said, model, settings=SETTINGS, zone=UTC, clock=lambda: next(moments))
    assert day(place).splitlines() == ["- Before. <!-- @flush -->", "- After. <!-- @flush -->"]


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("memory_append", {"text": "x", "path": "MEMORY.md"}),
        ToolCall("memory_append", {"text": "x", "path": "../elsewhere.md"}),
        ToolCall("memory_append", {"text": 7}),
        ToolCall("memory_append", {"text": ""}),
        ToolCall("write_file", {"path": "memory/2026-11-15.md", "text": "x"}),
    ],
)
def test_the_tool_of_that_turn_appends_to_one_note_and_nothing_else(
    place: NoteWriter, call: ToolCall
) -> None:
    (Path(place.notes.location) / "MEMORY.md").write_text("mine\n", encoding="utf-8")
    model = Scripted(ModelReply(calls=(call,)), SILENT)
    report = run(place, model)
    assert report.entries == ()
    assert [path.name for path in Path(place.notes.location).iterdir()] == ["MEMORY.md"]
    assert (Path(place.notes.location) / "MEMORY.md").read_text(encoding="utf-8") == "mine\n"
    assert model.shown[1][-1].role == "tool"


def test_what_the_model_wants_to_say_is_handed_back(place: NoteWriter) -> None:
    assert run(place, Scripted(ModelReply("I saved it."))).said == "I saved it."
    assert run(place, Scripted(SILENT), replace(FULL, compactions=1)).said == ""


def test_a_secret_is_masked_before_it_is_written(place: NoteWriter) -> None:
    secret = "ghp_" + "a1B2" * 9
    run(place, Scripted(writes(f"The token is {secret}."), SILENT))
    assert secret not in day(place)
    assert "[redacted:" in day(place)


def test_a_model_that_fails_is_asked_once_more_and_then_left_alone(place: NoteWriter) -> None:
    def broken(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], /) -> ModelReply:
        raise ConnectionError("no route")

    for hours in range(2):
        with pytest.raises(ConnectionError):
            run(place, broken, now=NOW + timedelta(hours=hours))
    report = run(place, broken, now=NOW + timedelta(hours=2))
    assert report.decision == Skip("the flush of this compaction cycle failed 2 times")
    assert [line["trouble"] for line in read_json_lines(place.folder / LOG)] == [
        "ConnectionError",
        "ConnectionError",
        None,
    ]


def test_a_model_that_never_stops_is_stopped(place: NoteWriter) -> None:
    class Endless:
        count = 0

        def __call__(self, messages: Any, tools: Any, /) -> ModelReply:
            self.count += 1
            calls = tuple(
                ToolCall("memory_append", {"text": f"entry {self.count} {n}"}) for n in range(9)
            )
            return ModelReply(calls=calls)

    report = run(place, Endless())
    assert len(report.entries) == MAX_ENTRIES


def test_two_that_see_the_same_full_window_flush_once(place: NoteWriter) -> None:
    """The second asks while the first one's model is still thinking."""
    second: list[FlushReport] = []

    def model(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], /) -> ModelReply:
        if not second:
            other = threading.Thread(target=lambda: second.append(run(place, Scripted(SILENT))))
            other.start()
            other.join()
        return SILENT

    assert isinstance(run(place, model).decision, RunFlush)
    assert second[0].decision == Skip("the flush of this compaction cycle is under way")


KILLED = """
import os, signal, sys
from datetime import UTC
from pathlib import Path
from notewell.capture import FlushFacts, FlushSettings, NoteWriter, flush
from notewell.notes import open_notes

def model(messages, tools):
    os.kill(os.getpid(), signal.SIGKILL)

writer = NoteWriter(open_notes(sys.argv[1]), Path(sys.argv[2]), str)
facts = FlushFacts(used_tokens=190_000, context_window=200_000, compactions=0)
flush(writer, "agent:main:main", facts, (), model, settings=FlushSettings(), zone=UTC)
"""


def test_a_flush_that_was_killed_is_not_under_way(place: NoteWriter) -> None:
    words = [sys.executable, "-c", KILLED, place.notes.location, str(place.folder)]
    assert subprocess.run(words, check=False, timeout=60).returncode == -signal.SIGKILL
    assert list(place.folder.glob("flush-*.lock"))
    report = run(place, Scripted(writes("One."), SILENT))
    assert isinstance(report.decision, RunFlush)
    assert len(report.entries) == 1
    assert not list(place.folder.glob("flush-*.lock"))


def test_a_state_file_that_is_broken_counts_as_empty(place: NoteWriter, tmp_path: Path) -> None:
    place.folder.mkdir()
    for broken in ("", "{", "[]", json.dumps({"agent:main:main": {"day": "x"}})):
        (place.folder / "flush.json").write_text(broken, encoding="utf-8")
        assert isinstance(run(place, Scripted(SILENT)).decision, RunFlush)
