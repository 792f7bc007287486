from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.errors import NotANote, NoteUnreadable
from notewell.limits import MAX_NOTE_BYTES
from notewell.notes import ExtraPath
from notewell.notes.scope import scope_of
from notewell.notes.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    OpenWorkspace = Callable[..., Workspace]
    Write = Callable[..., Path]


def test_a_note_is_its_cleaned_text_and_the_digest_of_that(
    tmp_path: Path, open_workspace: OpenWorkspace
) -> None:
    (tmp_path / "MEMORY.md").write_bytes(b"\xef\xbb\xbf# Caf\xe9\r\n")
    note = open_workspace(tmp_path).read("MEMORY.md")
    assert note.text == "# Caf\ufffd\n"
    assert note.digest == hashlib.sha256("# Caf\ufffd\n".encode()).hexdigest()
    assert note.repairs == ("1 byte was not valid UTF-8 and was replaced",)
    assert note.stat.size == 11


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "/", "..", ".md/..", "README.md", "docs/a.md", "memory", "memory/a.txt",
        "memory/../README.md", "memory/../memory/a.md", "./memory/a.md", "memory//a.md",
        "memory/./a.md", "/memory/a.md", "../ws/memory/a.md", "memory/a.md/", "memory/a\0.md",
        "memory/a\nb.md", "memory/\udcff.md", "MEMORY.md/a.md", "Memory.md", "MEMORY/a.md",
        "memory/.git/a.md", "memory/x/node_modules/a.md", "memory/a (conflict).md",
        "/etc/passwd", "/etc/passwd.md", "~/a.md", "memory\\a.md",
    ],
)  # fmt: skip
def test_a_path_outside_the_memory_is_refused(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace, path: str
) -> None:
    for real in ["README.md", "docs/a.md", "memory/a.md", "memory/.git/a.md", "memory/a.txt"]:
        write(real)
    with pytest.raises(NotANote):
        open_workspace(tmp_path).read(path)


def test_a_note_has_one_key_so_its_absolute_path_is_refused(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    note = write("memory/a.md").resolve()
    workspace = open_workspace(tmp_path, ExtraPath(str(tmp_path / "memory")))
    with pytest.raises(NotANote):
        workspace.read(note.as_posix())


@given(st.lists(st.sampled_from(["..", "memory", "a.md", "", ".", "/", "x", "MEMORY.md", "~"])))
def test_no_spelling_leads_out_of_the_places(pieces: list[str]) -> None:
    root = Path("/srv/workspace")
    scope = scope_of(root, root, [ExtraPath("/srv/notes"), ExtraPath("docs")])
    names = scope.locate("/".join(pieces))
    if names is not None:
        assert names[0] in {str(root), "/srv/notes"}
        assert not {"", ".", ".."} & set(names[1:])
        assert names[0] != str(root) or names[1] in {"MEMORY.md", "memory.md", "memory", "docs"}


def test_a_link_is_refused_alike_whether_or_not_it_leads_somewhere(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("outside/secret.md", "secret")
    write("ws/memory/real.md")
    memory = tmp_path / "ws/memory"
    (memory / "leaf.md").symlink_to(tmp_path / "outside/secret.md")
    (memory / "dangling.md").symlink_to(tmp_path / "outside/nothing.md")
    (memory / "inside.md").symlink_to("real.md")
    (memory / "parent").symlink_to(tmp_path / "outside")
    (tmp_path / "ws/docs").symlink_to(tmp_path / "outside")
    workspace = open_workspace(tmp_path / "ws", ExtraPath("docs"))
    messages = set()
    for path in ["memory/leaf.md", "memory/dangling.md", "memory/inside.md",
                 "memory/parent/secret.md", "memory/parent/nothing.md",
                 "docs/secret.md", "docs/nothing.md"]:  # fmt: skip
        with pytest.raises(NotANote) as refused:
            workspace.read(path)
        messages.add(str(refused.value).replace(path, ""))
        assert refused.value.__cause__ is None
    assert len(messages) == 1


@pytest.mark.timeout(20)
def test_a_pipe_or_a_folder_is_refused_and_does_not_hang(
    tmp_path: Path, open_workspace: OpenWorkspace
) -> None:
    (tmp_path / "memory/folder.md").mkdir(parents=True)
    os.mkfifo(tmp_path / "memory/pipe.md")
    workspace = open_workspace(tmp_path)
    for path in ["memory/pipe.md", "memory/folder.md", "memory/pipe.md/a.md"]:
        with pytest.raises(NotANote):
            workspace.read(path)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("memory/gone.md", "not there"),
        ("memory/gone/a.md", "not there"),
        ("memory/a.md/b.md", "not there"),
        ("MEMORY.md", "not there"),
        (f"memory/{'n' * 300}.md", "file name too long"),
        ("memory/dump.md", "larger than 32 MiB, the most a note may have"),
    ],
)
def test_a_note_that_cannot_be_read_says_why(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace, path: str, why: str
) -> None:
    write("memory/a.md")
    os.truncate(write("memory/dump.md"), MAX_NOTE_BYTES + 1)
    with pytest.raises(NoteUnreadable) as unreadable:
        open_workspace(tmp_path).read(path)
    assert unreadable.value.why == why
    assert unreadable.value.path == path


