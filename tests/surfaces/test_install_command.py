"""`notewell install`: tools and hooks of a host at once, and nothing without a yes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from notewell.cli.install import hosts_of
from notewell.hosts import Machine


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "bin").mkdir()
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def environ(home: Path) -> dict[str, str]:
    path = home.parent / "bin"
    return {"PATH": str(path), "HOME": str(home), "PYTHONWARNDEFAULTENCODING": "1"}


def words(home: Path, *more: str) -> list[str]:
    notes = str(home.parent / "notes")
    return [sys.executable, "-m", "notewell", "install", *more, "-w", notes]


def install(home: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words(home, *more),
        env=environ(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def make_program(home: Path, name: str) -> None:
    file = home.parent / "bin" / name
    file.write_text("#!/bin/sh\n", encoding="utf-8")
    file.chmod(0o755)


def test_a_host_gets_tools_and_hooks(home: Path) -> None:
    done = install(home, "claude")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Claude Code now knows this memory\nClaude Code now calls this memory\n"
    assert "Codex" not in done.stdout + done.stderr
    servers = json.loads((home / ".claude.json").read_text(encoding="utf-8"))["mcpServers"]
    assert list(servers) == ["notewell"]
    hooks = json.loads((home / ".claude" / "settings.json").read_text(encoding="utf-8"))["hooks"]
    assert set(hooks) == {"SessionStart", "PreCompact", "SessionEnd"}


def test_a_host_without_hooks_says_so(home: Path) -> None:
    done = install(home, "cline")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Cline now knows this memory\n"
    assert "no capture" in done.stderr


def test_nothing_is_changed_without_a_terminal_or_yes(home: Path) -> None:
    make_program(home, "codex")
    make_program(home, "cn")
    refused = install(home)
    assert refused.returncode == 2
    assert "found codex, continue" in refused.stderr
    assert list(home.iterdir()) == []
    done = install(home, "--yes")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in home.iterdir()) == [".codex", ".continue"]


def test_no_host_is_told(home: Path) -> None:
    nothing = install(home, "--yes")
    assert nothing.returncode == 3
    assert "name one of: claude, codex" in nothing.stderr
    assert list(home.iterdir()) == []


def test_a_host_with_a_settings_file_is_found(home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{}", encoding="utf-8")
    make_program(home, "code")
    found = hosts_of(Machine(home, environ(home), "linux"))
    assert [host.id for host in found] == ["vscode", "gemini"]


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a thing of POSIX")
def test_a_person_at_a_terminal_is_asked_about_each_host(home: Path) -> None:
    import pty

    make_program(home, "codex")
    make_program(home, "qwen")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        words(home), env=environ(home), stdin=theirs, stderr=theirs, stdout=subprocess.PIPE
    ) as process:
        os.close(theirs)
        os.write(ours, b"n\ny\n")  # The terminal keeps the answers until they are read.
        out, _ = process.communicate(timeout=120)
    os.close(ours)
    assert process.returncode == 0
    assert out.decode() == "Qwen Code now knows this memory\nQwen Code now calls this memory\n"
    assert sorted(path.name for path in home.iterdir()) == [".qwen"]


def test_qwen_reports_each_turn_because_it_may_report_no_end(home: Path) -> None:
    assert install(home, "qwen").returncode == 0
    hooks = json.loads((home / ".qwen" / "settings.json").read_text(encoding="utf-8"))["hooks"]
    command = hooks["Stop"][0]["hooks"][0]["command"].split()
    chat = home / "chat.jsonl"
    record = {
        "uuid": "a",
        "sessionId": "s",
        "timestamp": "2026-11-15T12:00:00Z",
        "type": "user",
        "message": {"role": "user", "parts": [{"text": "We ship on Friday."}]},
    }
    chat.write_text(json.dumps(record) + "\n", encoding="utf-8")
    for words_of, call in (
        (command, {"session_id": "s", "transcript_path": str(chat)}),
        (hooks["SessionStart"][0]["hooks"][0]["command"].split(), {"session_id": "next"}),
    ):
        subprocess.run(
            words_of,
            env=environ(home),
            input=json.dumps(call),
            encoding="utf-8",
            capture_output=True,
            check=True,
        )
    notes = (home.parent / "notes" / "memory").glob("*.md")
    assert any("We ship on Friday." in note.read_text(encoding="utf-8") for note in notes)
