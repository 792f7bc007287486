"""Others write, save, swap and die while we append: nothing that was acknowledged is lost."""

from __future__ import annotations

import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from notewell.errors import NoteNotWritable
from notewell.files import Directory, DirHandle
from notewell.notes import Entry
from notewell.notes.append import TRIES
from notewell.notes.scope import scope_of
from notewell.notes.workspace import Workspace

SAVES = 150
DAY = date(2026, 11, 15)
KEY = "memory/2026-11-15.md"


# -- many processes, some of them killed ---------------------------------------------------------

WRITERS, KILLED, ENTRIES = 8, 4, 100

APPENDING = """
import sys
from datetime import date
from pathlib import Path
from notewell.notes import Entry
from notewell.notes.workspace import Workspace

name, count = sys.argv[2], int(sys.argv[3])
workspace = Workspace.open(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    text = f"writer {name} entry {number}" + f"\\nand {name} {number} again" * (number % 3)
    workspace.append(Entry(text, "mcp", f"{name}.{number}"), date(2026, 11, 15), wait_s=60)
    print(number, flush=True)
"""


class Writer:
    def __init__(self, workspace: Path, name: int) -> None:
        self.name = name
        self.acknowledged = 0
        self.process = subprocess.Popen(
            [sys.executable, "-c", APPENDING, str(workspace), str(name), str(ENTRIES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self.line()

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def go(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def read(self, entries: int) -> None:
        """Take acknowledgements until there are so many, or no more."""
        while self.acknowledged < entries and self.line():
            self.acknowledged += 1

    def kill_after(self, entries: int) -> None:
        self.read(entries)
        self.process.kill()
        self.read(ENTRIES)  # what it still said before it died

    def close(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=60)


def test_entries_of_many_processes_are_whole_and_there_once_though_some_are_killed(
    tmp_path: Path,
) -> None:
    pick = random.Random(20261115)
    writers = [Writer(tmp_path, name) for name in range(WRITERS)]
    try:
        limits = [pick.randrange(5, ENTRIES - 20) for _ in range(KILLED)]
        threads = [
            threading.Thread(target=writer.kill_after, args=(limit,))
            for writer, limit in zip(writers[:KILLED], limits, strict=True)
        ] + [threading.Thread(target=writer.read, args=(ENTRIES,)) for writer in writers[KILLED:]]
        for thread in threads:
            thread.start()
        for writer in writers:
            writer.go()
        for thread in threads:
            thread.join(60)
    finally:
        for writer in writers:
            writer.close()
    for writer in writers[KILLED:]:
        assert writer.acknowledged == ENTRIES
    there = entries_in(tmp_path / KEY)
    assert set(there.values()) == {1}
    for writer in writers:
        own = sorted(number for name, number in there if name == writer.name)
        # One more than was acknowledged: it was written, and its writer died before saying so.
        assert own == list(range(len(own)))
        assert len(own) - writer.acknowledged in ((0, 1) if writer.name < KILLED else (0,))


def entries_in(note: Path) -> Counter[tuple[int, int]]:
    """Writer and number of each entry; nothing else may be in the note, not even a blank line."""
    found: Counter[tuple[int, int]] = Counter()
    left = note.read_text(encoding="utf-8")
    one = re.compile(
        r"- writer (\d+) entry (\d+)(?:\n  and \1 \2 again)*(?:\n  | )<!-- @mcp #\1\.\2 -->\n"
    )
    while left:
        match = one.match(left)
        assert match, left[:200]
        found[int(match[1]), int(match[2])] += 1
        left = left[match.end() :]
    return found


# -- an editor that saves by putting a new file in place -----------------------------------------


class Watched:
    """A folder that tells of each step when it was taken, so that a test can act in between."""

    def __init__(self, inner: Directory, told: Callable[[str], None]) -> None:
        self._inner = inner
        self._told = told

    def entries(self) -> list[os.DirEntry[str]]:
        return self._inner.entries()

    def stat(self, name: str) -> os.stat_result:
        self._told("looking")
        found = self._inner.stat(name)
        self._told("looked")
        return found

    def folder(self, name: str) -> Watched:
        return Watched(self._inner.folder(name), self._told)

    def file(self, name: str) -> int:
        return self._inner.file(name)

    def file_to_append(self, name: str) -> int:
        fd = self._inner.file_to_append(name)
        self._told("open")
        return fd

    def make_folder(self, name: str) -> None:
        self._inner.make_folder(name)

    def sync(self) -> None:
        self._inner.sync()
        self._told("sync")

    def close(self) -> None:
        self._inner.close()


def watched_workspace(root: Path, told: Callable[[str], None]) -> Workspace:
    return Workspace(scope_of(root, root, ()), Watched(DirHandle(None), told))


def test_the_way_to_a_new_note_is_on_disk_before_anything_is_written(tmp_path: Path) -> None:
    steps: list[str] = []
    note = tmp_path / KEY

    def act(step: str) -> None:
        if step != "looking":
            steps.append(f"{step} {note.stat().st_size}")

    workspace = watched_workspace(tmp_path, act)
    workspace.append(Entry("one", "mcp"), DAY)
    assert steps == ["open 0", "looked 0", "sync 0", "sync 0", "looked 20"]
    steps.clear()
    workspace.append(Entry("two", "mcp"), DAY)
    assert steps == ["open 20", "looked 20", "looked 40"]


def rename_save(note: Path, text: str) -> None:
    spare = note.with_suffix(".tmp")
    spare.write_text(text, encoding="utf-8")
    spare.replace(note)


@pytest.mark.parametrize("moment", ["open", "looked"])
@pytest.mark.parametrize("how", ["save", "remove", "move the folder"])
def test_an_entry_lands_in_the_file_that_took_the_place_of_the_old_one(
    tmp_path: Path, how: str, moment: str
) -> None:
    """Between opening and locking, between the look at the file and the write."""
    note = tmp_path / KEY
    note.parent.mkdir()
    note.write_text("- old\n", encoding="utf-8")
    moments = iter([moment])

    def act(step: str) -> None:
        if step != moment or not next(moments, None):
            return
        if how == "save":
            rename_save(note, "- saved\n")
        elif how == "remove":
            note.unlink()
        else:
            note.parent.rename(tmp_path / "aside")

    done = watched_workspace(tmp_path, act).append(Entry("new", "mcp"), DAY)
    saved = "- saved\n" if how == "save" else ""
    assert note.read_text(encoding="utf-8") == f"{saved}- new <!-- @mcp -->\n"
    assert done.added
    assert done.start_byte == len(saved)


def test_an_entry_that_the_editor_took_over_is_not_doubled(tmp_path: Path) -> None:
    note = tmp_path / KEY
    note.parent.mkdir()
    note.write_text("- old\n", encoding="utf-8")
    moments = iter(["looked"])

    def act(step: str) -> None:
        if step == "looked" and next(moments, None):
            rename_save(note, "- saved\n- new <!-- @mcp -->\n")

    done = watched_workspace(tmp_path, act).append(Entry("new", "mcp"), DAY)
    assert note.read_text(encoding="utf-8") == "- saved\n- new <!-- @mcp -->\n"
    assert (done.added, done.span.start_line) == (False, 2)


def test_what_others_append_without_asking_is_kept_and_not_joined(tmp_path: Path) -> None:
    """A lock among ourselves does not keep a shell's `>>` out. Here it comes between our look at
    the end of the note and the write, and what we wrote went on in its line."""
    note = tmp_path / KEY
    shells = iter(["half a line"])

    def act(step: str) -> None:
        if step == "sync":
            with note.open("a", encoding="utf-8") as file:
                file.write(next(shells, ""))

    done = watched_workspace(tmp_path, act).append(Entry("new", "mcp"), DAY)
    lines = note.read_text(encoding="utf-8").split("\n")
    assert lines[0].startswith("half a line")
    assert lines[done.span.start_line - 1] == "- new <!-- @mcp -->"
    assert lines.count("- new <!-- @mcp -->") == 1


def test_a_note_that_is_replaced_without_end_is_told(tmp_path: Path) -> None:
    note = tmp_path / KEY
    saves = itertools.count()
    workspace = watched_workspace(
        tmp_path, lambda step: rename_save(note, str(next(saves))) if step == "open" else None
    )
    with pytest.raises(NoteNotWritable, match=f"replaced it {TRIES} times"):
        workspace.append(Entry("new", "mcp"), DAY)
    assert next(saves) == TRIES


def test_only_a_save_after_the_last_look_can_lose_an_entry(tmp_path: Path) -> None:
    """An editor saves what it read before the append, at any moment. It asks nobody, so a save
    after the append undoes it; but one before the last look at the file must not."""
    note, spare = tmp_path / KEY, tmp_path / "spare"
    note.parent.mkdir()
    note.touch()
    clock = itertools.count()  # counts in the order of things: all of this is one process
    pick = random.Random(20261115)
    together = threading.Barrier(2, timeout=60)
    saved: list[int] = []
    looked = [0]

    def edit() -> None:
        for _ in range(SAVES):
            spare.write_bytes(note.read_bytes())
            together.wait()
            for _ in range(pick.randrange(20_000)):
                pass  # somewhere in the middle of an append
            spare.replace(note)
            saved.append(next(clock))
            together.wait()

    def act(step: str) -> None:
        if step == "looking":
            looked[0] = next(clock)

    workspace = watched_workspace(tmp_path, act)
    editor = threading.Thread(target=edit)
    editor.start()
    undone = 0
    for number in range(SAVES):
        together.wait()
        workspace.append(Entry(f"entry {number}.", "mcp"), DAY)
        together.wait()
        times = note.read_text(encoding="utf-8").count(f"- entry {number}. <!-- @mcp -->\n")
        assert times == 1 or (times == 0 and saved[-1] > looked[0])
        undone += times == 0
    editor.join()
    assert undone < SAVES  # else no save ever came before the last look


# -- links, and a full disk ----------------------------------------------------------------------


def test_nothing_is_written_where_a_swapped_link_points(tmp_path: Path) -> None:
    outside, folder, aside = tmp_path / "outside", tmp_path / "ws/memory", tmp_path / "aside"
    outside.mkdir()
    folder.mkdir(parents=True)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            try:
                folder.rename(aside)
                folder.symlink_to(outside)
                folder.unlink()
                aside.rename(folder)
            except OSError:  # an append has made the folder anew meanwhile
                shutil.rmtree(aside, ignore_errors=True)

    swapping = threading.Thread(target=swap)
    swapping.start()
    workspace = Workspace.open(tmp_path / "ws")
    done = refused = 0
    try:
        for number in range(2_000):
            try:
                workspace.append(Entry(f"entry {number}", "mcp"), DAY)
                done += 1
            except NoteNotWritable:
                refused += 1
            if min(done, refused) >= 20:
                break
    finally:
        stop.set()
        swapping.join()
    assert list(outside.iterdir()) == []
    assert done
    assert refused  # else nobody tried to trick us


FULL_DISK = """
import os, subprocess, sys
from datetime import date
from pathlib import Path
from notewell.errors import NoteNotWritable
from notewell.notes import Entry
from notewell.notes.workspace import Workspace

disk, day = Path(sys.argv[1]), date(2026, 11, 15)
made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk])
if made.returncode:
    sys.exit(77)
workspace = Workspace.open(disk)
workspace.append(Entry("old", "mcp"), day)
note = disk / "memory/2026-11-15.md"
before = note.read_bytes()
with (disk / "filler").open("wb", buffering=0) as filler:
    try:
        while True:
            filler.write(bytes(4096))
    except OSError:
        pass
for text in ("x" * 20_000, "y" * 60_000):
    try:
        workspace.append(Entry(text, "mcp"), day)
    except NoteNotWritable as error:
        print(error.why.split(" for ")[0])
    print(note.read_bytes() == before)
try:
    workspace.append(Entry("tomorrow", "mcp"), date(2026, 11, 16))
except NoteNotWritable as error:
    print(error.why)
(disk / "filler").unlink()
print(workspace.append(Entry("x" * 20_000, "mcp"), day).added)
subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
try:
    workspace.append(Entry("new", "mcp"), day)
except NoteNotWritable as error:
    print(error.why)
"""


def test_a_full_disk_and_a_read_only_one_leave_the_note_as_it_was(tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        cannot_run("a small disk of our own needs unshare")
    child = subprocess.run(
        [
            *("unshare", "--user", "--map-root-user", "--mount"),
            *(sys.executable, "-c", FULL_DISK, str(tmp_path)),
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    if child.returncode == 77 or "unshare" in child.stderr:
        cannot_run("a small disk of our own cannot be mounted here")
    assert child.stderr == ""
    assert child.stdout.split("\n") == [
        "there was room",
        "True",
        "there was room",
        "True",
        "no room on its disk",
        "True",
        "its file system is read-only",
        "",
    ]


def cannot_run(why: str) -> None:
    """Where we vouch for every test, one that cannot run has failed."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
