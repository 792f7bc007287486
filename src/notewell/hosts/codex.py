"""Codex. Its transcripts are in `~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`:

{"timestamp":"…","type":"session_meta","payload":{"id":"…","cwd":"…","timestamp":"…"}}
{"timestamp":"…","type":"response_item","payload":{"type":"message","role":"user",
 "content":[{"type":"input_text","text":"…"}]}}            an assistant's is `output_text`
{"timestamp":"…","type":"event_msg","payload":{"type":"user_message","message":"…"}}
{"timestamp":"…","type":"compacted","payload":{"message":"…","replacement_history":[…]}}

Events repeat the response items for the screen, so only the items are read. The answer of the
model that summarises is an item too, which newer versions mark with
`"metadata":{"compaction_output":true}`. Early versions wrote the payload of a message as the line
itself, below a first line with `id` and `timestamp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.hosts.host import (
    HookFile,
    Host,
    McpFile,
    PluginFile,
    ProjectFile,
    TranscriptFormat,
    member,
)
from notewell.hosts.messages import (
    Record,
    RecordFacts,
    Turn,
    clean_text,
    parse_time,
    texts_of,
    turn_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.hosts.host import Machine

_ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_TEXT_KINDS = ("input_text", "output_text", "text")
_INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<permissions",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<skill>",
    "<user_shell_command>",
)
"""Text that Codex inserts in the name of the user begins with one of these."""


def _owns(record: Record) -> bool:
    if isinstance(record.get("payload"), dict):
        return record.get("type") in _ENVELOPES
    return _is_early_head(record) or _is_message(record)


def _read(record: Record) -> RecordFacts:
    at = parse_time(record.get("timestamp"))
    payload = record.get("payload")
    if not isinstance(payload, dict):
        if _is_early_head(record):
            return RecordFacts(session_id=clean_text(record.get("id")), at=at)
        # An early version: the line is the payload.
        payload = record
    match record.get("type"):
        case "session_meta":
            # The payload has the time at which the session began, the record that of the write.
            began = parse_time(payload.get("timestamp")) or at
            return RecordFacts(
                session_id=clean_text(payload.get("id")),
                cwd=clean_text(payload.get("cwd")),
                at=began,
            )
        case "response_item" if _is_summary(record):
            # Empty: the message before this record was said.
            return RecordFacts(at=at, summary="")
        case "response_item" | "message" if _is_message(payload):
            return RecordFacts(_turn(payload), at=at)
        case "compacted":
            return RecordFacts(at=at, summary=clean_text(payload.get("message")))
    return RecordFacts(at=at)


def _turn(payload: Record) -> Turn | None:
    texts = [
        text
        for text in texts_of(payload.get("content"), _TEXT_KINDS)
        if not text.lstrip().startswith(_INJECTED)
    ]
    return turn_of(payload.get("role"), texts)


def _has_no_message(line: bytes) -> bool:
    """A message and an event about one have the word as a type or a key; the other two records say
    where the session is and what was compacted."""
    return not any(mark in line for mark in (b'"message"', b'"session_meta"', b'"compacted"'))


def _is_message(payload: Record) -> bool:
    return payload.get("type") == "message" and "role" in payload and "content" in payload


def _is_summary(record: Record) -> bool:
    metadata = record.get("metadata")
    return isinstance(metadata, dict) and metadata.get("compaction_output") is True


def _is_early_head(record: Record) -> bool:
    return "type" not in record and {"id", "timestamp"} <= record.keys()


def _user_file(machine: Machine) -> Path:
    return machine.folder("CODEX_HOME", machine.home / ".codex") / "config.toml"


def _transcripts(machine: Machine) -> tuple[Path, ...]:
    folder = machine.folder("CODEX_HOME", machine.home / ".codex")
    return (folder / "sessions", folder / "archived_sessions")


def _has_plugin(document: dict[str, Any]) -> bool:
    plugins = member(document, "plugins")
    # The name of the marketplace follows, which a user may choose.
    return any(
        name.startswith("notewell@") and member(plugins, name).get("enabled") is not False
        for name in plugins
    )


HOST = Host(
    "codex",
    "Codex",
    transcripts=TranscriptFormat(
        "codex",
        _owns,
        _read,
        has_no_message=_has_no_message,
        compaction_marks=(b'"compacted"',),
    ),
    transcript_folders=_transcripts,
    hooks=HookFile(
        ".codex",
        "CODEX_HOME",
        "hooks.json",
        {
            "SessionStart": "session-start",
            "PreCompact": "pre-compact",
            # Older versions do not report the end of a session, but the end of every turn.
            "Stop": "stop",
            "SessionEnd": "session-end",
        },
        turn_events={"UserPromptSubmit": "prompt"},
        # Codex gives this event no more, and warns at each run about a larger number.
        timeouts={"SessionEnd": 3},
        # Until then Codex skips the hook without a message.
        advice="Codex runs a new hook once you trust it: type /hooks there",
    ),
    mcp=McpFile(
        "toml",
        "mcp_servers",
        _user_file,
        ".codex/config.toml",
        # Without `required`, Codex sends the first request before the server has answered.
        waits={"required": True, "startup_timeout_sec": 30},
        project_advice="Codex reads the settings of a project only if you trust its folder: "
        "start `codex` there and accept",
    ),
    plugin=PluginFile(
        "toml",
        lambda machine: [_user_file(machine)],
        _has_plugin,
        "`codex plugin remove notewell@notewell`",
    ),
    projects=ProjectFile("toml", _user_file, "projects", ("AGENTS.md",)),
)
