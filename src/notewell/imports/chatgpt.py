"""ChatGPT's data export: `conversations.json`, or `conversations-000.json` and so on, in a zip.

[{"conversation_id", "title", "create_time", "update_time", "current_node",
  "mapping": {node: {"parent", "message": {"id", "author": {"role"}, "create_time", "recipient",
                                           "content": {"content_type", "parts"}}}}}]

A message that was edited or answered again is a second branch of the tree. The conversation is the
branch that ends at `current_node`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.hosts import parse_time
from notewell.imports.conversations import list_of_conversations, said, without_text
from notewell.imports.records import ImportedConversation, MemoryProgram, Reading
from notewell.types import Ignored, counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from notewell.sessions import SaidMessage

TITLE = "ChatGPT"
_FILES = re.compile(r"conversations(-\d+)?\.json")
_KINDS = ("text", "multimodal_text")


def read(path: Path) -> Reading:
    items, left_out = list_of_conversations(path, _FILES, "mapping", TITLE)
    conversations, others, empty = list[ImportedConversation](), 0, 0
    for item in items:
        mapping = item["mapping"] if isinstance(item["mapping"], dict) else {}
        id_ = item.get("conversation_id") or item.get("id")
        branch = _branch(mapping, item.get("current_node"))
        messages = tuple(found for node in branch if (found := _said(mapping[node])))
        others += sum(node not in branch and bool(_said(value)) for node, value in mapping.items())
        if not isinstance(id_, str) or not messages:
            empty += 1
            continue
        at = parse_time(item.get("update_time")) or parse_time(item.get("create_time"))
        conversations.append(ImportedConversation(id_, messages, at))
    if others:
        why = "edited or answered again; the branch that the conversation ended with is kept"
        left_out.append(Ignored(counted(others, "message"), why))
    return Reading(conversations=tuple(conversations), left_out=(*left_out, *without_text(empty)))


def _branch(mapping: dict[str, Any], last: object) -> dict[str, None]:
    """The nodes from the first to the last, in order."""
    way: dict[str, None] = {}
    node = last
    # A tree that leads back to itself ends here, too.
    while isinstance(node, str) and node in mapping and node not in way:
        way[node] = None
        parent = mapping[node]
        node = parent.get("parent") if isinstance(parent, dict) else None
    return dict.fromkeys(reversed(way))


def _said(node: object) -> SaidMessage | None:
    match node:
        case {"message": {"author": {"role": str(role)}, "content": dict(content)} as message}:
            metadata = message.get("metadata")
            is_hidden = isinstance(metadata, dict) and metadata.get(
                "is_visually_hidden_from_conversation"
            )
            # Any other recipient is a tool.
            if is_hidden or message.get("recipient", "all") != "all":
                return None
            return said(role, _texts(content), message.get("id"), message.get("create_time"))
    return None


def _texts(content: dict[str, Any]) -> Iterator[str]:
    """Without images and the calls of tools."""
    parts = content.get("parts")
    if content.get("content_type") in _KINDS and isinstance(parts, list):
        yield from (part for part in parts if isinstance(part, str))


PROGRAM = MemoryProgram(
    "chatgpt",
    TITLE,
    read,
    wants="the zip of its data export, or conversations.json",
    host="chatgpt",
)
