"""Which kept conversations began with an import, so that the import can be taken back.

A line for each new file, with its size: a file that has another size was continued since, by a
hook or by a later import, and stays.
"""

from __future__ import annotations

import hashlib
import os
from datetime import datetime
from typing import TYPE_CHECKING, Any

from notewell.capture.kept_folder import LOCK, LOCK_WAIT_S
from notewell.files import append_json_line, read_json_lines, state_lock
from notewell.records import dataclass, field, replace

if TYPE_CHECKING:
    from pathlib import Path

IMPORTS = "imports.jsonl"
MAX_BYTES = 8 * 1024 * 1024
"""About 60 000 conversations. Those before them can no longer be undone by us."""
IMPORT = "import:"
"""How the name of an import begins; as the origin of its writes, too."""


@dataclass(frozen=True, slots=True)
class RecordedImport:
    origin: str
    at: datetime
    files: dict[str, int] = field(default_factory=dict)
    """The new files of kept conversations, with their sizes."""
    undone: bool = False


def import_origin(what: str, now: datetime) -> str:
    """The name of an import, which `notewell undo` takes."""
    return f"{IMPORT}{what}:{hashlib.sha256(now.isoformat().encode()).hexdigest()[:8]}"


def record_begun(folder: Path, origin: str, file: Path, now: datetime) -> None:
    """That an import has begun a file. Raises `StateNotWritable`."""
    line = {"origin": origin, "at": now.isoformat(), "file": file.name, "size": _size(file)}
    # Not durable: after a power cut a conversation may stay that an undo would remove.
    append_json_line(folder / IMPORTS, line, max_bytes=MAX_BYTES, durable=False)


def recorded_imports(folder: Path) -> dict[str, RecordedImport]:
    """By their names, from the oldest to the newest."""
    found: dict[str, RecordedImport] = {}
    for line in read_json_lines(folder / IMPORTS):
        undone = line.get("undone")
        if isinstance(undone, str) and undone in found:
            found[undone] = replace(found[undone], undone=True)
        else:
            _add(found, line)
    return found


def _add(found: dict[str, RecordedImport], line: dict[str, Any]) -> None:
    """Nothing for a line that a later version, or another program, has written."""
    match line:
        case {"origin": str(origin), "at": str(at), "file": str(name), "size": int(size)}:
            # Whatever was put into this file: nothing outside the folder is ever removed.
            if name.endswith(".jsonl") and not {"/", os.sep}.intersection(name):
                try:
                    first = RecordedImport(origin, datetime.fromisoformat(at))
                except ValueError:
                    return
                found.setdefault(origin, first).files[name] = size


def remove_begun(
    folder: Path, kept: Path, recorded: RecordedImport, now: datetime
) -> tuple[list[str], list[str]]:
    """Remove the conversations that an import has begun: which went, and which were continued and
    stay. Raises `StateBusy` and `StateNotWritable`."""
    removed, left = list[str](), list[str]()
    if recorded.files:
        with state_lock(kept / LOCK, wait_s=LOCK_WAIT_S):
            for name, size in recorded.files.items():
                now_size = _size(kept / name)
                if now_size == size:
                    (kept / name).unlink()
                    removed.append(name)
                elif now_size is not None:
                    left.append(name)
    if not left:
        line = {"undone": recorded.origin, "at": now.isoformat()}
        append_json_line(folder / IMPORTS, line, max_bytes=MAX_BYTES)
    return removed, left


def _size(file: Path) -> int | None:
    try:
        return os.lstat(file).st_size
    except FileNotFoundError:
        return None
