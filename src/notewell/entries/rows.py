"""An entry as a row of a table, and back."""

from __future__ import annotations

from typing import Any

from notewell.entries.entry import MemoryEntry


def content_of(entry: MemoryEntry) -> tuple[object, ...]:
    return (entry.text, entry.importance, entry.category, entry.created_at_ms)


def entry_row(entry: MemoryEntry, *, by_words: bool) -> dict[str, Any]:
    return {
        "id": entry.id,
        "owner": entry.owner,
        "text": entry.text,
        "importance": entry.importance,
        "category": entry.category,
        "created_at_ms": entry.created_at_ms,
        "model": entry.model,
        "by_words": by_words,
    }


def row_entry(row: dict[str, Any]) -> MemoryEntry:
    return MemoryEntry(**{name: value for name, value in row.items() if name != "by_words"})
