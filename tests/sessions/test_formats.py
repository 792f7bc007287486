"""What each host writes becomes what was said, and only that."""

from __future__ import annotations

import json
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
    copilot_event,
    copilot_message,
    gemini,
    gemini_message,
    line,
    openclaw_message,
    qwen_record,
)

from notewell.hosts import TRANSCRIPT_FORMATS, TranscriptFormat
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
        ("gemini", "gm-1", None, date(2026, 10, 5)),
        ("qwen", "qw-1", "/somewhere/app", date(2026, 10, 6)),
        ("copilot", "cp-1", "/somewhere/site", date(2026, 10, 7)),
    ],
)
def test_the_session_is_known_by_id_place_and_day(
    host: str, id_: str, cwd: str | None, day: date
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
        [
            gemini_message(1, "user", "a"),
            gemini_message(2, "user", "<state_snapshot>a was said</state_snapshot>"),
        ],
        [
            qwen_record(1, "user", "a"),
            qwen_record(2, "system", None, subtype="chat_compression", systemPayload={}),
        ],
        [
            copilot_message(1, "user", "a"),
            copilot_event(2, "session.compaction_complete", {"summaryContent": "a was said"}),
        ],
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


HOOK_OUTPUT = "<hook_context>Notes: &lt;recalled&gt;</hook_context>\n\n"
NAMED_FILE = [
    {"text": "Explain @notes.txt"},
    {"text": "\n--- Content from referenced files ---"},
    {"text": "\nContent from @notes.txt:\n"},
    {"text": "a whole file"},
    {"text": "\n--- End of content ---"},
]
PARTS = [
    {"text": "Hm.", "thought": True},
    {"text": "First."},
    {"functionCall": {"name": "read", "args": {}}},
    {"inlineData": {"data": "AAAA"}},
    "Second.",
    {"text": 7},
    None,
]


def test_of_parts_only_text_was_said() -> None:
    said = "Assistant: First. Second.\n"
    assert said_in(gemini_message(1, "assistant", PARTS)) == said
    assert said_in(qwen_record(1, "assistant", PARTS)) == said


@pytest.mark.parametrize(
    "content", [f"{HOOK_OUTPUT}Hi.", [{"text": HOOK_OUTPUT}, {"text": "Hi."}]]
)
def test_the_output_of_hooks_was_not_said(content: Any) -> None:
    assert said_in(gemini_message(1, "user", content)) == "User: Hi.\n"
    assert said_in(qwen_record(1, "user", content)) == "User: Hi.\n"


def test_the_content_of_a_named_file_was_not_said() -> None:
    assert said_in(gemini_message(1, "user", NAMED_FILE)) == "User: Explain @notes.txt\n"
    assert said_in(qwen_record(1, "user", NAMED_FILE)) == "User: Explain @notes.txt\n"


def test_what_the_user_typed_comes_before_what_the_model_got() -> None:
    typed = [{"text": "/plan the trip"}]
    record = gemini_message(1, "user", "You are a planner. The trip:", displayContent=typed)
    assert said_in(record) == "User: /plan the trip\n"
    payload = {"displayText": "/plan the trip", "hookContext": ""}
    record = qwen_record(1, "user", "You are a planner. The trip:", systemPayload=payload)
    assert said_in(record) == "User: /plan the trip\n"
    record = copilot_message(
        1, "user", "plan the trip", transformedContent="<date/> plan the trip"
    )
    assert said_in(record) == "User: plan the trip\n"


def test_gemini_writes_a_message_again_with_its_tool_calls() -> None:
    call = {"name": "read", "args": {}, "result": [{"functionResponse": {"response": {}}}]}
    result = [{"functionResponse": {"name": "read", "response": {"output": "secret listing"}}}]
    context = [{"text": "<session_context>\nThis is the Gemini CLI."}]
    assert (
        said_in(
            {"$set": {"messages": [gemini_message(0, "user", context)]}},
            gemini_message(1, "assistant", "I look.", toolCalls=[]),
            {"$set": {"lastUpdated": "2026-10-05T11:00:00.000Z"}},
            gemini_message(1, "assistant", "I look.", toolCalls=[call]),
            gemini_message(2, "user", result),
            gemini_message(3, "assistant", "", thoughts=[{"subject": "Hm"}]),
            gemini_message(3, "assistant", "Done."),
            gemini_message(4, "info", "Binary content"),
            gemini_message(5, "assistant", "Got it. Thanks for the additional context!"),
            {"$rewindTo": "g1"},
        )
        == "Assistant: I look.\nAssistant: Done.\n"
    )


def test_a_session_of_a_subagent_of_gemini_was_not_said_to_the_user() -> None:
    head, *messages = gemini(HELLO)
    transcript = read([head.replace(b'"main"', b'"subagent"'), *messages])
    assert (transcript.text, transcript.session.format) == ("", "gemini")


@pytest.mark.parametrize("subtype", ["notification", "cron", "goal_runtime"])
def test_what_qwen_code_tells_in_the_users_name_was_not_said(subtype: str) -> None:
    typed = qwen_record(2, "user", "Stop.", subtype="mid_turn_user_message")
    assert said_in(qwen_record(1, "user", "hello", subtype=subtype), typed) == "User: Stop.\n"


def test_results_of_tools_and_subagents_of_qwen_code_were_not_said() -> None:
    result = [{"functionResponse": {"response": {"output": "secret listing"}}}]
    assert (
        said_in(
            qwen_record(1, "tool_result", [*result, {"text": "secret listing"}]),
            qwen_record(2, "assistant", "From below.", isSidechain=True, agentId="explore-1"),
            qwen_record(3, "system", None, subtype="ui_telemetry", systemPayload={"a": 1}),
            qwen_record(4, "assistant", "Done."),
        )
        == "Assistant: Done.\n"
    )


@pytest.mark.parametrize(
    "event",
    [
        copilot_event(1, "system.message", {"role": "system", "content": "Be brief."}),
        copilot_event(1, "tool.execution_complete", {"result": {"content": "secret listing"}}),
        copilot_event(1, "assistant.reasoning", {"content": "Hm."}),
        copilot_event(1, "assistant.message", {"content": "From below."}, agentId="a-1"),
        copilot_message(1, "assistant", "From below.", parentToolCallId="call_1"),
        copilot_message(1, "assistant", "", toolRequests=[{"name": "read"}], reasoningText="Hm."),
        copilot_message(1, "user", "A skill.", source="skill-pdf"),
        copilot_message(1, "user", "Go on.", isAutopilotContinuation=True),
        copilot_event(1, "user.message", {"content": 7}),
    ],
)
def test_other_events_of_copilot_were_not_said(event: Any) -> None:
    assert said_in(event, copilot_message(2, "user", "Hi.")) == "User: Hi.\n"


@pytest.mark.parametrize("host", HOSTS)
def test_a_record_belongs_to_one_host(host: str) -> None:
    for record in map(json.loads, HOSTS[host](HELLO)):
        owners = [format_.name for format_ in TRANSCRIPT_FORMATS if format_.owns(record)]
        assert owners == [host]


@pytest.mark.parametrize(
    "record",
    [
        {"sessionId": "s", "timestamp": "2026-10-05T11:00:00Z", "event": "usage"},
        {"type": "session", "name": "a web session"},
        {"type": "user", "sessionId": "s", "message": {"text": "hello"}},
        {"type": "assistant", "sessionId": "s"},
        {"type": "metric", "data": {"value": 1}},
    ],
)
def test_a_record_of_something_else_belongs_to_no_host(record: Any) -> None:
    transcript = read([line(record)])
    assert (transcript.text, transcript.session.format) == ("", None)
    assert transcript.is_foreign


def test_a_session_that_was_opened_and_left_is_known() -> None:
    opened = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
    assert read([line(opened)]).session.format == "claude-code"
    assert not read([]).is_foreign
    assert not read([b'{"type":']).is_foreign


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


UNREAD = [
    claude_record(1, "user", [{"type": "tool_result", "tool_use_id": "t", "content": "plain"}]),
    claude_record(2, "assistant", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]),
    codex_record("response_item", {"type": "function_call_output", "output": 'a "message"'}),
    codex_record("response_item", {"type": "reasoning", "encrypted_content": "x"}),
]
SPOKEN = [
    claude_record(1, "user", 'what is a "tool_result", and a "tool_use"?'),
    claude_record(2, "user", [{"type": "tool_result"}, {"type": "text", "text": "?"}]),
    claude_record(3, "assistant", [{"type": "text", "text": "I look"}], stop_reason="tool_use"),
    claude_record(4, "user", [{"type": "image", "source": {}}, {"type": "text", "text": "?"}]),
    codex_item("user", 'is "compacted" a "message"?'),
    codex_item("assistant", "yes"),
    codex_record("session_meta", {"id": "x", "cwd": "/somewhere"}),
    codex_record("compacted", {"message": "what was said"}),
]


def formats_of(record: Any) -> list[TranscriptFormat]:
    return [one for one in TRANSCRIPT_FORMATS if one.name in ("claude-code", "codex")
            and one.owns(record)]  # fmt: skip


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_lines_of_tools_are_passed_over_unread_and_no_message_is(
    separators: tuple[str, str],
) -> None:
    for records, is_unread in ((UNREAD, True), (SPOKEN, False)):
        for record in records:
            data = json.dumps(record, separators=separators).encode()
            [format_] = formats_of(record)
            assert format_.has_no_message(data) is is_unread
