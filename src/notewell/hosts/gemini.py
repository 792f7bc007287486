"""Gemini CLI. Its transcripts are in `~/.gemini/tmp/<project>/chats/session-*.jsonl`:

{"sessionId":"…","projectHash":"…","startTime":"…","kind":"main"}
{"id":"…","timestamp":"…","type":"user","content":[{"text":"…"}], "displayContent":[…]}
{"id":"…","timestamp":"…","type":"gemini","content":"…","thoughts":[…],"toolCalls":[…]}
{"$set":{"messages":[…],"lastUpdated":"…"}}       the history as the model sees it from now on
{"$rewindTo":"<id>"}

Earlier versions wrote one document per chat, `session-*.json`:

{"sessionId":"…","projectHash":"…","startTime":"…","lastUpdated":"…","messages":[…]}

A message is written again, with the same id, when the results of its tool calls arrive. Results
are also messages of the type `user`, but have no text. After a compression the summary is a
message of the type `user`, followed by a stock reply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.hosts.host import (
    HookFile,
    Host,
    McpFile,
    PluginFile,
    TranscriptFormat,
    member,
)
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

_ROLES = {"user": "user", "gemini": "assistant"}
_MESSAGE_TYPES = frozenset({*_ROLES, "info", "warning", "error"})
_SUMMARY_MARK = "<state_snapshot>"
_REPLY_TO_SUMMARY = "Got it. Thanks for the additional context!"


def _owns(record: Record) -> bool:
    if "type" not in record:
        return _is_head(record) or isinstance(record.get("$set"), dict)
    # Claude Code has `user` records too, but with the text in a `message`.
    is_message = {"id", "timestamp", "content"} <= record.keys() and "message" not in record
    return is_message and record["type"] in _MESSAGE_TYPES


def _is_head(record: Record) -> bool:
    return {"sessionId", "projectHash"} <= record.keys()


def _read(record: Record) -> RecordFacts:
    if _is_head(record):
        return RecordFacts(
            session_id=clean_text(record.get("sessionId")),
            at=parse_time(record.get("startTime")),
            is_subagent=record.get("kind") == "subagent",
        )
    return RecordFacts(_turn(record), at=parse_time(record.get("timestamp")))


def _turn(record: Record) -> Turn | None:
    # `displayContent` is what the user typed, where the host sent something else to the model.
    content = record.get("displayContent") or record.get("content")
    text = without_inserted("\n".join(part_texts(content))).strip()
    if _SUMMARY_MARK in text or text == _REPLY_TO_SUMMARY or text.startswith("<session_context>"):
        return None
    return turn_of(_ROLES.get(str(record.get("type"))), [text], record.get("id"))


def _owns_document(document: Record) -> bool:
    return _is_head(document) and isinstance(document.get("messages"), list)


def _records(document: Record) -> list[Record]:
    messages = [message for message in document["messages"] if isinstance(message, dict)]
    return [{**document, "messages": None}, *messages]


def _user_file(machine: Machine) -> Path:
    return machine.home / ".gemini" / "settings.json"


def _plugin_files(machine: Machine) -> list[Path]:
    return [machine.home / ".gemini" / "extensions" / "extension-enablement.json"]


def _has_plugin(document: dict[str, Any]) -> bool:
    # Folders in which the extension is on, and with `!` those in which it is off.
    folders = member(document, "notewell").get("overrides")
    return isinstance(folders, list) and any(not str(one).startswith("!") for one in folders)


HOST = Host(
    "gemini",
    "Gemini CLI",
    transcripts=TranscriptFormat(
        "gemini", _owns, _read, compaction_marks=(_SUMMARY_MARK.encode(),)
    ),
    earlier_transcripts=TranscriptFormat(
        "gemini-json",
        _owns_document,
        _read,
        # Beside it are other JSON files: logs, checkpoints, settings.
        prefix="session-",
        suffix=".json",
        records=_records,
    ),
    transcript_folders=lambda machine: (machine.home / ".gemini" / "tmp",),
    hooks=HookFile(
        ".gemini",
        None,
        "settings.json",
        {
            "SessionStart": "session-start",
            "PreCompress": "pre-compact",
            "SessionEnd": "session-end",
        },
        turn_events={"BeforeAgent": "prompt"},
        timeout_unit="ms",
        # `PreCompress` comes before it looks whether the history is too long.
        compacts_after_event=False,
    ),
    mcp=McpFile("json", "mcpServers", _user_file, ".gemini/settings.json"),
    plugin=PluginFile(
        "json", _plugin_files, _has_plugin, "`gemini extensions uninstall notewell`"
    ),
)
