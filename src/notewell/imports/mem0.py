"""mem0: memories in a vector store, events in `~/.mem0/history.db`. Seen in version 2.2.1.

<path>/collection/<name>/storage.sqlite   qdrant's local store: `points`, each a pickled
                                          PointStruct with the payload {data, user_id,
                                          created_at, …}
history.db                                `history`: memory_id, new_memory, event (ADD, UPDATE,
                                          DELETE), created_at, updated_at; it knows no users
an export                                 {"results": [{id, memory, user_id, created_at, …}]},
                                          what `get_all` returns; or the list alone

A memory has the same id in all three, so it is imported once.
"""

from __future__ import annotations

import io
import pickle
from typing import TYPE_CHECKING, Any

from notewell.hosts import parse_time
from notewell.imports.files import parse_json, read_bytes, require_file, table_rows, unusable
from notewell.imports.records import ImportedEntry, MemoryProgram, Reading
from notewell.types import Ignored

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TITLE = "mem0"
STORE = "storage.sqlite"
SQLITE = b"SQLite format 3\0"
WHOSE = ("user_id", "agent_id", "run_id")


def read(path: Path) -> Reading:
    if path.is_dir():
        return _of_folder(path)
    if path.name == STORE:
        return _of_stores([path])
    require_file(path)
    try:
        with path.open("rb") as file:
            is_database = file.read(len(SQLITE)) == SQLITE
    except OSError:
        is_database = False  # `read_bytes` says why.
    return Reading(_history(path)) if is_database else _of_export(path)


def _of_folder(path: Path) -> Reading:
    stores = sorted(path.glob(f"collection/*/{STORE}"))
    if stores:
        return _of_stores(stores)
    if (path / "history.db").is_file():
        return Reading(_history(path / "history.db"))
    raise unusable(path, f"it has neither collection/*/{STORE} (qdrant) nor history.db")


# -- the store -----------------------------------------------------------------------------------


class _Point:
    """Stands for every class that a pickled point names; it can do nothing."""

    def __setstate__(self, state: object) -> None:
        if isinstance(state, dict):
            fields = state.get("__dict__")
            self.__dict__.update(fields if isinstance(fields, dict) else state)


class _Points(pickle.Unpickler):
    """A pickle can call any function that it can name. Here each name is `_Point`, so loading a
    file of somebody else runs nothing of it."""

    def find_class(self, module: str, name: str) -> type[_Point]:
        del module, name
        return _Point


def _of_stores(stores: Iterable[Path]) -> Reading:
    entries, ignored = list[ImportedEntry](), list[Ignored]()
    for store in stores:
        for row in table_rows(store, "points", ("id", "point"), (), TITLE):
            payload = _payload(row["point"])
            if payload is None:
                ignored.append(Ignored(str(row["id"]), "not a point that Notewell can read"))
            elif entry := _entry(payload[0], payload[1].get("data"), payload[1]):
                entries.append(entry)
    return Reading(tuple(entries), left_out=tuple(ignored))


def _payload(data: object) -> tuple[str, dict[str, Any]] | None:
    try:
        point = _Points(io.BytesIO(data if isinstance(data, bytes) else b"")).load()
    # A damaged pickle raises anything: its bytes are instructions.
    except Exception:  # noqa: BLE001
        return None
    payload = getattr(point, "payload", None)
    return (str(getattr(point, "id", "")), payload) if isinstance(payload, dict) else None


# -- the events ----------------------------------------------------------------------------------


def _history(path: Path) -> tuple[ImportedEntry, ...]:
    """The last text of each memory that was not deleted."""
    needed = ("memory_id", "new_memory", "event")
    optional = ("created_at", "updated_at", "is_deleted")
    last: dict[str, ImportedEntry] = {}
    for row in table_rows(path, "history", needed, optional, TITLE):
        last.pop(str(row["memory_id"]), None)
        is_gone = row["event"] == "DELETE" or row["is_deleted"]
        if not is_gone and (entry := _entry(row["memory_id"], row["new_memory"], row)):
            last[entry.key] = entry
    return tuple(last.values())


# -- an export -----------------------------------------------------------------------------------


def _of_export(path: Path) -> Reading:
    document = parse_json(path, read_bytes(path))
    results = document.get("results") if isinstance(document, dict) else document
    if not isinstance(results, list):
        raise unusable(path, 'it is no export of mem0: it has no list "results"')
    entries, ignored = list[ImportedEntry](), list[Ignored]()
    for number, item in enumerate(results, 1):
        entry = (
            _entry(item.get("id"), item.get("memory"), item) if isinstance(item, dict) else None
        )
        if entry:
            entries.append(entry)
        else:
            ignored.append(Ignored(f"result {number}", "it has no id or no memory"))
    if results and not entries:
        raise unusable(path, "none of its results is a memory of mem0")
    return Reading(tuple(entries), left_out=tuple(ignored))


def _entry(id_: object, text: object, facts: dict[str, Any]) -> ImportedEntry | None:
    if not isinstance(id_, str) or not id_ or not isinstance(text, str) or not text.strip():
        return None
    at = parse_time(facts.get("updated_at")) or parse_time(facts.get("created_at"))
    whose = (facts.get(name) for name in WHOSE)
    group = next((value for value in whose if isinstance(value, str) and value), "")
    return ImportedEntry(id_, text, at, group=group)


PROGRAM = MemoryProgram(
    "mem0",
    TITLE,
    read,
    wants="the folder of its qdrant store, an export as JSON, or history.db",
    groups="user",
    mixes_groups=False,
)
