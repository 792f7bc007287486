"""The library's door: what is refused, what is read, what status says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.sqlite_store import sqlite_store

import notewell
from notewell import Memory, NotesSettings, Settings, StoreSettings, open_memory
from notewell.errors import (
    BadRequest,
    BadSetting,
    NotANote,
    NoteUnreadable,
    WorkspaceMissing,
)
from notewell.limits import GET_CHARS
from notewell.notes import ExtraPath
from notewell.testing import HashEmbedder


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    lines = "".join(f"line {number}\n" for number in range(1, 301))
    (workspace / "MEMORY.md").write_text(lines, encoding="utf-8")
    (workspace / "secret.md").write_text("not a note", encoding="utf-8")
    return open_memory(workspace, state_dir=tmp_path / "state", embedder=HashEmbedder())


def test_the_front_door_has_these_names() -> None:
    assert notewell.__all__ == sorted(notewell.__all__, key=lambda name: (name.islower(), name))
    assert all(hasattr(notewell, name) for name in notewell.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        notewell.nonsense  # noqa: B018


def test_lines_are_numbered_as_sed_does(memory: Memory) -> None:
    lines = memory.get("MEMORY.md", from_line=5, lines=3)
    assert lines.text == "line 5\nline 6\nline 7"
    assert (lines.start_line, lines.end_line, lines.next_from) == (5, 7, 8)
    assert lines.total_lines == 300


def test_without_a_wish_some_screens_are_shown_and_where_to_go_on(memory: Memory) -> None:
    lines = memory.get("MEMORY.md")
    assert (lines.end_line, lines.next_from) == (120, 121)
    assert memory.get("MEMORY.md", from_line=290).next_from is None


def test_beyond_the_end_there_is_nothing(memory: Memory) -> None:
    lines = memory.get("MEMORY.md", from_line=999)
    assert (lines.text, lines.end_line, lines.next_from) == ("", 998, None)


def test_a_huge_line_is_cut_and_said_to_be(memory: Memory) -> None:
    (memory.workspace / "memory" / "long.md").write_text("x" * 50_000, encoding="utf-8")
    lines = memory.get("memory/long.md")
    assert len(lines.text) == GET_CHARS
    assert lines.cut


@pytest.mark.parametrize(
    "path",
    [
        "secret.md",
        "../secret.md",
        "/etc/passwd",
        "memory/../x.md",
        "",
        ".",
        "memory",
        "a\0b.md",
    ],
)
def test_what_is_not_a_note_is_refused(memory: Memory, path: str) -> None:
    with pytest.raises(NotANote):
        memory.get(path)


def test_a_note_that_is_not_there_is_said_to_be_missing(memory: Memory) -> None:
    with pytest.raises(NoteUnreadable, match="not there"):
        memory.get("memory/2026-01-01.md")


@pytest.mark.parametrize("asked", [{"from_line": 0}, {"from_line": -3}, {"lines": 0}])
def test_lines_that_cannot_be_are_refused(memory: Memory, asked: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        memory.get("MEMORY.md", **asked)


@pytest.mark.parametrize("agent", ["", "../x", "a/b", "a b", "ä", "x" * 65, "-a"])
def test_an_agent_id_that_could_leave_its_folder_is_refused(tmp_path: Path, agent: str) -> None:
    with pytest.raises(BadSetting, match="is not an id"):
        open_memory(tmp_path, agent=agent)


def test_a_workspace_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceMissing, match="no such folder"):
        open_memory(tmp_path / "nowhere")


def test_status_follows_the_memory(memory: Memory) -> None:
    status = memory.status()
    assert (status.state, status.eligible, status.dirty, status.counts) == ("missing", 1, 1, None)
    memory.sync()
    status = memory.status()
    assert (status.state, status.dirty) == ("ready", 0)
    assert status.counts is not None
    assert status.counts.embedded == status.counts.chunks > 0
    assert status.cache_entries == status.counts.chunks
    (memory.workspace / "memory" / "new.md").write_text("new", encoding="utf-8")
    assert memory.status().dirty == 1


def test_status_of_a_damaged_index_tells_instead_of_raising(memory: Memory) -> None:
    memory.sync()
    memory.close()
    current = sqlite_store(memory).folder.current()
    assert current is not None
    current.write_bytes(b"this is not a database" * 1000)
    status = memory.status()
    assert status.state == "unreadable"
    assert "`notewell index` sets it aside" in str(status.problem)
    assert memory.sync().rebuilt
    assert memory.status().state == "ready"


def test_extra_paths_belong_to_the_memory(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text("the zebra guide", encoding="utf-8")
    (tmp_path / "workspace").mkdir()
    settings = Settings(
        notes=NotesSettings(extra_paths=(ExtraPath("../docs"), ExtraPath("missing")))
    )
    with open_memory(
        tmp_path / "workspace",
        state_dir=tmp_path / "state",
        settings=settings,
        embedder=HashEmbedder(),
    ) as memory:
        report = memory.sync()
        assert [one.path for one in report.ignored] == ["missing"]
        hit = memory.search("zebra").hits[0]
        assert hit.path == (docs / "guide.md").as_posix()
        assert memory.get(hit.path).text == "the zebra guide"


def test_the_vectors_may_live_in_sqlite_vec(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("alpha\n\n# B\n\nbeta", encoding="utf-8")
    with open_memory(
        tmp_path,
        state_dir=tmp_path / "state",
        settings=Settings(store=StoreSettings(vector_driver="sqlite-vec")),
        embedder=HashEmbedder(),
    ) as memory:
        memory.sync()
        assert memory.search("alpha").mode == "hybrid"
        assert memory.search("alpha").hits[0].path == "MEMORY.md"


def test_a_keyword_search_imports_no_model_and_no_parser(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("alpha", encoding="utf-8")
    program = (
        "import sys\n"
        "from notewell import open_memory\n"
        f"memory = open_memory({str(tmp_path)!r}, state_dir={str(tmp_path / 'state')!r})\n"
        "memory.search('alpha', mode='keyword')\n"
        "heavy = {'numpy', 'onnxruntime', 'markdown_it', 'shtab', 'http', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    with open_memory(tmp_path, state_dir=tmp_path / "state") as memory:
        memory.sync(vectors=False)
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True
    )
    assert told.stdout == "[]\n"
