"""Folders to watch, and changes that matter; a notifier at real folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from notewell.sync.notifier import MAX_FOLDERS, FileNotifier, NotifierUnavailable, WatchPaths

LINUX_ONLY = pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")
BOUND_S = 60.0  # Far above what it takes; a test that waits so long has failed.


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "workspace"
    (folder / "memory" / "trips").mkdir(parents=True)
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "memory" / "a.md").write_text("a\n", encoding="utf-8")
    return folder


def listened_to(ground: WatchPaths, below: Path) -> set[str]:
    return {str(Path(one).relative_to(below)) for one in ground.folders()}


def test_the_workspace_is_heard_flat_and_its_notes_with_all_folders(workspace: Path) -> None:
    ground = WatchPaths([workspace / "MEMORY.md", workspace / "memory"])
    assert listened_to(ground, workspace) == {".", "memory", "memory/trips"}


def test_machinery_links_and_our_own_files_are_not_heard(workspace: Path) -> None:
    (workspace / "memory" / ".git" / "objects").mkdir(parents=True)
    (workspace / "memory" / "state" / "index").mkdir(parents=True)
    (workspace / "memory" / "link").symlink_to(workspace / "src")
    ground = WatchPaths([workspace / "memory"], ignore=[workspace / "memory" / "state"])
    assert listened_to(ground, workspace) == {".", "memory", "memory/trips"}
    assert not ground.matters(str(workspace / "memory" / "state"), ())


def test_the_whole_workspace_as_an_extra_path_is_heard_whole(workspace: Path) -> None:
    (workspace / "node_modules" / "left-pad").mkdir(parents=True)
    ground = WatchPaths([workspace / "MEMORY.md", workspace / "memory", workspace])
    heard = {"..", ".", "memory", "memory/trips", "src", "src/deep"}
    assert {os.path.relpath(one, workspace) for one in ground.folders()} == heard


def test_what_is_not_there_is_listened_for_above(workspace: Path) -> None:
    ground = WatchPaths([workspace / "later" / "much later" / "notes"])
    assert listened_to(ground, workspace) == {"."}
    assert ground.matters(str(workspace / "later"), ())
    assert not ground.matters(str(workspace / "sooner"), ())


def test_a_folder_that_was_replaced_is_another_folder(workspace: Path) -> None:
    ground = WatchPaths([workspace / "memory"])
    before = ground.folders()
    (workspace / "memory").rename(workspace / "old")
    shutil.copytree(workspace / "old", workspace / "memory")
    assert ground.folders().keys() == before.keys()
    assert ground.folders() != before


def test_a_folder_that_is_closed_to_us_is_left_out(
    shared_path: Path, unprivileged: object
) -> None:
    (shared_path / "memory" / "closed").mkdir(parents=True)
    (shared_path / "memory" / "closed").chmod(0o000)
    assert callable(unprivileged)
    with unprivileged():
        ground = WatchPaths([shared_path / "memory"])
        assert listened_to(ground, shared_path) == {".", "memory"}
        ear = FileNotifier()
        ear.open(ground.folders())
        ear.close()


def test_a_file_in_a_folder_that_is_closed_to_us_is_listened_for_above(
    shared_path: Path, unprivileged: object
) -> None:
    (shared_path / "closed").mkdir()
    (shared_path / "closed").chmod(0o000)
    assert callable(unprivileged)
    with unprivileged():
        ground = WatchPaths([shared_path / "closed" / "MEMORY.md"])
        assert listened_to(ground, shared_path) == {"."}


@pytest.mark.parametrize(
    ("path", "matters"),
    [
        ("MEMORY.md", True),
        ("memory", True),
        ("memory/a.md", True),
        ("memory/A.MD", True),
        ("memory/trips", True),
        ("memory/gone", True),
        ("memory/.a.md.swp", False),
        ("memory/4913", False),
        ("README.md", False),
        ("memory-card/a.md", False),
        ("src", False),
    ],
)
def test_only_notes_and_their_folders_matter(workspace: Path, path: str, matters: bool) -> None:
    ground = WatchPaths([workspace / "MEMORY.md", workspace / "memory"])
    before = [str(workspace / "memory" / "gone")]
    assert ground.matters(str(workspace / path), before) == matters


def test_other_endings_can_be_asked_for(workspace: Path) -> None:
    ground = WatchPaths([workspace / "memory"], suffixes=(".md", ".jsonl"))
    assert ground.matters(str(workspace / "memory" / "talk.jsonl"), ())


# -- the ear -------------------------------------------------------------------------------------


@pytest.fixture
def ear() -> Iterator[FileNotifier]:
    ear = FileNotifier()
    yield ear
    ear.close()


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


@LINUX_ONLY
def test_two_thousand_folders_take_three_descriptors(tmp_path: Path, ear: FileNotifier) -> None:
    for number in range(2000):
        (tmp_path / "memory" / str(number)).mkdir(parents=True)
    before = open_descriptors()
    folders = WatchPaths([tmp_path / "memory"]).folders()
    assert len(folders) == 2002
    ear.open(folders)
    assert open_descriptors() - before <= 3
    (tmp_path / "memory" / "1999" / "a.md").write_text("a", encoding="utf-8")
    assert list(ear.listen(BOUND_S, threading.Event()))


def test_an_ear_hears_and_stops_when_asked(workspace: Path, ear: FileNotifier) -> None:
    stop = threading.Event()
    ear.open(WatchPaths([workspace / "memory"]).folders())
    (workspace / "memory" / "b.md").write_text("b", encoding="utf-8")
    assert str(workspace / "memory" / "b.md") in ear.listen(BOUND_S, stop)
    stop.set()
    assert not ear.listen(BOUND_S, stop)


def test_an_ear_that_is_not_open_waits_for_the_end(ear: FileNotifier) -> None:
    stop = threading.Event()
    stop.set()
    assert not ear.listen(BOUND_S, stop)


def test_a_folder_that_goes_before_it_is_listened_to_is_left_out(
    workspace: Path, ear: FileNotifier
) -> None:
    ear.open([str(workspace / "gone"), str(workspace / "memory")])
    (workspace / "memory" / "b.md").write_text("b", encoding="utf-8")
    assert ear.listen(BOUND_S, threading.Event())


def test_what_is_never_there_when_it_is_listened_to_makes_deaf(
    workspace: Path, ear: FileNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    def always_gone(_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("notewell.sync.notifier._open_native", always_gone)
    with pytest.raises(NotifierUnavailable, match="vanish"):
        ear.open([str(workspace)])


def test_a_folder_whose_name_cannot_be_told_makes_deaf(ear: FileNotifier) -> None:
    with pytest.raises(NotifierUnavailable, match="UTF-8"):
        ear.open(["/caf\udce9"])


def test_what_else_goes_wrong_is_passed_on_in_its_own_words(
    workspace: Path, ear: FileNotifier
) -> None:
    with pytest.raises(NotifierUnavailable, match="name too long"):
        ear.open([str(workspace / ("x" * 300))])


def test_without_the_package_nothing_is_heard(
    workspace: Path, ear: FileNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles._rust_notify", None)
    with pytest.raises(NotifierUnavailable, match="watchfiles"):
        ear.open([str(workspace)])


# A process that was started in the background ignores SIGINT, so the script sets the handler.
INTERRUPTED = """
import os, signal, sys, threading
from notewell.sync.notifier import FileNotifier
signal.signal(signal.SIGINT, signal.default_int_handler)
ear = FileNotifier()
ear.open(sys.argv[1:])
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    ear.listen(60, threading.Event())
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_is_not_swallowed(workspace: Path) -> None:
    assert output_of(INTERRUPTED, str(workspace)) == "interrupted\n"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
