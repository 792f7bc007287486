"""What each host writes becomes what was said, and only that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from tests.sessions.made_up import (
    HOSTS,
    Said,
    claude_record,
    codex_item,
    codex_record,
    line,
    openclaw_message,
)

from notewell.hosts import TRANSCRIPT_FORMATS
from notewell.sessions.records import split_lines
from notewell.sessions.transcript import Transcript, as_text
from notewell.types import Span

HELLO: list[Said] = [("user", "When do we  ship?\n\nSoon?"), ("assistant", "On Friday.")]


def read(parts: Iterable[bytes], redact: Callable[[str], str] = str) -> Transcript:
    return as_text(split_lines([b"".join(parts)]), redact)


def said_in(*records: Any) -> str:
    return read(line(record) for record in records).text


@pytest.mark.parametrize("host", HOSTS)
def test_a_message_is_a_line_whatever_the_host(host: str) -> None:
    transcript = read(HOSTS[host](HELLO))
    assert transcript.text == "User: When do we ship? Soon?\nAssistant: On Friday.\n"
    assert transcript.line_map == (2, 3)
    assert transcript.session.format == host
    assert transcript.repairs == ()


@pytest.mark.parametrize(
    ("host", "id_", "cwd", "day"),
    [
        ("openclaw", "oc-1", "/somewhere", date(2026, 10, 2)),
        ("claude-code", "cc-1", "/somewhere/shop", date(2026, 10, 3)),
        ("codex", "cx-1", "/somewhere/lib", date(2026, 10, 4)),
    ],
)
def test_the_session_is_known_by_id_place_and_day(
    host: str, id_: str, cwd: str, day: date
) -> None:
    session = read(HOSTS[host](HELLO)).session
    assert (session.id, session.cwd, session.day()) == (id_, cwd, day)


def test_the_day_is_that_of_the_user() -> None:
    head = {"type": "session", "id": "x", "timestamp": "2026-10-02T23:30:00Z"}
    session = read([line(head)]).session
    assert session.started_at == datetime(2026, 10, 2, 23, 30, tzinfo=UTC)
    assert session.day(timezone(timedelta(hours=2))) == date(2026, 10, 3)


@pytest.mark.parametrize("at", ["never", "", None, True, [], 1e300, "2026-99-99", "0001-01-01"])
def test_a_time_that_makes_no_sense_is_none(at: Any) -> None:
    records = [openclaw_message("user", "hello", timestamp=at)]
    assert said_in(*records) == "User: hello\n"


def test_milliseconds_are_understood_too() -> None:
    record = openclaw_message("user", "hello")
    record["message"]["timestamp"] = 1_790_000_000_000
    assert read([line(record)]).session.day() == date(2026, 9, 21)


BLOCKS = [
    {"type": "thinking", "thinking": "Hm."},
    {"type": "text", "text": "First."},
    {"type": "tool_use", "name": "read", "input": {"path": "x"}},
    {"type": "toolCall", "name": "read", "arguments": {}},
    {"type": "image", "source": {"data": "AAAA"}},
    {"type": "text", "text": "Second."},
    {"type": "text"},
    {"type": "text", "text": 7},
    "text",
    None,
]


def test_of_blocks_only_text_was_said() -> None:
    assert said_in(openclaw_message("assistant", BLOCKS)) == "Assistant: First. Second.\n"
    assert said_in(claude_record(1, "assistant", BLOCKS)) == "Assistant: First. Second.\n"


@pytest.mark.parametrize("role", ["system", "toolResult", "tool", "developer", "", None, 3, []])
def test_nobody_else_speaks(role: Any) -> None:
    assert said_in(openclaw_message(role, "hello")) == ""
    assert said_in(codex_item("user", "hi"), codex_item(role, "hello")) == "User: hi\n"


@pytest.mark.parametrize(
    "mark", ["isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"]
)
def test_what_claude_code_marks_as_its_own_was_not_said(mark: str) -> None:
    assert said_in(claude_record(1, "user", "hello", **{mark: True})) == ""
    assert said_in(claude_record(1, "user", "hello", **{mark: False})) == "User: hello\n"


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/clear</command-name>",
        "<local-command-stdout>ok</local-command-stdout>",
        "<bash-stdout>total 4</bash-stdout>",
        "  <system-reminder>be brief</system-reminder>",
        "[Request interrupted by user for tool use]",
    ],
)
def test_what_claude_code_puts_into_the_users_mouth_was_not_said(text: str) -> None:
    assert said_in(claude_record(1, "user", text)) == ""
    mixed = [{"type": "text", "text": text}, {"type": "text", "text": "Go on."}]
    assert said_in(claude_record(1, "user", mixed)) == "User: Go on.\n"


def test_results_of_tools_and_other_records_of_claude_code_were_not_said() -> None:
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "secret listing"}]
    assert (
        said_in(
            {"type": "file-history-snapshot", "snapshot": {}},
            {"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "x"},
            claude_record(1, "user", result),
            {"type": "system", "subtype": "local_command", "content": "x", "sessionId": "s"},
            {"type": "progress", "message": {"role": "user", "content": "x"}},
            claude_record(2, "assistant", "Done."),
        )
        == "Assistant: Done.\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>",
        "<user_instructions>be brief</user_instructions>",
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>",
        "<turn_aborted>",
    ],
)
def test_what_codex_tells_in_the_users_name_was_not_said(text: str) -> None:
    assert said_in(codex_item("user", text), codex_item("user", "Hi.")) == "User: Hi.\n"


def test_codex_says_things_twice_and_they_count_once() -> None:
    event = codex_record("event_msg", {"type": "user_message", "message": "Hi."})
    call = codex_record("response_item", {"type": "function_call", "arguments": "{}"})
    thought = codex_record("response_item", {"type": "reasoning", "summary": []})
    assert said_in(codex_item("user", "Hi."), event, call, thought) == "User: Hi.\n"


def test_an_early_rollout_of_codex_is_read_as_well() -> None:
    head = {"id": "old-1", "timestamp": "2025-06-01T10:00:00Z", "instructions": None}
    message = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "Hi."}],
    }
    transcript = read([line(head), line({"record_type": "state"}), line(message)])
    assert transcript.text == "User: Hi.\n"
    assert (transcript.session.id, transcript.session.day()) == ("old-1", date(2025, 6, 1))


@pytest.mark.parametrize(
    "records",
    [
        [openclaw_message("user", "a"), {"type": "compaction", "summary": "a was said"}],
        [claude_record(1, "user", "a"), {"type": "system", "subtype": "compact_boundary"}],
        [codex_item("user", "a"), codex_record("compacted", {"message": "a was said"})],
    ],
    ids=list(HOSTS),
)
def test_a_compaction_has_its_hosts_mark_and_its_summary_is_not_taken(
    records: Sequence[Any],
) -> None:
    transcript = read(line(record) for record in records)
    assert transcript.text == "User: a\n"
    (format_,) = (one for one in TRANSCRIPT_FORMATS if one.name == transcript.session.format)
    message, compaction = (line(record) for record in records)
    assert any(mark in compaction for mark in format_.compaction_marks)
    assert not any(mark in message for mark in format_.compaction_marks)


def test_a_message_that_is_written_twice_is_said_once() -> None:
    twice = openclaw_message("user", "hello", id="m1")
    assert said_in(twice, twice, openclaw_message("user", "hello", id="m2")) == (
        "User: hello\nUser: hello\n"
    )


def test_a_file_of_something_else_says_nothing() -> None:
    transcript = read([line({"a": 1}), line([1, 2]), line("text"), line({"type": "message"})])
    assert (transcript.text, transcript.session.format) == ("", None)


def test_a_secret_is_masked_before_its_lines_are_folded() -> None:
    def redact(text: str) -> str:
        assert "\n" in text
        return text.replace("BEGIN\nsecret\nEND", "[redacted]\n\n")

    record = openclaw_message("user", "here:\nBEGIN\nsecret\nEND\nthanks")
    assert read([line(record)], redact).text == "User: here: [redacted] thanks\n"


def test_lines_of_text_and_file_lead_to_each_other() -> None:
    tool = openclaw_message("toolResult", "x")
    records = [tool, openclaw_message("user", "a"), tool, tool, openclaw_message("user", "b")]
    transcript = read(line(record) for record in records)
    assert transcript.line_map == (2, 5)
    assert transcript.in_file(Span(1, 2)) == Span(2, 5)
    assert transcript.in_text(Span(2, 4)) == Span(1, 1)
    assert transcript.in_text(Span(1, 9)) == Span(1, 2)
    assert transcript.in_text(Span(3, 4)) is None
