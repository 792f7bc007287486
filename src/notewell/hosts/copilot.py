"""Copilot CLI. Its transcripts are in `~/.copilot/session-state/<session>/events.jsonl`:

{"type":"session.start","id":"…","timestamp":"…",
 "data":{"sessionId":"…","startTime":"…","context":{"cwd":"…"}}}
{"type":"user.message","id":"…","data":{"content":"…","transformedContent":"…","source":"…"}}
{"type":"assistant.message","id":"…","data":{"messageId":"…","content":"…","toolRequests":[…]}}
{"type":"session.compaction_complete","data":{"summaryContent":"…"}}
{"type":"system.message" | "tool.execution_complete" | "assistant.turn_end" | …,"data":{…}}

`content` is what the user typed; `transformedContent` is what the model got.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.hosts.host import (
    HookFields,
    HookFile,
    Host,
    McpFile,
    TranscriptFormat,
    command_hook,
    plain_entry,
)
from notewell.hosts.messages import Record, RecordFacts, clean_text, parse_time, texts_of, turn_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from notewell.hosts.host import Machine
    from notewell.hosts.messages import Turn

_ROLES = {"user.message": "user", "assistant.message": "assistant"}
_GROUPS = ("session.", "user.", "assistant.", "system.", "tool.", "hook.", "subagent.", "skill.")
"""How the type of an event begins."""
_INSERTED_BY = ("skill-", "agent-", "command-", "schedule-", "system")
"""How the source of a message begins that the user did not type."""


def _owns(record: Record) -> bool:
    kind = record.get("type")
    return (
        isinstance(kind, str) and kind.startswith(_GROUPS) and isinstance(record.get("data"), dict)
    )


def _read(record: Record) -> RecordFacts:
    data = record.get("data")
    if not isinstance(data, dict):
        return RecordFacts()
    at = parse_time(record.get("timestamp"))
    if record.get("type") != "session.start":
        return RecordFacts(_turn(record, data), at=at)
    context = data.get("context")
    return RecordFacts(
        session_id=clean_text(data.get("sessionId")),
        cwd=clean_text(context.get("cwd")) if isinstance(context, dict) else None,
        at=parse_time(data.get("startTime")) or at,
    )


def _turn(record: Record, data: Record) -> Turn | None:
    # An agent that another agent started has an id; its messages also name the call.
    if record.get("agentId") or data.get("parentToolCallId"):
        return None
    source = data.get("source")
    if isinstance(source, str) and source.startswith(_INSERTED_BY):
        return None
    if data.get("isAutopilotContinuation") is True:
        return None
    role = _ROLES.get(str(record.get("type")))
    return turn_of(role, tuple(texts_of(data.get("content"))), record.get("id"))


def _folder(machine: Machine) -> Path:
    return machine.folder("COPILOT_HOME", machine.home / ".copilot")


def _user_file(machine: Machine) -> Path:
    return _folder(machine) / "mcp-config.json"


def _transcript_file(machine: Machine, session: str) -> Path:
    return _folder(machine) / "session-state" / session / "events.jsonl"


def _context(event: str, text: str) -> dict[str, Any]:
    return {"additionalContext": text}


def _entry(command: Sequence[str]) -> dict[str, Any]:
    # Without the list of tools it offers none of them to the model.
    return {"type": "local", **plain_entry(command), "tools": ["*"]}


HOST = Host(
    "copilot",
    "Copilot CLI",
    transcripts=TranscriptFormat(
        "copilot", _owns, _read, compaction_marks=(b'"session.compaction_complete"',)
    ),
    transcript_folders=lambda machine: (_folder(machine) / "session-state",),
    hooks=HookFile(
        ".copilot",
        "COPILOT_HOME",
        # It reads every file of this folder; this one is ours alone.
        "hooks/notewell.json",
        {
            "sessionStart": "session-start",
            "preCompact": "pre-compact",
            "agentStop": "stop",
            "sessionEnd": "session-end",
        },
        form=command_hook,
        turn_events={"userPromptSubmitted": "prompt"},
        new_file='{\n  "version": 1\n}\n',
        project_folder=".github",
        project_advice="Copilot CLI runs the hooks of a project only if you trust its folder: "
        "start `copilot` there and accept",
        context=_context,
        fields=HookFields(
            session=("sessionId",),
            transcript=("transcriptPath",),
            # `sessionEnd` names none.
            transcript_file=_transcript_file,
        ),
    ),
    mcp=McpFile("json", "mcpServers", _user_file, None, _entry),
)
