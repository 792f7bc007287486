"""OpenClaw, whose transcript format is also that of Notewell's own sessions:

{"type":"session","id":"…","cwd":"…","timestamp":"…"}
{"type":"message","id":"…","timestamp":"…","message":{"role":"user","content":"…" or blocks}}
{"type":"compaction","summary":"…"}          the compacted messages are still in the file above it

Since 2026.9 the same records are in the database `agents/<agent>/agent/openclaw-agent.sqlite`:

session_windows     session_id, transcript_updated_at, updated_at, spawned_by (of a subagent's)
transcript_events   session_id, seq, event_json; or event_zstd, the same compressed, and
                    navigation_json, which has its type and role

The other tables have settings and keys of OpenClaw; they are not read.

`notewell --openclaw` reads an OpenClaw's own settings; it needs no hooks and no MCP entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.hosts.host import (
    Host,
    PluginFile,
    TranscriptDatabase,
    TranscriptFormat,
    member,
)
from notewell.hosts.messages import Record, RecordFacts, clean_text, parse_time, texts_of, turn_of

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.hosts.host import Machine

_SESSIONS = """
SELECT session_id, coalesce(transcript_updated_at, updated_at),
       (SELECT count(*) FROM transcript_events AS event
        WHERE event.session_id = session.session_id)
FROM session_windows AS session WHERE spawned_by IS NULL
"""

# Only what `_read` uses: the rest are results of tools. `navigation` is NULL where the event is
# not valid JSON, and a damaged event must be counted.
_RECORDS = """
SELECT coalesce(event_json, event_zstd) FROM (
  SELECT seq, event_zstd, CASE WHEN json_valid(event_json) THEN event_json END AS event_json,
         CASE WHEN event_zstd IS NULL THEN iif(json_valid(event_json), event_json, NULL)
              WHEN json_type(iif(json_valid(navigation_json), navigation_json, '{}'),
                             '$.navigation') = 'object'
              THEN json_extract(navigation_json, '$.navigation') END AS navigation
  FROM transcript_events WHERE session_id = :id
) WHERE navigation IS NULL OR json_extract(navigation, '$.type') = 'session'
     OR json_extract(navigation, '$.message.role') IN ('user', 'assistant')
ORDER BY seq
"""

_NOT_SAID = ("inter_session", "internal_system")
"""The provenance of messages from other agents, and from OpenClaw itself."""


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
                session_id=clean_text(record.get("id")),
                cwd=clean_text(record.get("cwd")),
                at=at,
                host=clean_text(record.get("host")),
            )
        case {"type": "message", "message": dict(message)}:
            # Some records have no time of their own; then the message has one, in milliseconds.
            at = at or parse_time(message.get("timestamp"))
            if _was_said(message):
                texts = tuple(texts_of(message.get("content")))
                turn = turn_of(message.get("role"), texts, record.get("id"))
                return RecordFacts(turn, at=at)
    return RecordFacts(at=at)


def _was_said(message: Record) -> bool:
    provenance = message.get("provenance")
    return not isinstance(provenance, dict) or provenance.get("kind") not in _NOT_SAID


def _config_files(machine: Machine) -> list[Path]:
    home = machine.folder("OPENCLAW_HOME", machine.home)
    state = machine.folder("OPENCLAW_STATE_DIR", home / ".openclaw")
    return [machine.folder("OPENCLAW_CONFIG_PATH", state / "openclaw.json")]


def _has_plugin(document: dict[str, Any]) -> bool:
    entry = member(document, "plugins", "entries").get("notewell")
    return isinstance(entry, dict) and entry.get("enabled") is not False


_FORMAT = TranscriptFormat("openclaw", _owns, _read, compaction_marks=(b'"compaction"',))

HOST = Host(
    "openclaw",
    "OpenClaw",
    transcripts=_FORMAT,
    database=TranscriptDatabase(
        "openclaw-agent.sqlite", _FORMAT, _SESSIONS, _RECORDS, extra="openclaw"
    ),
    plugin=PluginFile(
        "json",
        _config_files,
        _has_plugin,
        "`openclaw plugins uninstall notewell`, then `openclaw plugins enable memory-core`",
    ),
    plugin_install="openclaw plugins install CHECKOUT/plugins/openclaw --force "
    "--accept-capabilities",
)
