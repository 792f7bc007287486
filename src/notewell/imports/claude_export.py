"""The data export of Claude, the app: `conversations.json` in a zip. Claude Code has transcripts,
which `notewell sessions import claude` keeps.

[{"uuid", "name", "created_at", "updated_at",
  "chat_messages": [{"uuid", "sender": "human" or "assistant", "created_at", "text",
                     "content": [{"type": "text", "text"}], "attachments": […], "files": […]}]}]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.hosts import parse_time, texts_of
from notewell.imports.conversations import list_of_conversations, said, without_text
from notewell.imports.records import ImportedConversation, MemoryProgram, Reading
from notewell.types import Ignored, counted

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.sessions import SaidMessage

TITLE = "Claude"
_FILES = re.compile(r"conversations(-\d+)?\.json")
_ROLES = {"human": "user", "assistant": "assistant"}


def read(path: Path) -> Reading:
    items, left_out = list_of_conversations(path, _FILES, "chat_messages", TITLE)
    conversations, files, empty = list[ImportedConversation](), 0, 0
    for item in items:
        records = item["chat_messages"] if isinstance(item["chat_messages"], list) else []
        messages = tuple(found for record in records if (found := _said(record)))
        files += sum(_files(record) for record in records)
        id_ = item.get("uuid")
        if not isinstance(id_, str) or not messages:
            empty += 1
            continue
        at = parse_time(item.get("updated_at")) or parse_time(item.get("created_at"))
        conversations.append(ImportedConversation(id_, messages, at))
    if files:
        left_out.append(Ignored(counted(files, "attached file"), "only what was said is kept"))
    return Reading(conversations=tuple(conversations), left_out=(*left_out, *without_text(empty)))


def _said(record: object) -> SaidMessage | None:
    if not isinstance(record, dict):
        return None
    role = _ROLES.get(str(record.get("sender")), "")
    return said(role, _texts(record), record.get("uuid"), record.get("created_at"))


def _texts(record: dict[str, Any]) -> list[str]:
    """Of the blocks, without reasoning and tools; an older export has the text alone."""
    blocks = record.get("content")
    return list(texts_of(blocks)) or list(texts_of(record.get("text")))


def _files(record: object) -> int:
    if not isinstance(record, dict):
        return 0
    lists = (record.get(name) for name in ("attachments", "files"))
    return sum(len(items) for items in lists if isinstance(items, list))


PROGRAM = MemoryProgram(
    "claude",
    TITLE,
    read,
    wants="the zip of its data export, or conversations.json",
    host="claudeai",
)
