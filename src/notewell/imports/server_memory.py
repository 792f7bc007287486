"""MCP's server-memory: a knowledge graph in JSON lines. Seen in version 2026.8.31.

{"type":"entity","name":"…","entityType":"…","observations":["…"]}
{"type":"relation","from":"…","to":"…","relationType":"…"}

Nothing in it has a time or an id. So each entity becomes a note without a date, and an observation
is known by its text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.imports.files import parse_json, read_bytes, unusable
from notewell.imports.records import ImportedEntry, MemoryProgram, Reading
from notewell.types import Ignored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TITLE = "server-memory"


def read(path: Path) -> Reading:
    entries, ignored = list[ImportedEntry](), list[Ignored]()
    lines = read_bytes(path).splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        # Its last line may be torn: the program replaces the file without a temporary one.
        record = parse_json(f"{path}:{number}", line)
        known = list(_entries(record)) if isinstance(record, dict) else []
        entries += known
        if not known:
            ignored.append(Ignored(f"line {number}", "neither an entity nor a relation"))
    if lines and not entries:
        raise unusable(path, f"no line of it is an entity or a relation of {TITLE}")
    return Reading(tuple(entries), left_out=tuple(ignored))


def _entries(record: dict[str, Any]) -> Iterator[ImportedEntry]:
    match record:
        case {"type": "entity", "name": str(name), "entityType": str(kind)} if name.strip():
            yield _entry(name, f"type: {kind}")
            observations = record.get("observations")
            for text in observations if isinstance(observations, list) else []:
                if isinstance(text, str) and text.strip():
                    yield _entry(name, text)
        case {"type": "relation", "from": str(name), "to": str(to), "relationType": str(kind)}:
            if name.strip():
                yield _entry(name, f"{kind} [[{to}]]")


def _entry(name: str, text: str) -> ImportedEntry:
    return ImportedEntry(f"{name}\n{text}", text, subject=name)


PROGRAM = MemoryProgram(
    "server-memory", "MCP's server-memory", read, wants="its file, memory.jsonl (MEMORY_FILE_PATH)"
)
