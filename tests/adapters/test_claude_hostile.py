"""Whatever a model writes to the memory tool: an answer, and nothing outside its folder."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notewell import Memory
from notewell.adapters.claude import memory_tool
from notewell.adapters.claude_commands import LISTED
from notewell.notes.edit import MAX_EDIT_BYTES

OUTSIDE = "the canary is yellow"
HOSTILE = [
    "/memories/../MEMORY.md",
    "/memories/..",
    "/memories/../../workspace/MEMORY.md",
    "/memories/a/../../../MEMORY.md",
    "/memories/./a.md",
    "/memories//../MEMORY.md",
    "/memoriesx/a.md",
    "/memories.md",
    "memories/a.md",
    "/etc/passwd",
    "/proc/self/environ",
    "C:\\Windows\\a.md",
    "/memories/..\\..\\MEMORY.md",
    "/memories/%2e%2e/MEMORY.md",
    "/memories/．．/MEMORY.md",
    "/memories/a\0.md",
    "/memories/a\n.md",
    "/memories/\u202e.md/../../MEMORY.md",
    "/memories/\ud800.md",
    "/memories/.trash",
    "/memories/.trash/a.md",
    "/memories/.git/config",
    "/memories/~/a.md" + "/.." * 9,
    "/memories/link.md",
    "/memories/way/MEMORY.md",
    "/memories/pipe.md",
    "/memories/pipe.md/a.md",
    "/memories/" + "x" * 5000,
    "/memories/" + "d/" * 400 + "a.md",
    "",
    "/",
]


@pytest.fixture
def outside(workspace: Path) -> dict[str, str]:
    """A canary beside the folder, with links and a pipe that try to lead there."""
    place = workspace / "memory" / "claude"
    place.mkdir()
    (workspace / "MEMORY.md").write_text(OUTSIDE, encoding="utf-8")
    (place / "link.md").symlink_to(workspace / "MEMORY.md")
    (place / "way").symlink_to(workspace, target_is_directory=True)
    os.mkfifo(place / "pipe.md")
    return _outside(workspace)


def _outside(workspace: Path) -> dict[str, str]:
    return {
        path.as_posix(): path.read_text(encoding="utf-8")
        for path in workspace.parent.rglob("*")
        if path.is_file() and "claude" not in path.parts and "state" not in path.parts
    }


def commands(path: object) -> list[dict[str, Any]]:
    return [
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "evil"},
        {"command": "str_replace", "path": path, "old_str": "canary", "new_str": "cat"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "evil"},
        {"command": "rename", "old_path": path, "new_path": "/memories/mine.md"},
        {"command": "rename", "old_path": "/memories/own.md", "new_path": path},
        {"command": "delete", "path": path},
    ]


@pytest.mark.parametrize("path", HOSTILE, ids=ascii)
def test_no_path_reads_or_changes_what_lies_outside(
    memory: Memory, workspace: Path, outside: dict[str, str], path: str
) -> None:
    tool = memory_tool(memory)
    tool.call({"command": "create", "path": "/memories/own.md", "file_text": "mine"})
    for command in commands(path):
        said = "nothing"
        with suppress(ToolError):
            said = str(tool.call(command))
        # Their words quote what was asked for; the note's own words must not come back.
        assert "yellow" not in said
        assert str(workspace) not in said
    assert _outside(workspace) == outside


def test_no_refusal_names_a_folder_of_this_machine(
    memory: Memory, workspace: Path, outside: dict[str, str]
) -> None:
    tool = memory_tool(memory)
    (workspace / "memory/claude/way").unlink()
    (workspace / "memory/claude/a.md").write_text("x" * 200_000, encoding="utf-8")
    for path in HOSTILE:
        for command in commands(path):
            try:
                tool.call(command)
            except ToolError as error:
                assert str(workspace.parent) not in str(error)  # noqa: PT017 - either is right
                assert len(str(error)) < 5000  # noqa: PT017


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None), max_size=20)
    | st.sampled_from(["/memories/a.md", "/memories", "view", "create", "insert", "rename"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = "path file_text old_str new_str insert_line insert_text view_range old_path new_path"
made_up = st.fixed_dictionaries(
    {
        "command": st.sampled_from(["view", "create", "str_replace", "insert", "delete", "rename"])
        | anything
    },
    optional={
        name: st.sampled_from(["/memories/a.md", "/memories/b"]) | anything
        for name in FIELDS.split()
    },
)


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(made_up | anything)
def test_whatever_is_called_the_answer_is_a_text_or_a_tool_error(
    memory: Memory, caplog: pytest.LogCaptureFixture, command: object
) -> None:
    tool = memory_tool(memory)
    with suppress(ToolError):
        assert isinstance(tool.call(command), str)
    assert not caplog.records  # nothing unforeseen


def test_limits_are_told_in_words(memory: Memory, workspace: Path) -> None:
    tool = memory_tool(memory)
    with pytest.raises(ToolError, match=f"{MAX_EDIT_BYTES} are allowed"):
        tool.call(
            {"command": "create", "path": "/memories/a.md", "file_text": "x" * MAX_EDIT_BYTES * 2}
        )
    place = workspace / "memory" / "claude"
    place.mkdir()
    for number in range(LISTED + 5):
        (place / f"{number}.md").touch()
    listing = str(tool.call({"command": "view", "path": "/memories"}))
    assert listing.endswith("… and 5 more: view a directory of them")


def test_an_edit_of_what_the_user_just_changed_is_refused(
    memory: Memory, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = memory_tool(memory)
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "one\n"})
    note = workspace / "memory/claude/a.md"
    real = os.fsync

    def meanwhile(fd: int) -> None:
        note.write_text("the user's\n", encoding="utf-8")
        real(fd)

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", meanwhile)
        with pytest.raises(ToolError, match="changed meanwhile; read it again"):
            tool.call(
                {
                    "command": "str_replace",
                    "path": "/memories/a.md",
                    "old_str": "one",
                    "new_str": "two",
                }
            )
    assert note.read_text(encoding="utf-8") == "the user's\n"


def test_two_agents_with_one_folder_lose_nothing_of_each_other(
    memory: Memory, workspace: Path
) -> None:
    """Every insertion that was said to be made is in the note."""
    tool = memory_tool(memory)
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "start\n"})
    made: list[str] = []

    def insert(who: str) -> None:
        mine = memory_tool(memory)
        for number in range(20):
            line = f"{who}{number}"
            command = {"command": "insert", "path": "/memories/a.md", "insert_line": 0}
            with suppress(ToolError):  # the other one was quicker
                mine.call({**command, "insert_text": line})
                made.append(line)

    threads = [threading.Thread(target=insert, args=(who,)) for who in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    lines = (workspace / "memory/claude/a.md").read_text(encoding="utf-8").split("\n")
    assert sorted(lines) == sorted([*made, "start", ""])
