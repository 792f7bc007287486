"""The page about sessions is true: its example runs, its steps lead to a hit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.made_up import (
    OpenClawDatabase,
    OpenCode,
    claude_code,
    codex,
    copilot,
    gemini,
    line,
    openclaw,
    qwen,
    text_part,
)

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "sessions.md"


def test_the_example_prints_what_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    example = r"one line per message.*?^```text\n(.*?)^```.*?^```python\n(.*?)^```"
    ((text, code),) = re.findall(example, page, re.MULTILINE | re.DOTALL)
    said = [line.split(": ", 1) for line in text.splitlines()]
    (tmp_path / "sessions").mkdir()
    lines = openclaw([(speaker.lower(), words) for speaker, words in said])
    (tmp_path / "sessions" / "ab12.jsonl").write_bytes(b"".join(lines))
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    # The first line of the file names the session.
    shown = [f"{line} — from line {n}\n" for n, line in enumerate(text.splitlines(), start=2)]
    head = "sessions/ab12.jsonl 2026-10-02 /somewhere\n"
    assert capsys.readouterr().out == "".join([head, *shown])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a workspace, which is also the working directory."""
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    (home / "notes" / "MEMORY.md").write_text("# Memory\n", encoding="utf-8")
    for name in [name for name in os.environ if name.startswith(("NOTEWELL_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("APPDATA", str(home / "AppData"))
    monkeypatch.setenv("NOTEWELL_STATE_DIR", str(home / "state"))
    monkeypatch.chdir(home / "notes")
    return home


def settings_of_page() -> dict[str, Any]:
    (text,) = re.findall(r"^ *```json\n(.*?)^ *```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    settings: dict[str, Any] = json.loads(text)
    return settings


def folders_of_page() -> list[str]:
    page = PAGE.read_text(encoding="utf-8")
    return re.findall(r"^\| [^|]+ \| `(~/[^`]+)` \|", page, re.MULTILINE)


def save_settings(home: Path, settings: dict[str, Any]) -> None:
    # The place that the page names for the platform of the test.
    file = user_config_file(home)
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(settings), encoding="utf-8")


def user_config_file(home: Path) -> Path:
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "notewell" / "config.json"
    return home / ".config" / "notewell" / "config.json"


def write_transcript(path: Path, lines: list[bytes]) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(lines))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "notewell", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)


def test_a_newcomer_who_follows_the_page_finds_a_conversation_of_claude_code(home: Path) -> None:
    said = [("user", "when do we ship?"), ("assistant", "On Friday, if the tests stay green.")]
    write_transcript(home / ".claude" / "projects" / "-shop" / "ab12.jsonl", claude_code(said))
    save_settings(home, settings_of_page())
    run("index")
    hits = run("search", "when do we ship?").stdout
    assert hits.startswith("sessions/claude-code/-shop/ab12.jsonl#L1-L2")
    assert "Assistant: On Friday" in hits


def test_the_folders_on_the_page_are_those_of_the_hosts(home: Path) -> None:
    files = {
        "~/.claude/projects": ("-shop/a.jsonl", claude_code),
        "~/.codex/sessions": ("2026/10/04/rollout-b.jsonl", codex),
        "~/.gemini/tmp": ("shop/chats/session-c.jsonl", gemini),
        "~/.qwen/projects": ("-shop/chats/d.jsonl", qwen),
        "~/.copilot/session-state": ("e/events.jsonl", copilot),
    }
    stored = ["~/.local/share/opencode", "~/.openclaw/agents/main/agent"]
    assert folders_of_page() == [*files, *stored]
    for folder, (name, write) in files.items():
        lines = write([("user", f"The word of {folder} is quince.")])
        write_transcript(Path(folder).expanduser() / name, lines)
    database = home / ".local" / "share" / "opencode"
    database.mkdir(parents=True)
    with closing((host := OpenCode(database)).connection):
        host.start()
        host.say("user", text_part("The word of OpenCode is quince."))
    agent = home / ".openclaw" / "agents" / "main" / "agent"
    agent.mkdir(parents=True)
    with closing((database_of_agent := OpenClawDatabase(agent)).connection):
        database_of_agent.start()
        database_of_agent.say("user", "The word of OpenClaw is quince.")
    strange = home / ".qwen" / "projects" / "usage.jsonl"
    strange.write_bytes(line({"sessionId": "s", "tokens": 7}))
    settings = settings_of_page()
    settings["agents"]["defaults"]["memorySearch"]["sessions"]["paths"] = folders_of_page()
    save_settings(home, settings)

    indexed = run("index")
    assert indexed.stderr.splitlines() == [
        "left out: sessions/qwen/usage.jsonl: it is not a transcript of a host that Notewell knows"
    ]
    hits = json.loads(run("search", "quince", "--json", "--max-results", "9").stdout)["results"]
    assert sorted(hit["path"] for hit in hits) == [
        "sessions/claude-code/-shop/a.jsonl",
        "sessions/codex/2026/10/04/rollout-b.jsonl",
        "sessions/copilot/e/events.jsonl",
        "sessions/gemini/shop/chats/session-c.jsonl",
        "sessions/openclaw/openclaw-agent.sqlite/s-1.jsonl",
        "sessions/opencode/opencode.db/ses_1.jsonl",
        "sessions/qwen/-shop/chats/d.jsonl",
    ]
