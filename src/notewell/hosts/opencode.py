"""OpenCode. Its conversations are in one SQLite database, `~/.local/share/opencode/opencode.db`:

session   id, parent_id (of a subagent's), directory, time_created, time_updated
message   id, session_id, data: {"role":"user" | "assistant", "summary":true, …}
part      id, message_id, session_id, time_created, data: {"type":"text","text":"…", …}

Its hooks are functions of a plugin, which runs in the host: `plugins/opencode` calls ours.

A part with `synthetic` or `ignored` was inserted by the host. A message whose `summary` is true
summarises what was compacted; in a user's message the field has a list of changed files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.hosts.host import (
    HookCalls,
    Host,
    McpFile,
    PluginFile,
    TranscriptDatabase,
    TranscriptFormat,
)
from notewell.hosts.messages import Record, RecordFacts, clean_text, parse_time, texts_of, turn_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from notewell.hosts.host import Machine

_PACKAGE = "notewell-opencode"
START_TIMEOUT_MS = 30_000
"""Instead of its 5 s, in which a busy machine may not have started the server."""

_SESSIONS = """
SELECT id, time_updated, (SELECT count(*) FROM part WHERE part.session_id = session.id)
FROM session WHERE parent_id IS NULL
"""

# Only parts with text: the others have whole files and the output of tools. A text that quotes the
# mark makes the filter let through too much, never too little: `_read` looks again.
_RECORDS = """
SELECT record FROM (
  SELECT 0 AS message_at, '' AS message_id, '' AS part_id,
         json_object('id', id, 'parent', parent_id, 'directory', directory,
                     'at', time_created) AS record
  FROM session WHERE id = :id
  UNION ALL
  SELECT message.time_created, message.id, part.id,
         CASE WHEN json_valid(message.data) AND json_valid(part.data) THEN
           json_object('id', part.id, 'at', part.time_created,
                       'message', json(message.data), 'part', json(part.data))
         END
  FROM part JOIN message ON message.id = part.message_id
  WHERE part.session_id = :id AND part.data LIKE '%"type"%"text"%'
) ORDER BY message_at, message_id, part_id
"""


def _owns(record: Record) -> bool:
    return True  # The database decides: all its records are of this host.


def _read(record: Record) -> RecordFacts:
    at = parse_time(record.get("at"))
    match record:
        case {"message": dict(message), "part": dict(part)}:
            # `is True`: the flags are missing or false in ordinary parts.
            inserted = (part.get("synthetic"), part.get("ignored"), message.get("summary"))
            if any(flag is True for flag in inserted):
                return RecordFacts(at=at)
            turn = turn_of(message.get("role"), tuple(texts_of([part])), record.get("id"))
            return RecordFacts(turn, at=at)
    return RecordFacts(
        session_id=clean_text(record.get("id")),
        cwd=clean_text(record.get("directory")),
        at=at,
        is_subagent=bool(record.get("parent")),
    )


def _folder(machine: Machine) -> Path:
    return machine.folder("XDG_CONFIG_HOME", machine.home / ".config") / "opencode"


def _user_file(machine: Machine) -> Path:
    return _folder(machine) / "opencode.json"


def _plugin_files(machine: Machine) -> list[Path]:
    # It reads both; `opencode plugin` makes the second one if there is none.
    return [_user_file(machine), _folder(machine) / "opencode.jsonc"]


def _modules(document: dict[str, Any]) -> list[str]:
    """What it loads: folders, or names of packages. Options may follow, in a list."""
    listed = document.get("plugin")
    firsts = [
        one[0] if isinstance(one, list) and one else one
        for one in (listed if isinstance(listed, list) else ())
    ]
    return [one.removeprefix("file://") for one in firsts if isinstance(one, str)]


def _has_plugin(document: dict[str, Any]) -> bool:
    return any(one.partition("@")[0] == _PACKAGE for one in _modules(document))


def _transcripts(machine: Machine) -> tuple[Path, ...]:
    return (machine.folder("XDG_DATA_HOME", machine.home / ".local" / "share") / "opencode",)


def _entry(command: Sequence[str]) -> dict[str, Any]:
    # Its command is one list, with the program as the first word.
    return {"type": "local", "command": list(command), "enabled": True}


def _context(event: str, text: str) -> dict[str, Any]:
    # Our own form: our plugin reads it.
    return {"context": text}


HOST = Host(
    "opencode",
    "OpenCode",
    database=TranscriptDatabase(
        "opencode.db", TranscriptFormat("opencode", _owns, _read), _SESSIONS, _RECORDS
    ),
    transcript_folders=_transcripts,
    hook_calls=HookCalls(
        # A host that is killed does not dispose of its plugins.
        {"session.created": "session-start", "session.idle": "stop", "dispose": "session-end"},
        _context,
    ),
    mcp=McpFile(
        "json",
        "mcp",
        _user_file,
        "opencode.json",
        _entry,
        waits={"timeout": START_TIMEOUT_MS},
    ),
    plugin=PluginFile(
        "json",
        _plugin_files,
        _has_plugin,
        "remove it from `plugin` in opencode.json or opencode.jsonc, in ~/.config/opencode",
        _modules,
        _PACKAGE,
    ),
    plugin_install="opencode plugin --global CHECKOUT/plugins/opencode",
)