def test_a_note_at_the_size_limit_is_read(tmp_path: Path, write: Write) -> None:
    os.truncate(write("memory/limit.md"), MAX_NOTE_BYTES)
    assert len(Workspace.open(tmp_path).read("memory/limit.md").text) == MAX_NOTE_BYTES


def test_a_note_without_permission_says_so(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    (shared_path / "memory/closed").mkdir(parents=True)
    for path in ["memory/a.md", "memory/closed/b.md"]:
        (shared_path / path).write_text("closed\n", encoding="utf-8")
        (shared_path / path).chmod(0)
    (shared_path / "memory/closed").chmod(0)
    with unprivileged():
        workspace = Workspace.open(shared_path)
        for path in ["memory/a.md", "memory/closed/b.md"]:
            with pytest.raises(NoteUnreadable, match="permission denied"):
                workspace.read(path)


def test_reading_leaves_no_descriptor_open(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("memory/x/a.md")
    os.mkfifo(tmp_path / "memory/pipe.md")
    os.truncate(write("memory/dump.md"), MAX_NOTE_BYTES + 1)
    workspace = open_workspace(tmp_path)
    before = sorted(Path("/dev/fd").iterdir())
    workspace.read("memory/x/a.md")
    for path in ["memory/pipe.md", "memory/dump.md", "memory/gone.md", "memory/x/y/z.md"]:
        with pytest.raises((NotANote, NoteUnreadable)):
            workspace.read(path)
    assert sorted(Path("/dev/fd").iterdir()) == before


def test_the_stat_is_never_younger_than_the_text(tmp_path: Path, write: Write) -> None:
    """Else a line written during the read would be missed: the next scan sees no change."""
    path = write("memory/log.md", "a line\n" * 100_000)  # so long that no read ends in peace
    workspace = Workspace.open(tmp_path)
    # A process of its own, as a thread would take turns with the reader. It ends far below
    # the size limit, should nobody stop it.
    append = "import os, sys\nfor _ in range(3_000_000): os.write(1, b'a line\\n')"
    with (
        path.open("ab") as log,
        subprocess.Popen([sys.executable, "-c", append], stdout=log) as writer,
    ):
        size = path.stat().st_size
        while path.stat().st_size == size and writer.poll() is None:
            pass
        for _ in range(30):
            note = workspace.read("memory/log.md")
            assert len(note.text) >= note.stat.size > size
        writer.kill()
    assert len(workspace.read("memory/log.md").text) == path.stat().st_size
