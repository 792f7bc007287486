"""The agent's own transcripts, in the form OpenClaw writes:

{"type":"session","id":"…","cwd":"…","timestamp":"…"}
{"type":"message","id":"…","timestamp":"…","message":{"role":"user","content":"…" or blocks}}
{"type":"compaction","summary":"…"}          what was said is still above it: only a mark
"""

from __future__ import annotations

from notewell.sessions.turns import Format, Record, Told, known, moment, spoken, texts_of


def _owns(record: Record) -> bool:
    kind = record.get("type")
    return kind in ("session", "compaction") or (
        kind == "message" and isinstance(record.get("message"), dict)
    )


def _told(record: Record) -> Told:
    at = moment(record.get("timestamp"))
    match record:
        case {"type": "session"}:
            return Told(session_id=known(record.get("id")), cwd=known(record.get("cwd")), at=at)
        case {"type": "compaction"}:
            return Told(at=at, compacted=True)
        case {"type": "message", "message": dict(message)}:
            texts = tuple(texts_of(message.get("content")))
            turn = spoken(message.get("role"), texts, record.get("id"))
            return Told(turn, at=at or moment(message.get("timestamp")))
    return Told(at=at)


OPENCLAW = Format("openclaw", _owns, _told)
