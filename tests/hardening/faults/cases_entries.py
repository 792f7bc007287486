"""Entries in LanceDB are stored, deleted and restored: each is there as it was written, or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.hardening.faults.scene import Scene, Seen, told

from notewell.entries import (
    EntryStore,
    MemoryEntry,
    audit_entries,
    from_markdown,
    to_markdown,
)
from notewell.testing import HashEmbedder

TOLD = ("The user drinks tea", "The anchor is red", "Deploys are on Friday")
NEW = "The sail is white"
NEW_ID = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"


def store_of(scene: Scene) -> EntryStore:
    return EntryStore(
        scene.state / "lancedb",
        "main",
        HashEmbedder(32),
        redact=str,
        now_ms=lambda: 1_767_225_600_000,
        wait_s=1.0,
    )


def seen_entries(scene: Scene) -> Seen:
    def texts() -> list[str]:
        return sorted(entry.text for entry in store_of(scene).entries())

    damaged = list(audit_entries(scene.state / "lancedb").damaged)
    return {
        "parts": {"texts": told(texts), "damaged": damaged},
        "reported": {"texts": told(texts)},
    }


@dataclass(frozen=True, slots=True)
class StoreCase:
    """One more entry, in a table that is there or in a new one."""

    name: str
    is_first: bool = False
    writes_to: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        if not self.is_first:
            for text in TOLD:
                store_of(scene).store(text)

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        store = store_of(scene)
        store.recall("tea")
        arm()
        store.store(NEW)

    def look(self, scene: Scene) -> Seen:
        return seen_entries(scene)


@dataclass(frozen=True, slots=True)
class ForgetEntryCase:
    """An entry is deleted, and its text is gone from the disk."""

    name: str
    is_last: bool = False
    writes_to: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        entries = [MemoryEntry(NEW_ID, NEW, 0.7, "fact", 1, "main")]
        store_of(scene).import_entries(entries)
        if not self.is_last:
            for text in TOLD:
                store_of(scene).store(text)

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        store = store_of(scene)
        store.recall("tea")
        arm()
        store.forget(NEW_ID)

    def look(self, scene: Scene) -> Seen:
        seen = seen_entries(scene)
        files = [path for path in (scene.state / "lancedb").rglob("*") if path.is_file()]
        is_left = any(NEW.encode() in path.read_bytes() for path in files)
        gone = {"on disk": is_left}
        return {**seen, "whole": gone, "reported": {**seen["reported"], **gone}}


@dataclass(frozen=True, slots=True)
class RestoreCase:
    """A damaged entry is restored from an export."""

    name: str = "restore an entry"
    writes_to: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        store = store_of(scene)
        for text in TOLD:
            store.store(text)
        exported = to_markdown(store.entries(), "main")
        (scene.outside / "entries.md").write_text(exported, encoding="utf-8")
        for path in (scene.state / "lancedb").rglob("data/*.lance"):
            path.write_bytes(path.read_bytes().replace(b"drinks tea", b"drinks pea"))

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        exported = (scene.outside / "entries.md").read_text(encoding="utf-8")
        store = store_of(scene)
        store.recall("anchor")
        arm()
        store.import_entries(from_markdown(exported))

    def look(self, scene: Scene) -> Seen:
        seen = seen_entries(scene)
        damaged = seen["parts"].pop("damaged")
        return {**seen, "whole": {"damaged": damaged}}


ENTRY_CASES = (
    StoreCase("store an entry"),
    StoreCase("store the first entry", is_first=True),
    ForgetEntryCase("delete an entry"),
    ForgetEntryCase("delete the last entry", is_last=True),
    RestoreCase(),
)
