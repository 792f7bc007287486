from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell.errors import WorkspaceMissing
from notewell.limits import MAX_NOTE_BYTES
from notewell.notes import ExtraPath
from notewell.notes.scope import MAX_FOLDERS
from notewell.notes.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from notewell.types import Ignored

    OpenWorkspace = Callable[..., Workspace]
    Write = Callable[..., Path]

LINK = "a symbolic link; links are not followed"


def reasons(entries: Sequence[Ignored]) -> dict[str, str]:
    return {entry.path: entry.why for entry in entries}


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_memory_files_and_everything_below_memory_are_notes(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    for path in ["MEMORY.md", "memory.md", "memory/b.md", "memory/x/y/a.MD", "memory/索引.md"]:
        write(path)
    for path in ["README.md", "docs/a.md", "memory/a.txt", "memory/md", "memory/x.md.bak"]:
        write(path)
    scan = open_workspace(tmp_path).scan()
    assert list(scan.notes) == [
        "MEMORY.md", "memory.md", "memory/b.md", "memory/x/y/a.MD", "memory/索引.md",
    ]  # fmt: skip
    assert scan.ignored == ()
    assert scan.unreadable == ()


def test_a_scan_and_a_read_tell_the_same_stat(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("memory/a.md", "four\n")
    workspace = open_workspace(tmp_path)
    found = workspace.scan().notes["memory/a.md"]
    assert found.path == "memory/a.md"
    assert found.stat == workspace.read("memory/a.md").stat
    assert found.stat.size == 5


def test_an_empty_workspace_has_no_notes(tmp_path: Path, open_workspace: OpenWorkspace) -> None:
    scan = open_workspace(tmp_path).scan()
    assert (scan.notes, scan.ignored, scan.unreadable) == ({}, (), ())


def test_every_link_is_ignored_and_reported(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("outside/secret.md")
    write("ws/memory/real.md")
    memory = tmp_path / "ws/memory"
    (memory / "leaf.md").symlink_to(tmp_path / "outside/secret.md")
    (memory / "folder").symlink_to(tmp_path / "outside")
    (memory / "dangling.md").symlink_to(tmp_path / "nothing")
    (memory / "inside.md").symlink_to(memory / "real.md")
    (memory / "loop").symlink_to(memory / "loop")
    (memory / "script").symlink_to("/bin/sh")
    (tmp_path / "ws/MEMORY.md").symlink_to(memory / "real.md")
    scan = open_workspace(tmp_path / "ws").scan()
    assert list(scan.notes) == ["memory/real.md"]
    assert reasons(scan.ignored) == dict.fromkeys(
        ["MEMORY.md", "memory/dangling.md", "memory/folder", "memory/inside.md", "memory/leaf.md"],
        LINK,
    )


def test_a_memory_folder_that_is_a_link_is_ignored_and_reported(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("outside/secret.md")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/memory").symlink_to(tmp_path / "outside")
    scan = open_workspace(tmp_path / "ws").scan()
    assert scan.notes == {}
    assert reasons(scan.ignored) == {"memory": LINK}


def test_what_is_not_a_regular_file_is_reported_and_never_opened(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("memory/folder.md/a.md")
    os.mkfifo(tmp_path / "memory/pipe.md")  # opening it would wait for ever
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    (tmp_path / "MEMORY.md").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("memory/socket.md")
        scan = open_workspace(tmp_path).scan()
    assert list(scan.notes) == ["memory/folder.md/a.md"]
    assert reasons(scan.ignored) == {
        "MEMORY.md": "a folder, not a file",
        "memory/pipe.md": "a named pipe, not a file",
        "memory/socket.md": "a socket, not a file",
    }


def test_machinery_is_skipped_in_silence_and_conflict_copies_aloud(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    for folder in [".git", "node_modules", ".venv", "venv", "__pycache__", ".obsidian", ".trash"]:
        write(f"memory/{folder}/x/a.md")
    write("memory/.hidden/a.md")
    write("memory/a.sync-conflict-20261115-101010-ABCDEFG.md")
    scan = open_workspace(tmp_path).scan()
    assert list(scan.notes) == ["memory/.hidden/a.md"]
    assert reasons(scan.ignored) == {
        "memory/a.sync-conflict-20261115-101010-ABCDEFG.md": (
            "a sync-conflict copy; merge it into its original"
        )
    }


def test_a_file_past_the_size_limit_is_reported(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    os.truncate(write("memory/dump.md"), MAX_NOTE_BYTES + 1)
    os.truncate(write("memory/limit.md"), MAX_NOTE_BYTES)
    scan = open_workspace(tmp_path).scan()
    assert list(scan.notes) == ["memory/limit.md"]
    assert reasons(scan.ignored) == {
        "memory/dump.md": "larger than 32 MiB, the most a note may have"
    }


def test_one_file_with_two_names_is_one_note(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    first = write("memory/a.md")
    (tmp_path / "memory/b.md").hardlink_to(first)
    scan = open_workspace(tmp_path, ExtraPath("memory"), ExtraPath(".")).scan()
    assert list(scan.notes) == ["memory/a.md"]
    assert scan.ignored == ()


def test_names_that_cannot_be_told_are_reported_and_do_not_crash(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("memory/good.md")
    for name in [b"caf\xe9.md", b"two\nlines.md", b"caf\xe9.txt"]:
        (tmp_path / "memory" / os.fsdecode(name)).touch()
    (tmp_path / "memory" / os.fsdecode(b"dir\xff")).mkdir()
    scan = open_workspace(tmp_path).scan()
    assert list(scan.notes) == ["memory/good.md"]
    assert reasons(scan.ignored) == {
        "memory/caf\\xe9.md": "its name is not valid UTF-8",
        "memory/dir\\xff": "its name is not valid UTF-8",
        "memory/two\\nlines.md": "its name contains control characters",
    }


def test_a_folder_we_may_not_list_does_not_look_empty(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    for path in ["memory/closed", "memory/no-entry", "memory/open"]:
        (shared_path / path).mkdir(parents=True)
        (shared_path / path / "a.md").touch()
    (shared_path / "memory/closed").chmod(0)
    (shared_path / "memory/no-entry").chmod(0o444)  # its names can be seen, its files not
    with unprivileged():
        scan = Workspace.open(shared_path).scan()
    assert list(scan.notes) == ["memory/open/a.md"]
    assert reasons(scan.unreadable) == {
        "memory/closed": "permission denied",
        "memory/no-entry/a.md": "permission denied",
    }


def test_a_memory_folder_we_may_not_list_does_not_look_empty(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    (shared_path / "MEMORY.md").touch()
    (shared_path / "memory").mkdir()
    (shared_path / "memory").chmod(0)
    with unprivileged():
        scan = Workspace.open(shared_path).scan()
    assert list(scan.notes) == ["MEMORY.md"]
    assert reasons(scan.unreadable) == {"memory": "permission denied"}


def test_an_unlisted_folder_above_the_workspace_covers_all_of_it(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    (shared_path / "above/ws").mkdir(parents=True)
    (shared_path / "above").chmod(0o311)  # one may pass, not look around
    with unprivileged():
        scan = Workspace.open(shared_path / "above/ws", [ExtraPath("..")]).scan()
    assert reasons(scan.unreadable) == {
        ".": "permission denied",
        (shared_path / "above").as_posix(): "permission denied",
    }


FEW_DESCRIPTORS = """
import os, resource, sys
from pathlib import Path
from notewell.notes.workspace import Workspace

workspace = Workspace.open(Path(sys.argv[1]))
workspace.scan()
probe = os.dup(0)
# Room for the workspace, memory, 1 and the second descriptor that listing a folder takes.
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (probe + 4, most))
os.close(probe)
scan = workspace.scan()
print(list(scan.notes), [tuple(one) for one in scan.unreadable])
"""


def test_running_out_of_descriptors_does_not_look_like_a_deletion(
    tmp_path: Path, write: Write
) -> None:
    """In a process of its own: threads of other tests would open and close files meanwhile."""
    write("memory/a.md")
    write("memory/1/2/3/4/b.md")
    done = subprocess.run(
        [sys.executable, "-c", FEW_DESCRIPTORS, str(tmp_path)], capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == (
        "['memory/a.md'] [('memory/1/2', 'too many open files')]"
    )


def test_a_folder_nested_past_all_reason_is_reported(
    tmp_path: Path, open_workspace: OpenWorkspace
) -> None:
    folder = tmp_path / "memory"
    for _ in range(MAX_FOLDERS - 1):
        folder /= "d"
    (folder / "d").mkdir(parents=True)
    for where in (folder, folder / "d"):
        (where / "a.md").touch()
    workspace = open_workspace(tmp_path)
    scan = workspace.scan()
    assert list(scan.notes) == [(folder / "a.md").relative_to(tmp_path).as_posix()]
    assert reasons(scan.ignored) == {
        (folder / "d").relative_to(tmp_path).as_posix(): "more than 64 folders deep"
    }
    assert all(workspace.read(path).text == "" for path in scan.notes)


def test_a_scan_leaves_no_descriptor_open(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("memory/x/y/a.md")
    (tmp_path / "memory/link").symlink_to("x")
    workspace = open_workspace(tmp_path, ExtraPath("nothing"), ExtraPath("memory/link/y"))
    before = open_descriptors()
    workspace.scan()
    assert open_descriptors() == before


@pytest.mark.parametrize("kind", ["missing", "file", "below a file", "loop", "nul"])
def test_a_workspace_that_is_no_folder_is_refused_in_its_own_words(
    tmp_path: Path, kind: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    path, why = {
        "missing": ("nothing", "no such folder"),
        "file": ("file", "it is not a folder"),
        "below a file": ("file/ws", "it is not a folder"),
        "loop": ("loop", "too many levels of symbolic links"),
        "nul": ("a\0b", "no such folder"),
    }[kind]
    with pytest.raises(WorkspaceMissing, match=why):
        Workspace.open(tmp_path / path)


def test_a_workspace_we_may_not_list_is_refused(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    (shared_path / "ws").mkdir(mode=0o700)
    (shared_path / "ws").chmod(0)
    with unprivileged(), pytest.raises(WorkspaceMissing, match="no permission to list it"):
        Workspace.open(shared_path / "ws")


def test_a_workspace_that_went_away_is_an_error_and_not_an_empty_scan(
    tmp_path: Path, open_workspace: OpenWorkspace
) -> None:
    ws = tmp_path / "ws"
    ws.mkdir()
    workspace = open_workspace(ws)
    ws.rename(tmp_path / "elsewhere")
    with pytest.raises(WorkspaceMissing, match="no such folder"):
        workspace.scan()
    ws.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkspaceMissing, match="it has become a symbolic link"):
        workspace.scan()


def test_the_workspace_itself_may_be_a_link(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("real/memory/a.md")
    (tmp_path / "ws").symlink_to("real")
    workspace = open_workspace(tmp_path / "ws")
    assert workspace.root == tmp_path.resolve() / "real"
    assert list(workspace.scan().notes) == ["memory/a.md"]
    assert workspace.read("memory/a.md").text == "a note\n"


def test_a_relative_workspace_is_found_from_where_we_are(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("ws/MEMORY.md")
    monkeypatch.chdir(tmp_path)
    assert list(Workspace.open(Path("ws")).scan().notes) == ["MEMORY.md"]
