"""Several processes, and processes that are killed: what was acknowledged is there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from notewell.entries import EntryStore

Open = Callable[..., EntryStore]

STORES = """
import sys
from pathlib import Path
from notewell.entries import EntriesBusy, EntryStore
from notewell.testing import HashEmbedder
folder, name, count = sys.argv[1:]
store = EntryStore(Path(folder), "main", HashEmbedder(256, model="hash-256"), redact=str)
def stored(text):
    while True:  # The wait for the lock can be over on a busy machine; nothing was changed then.
        try:
            return store.store(text)
        except EntriesBusy:
            pass
for number in range(int(count)):
    done = stored(f"{name}{number} is at place{name}{number}")
    print(done.entry.id, flush=True)
    stored(f"everybody says thing{number}")
"""


def started(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", STORES, str(folder), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")


def test_two_processes_that_store_at_once_lose_and_double_nothing(
    store: EntryStore, folder: Path
) -> None:
    with started(folder, "left", 12) as left, started(folder, "right", 12) as right:
        told = {
            *left.communicate(timeout=300)[0].split(),
            *right.communicate(timeout=300)[0].split(),
        }
        assert (left.returncode, right.returncode) == (0, 0)
    entries = store.entries()
    assert len(told) == 24
    assert told <= {entry.id for entry in entries}
    assert len(entries) == 24 + 12, "what both said is stored once"


def test_what_was_acknowledged_survives_a_kill_at_any_moment(
    store: EntryStore, folder: Path
) -> None:
    told: list[str] = []
    for round_ in range(2):
        with started(folder, f"round{round_}x", 100_000) as process:
            assert process.stdout
            told += [process.stdout.readline().strip() for _ in range(7 + round_ * 9)]
            process.kill()
            told += process.stdout.read().split("\n")[:-1]
    there = {entry.id for entry in store.entries()}
    assert set(told) <= there
    assert store.store("And on it goes").added
    assert store.forget(told[0]).entry is not None
