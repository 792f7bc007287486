"""`notewell` without a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from notewell.cli.overview import Standing, facts, next_step
from notewell.records import replace

READY = Standing("/n", notes=2, markdown=0, index="", is_indexed=True, is_degraded=False)


@pytest.mark.parametrize(
    ("standing", "command"),
    [
        (replace(READY, notes=0), "notewell init"),
        (replace(READY, is_degraded=True), "notewell doctor"),
        (replace(READY, is_indexed=False), "notewell index"),
        (replace(READY, unconnected=("Codex",)), "notewell install"),
        (replace(READY, unconnected=("Codex",), connected=("Cursor",)), "notewell search"),
        (READY, "notewell search"),
    ],
)
def test_the_next_command_is_the_first_that_is_missing(standing: Standing, command: str) -> None:
    assert next_step(standing)[0].startswith(command)


def test_hosts_are_named_whether_they_are_connected_or_not() -> None:
    standing = replace(READY, connected=("Codex",), unconnected=("Cursor", "VS Code"))
    assert facts(standing)[-1] == ("hosts", "connected: Codex; not connected: Cursor, VS Code")
    assert facts(READY)[-1] == ("hosts", "none found on this machine")


def test_a_new_user_is_told_where_to_begin_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n", encoding="utf-8")
    (tmp_path / ".claude.json").write_text("{}", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    said = _notewell(tmp_path)
    assert "workspace   none here: ~/notes has no notes, but 1 other Markdown file\n" in said
    assert "hosts       not connected: Claude Code\n" in said
    assert "next        notewell init " in said
    assert "workspace   none here: ~ has no notes\n" in _notewell(tmp_path, cwd=tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_user_beside_the_notes_is_told_that_a_memory_is_indexed(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text("# A\n\nalpha\n", encoding="utf-8")
    _notewell(tmp_path, "index")
    said = _notewell(tmp_path, cwd=tmp_path)
    assert "elsewhere   1 memory is indexed: go to that folder, or add -w FOLDER" in said
    assert "elsewhere" not in _notewell(tmp_path)


def test_a_user_with_notes_sees_their_number_and_the_index(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text("# A\n\nalpha\n", encoding="utf-8")
    assert "next        notewell index " in _notewell(tmp_path)
    _notewell(tmp_path, "index")
    (tmp_path / "notes" / "memory").mkdir()
    (tmp_path / "notes" / "memory" / "b.md").write_text("beta\n", encoding="utf-8")
    said = _notewell(tmp_path)
    assert "workspace   ~/notes, 2 notes\n" in said
    assert "index       1 note, 1 chunk, 1 note behind\n" in said
    assert "next        notewell search 'a question'" in said
    entry = {"command": "notewell", "args": ["mcp", "serve"]}
    servers = json.dumps({"mcpServers": {"notewell": entry}})
    (tmp_path / ".claude.json").write_text(servers, encoding="utf-8")
    assert "hosts       connected: Claude Code\n" in _notewell(tmp_path)


def _notewell(home: Path, *words: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "notewell", *words],
        cwd=cwd or home / "notes",
        # No program is on the path: a host of the machine that runs the tests must not count.
        env={"HOME": str(home), "PATH": os.devnull},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout
