"""What is written to a workspace is found by a search, with nobody asking for a sync.

Real folders and real notices. A search takes in nothing by itself here, so what it finds was
brought in by the watch.
"""

from __future__ import annotations

import os
import queue
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from notewell import Memory, NotesSettings, SearchSettings, Settings, SyncSettings, open_memory
from notewell.notes import ExtraPath
from notewell.sync import (
    Failed,
    FileNotifier,
    Listening,
    NoNotifier,
    Scanning,
    Synced,
    Timing,
    Watcher,
    WatchEvent,
)

BOUND_S = 60.0  # Far above what it takes; a test that waits so long has failed.
QUICK = Timing(debounce_s=0.05, safety_s=1000.0)
"""Nothing but what is heard may help a test."""


class Live:
    """A watch in a thread, and what it told so far."""

    def __init__(self, memory: Memory, folders: list[Path], timing: Timing, scan: bool) -> None:
        self.memory = memory
        self._said: queue.Queue[WatchEvent] = queue.Queue()
        self._stop = threading.Event()
        ear = NoNotifier() if scan else FileNotifier(step_s=0.02)
        watcher = Watcher(
            memory.sync, folders, timing=timing, on_event=self._said.put, notifier=ear
        )
        self._thread = threading.Thread(target=watcher.run, args=(self._stop,))

    def __enter__(self) -> Live:
        self._thread.start()
        self.until(lambda told: isinstance(told, Synced))
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(BOUND_S)
        assert not self._thread.is_alive()

    def until(self, met: Callable[[WatchEvent], bool], within_s: float = BOUND_S) -> WatchEvent:
        ends = time.monotonic() + within_s
        while True:
            told = self._said.get(timeout=max(0.0, ends - time.monotonic()))
            if met(told):
                return told

    def until_found(self, word: str, path: str, within_s: float = BOUND_S) -> None:
        self.until(lambda _: path in self.found(word), within_s)

    def until_not_found(self, word: str) -> None:
        self.until(lambda _: not self.found(word))

    def found(self, word: str) -> list[str]:
        return [hit.path for hit in self.memory.search(word).hits]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "workspace"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Facts\n\nThe boat is green.\n", encoding="utf-8")
    return folder


@contextmanager
def watching(
    workspace: Path,
    *,
    timing: Timing = QUICK,
    extra: tuple[Path, ...] = (),
    scan: bool = False,
) -> Iterator[Live]:
    settings = Settings(
        notes=NotesSettings(extra_paths=tuple(ExtraPath(str(path)) for path in extra)),
        sync=SyncSettings(on_search=False),
        search=SearchSettings(keyword_only=True),
    )
    folders = [workspace / "MEMORY.md", workspace / "memory", *extra]
    state = workspace.parent / "state"
    with (
        open_memory(workspace, state_dir=state, settings=settings, environment={}) as memory,
        Live(memory, folders, timing, scan) as live,
    ):
        yield live


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def test_a_note_is_found_soon_after_being_saved(workspace: Path) -> None:
    with watching(workspace, timing=Timing()) as live:
        write(workspace / "memory" / "a.md", "the zebra is called Ada\n")
        live.until_found("zebra", "memory/a.md")


def in_place(note: Path, text: str) -> None:
    with note.open("r+", encoding="utf-8") as opened:
        opened.write(text)
        opened.truncate()


def rename_save(note: Path, text: str) -> None:
    """As vim does with a backup: the old file is moved away, a new one is written, and the old
    one removed."""
    backup = note.with_name(f"{note.name}~")
    note.rename(backup)
    write(note, text)
    backup.unlink()


def atomic_replace(note: Path, text: str) -> None:
    """As most editors do: written beside it, then put in its place."""
    beside = note.with_name(f".{note.name}.tmp-123")
    write(beside, text)
    beside.replace(note)


def truncated_twice(note: Path, text: str) -> None:
    write(note, "")
    write(note, text)


@pytest.mark.parametrize(
    ("save", "name"),
    [
        (in_place, "memory/a.md"),
        (rename_save, "memory/a.md"),
        (atomic_replace, "memory/a.md"),
        (atomic_replace, "MEMORY.md"),
        (truncated_twice, "memory/a.md"),
    ],
)
def test_whichever_way_an_editor_saves(
    workspace: Path, save: Callable[[Path, str], None], name: str
) -> None:
    write(workspace / "memory" / "a.md", "the horse is called Bob\n")
    with watching(workspace) as live:
        save(workspace / name, "the zebra is called Ada\n")
        live.until_found("zebra", name)
        save(workspace / name, "the heron is called Eve\n")
        live.until_found("heron", name)
        assert not live.found("zebra")


def test_folders_that_come_later_are_heard_too(workspace: Path) -> None:
    with watching(workspace) as live:
        (workspace / "memory" / "trips" / "north").mkdir(parents=True)
        write(workspace / "memory" / "trips" / "north" / "a.md", "a zebra on the way\n")
        live.until_found("zebra", "memory/trips/north/a.md")
        write(workspace / "memory" / "trips" / "north" / "b.md", "a heron on the way\n")
        live.until_found("heron", "memory/trips/north/b.md")
        (workspace / "memory" / "trips").rename(workspace / "memory" / "tours")
        live.until_found("heron", "memory/tours/north/b.md")
        write(workspace / "memory" / "tours" / "north" / "c.md", "an otter on the way\n")
        live.until_found("otter", "memory/tours/north/c.md")


