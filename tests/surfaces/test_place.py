"""Which memory a command is about."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from notewell.cli import main


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with nothing but a home; `main` reads the environment as any program does."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "NOTEWELL_CONFIG", "NOTEWELL_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def noted(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text(text, encoding="utf-8")
    return folder


def found(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    main(["index", *words, "--text-only"])
    capsys.readouterr()
    main(["search", *words, "--mode", "keyword", "--json", "zebra"])
    return [hit["snippet"] for hit in json.loads(capsys.readouterr().out)["results"]]


def test_an_agent_has_the_folder_the_settings_give_it(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noted(home / "one", "The zebra of one.\n")
    noted(home / "two", "The zebra of two.\n")
    (home / ".config" / "notewell").mkdir(parents=True)
    (home / ".config" / "notewell" / "config.yaml").write_text(
        "agents:\n  list:\n    - {id: one, workspace: ~/one}\n    - {id: two, workspace: ~/two}\n",
        encoding="utf-8",
    )
    assert found(capsys, "--agent", "one") == ["The zebra of one."]
    assert found(capsys, "--agent", "two") == ["The zebra of two."]
    assert found(capsys, "--agent", "two", "-w", str(home / "one")) == ["The zebra of one."]


def test_an_openclaw_is_searched_as_it_is_and_stays_so(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noted(home / "claw", "The zebra of OpenClaw.\n")
    sessions = home / ".openclaw" / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    message = {"type": "message", "message": {"role": "user", "content": "a zebra was seen"}}
    (sessions / "s.jsonl").write_text(json.dumps(message) + "\n", encoding="utf-8")
    (home / ".openclaw" / "openclaw.json").write_text(
        "{ // theirs\n agents: { defaults: { workspace: '~/claw', memorySearch: {"
        " experimental: { sessionMemory: true }, sources: ['memory', 'sessions'] } } },\n"
        " channels: { telegram: {} } }",
        encoding="utf-8",
    )
    theirs = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    hits = found(capsys, "--openclaw")
    assert sorted(hits) == ["The zebra of OpenClaw.", "User: a zebra was seen"]
    assert main(["search", "--openclaw", "--agent", "nobody", "zebra"]) == 2
    assert "it has: main" in capsys.readouterr().err
    assert theirs == {path: path.read_bytes() for path in theirs}
    new = {path for path in home.rglob("*") if path.is_file()} - theirs.keys()
    assert all(".local/state/notewell" in str(path) for path in new)


def test_without_a_name_the_default_agent_is_meant_unless_one_stands_in_a_workspace(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted(home / "one", "The zebra of one.\n")
    noted(home / "two", "The zebra of two.\n")
    (home / ".config" / "notewell").mkdir(parents=True)
    (home / ".config" / "notewell" / "config.yaml").write_text(
        "agents:\n  list:\n"
        "    - {id: one, workspace: ~/one}\n    - {id: two, default: true, workspace: ~/two}\n",
        encoding="utf-8",
    )
    assert found(capsys) == ["The zebra of two."]
    monkeypatch.chdir(home / "one")
    assert found(capsys) == ["The zebra of one."]
    monkeypatch.chdir(home)
    assert main(["append", "a llama"]) == 0
    capsys.readouterr()
    assert main(["history"]) == 0
    assert "cli, there" in capsys.readouterr().out
    assert main(["status", "--agent", "nobody"]) == 2
    assert "they have: one, two" in capsys.readouterr().err


def test_a_pipe_that_is_not_utf8_gets_what_it_can_hold(home: Path) -> None:
    noted(home / "here", "备份 runs at three.\n")
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "HOME": str(home)}
    command = [sys.executable, "-m", "notewell"]
    place = ["-w", str(home / "here"), "--state-dir", str(home / "s")]
    subprocess.run(
        [*command, "index", "--text-only", *place],
        env=environment,
        check=True,
        capture_output=True,
    )
    done = subprocess.run(
        [*command, "search", "--mode", "keyword", *place, "备份"],
        env=environment,
        check=True,
        capture_output=True,
    )
    assert b"\\u5907\\u4efd runs at three" in done.stdout


def test_an_entry_goes_to_notes_and_nowhere_else(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "empty").mkdir()
    monkeypatch.chdir(home / "empty")
    assert main(["append", "a zebra"]) == 2
    assert "`notewell init` makes a start" in capsys.readouterr().err
    assert list((home / "empty").iterdir()) == []
    monkeypatch.chdir(noted(home / "full", "Notes.\n"))
    assert main(["append", "a zebra"]) == 0
    assert found(capsys)[0].endswith("a zebra")
