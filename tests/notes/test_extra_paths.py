from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from notewell.errors import NotANote
from notewell.notes import ExtraPath
from notewell.notes.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    OpenWorkspace = Callable[..., Workspace]
    Write = Callable[..., Path]

LINK = "a symbolic link; links are not followed"


def keys(workspace: Workspace) -> list[str]:
    """Every key of a scan, each of them read back."""
    found = list(workspace.scan().notes)
    assert [workspace.read(key).path for key in found] == found
    return found


def ignored(workspace: Workspace) -> dict[str, str]:
    return {entry.path: entry.why for entry in workspace.scan().ignored}


def test_inside_the_workspace_keys_are_relative_outside_absolute(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ["ws/docs/a.md", "ws/README.md", "out/x/b.md", "home/vault/c.md", "one.md"]:
        write(path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    workspace = open_workspace(
        tmp_path / "ws",
        ExtraPath("docs"),
        ExtraPath(str(tmp_path / "ws/README.md")),
        ExtraPath("../out"),
        ExtraPath("~/vault"),
        ExtraPath(str(tmp_path / "one.md")),
    )
    base = tmp_path.resolve().as_posix()
    assert keys(workspace) == [
        f"{base}/home/vault/c.md", f"{base}/one.md", f"{base}/out/x/b.md",
        "README.md", "docs/a.md",
    ]  # fmt: skip
    assert ignored(workspace) == {}


def test_only_the_files_that_match_the_pattern_are_taken(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    for path in ["ws/docs/a.md", "ws/docs/log/b.md", "ws/docs/log/x/c.md", "ws/docs/log/x/d.md"]:
        write(path)
    workspace = open_workspace(tmp_path / "ws", ExtraPath("docs", "log/**/[bc].md"))
    assert keys(workspace) == ["docs/log/b.md", "docs/log/x/c.md"]
    with pytest.raises(NotANote):
        workspace.read("docs/a.md")


def test_overlapping_extra_paths_give_each_file_once(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("out/a.md")
    write("out/x/b.md")
    write("ws/memory/c.md")
    out = tmp_path.resolve() / "out"
    workspace = open_workspace(
        tmp_path / "ws", ExtraPath(f"{out}/x"), ExtraPath(str(out)), ExtraPath("memory")
    )
    assert keys(workspace) == [f"{out.as_posix()}/a.md", f"{out.as_posix()}/x/b.md", "memory/c.md"]


def test_an_extra_path_above_the_workspace_keeps_keys_inside_relative(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    for path in ["a.md", "ws/README.md", "ws/docs/b.md", "ws/memory/c.md"]:
        write(path)
    workspace = open_workspace(tmp_path / "ws", ExtraPath(".."))
    assert keys(workspace) == [
        f"{tmp_path.resolve().as_posix()}/a.md", "README.md", "docs/b.md", "memory/c.md",
    ]  # fmt: skip


def test_the_whole_workspace_can_be_an_extra_path(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    for path in ["README.md", "docs/b.md", "docs/node_modules/c.md"]:
        write(path)
    workspace = open_workspace(tmp_path, ExtraPath(".", "**/*.md"))
    assert keys(workspace) == ["README.md", "docs/b.md"]


def test_a_workspace_behind_a_link_knows_its_extra_paths_by_both_names(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("real/docs/a.md")
    write("real/more/b.md")
    (tmp_path / "ws").symlink_to("real")
    workspace = open_workspace(
        tmp_path / "ws",
        ExtraPath(str(tmp_path / "ws/docs")),
        ExtraPath(str(tmp_path / "real/more")),
    )
    assert keys(workspace) == ["docs/a.md", "more/b.md"]


def test_what_cannot_be_used_is_reported_and_the_rest_is_still_found(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("ws/memory/a.md")
    write("ws/notes.txt")
    write("out/secret.md")
    (tmp_path / "ws/link").symlink_to(tmp_path / "out")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    (tmp_path / "link.md").symlink_to(tmp_path / "out/secret.md")
    (tmp_path / "ws/pipe").parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / "ws/pipe")
    extra_paths = ["gone", "notes.txt", "link", "link/deeper", "../link", "../link.md", "pipe",
                   "", "bad\0name", "~no-such-user-here/x", "notes.txt/x"]  # fmt: skip
    workspace = open_workspace(tmp_path / "ws", *map(ExtraPath, extra_paths))
    base = tmp_path.resolve().as_posix()
    assert keys(workspace) == ["memory/a.md"]
    assert ignored(workspace) == {
        "gone": "not there",
        "notes.txt": "not a Markdown file; its name must end in .md",
        "link": LINK,
        "link/deeper": LINK,
        f"{base}/link": LINK,
        f"{base}/link.md": LINK,
        "pipe": "a named pipe, not a file",
        "": "an empty extra path; write `.` for the whole workspace",
        "bad\\x00name": "its name contains control characters",
        "~no-such-user-here/x": "no such home folder",
        "notes.txt/x": "not there",
    }


def test_the_folders_above_an_outside_path_may_be_links(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("disk/vault/a.md")
    (tmp_path / "ws").mkdir()
    (tmp_path / "mount").symlink_to("disk")
    workspace = open_workspace(tmp_path / "ws", ExtraPath(str(tmp_path / "mount/vault")))
    assert keys(workspace) == [f"{tmp_path.resolve().as_posix()}/disk/vault/a.md"]


def test_a_conflict_copy_named_outright_is_taken(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    write("memory/a (conflict).md")
    workspace = open_workspace(tmp_path, ExtraPath("memory/a (conflict).md"))
    assert keys(workspace) == ["memory/a (conflict).md"]
    assert ignored(workspace) == {}


def test_an_extra_path_that_appears_later_is_found(
    tmp_path: Path, write: Write, open_workspace: OpenWorkspace
) -> None:
    (tmp_path / "ws").mkdir()
    workspace = open_workspace(tmp_path / "ws", ExtraPath("../out"))
    assert list(ignored(workspace).values()) == ["not there"]
    write("out/a.md")
    assert len(keys(workspace)) == 1
