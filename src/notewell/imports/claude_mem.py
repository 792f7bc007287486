"""claude-mem: `~/.claude-mem/claude-mem.db`, SQLite. Seen in version 13.25.3 (its schema 52).

observations        id, project, type, title, subtitle, narrative or text, facts and files_modified
                    (JSON lists), created_at
session_summaries   id, project, request, investigated, learned, completed, next_steps, notes,
                    created_at
user_prompts        what the user typed: the transcripts of the host have it, so it is counted only
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from notewell.hosts import parse_time
from notewell.imports.files import table_rows
from notewell.imports.records import ImportedEntry, MemoryProgram, Reading
from notewell.types import Ignored, counted

if TYPE_CHECKING:
    from pathlib import Path

TITLE = "claude-mem"
_OBSERVATION = ("text", "title", "subtitle", "narrative", "facts", "files_modified")
_SUMMARY = {
    "investigated": "Investigated",
    "learned": "Learned",
    "completed": "Completed",
    "next_steps": "Next steps",
    "notes": "Notes",
}


def read(path: Path) -> Reading:
    needed = ("id", "project", "created_at")
    observations = table_rows(path, "observations", (*needed, "type"), _OBSERVATION, TITLE)
    entries = [_entry("observation", row, _observation(row)) for row in observations]
    columns = ("request", *_SUMMARY)
    summaries = table_rows(path, "session_summaries", needed, columns, TITLE)
    entries += [_entry("summary", row, _summary(row)) for row in summaries]
    prompts = len(list(table_rows(path, "user_prompts", ("id",), (), TITLE)))
    why = "`notewell sessions import` keeps the conversations themselves"
    left_out = (Ignored(counted(prompts, "prompt"), why),) if prompts else ()
    return Reading(tuple(entry for entry in entries if entry.text), left_out=left_out)


def _entry(kind: str, row: dict[str, Any], text: str) -> ImportedEntry:
    at = parse_time(row["created_at"])
    return ImportedEntry(f"{kind}/{row['id']}", text, at, group=_text(row["project"]))


def _observation(row: dict[str, Any]) -> str:
    title = " — ".join(filter(None, (_text(row["title"]), _text(row["subtitle"]))))
    kind = ", ".join(filter(None, (_text(row["type"]), _text(row["project"]))))
    lines = [f"**{title}** ({kind})" if title else f"({kind})"]
    lines += [text for name in ("text", "narrative") if (text := _text(row[name]))]
    lines += [f"- {fact}" for fact in _items(row["facts"])]
    if files := _items(row["files_modified"]):
        lines.append(f"Files: {', '.join(f'`{name}`' for name in files)}")
    return "\n".join(lines) if len(lines) > 1 or title else ""


def _summary(row: dict[str, Any]) -> str:
    parts = [f"{label}: {text}" for name, label in _SUMMARY.items() if (text := _text(row[name]))]
    request = _text(row["request"])
    if not parts and not request:
        return ""
    project = _text(row["project"])
    return "\n".join([f"**Session: {request or 'no request'}** ({project})", *parts])


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _items(value: object) -> list[str]:
    """The texts of a JSON list."""
    try:
        items = json.loads(value) if isinstance(value, str) and value else []
    except (ValueError, RecursionError):
        return []
    return [text for item in items if (text := _text(item))] if isinstance(items, list) else []


PROGRAM = MemoryProgram(
    "claude-mem",
    TITLE,
    read,
    wants="its database, claude-mem.db",
    places=(".claude-mem/claude-mem.db",),
    groups="project",
)
