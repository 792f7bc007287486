"""Transcripts of Codex, `~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`:

{"timestamp":"…","type":"session_meta","payload":{"id":"…","cwd":"…","timestamp":"…"}}
{"timestamp":"…","type":"response_item","payload":{"type":"message","role":"user",
 "content":[{"type":"input_text","text":"…"}]}}            an assistant's is `output_text`
{"timestamp":"…","type":"event_msg","payload":{"type":"user_message","message":"…"}}
{"timestamp":"…","type":"compacted","payload":{"message":"…"}}

Events repeat what response items say, for the screen: only the items count. Early versions wrote
the payload of a message as the line itself, below a first line with `id` and `timestamp`.
"""

from __future__ import annotations

from notewell.sessions.turns import (
    Format,
    Record,
    Told,
    Turn,
    known,
    moment,
    spoken,
    texts_of,
)

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
"""What Codex tells the model in the user's name begins with one of these."""


def _owns(record: Record) -> bool:
    if isinstance(record.get("payload"), dict):
        return record.get("type") in _ENVELOPES
    return _is_early_head(record) or _is_message(record)


def _told(record: Record) -> Told:
    at = moment(record.get("timestamp"))
    payload = record.get("payload")
    if not isinstance(payload, dict):
        if _is_early_head(record):
            return Told(session_id=known(record.get("id")), at=at)
        payload = record
    match record.get("type"):
        case "session_meta":
            began = moment(payload.get("timestamp")) or at
            return Told(
                session_id=known(payload.get("id")), cwd=known(payload.get("cwd")), at=began
            )
        case "compacted":
            return Told(at=at, compacted=True)
        case "response_item" | "message" if _is_message(payload):
            return Told(_turn(payload), at=at)
    return Told(at=at)


def _turn(payload: Record) -> Turn | None:
    texts = [
        text
        for text in texts_of(payload.get("content"), _TEXT_KINDS)
        if not text.lstrip().startswith(_INJECTED)
    ]
    return spoken(payload.get("role"), texts)


def _is_message(payload: Record) -> bool:
    return payload.get("type") == "message" and "role" in payload and "content" in payload


def _is_early_head(record: Record) -> bool:
    return "type" not in record and {"id", "timestamp"} <= record.keys()


CODEX = Format("codex", _owns, _told)
