"""Qwen Code. Its transcripts are in `~/.qwen/projects/<folder>/chats/<session>.jsonl`:

{"uuid":"…","sessionId":"…","cwd":"…","timestamp":"…","type":"user",
 "message":{"role":"user","parts":[{"text":"…"}]}, "systemPayload":{"displayText":"…"}}
{…, "type":"assistant","message":{"role":"model","parts":[{"text":"…"},{"functionCall":{…}}]}}
{…, "type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{…}}]}}
{…, "type":"system","subtype":"chat_compression" | "ui_telemetry" | …,"systemPayload":{…}}

The records look like those of Claude Code, but a message has `parts` instead of `content`.
A `user` record with a subtype is a notification, a timer or a goal, unless the user typed it while
a tool was running.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.hosts.host import HookFields, HookFile, Host, McpFile, TranscriptFormat
from notewell.hosts.messages import (
    Record,
    RecordFacts,
    clean_text,
    parse_time,
    part_texts,
    turn_of,
    without_inserted,
)

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.hosts.host import Machine
    from notewell.hosts.messages import Turn

_SPOKEN = (None, "mid_turn_user_message", "realtime_message")
"""The subtypes of messages that the user typed or said."""


def _owns(record: Record) -> bool:
    if "sessionId" not in record or "uuid" not in record:
        return False
    message = record.get("message")
    if isinstance(message, dict):
        return "parts" in message
    return record.get("type") == "system" and "systemPayload" in record


def _read(record: Record) -> RecordFacts:
    return RecordFacts(
        _turn(record),
        session_id=clean_text(record.get("sessionId")),
        cwd=clean_text(record.get("cwd")),
        at=parse_time(record.get("timestamp")),
    )


def _turn(record: Record) -> Turn | None:
    message = record.get("message")
    # `is True`: a subagent's records have the flag, others do not.
    if not isinstance(message, dict) or record.get("isSidechain") is True:
        return None
    if record.get("type") == "user" and record.get("subtype") not in _SPOKEN:
        return None
    text = _typed(record) or without_inserted("\n".join(part_texts(message.get("parts"))))
    # A `tool_result` is no message: `turn_of` knows users and assistants only.
    return turn_of(record.get("type"), [text.strip()], record.get("uuid"))


def _typed(record: Record) -> str | None:
    """What the user typed, where the host sent something else to the model."""
    payload = record.get("systemPayload")
    text = payload.get("displayText") if isinstance(payload, dict) else None
    return text if isinstance(text, str) else None


def _user_file(machine: Machine) -> Path:
    return machine.home / ".qwen" / "settings.json"


HOST = Host(
    "qwen",
    "Qwen Code",
    transcripts=TranscriptFormat("qwen", _owns, _read, compaction_marks=(b'"chat_compression"',)),
    transcript_folders=lambda machine: (machine.home / ".qwen" / "projects",),
    hooks=HookFile(
        ".qwen",
        None,
        "settings.json",
        {
            "SessionStart": "session-start",
            "PreCompact": "pre-compact",
            # A run without a person (`qwen -p`) reports no end of the session.
            "Stop": "stop",
            "SessionEnd": "session-end",
        },
        turn_events={"UserPromptSubmit": "prompt"},
        timeout_unit="ms",
        # What the user typed, without the files and commands that the host put into the prompt.
        fields=HookFields(prompt=("submitted_prompt", "prompt")),
    ),
    mcp=McpFile("json", "mcpServers", _user_file, ".qwen/settings.json"),
)