def test_what_is_deleted_is_forgotten(workspace: Path) -> None:
    (workspace / "memory" / "trips").mkdir()
    write(workspace / "memory" / "a.md", "a zebra\n")
    write(workspace / "memory" / "trips" / "b.md", "a heron\n")
    with watching(workspace) as live:
        (workspace / "memory" / "a.md").unlink()
        live.until_not_found("zebra")
        shutil.rmtree(workspace / "memory" / "trips")
        live.until_not_found("heron")


def test_extra_paths_are_heard_folder_or_file(workspace: Path, tmp_path: Path) -> None:
    outside = Path(os.path.realpath(tmp_path)) / "outside"
    (outside / "folder").mkdir(parents=True)
    extra = (outside / "folder", outside / "one.md")
    with watching(workspace, extra=extra) as live:
        write(outside / "folder" / "a.md", "a zebra\n")
        live.until_found("zebra", str(outside / "folder" / "a.md"))
        write(outside / "one.md", "a heron\n")
        live.until_found("heron", str(outside / "one.md"))


def word(number: int) -> str:
    """One word for each number, in letters alone."""
    return "z" + "".join("bcdfghklmp"[int(digit)] for digit in str(number))


def test_five_hundred_notes_in_a_new_folder_at_once(workspace: Path) -> None:
    with watching(workspace) as live:
        made = workspace.parent / "made"
        made.mkdir()
        for number in range(250):
            write(made / f"{number}.md", word(number))
        made.rename(workspace / "memory" / "many")
        for number in range(250, 500):
            write(workspace / "memory" / "many" / f"{number}.md", word(number))
        live.until(lambda _: live.memory.status().dirty == 0)
        for number in (0, 249, 250, 499):
            assert live.found(word(number)) == [f"memory/many/{number}.md"]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


@pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")
def test_ten_thousand_notes_take_a_handful_of_descriptors(workspace: Path) -> None:
    for number in range(100):
        folder = workspace / "memory" / f"{number:02}"
        folder.mkdir()
        for note in range(100):
            write(folder / f"{note}.md", word(100 * number + note))
    before = descriptors()
    with watching(workspace) as live:
        assert descriptors() - before <= 8  # The index's own files are among them.
        write(workspace / "memory" / "57" / "33.md", "a zebra\n")
        live.until_found("zebra", "memory/57/33.md")
        assert descriptors() - before <= 8
    shutil.rmtree(workspace)  # pytest keeps what is left for three runs, and then takes its time.


def test_a_workspace_that_goes_and_comes_back(workspace: Path) -> None:
    with watching(workspace) as live:
        workspace.rename(workspace.with_name("away"))
        failed = live.until(lambda told: isinstance(told, Failed))
        assert isinstance(failed, Failed)
        assert "no such folder" in str(failed.error)
        assert live.found("boat") == ["MEMORY.md"]  # Gone is not deleted.
        workspace.with_name("away").rename(workspace)
        live.until(lambda told: isinstance(told, Synced))
        write(workspace / "memory" / "a.md", "a zebra\n")
        live.until_found("zebra", "memory/a.md")


def test_a_workspace_that_is_replaced_by_another(workspace: Path) -> None:
    with watching(workspace) as live:
        shutil.copytree(workspace, workspace.with_name("new"))
        write(workspace.with_name("new") / "memory" / "a.md", "a zebra\n")
        workspace.rename(workspace.with_name("old"))
        workspace.with_name("new").rename(workspace)
        live.until_found("zebra", "memory/a.md")
        write(workspace / "memory" / "b.md", "a heron\n")
        live.until_found("heron", "memory/b.md")


def test_a_memory_folder_that_is_made_later(workspace: Path) -> None:
    (workspace / "memory").rmdir()
    with watching(workspace) as live:
        (workspace / "memory").mkdir()
        write(workspace / "memory" / "a.md", "a zebra\n")
        live.until_found("zebra", "memory/a.md")


def test_without_notices_it_is_found_at_the_stated_interval(workspace: Path) -> None:
    timing = Timing(debounce_s=0.1, scan_s=0.2)
    with watching(workspace, timing=timing, scan=True) as live:
        write(workspace / "memory" / "a.md", "a zebra\n")
        live.until_found("zebra", "memory/a.md")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
def test_a_name_that_is_not_utf8_does_not_end_the_listening(workspace: Path) -> None:
    with watching(workspace) as live:
        strange = os.fsencode(workspace / "memory") + b"/caf\xe9.md"
        os.close(os.open(strange, os.O_CREAT | os.O_WRONLY))
        live.until(lambda told: isinstance(told, Synced))
        write(workspace / "memory" / "a.md", "a zebra\n")
        live.until_found("zebra", "memory/a.md")


def test_the_index_among_the_notes_does_not_wake_the_watch(workspace: Path) -> None:
    state = workspace / "memory" / "state"
    settings = Settings(
        search=SearchSettings(keyword_only=True), sync=SyncSettings(on_search=False)
    )
    told = queue.Queue[WatchEvent]()
    stop = threading.Event()
    with open_memory(workspace, state_dir=state, settings=settings, environment={}) as memory:
        watcher = Watcher(
            memory.sync,
            [workspace / "memory"],
            ignore=[state],
            timing=Timing(debounce_s=0.0, safety_s=0.2),
            on_event=told.put,
            notifier=FileNotifier(step_s=0.02),
        )
        thread = threading.Thread(target=watcher.run, args=(stop,))
        thread.start()
        seen = [told.get(timeout=BOUND_S) for _ in range(4)]
        stop.set()
        thread.join(BOUND_S)
    assert isinstance(seen[0], Listening)
    whys = [one.why for one in seen if isinstance(one, Synced)]
    assert whys == ["start", "safety", "safety"]
    assert not any(isinstance(one, Scanning) for one in seen)
