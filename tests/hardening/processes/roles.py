"""What one process does: `python -m tests.hardening.processes.roles ROLE ROOT [ROUNDS]`.

Each says that it is ready, waits for a line on its input, and then works for so many rounds or
until the file `stop` is there. A beacon in the notes shows a number that only grows; whoever asks
for it must be answered with the number of the last index or of the one before.
"""

from __future__ import annotations

import hashlib
import os
import re
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.hardening.processes.events import Events, now

from notewell import Memory, SyncSettings, open_memory
from notewell.config import Settings
from notewell.entries import EntriesBusy, EntryStore
from notewell.errors import IndexBusy, NotewellError
from notewell.index.sqlite import IndexFolder
from notewell.ports import Kind
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from notewell.ports import Vectors

QUESTION = "Which number does the beacon show?"
BEACON = "memory/beacon.md"
_NUMBER = re.compile(r"The beacon shows number (\d+)\.")
FOR_EVER = 1 << 60
PAUSE_S = 0.02


class TellingEmbedder(HashEmbedder):
    """Says which texts it was paid for."""

    def __init__(self, events: Events) -> None:
        super().__init__()
        self._events = events

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if kind == "document":
            digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
            self._events.tell("embedded", texts=digests)
        return super().embed(texts, kind)


def memory(root: Path) -> Memory:
    """A search takes nothing in here, so that an answer is of an index that somebody published."""
    return open_memory(
        root / "ws",
        state_dir=root / "state",
        settings=Settings(sync=SyncSettings(on_search=False)),
        embedder=TellingEmbedder(Events(root)),
        environment={},
    )


def rounds(root: Path, most: int) -> Iterator[int]:
    for number in range(most):
        if (root / "stop").exists():
            return
        yield number


def write_beacon(root: Path, number: int) -> None:
    """As an editor saves: a new file in the place of the old one."""
    events, beside = Events(root), root / "ws" / f".beacon-{os.getpid()}"
    beside.write_text(f"# Beacon\n\nThe beacon shows number {number}.\n", encoding="utf-8")
    events.tell("writing", number=number, at=now())
    beside.replace(root / "ws" / BEACON)
    events.tell("written", number=number, at=now())


def beacon(root: Path) -> int:
    found = _NUMBER.search((root / "ws" / BEACON).read_text(encoding="utf-8"))
    assert found
    return int(found.group(1))


# -- the roles -----------------------------------------------------------------------------------


def index(root: Path, most: int) -> None:
    """Brings the index up to date; every third time it builds a new one."""
    for number in rounds(root, most):
        sync(root, force=number % 3 == 2)


def publish(root: Path, most: int) -> None:
    """A new number, and a new index for it, in every round."""
    for _ in rounds(root, most):
        write_beacon(root, beacon(root) + 1)
        sync(root, force=True)


def rebuild(root: Path, most: int) -> None:
    for _ in rounds(root, most):
        sync(root, force=True)


def sync(root: Path, *, force: bool) -> None:
    events, started = Events(root), now()
    try:
        with memory(root) as opened:
            report = opened.sync(force=force)
    except IndexBusy as busy:
        events.tell("busy", why=str(busy))
        return
    except NotewellError as error:
        events.tell("failed", why=f"{type(error).__name__}: {error}")
        return
    trouble = type(report.trouble).__name__ if report.trouble else ""
    told = {"rebuilt": str(report.rebuilt) if report.rebuilt else None, "trouble": trouble}
    events.tell("synced", begun=started, ended=now(), **told)


def edit(root: Path, most: int) -> None:
    for _ in rounds(root, most):
        write_beacon(root, beacon(root) + 1)
        pause()


def pause() -> None:
    """Whoever writes as fast as it can leaves no time to anybody else."""
    select.select([], [], [], PAUSE_S)


def read(root: Path, most: int) -> None:
    """Asks through one memory that stays open."""
    with memory(root) as opened:
        for _ in rounds(root, most):
            ask(root, opened)


def open_and_read(root: Path, most: int) -> None:
    for _ in rounds(root, most):
        with memory(root) as opened:
            ask(root, opened)


def ask(root: Path, opened: Memory) -> None:
    started = now()
    try:
        answer = opened.search(QUESTION)
        snippets = "".join(hit.snippet for hit in answer.hits if hit.path == BEACON)
        found = _NUMBER.search(snippets)
        number = int(found.group(1)) if found else None
        why = "" if found else f"{len(answer.hits)} hits, {answer.reason}, {answer.notice}"
    except NotewellError as error:
        number, why = None, f"{type(error).__name__}: {error}"
    Events(root).tell("answered", begun=started, ended=now(), number=number, why=why)


def append(root: Path, most: int) -> None:
    events = Events(root)
    with memory(root) as opened:
        for number in rounds(root, most):
            # A word of its own, so that a search for it shows this entry and not its neighbour.
            word = hashlib.sha256(f"{os.getpid()}-{number}".encode()).hexdigest()[:12]
            opened.append(f"The word w{word} was said.")
            events.tell("appended", word=f"w{word}")
            pause()


def store(root: Path, most: int) -> None:
    """Entries in LanceDB; every third one is deleted again."""
    events, opened = Events(root), entry_store(root)
    for number in rounds(root, most):
        word = hashlib.sha256(f"{os.getpid()}-{number}".encode()).hexdigest()[:12]
        try:
            entry = opened.store(f"The word w{word} was said.").entry
            events.tell("stored", id=entry.id)
            if number % 3 == 2:
                events.tell("forgetting", id=entry.id)
                opened.forget(entry.id)
        except EntriesBusy as busy:
            events.tell("busy", why=str(busy))
        pause()


def entry_store(root: Path) -> EntryStore:
    return EntryStore(root / "state" / "lancedb", "main", HashEmbedder(32), redact=str)


ROLES: dict[str, Callable[[Path, int], None]] = {
    role.__name__: role
    for role in (index, publish, rebuild, edit, read, open_and_read, append, store)
}


def tell_publishing(root: Path) -> None:
    """The moment before CURRENT is moved, which is a little before anybody can see it."""
    plain = IndexFolder.publish

    def publish_and_tell(self: IndexFolder, generation: Path) -> None:
        number, at = beacon(root), now()
        plain(self, generation)
        Events(root).tell("published", number=number, at=at)

    IndexFolder.publish = publish_and_tell  # type: ignore[method-assign]


def main(role: str, told_root: str, most: str = str(FOR_EVER)) -> None:
    root = Path(told_root)
    if role == "publish":
        tell_publishing(root)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    ROLES[role](root, int(most))


if __name__ == "__main__":
    main(*sys.argv[1:])
