"""Transcripts of Claude Code, `~/.claude/projects/<folder>/<session>.jsonl`:

{"type":"user","uuid":"…","sessionId":"…","cwd":"…","timestamp":"…","isSidechain":false,
 "message":{"role":"user","content":"…" or blocks}}
{"type":"assistant", …, "message":{"role":"assistant","content":[{"type":"text", …}, …]}}
{"type":"system","subtype":"compact_boundary", …}
{"type":"summary" | "file-history-snapshot" | "queue-operation" | …}

Not everything a `user` record holds was said by the user: results of tools, what commands
printed, reminders and the summary after a compaction are written in that form too.
"""

from __future__ import annotations

from notewell.sessions.turns import Format, Record, Told, known, moment, spoken, texts_of

_NOT_SAID = (
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
)
"""Another agent's talk, the host's own notes, a retelling of what is above, an error."""

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
"""What the host puts into a user's message begins with one of these."""


def _owns(record: Record) -> bool:
    if record.get("type") in ("user", "assistant"):
        return isinstance(record.get("message"), dict)
    return "sessionId" in record or ("leafUuid" in record and record.get("type") == "summary")


def _told(record: Record) -> Told:
    told = Told(
        session_id=known(record.get("sessionId")),
        cwd=known(record.get("cwd")),
        at=moment(record.get("timestamp")),
        compacted=record.get("subtype") == "compact_boundary",
    )
    message = record.get("message")
    if record.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return told
    if any(record.get(mark) is True for mark in _NOT_SAID):
        return told
    texts = [
        text
        for text in texts_of(message.get("content"))
        if not text.lstrip().startswith(_INJECTED)
    ]
    return told._replace(turn=spoken(record["type"], texts, record.get("uuid")))


CLAUDE_CODE = Format("claude-code", _owns, _told)
