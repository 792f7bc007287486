"""OpenClaw, whose transcript format is also that of Notewell's own sessions:

{"type":"session","id":"…","cwd":"…","timestamp":"…"}
{"type":"message","id":"…","timestamp":"…","message":{"role":"user","content":"…" or blocks}}
{"type":"compaction","summary":"…"}          the compacted messages are still in the file above it

`notewell --openclaw` reads an OpenClaw's own settings; it needs no hooks and no MCP entry.
"""

from __future__ import annotations

from notewell.hosts.host import Host, TranscriptFormat
from notewell.hosts.messages import Record, RecordFacts, clean_text, parse_time, texts_of, turn_of


def _owns(record: Record) -> bool:
    # Codex has `message` records too, but with the role in the record itself.
    match record:
        case {"type": "session", "id": str()} | {"type": "compaction", "summary": _}:
            return True
        case {"type": "message", "message": dict()}:
            return True
    return False


def _read(record: Record) -> RecordFacts:
    at = parse_time(record.get("timestamp"))
    match record:
        case {"type": "session"}:
            return RecordFacts(
                session_id=clean_text(record.get("id")), cwd=clean_text(record.get("cwd")), at=at
            )
        case {"type": "message", "message": dict(message)}:
            texts = tuple(texts_of(message.get("content")))
            turn = turn_of(message.get("role"), texts, record.get("id"))
            # Some records have no time of their own; then the message has one, in milliseconds.
            return RecordFacts(turn, at=at or parse_time(message.get("timestamp")))
    return RecordFacts(at=at)


HOST = Host(
    "openclaw",
    "OpenClaw",
    transcripts=TranscriptFormat("openclaw", _owns, _read, compaction_marks=(b'"compaction"',)),
)