def test_a_name_that_is_not_utf8_breaks_the_ear_which_can_be_opened_again(
    workspace: Path, ear: FileNotifier
) -> None:
    folders = WatchPaths([workspace / "memory"]).folders()
    ear.open(folders)
    strange = os.fsencode(workspace / "memory") + b"/caf\xe9.md"
    os.close(os.open(strange, os.O_CREAT | os.O_WRONLY))
    with pytest.raises(NotifierUnavailable, match="decode"):
        ear.listen(BOUND_S, threading.Event())
    ear.open(folders)
    (workspace / "memory" / "b.md").write_text("b", encoding="utf-8")
    assert ear.listen(BOUND_S, threading.Event())


def test_there_is_a_limit_to_the_folders_listened_to(ear: FileNotifier) -> None:
    with pytest.raises(NotifierUnavailable, match="more than 10000 folders"):
        ear.open([str(number) for number in range(MAX_FOLDERS + 1)])


# In a process of its own: here, a thread of an earlier notifier may close its descriptors late,
# after the free numbers were counted, and then one more than `left` is free.
NO_DESCRIPTORS = """
import itertools, os, resource, sys
import watchfiles._rust_notify
from notewell.sync.notifier import FileNotifier, NotifierUnavailable
left, *folders = sys.argv[1:]
# What is above the limit stays open; only the free numbers below it can be had.
free = (n for n in itertools.count() if not os.path.exists(f"/proc/self/fd/{n}"))
limit = next(itertools.islice(free, int(left), None))
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
try:
    FileNotifier().open(folders)
except NotifierUnavailable as error:
    print(error.why)
"""


@LINUX_ONLY
@pytest.mark.parametrize("left", [0, 1, 2])
def test_no_descriptor_left_means_deaf_not_dead(workspace: Path, left: int) -> None:
    assert "max_user_instances" in output_of(NO_DESCRIPTORS, str(left), str(workspace))


def output_of(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=BOUND_S * 2,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


EXHAUSTED = """
import pathlib, sys
pathlib.Path("/proc/sys/user/max_inotify_watches").write_text("3")
from notewell.sync.notifier import FileNotifier, NotifierUnavailable
try:
    FileNotifier().open(sys.argv[1:])
except NotifierUnavailable as deaf:
    print(deaf.why)
"""


@pytest.mark.skipif(
    not shutil.which("unshare")
    or subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False).returncode
    != 0,
    reason="needs a user namespace, so that the limit is ours alone",
)
def test_no_watch_left_means_deaf_not_dead(workspace: Path) -> None:
    folders = [str(workspace / str(number)) for number in range(5)]
    for folder in folders:
        Path(folder).mkdir()
    command = ["unshare", "-Ur", sys.executable, "-c", EXHAUSTED, *folders]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert "fs.inotify.max_user_watches" in done.stdout, done.stderr
