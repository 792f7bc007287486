"""Claude Code. Its transcripts are in `~/.claude/projects/<folder>/<session>.jsonl`:

{"type":"user","uuid":"…","sessionId":"…","cwd":"…","timestamp":"…","isSidechain":false,
 "message":{"role":"user","content":"…" or blocks}}
{"type":"assistant", …, "message":{"role":"assistant","content":[{"type":"text", …}, …]}}
{"type":"system","subtype":"compact_boundary", …}
{"type":"summary" | "file-history-snapshot" | "queue-operation" | …}

A `user` record is not always a message of the user: tool results, the output of commands,
reminders and the summary after a compaction have the same form.
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
    stdio_entry,
)
from notewell.hosts.messages import Record, RecordFacts, clean_text, parse_time, texts_of, turn_of

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.hosts.host import Machine

_NOT_A_MESSAGE = (
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
)
"""A subagent's messages, the host's own remarks, a summary of earlier messages, an error."""

_OTHER_TYPES = (
    "queue-operation",
    "progress",
    "attachment",
    "last-prompt",
    "permission-mode",
    "custom-title",
    "ai-title",
    "agent-name",
    "pr-link",
)
"""The types of records without a message. A session that was opened and left has only these."""

_INJECTED = (
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<task-notification>",
    "<user-prompt-submit-hook>",
    "[Request interrupted by user",
)
"""Text that the host inserts into a user's message begins with one of these."""


_BLOCKS_WITHOUT_TEXT = (b'"tool_result"', b'"tool_use"', b'"thinking"')
"""The output of tools first: it is most of a file, and its line begins with the mark."""


def _owns(record: Record) -> bool:
    kind = record.get("type")
    if kind in ("user", "assistant"):
        message = record.get("message")
        return isinstance(message, dict) and "content" in message
    if kind == "system":
        # Qwen Code has these records too, each with a payload.
        return "sessionId" in record and "systemPayload" not in record
    if kind == "summary":
        return "leafUuid" in record
    return kind == "file-history-snapshot" or (kind in _OTHER_TYPES and "sessionId" in record)


def _read(record: Record) -> RecordFacts:
    facts = RecordFacts(
        session_id=clean_text(record.get("sessionId")),
        cwd=clean_text(record.get("cwd")),
        at=parse_time(record.get("timestamp")),
    )
    message = record.get("message")
    if record.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return facts
    # `is True`: the flags are missing or false in ordinary messages.
    if any(record.get(flag) is True for flag in _NOT_A_MESSAGE):
        return facts
    # A message may mix inserted blocks with the user's own text: drop blocks, not the message.
    texts = [
        text
        for text in texts_of(message.get("content"))
        if not text.lstrip().startswith(_INJECTED)
    ]
    return facts._replace(turn=turn_of(record["type"], texts, record.get("uuid")))


def _has_no_message(line: bytes) -> bool:
    """A block of text has the key `text`. A message that is a plain text has no blocks; within a
    text, quotation marks are escaped, so these bytes are not in it."""
    if not any(kind in line for kind in _BLOCKS_WITHOUT_TEXT):
        return False
    # Not `in`: it takes twice as long in text, and six times in a long run of one of the letters.
    return line.rfind(b'"text"') < 0


def _user_file(machine: Machine) -> Path:
    # Not in `~/.claude`, where everything else is: Claude Code has this file beside the folder.
    return machine.folder("CLAUDE_CONFIG_DIR", machine.home) / ".claude.json"


def _transcripts(machine: Machine) -> tuple[Path, ...]:
    return (machine.folder("CLAUDE_CONFIG_DIR", machine.home / ".claude") / "projects",)


def _plugin_files(machine: Machine) -> list[Path]:
    return [machine.folder("CLAUDE_CONFIG_DIR", machine.home / ".claude") / "settings.json"]


def _has_plugin(document: dict[str, Any]) -> bool:
    plugins = member(document, "enabledPlugins")
    # The name of the marketplace follows, which a user may choose.
    return any(on is True and name.startswith("notewell@") for name, on in plugins.items())


HOST = Host(
    "claude",
    "Claude Code",
    transcripts=TranscriptFormat(
        "claude-code",
        _owns,
        _read,
        has_no_message=_has_no_message,
        # A compaction writes a boundary and a summary; either one is enough.
        compaction_marks=(b"compact_boundary", b"isCompactSummary"),
    ),
    transcript_folders=_transcripts,
    hooks=HookFile(
        ".claude",
        "CLAUDE_CONFIG_DIR",
        "settings.json",
        {
            "SessionStart": "session-start",
            "PreCompact": "pre-compact",
            "SessionEnd": "session-end",
        },
        # The prompt last: a recall that is declined later then leaves no gap.
        turn_events={"Stop": "stop", "UserPromptSubmit": "prompt"},
    ),
    mcp=McpFile(
        "json",
        "mcpServers",
        _user_file,
        ".mcp.json",
        stdio_entry,
        # Its tools are in the first request, and not behind a search for tools.
        waits={"alwaysLoad": True},
        project_advice="Claude Code does not start a server of a project before you approve it: "
        "start `claude` in that folder and accept, or type /mcp there",
    ),
    plugin=PluginFile(
        "json", _plugin_files, _has_plugin, "`claude plugin uninstall notewell@notewell`"
    ),
    projects=ProjectFile("json", _user_file, "projects", ("CLAUDE.md", "AGENTS.md")),
)
