"""A folder outside the workspace is asked about once, on a terminal; unasked, it is not read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="a terminal to answer on is POSIX's")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    for folder in ("workspace", "private", "home"):
        (tmp_path / folder).mkdir()
    (tmp_path / "workspace" / "MEMORY.md").write_text("The oven is hot.\n", encoding="utf-8")
    (tmp_path / "private" / "plan.md").write_text("The walrus is Olaf.\n", encoding="utf-8")
    settings = {"agents": {"defaults": {"memorySearch": {"extraPaths": ["../private"]}}}}
    file = tmp_path / "workspace" / "notewell.json"
    file.write_text(json.dumps(settings), encoding="utf-8")
    return tmp_path


def notewell(machine: Path, *words: str, typed: str | None = None) -> str:
    """What it said; with `typed`, on a terminal."""
    place = ["--workspace", str(machine / "workspace"), "--state-dir", str(machine / "state")]
    command = [sys.executable, "-m", "notewell", *words, *place]
    environment = {"PATH": os.environ["PATH"], "HOME": str(machine / "home")}
    terminal, theirs = pty.openpty()
    try:
        if typed is not None:
            os.write(terminal, typed.encode())
        done = subprocess.run(
            command,
            stdin=theirs if typed is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs if typed is not None else subprocess.STDOUT,
            env=environment,
            timeout=120,
            check=False,
        )
        os.write(theirs, b"\n")  # A read would wait if the command had said nothing.
        asked = os.read(terminal, 1 << 16).decode() if typed is not None else ""
    finally:
        os.close(terminal)
        os.close(theirs)
    return asked + done.stdout.decode()


@pytest.mark.parametrize(("answer", "notes"), [("y", "2 notes"), ("n", "1 note,")])
def test_the_user_is_asked_once(machine: Path, answer: str, notes: str) -> None:
    assert "1 note," in notewell(machine, "index"), "without a terminal nobody can say yes"
    asked = notewell(machine, "index", typed=f"{answer}\n")
    assert f"adds notes outside it: {(machine / 'private').resolve()}" in asked
    assert notes in asked
    again = notewell(machine, "index", typed="")
    assert "adds notes outside it" not in again
    assert notes in again
