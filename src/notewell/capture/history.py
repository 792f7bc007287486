"""Every write of ours: what was added where, so that it can be taken back.

One JSON line a write, and one more when it is undone. The texts are not in it: they are in the
notes, and when the user removes one there, no copy must be left here.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from notewell.files import append_json_line, read_json_lines

if TYPE_CHECKING:
    from pathlib import Path

NAME = "history.jsonl"
MAX_BYTES = 4 * 1024 * 1024
"""Some 8000 writes: years of them. What is older can no longer be undone by us."""

ID_CHARS = 8


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes that we added to a note."""

    path: str
    start_byte: int
    end_byte: int
    digest: str
    """sha256 of the added bytes."""
    digest_before: str
    digest_after: str
    """sha256 of the note up to `start_byte`, and up to `end_byte`, as it was then."""
    origin: str
    kind: Literal["entry", "note"]
    """An entry in a note, or a whole note that was not there before."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A write with its id, its time, and whether it was taken back."""

    id: str
    at: datetime
    write: Write
    undone: bool = False


def record(folder: Path, write: Write, at: datetime) -> str:
    """Returns the id."""
    told = asdict(write)
    seed = f"{at.isoformat()} {sorted(told.items())}"
    id_ = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:ID_CHARS]
    line = {"id": id_, "at": at.isoformat(), **told}
    append_json_line(folder / NAME, line, max_bytes=MAX_BYTES)
    return id_


def record_undo(folder: Path, id_: str, at: datetime) -> None:
    append_json_line(folder / NAME, {"undone": id_, "at": at.isoformat()}, max_bytes=MAX_BYTES)


def writes(folder: Path) -> list[Recorded]:
    """From the oldest to the newest."""
    found: dict[str, Recorded] = {}
    for line in read_json_lines(folder / NAME):
        undone = line.get("undone")
        if isinstance(undone, str) and undone in found:
            before = found[undone]
            found[undone] = Recorded(before.id, before.at, before.write, undone=True)
        elif (one := _recorded(line)) is not None:
            found[one.id] = one
    return list(found.values())


def _recorded(line: dict[str, Any]) -> Recorded | None:
    """None for a line that a later version, or somebody else, has written."""
    try:
        write = Write(**{field.name: line[field.name] for field in fields(Write)})
        at = datetime.fromisoformat(line["at"])
        is_range = 0 <= write.start_byte < write.end_byte and write.kind in ("entry", "note")
        # Whatever has got into this file: nothing outside the workspace is ever opened.
        is_inside = {"", ".", ".."}.isdisjoint(write.path.split("/"))
        return Recorded(str(line["id"]), at, write) if is_range and is_inside else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
