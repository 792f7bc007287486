"""`notewell install`: tools and hooks of a host at once, and nothing without a yes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from notewell.cli.host_presence import hosts_of
from notewell.hosts import Machine
from notewell.sessions import kept_dir


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
    return run(home, words(home, *more))


def uninstall(home: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return run(home, [sys.executable, "-m", "notewell", "uninstall", *more])


def run(home: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environ(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def state_of(home: Path) -> Path:
    return home / ".local" / "state" / "notewell"


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
    assert set(hooks) == {"SessionStart", "PreCompact", "SessionEnd", "UserPromptSubmit", "Stop"}
    assert hooks["UserPromptSubmit"][0]["hooks"][0]["command"].endswith(" --recall")


def test_the_recall_of_each_prompt_can_be_declined(home: Path) -> None:
    assert install(home, "claude", "--no-recall").returncode == 0
    hooks = json.loads((home / ".claude" / "settings.json").read_text(encoding="utf-8"))["hooks"]
    assert set(hooks) == {"SessionStart", "PreCompact", "SessionEnd", "Stop"}


@pytest.mark.parametrize(
    ("host", "file", "event"),
    [
        ("claude", ".claude/settings.json", "UserPromptSubmit"),
        ("codex", ".codex/hooks.json", "UserPromptSubmit"),
        ("gemini", ".gemini/settings.json", "BeforeAgent"),
        ("qwen", ".qwen/settings.json", "UserPromptSubmit"),
        ("copilot", ".copilot/hooks/notewell.json", "userPromptSubmitted"),
    ],
)
def test_a_second_install_adds_or_removes_the_recall_of_each_prompt(
    home: Path, host: str, file: str, event: str
) -> None:
    def text() -> str:
        return (home / file).read_text(encoding="utf-8")

    assert install(home, host).returncode == 0
    with_recall = text()
    assert event in json.loads(with_recall)["hooks"]
    declined = install(home, host, "--no-recall")
    assert declined.returncode == 0, declined.stderr
    assert "now calls this memory" in declined.stdout
    assert event not in json.loads(text())["hooks"]
    assert "calls this memory already" in install(home, host, "--no-recall").stdout
    assert install(home, host).returncode == 0
    assert text() == with_recall


def test_a_second_install_leaves_hooks_of_others_and_of_other_notes(home: Path) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    mine = {"hooks": [{"type": "command", "command": "mine --recall"}]}
    settings.write_text(json.dumps({"hooks": {"UserPromptSubmit": [mine]}}), encoding="utf-8")
    others = home.parent / "other notes"
    others.mkdir()
    command = [sys.executable, "-m", "notewell", "hook", "install", "claude", "-w"]
    assert run(home, [*command, str(others)]).returncode == 0
    assert run(home, [*command, str(home.parent / "notes")]).returncode == 0
    assert run(home, [*command, str(home.parent / "notes"), "--no-recall"]).returncode == 0
    hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
    first, second = hooks["UserPromptSubmit"]
    assert first == mine
    assert "other notes" in second["hooks"][0]["command"]
    assert len(hooks["SessionStart"]) == 2


def test_hooks_with_the_options_of_an_earlier_install_are_replaced(home: Path) -> None:
    notes = str(home.parent / "notes")
    command = [sys.executable, "-m", "notewell", "hook", "install", "claude", "-w", notes]
    assert run(home, [*command, "--state-dir", str(home / "earlier")]).returncode == 0
    assert run(home, [*command, "--state-dir", str(home / "later")]).returncode == 0
    text = (home / ".claude" / "settings.json").read_text(encoding="utf-8")
    assert "earlier" not in text
    assert {len(entries) for entries in json.loads(text)["hooks"].values()} == {1}


def test_copilot_saves_a_conversation_whose_transcript_it_does_not_name(home: Path) -> None:
    assert install(home, "copilot").returncode == 0
    file = home / ".copilot" / "hooks" / "notewell.json"
    hooks = json.loads(file.read_text(encoding="utf-8"))["hooks"]
    session = "7801593f-016e-45dd-a2bf-88b8fa25a521"
    events = home / ".copilot" / "session-state" / session / "events.jsonl"
    events.parent.mkdir(parents=True)
    start = {"type": "session.start", "id": "a", "data": {"sessionId": session}}
    said = {"type": "user.message", "id": "b", "data": {"content": "We ship on Friday."}}
    events.write_text(f"{json.dumps(start)}\n{json.dumps(said)}\n", encoding="utf-8")

    def call(event: str, **fields: str) -> str:
        return subprocess.run(
            hooks[event][0]["command"].split(),
            env=environ(home),
            input=json.dumps({"sessionId": session, "cwd": "/x", **fields}),
            encoding="utf-8",
            capture_output=True,
            check=True,
        ).stdout

    (home.parent / "notes" / "MEMORY.md").write_text("The router is a Fritzbox.\n", "utf-8")
    assert "Fritzbox" in json.loads(call("sessionStart", source="new"))["additionalContext"]
    prompt = call("userPromptSubmitted", prompt="Which router do we have?")
    assert "MEMORY.md#L1" in json.loads(prompt)["additionalContext"]
    assert call("sessionEnd", reason="complete") == ""
    notes = (home.parent / "notes" / "memory").glob("*.md")
    assert any("We ship on Friday." in note.read_text(encoding="utf-8") for note in notes)


def test_a_host_that_needs_the_plugin_names_its_command(home: Path) -> None:
    done = install(home, "opencode")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "OpenCode now knows this memory\n"
    command = "`opencode plugin --global CHECKOUT/plugins/opencode`"
    assert command in done.stderr
    [opencode] = json.loads(install(home, "opencode", "--json").stdout)["hosts"]
    assert [line for line in opencode["advice"] if command in line]
    refused = install(home, "openclaw")
    assert refused.returncode == 2
    assert "`openclaw plugins install CHECKOUT/plugins/openclaw" in refused.stderr
    assert "nothing was changed" in refused.stderr
    assert sorted(path.name for path in home.iterdir()) == [".config", ".local"]


def test_the_hooks_of_a_project_name_the_command_for_the_tools(home: Path) -> None:
    done = install(home, "copilot", "--project", str(home))
    assert done.returncode == 0, done.stderr
    assert (home / ".github" / "hooks" / "notewell.json").is_file()
    assert "`notewell mcp install copilot`" in done.stderr
    assert "only if you trust its folder" in done.stderr
    assert not (home / ".copilot").exists()


def test_a_host_without_hooks_says_so(home: Path) -> None:
    done = install(home, "cline")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Cline now knows this memory\n"
    assert "neither recall nor capture" in done.stderr


def test_nothing_is_changed_without_a_terminal_or_yes(home: Path) -> None:
    make_program(home, "codex")
    make_program(home, "cn")
    refused = install(home)
    assert refused.returncode == 2
    assert "found codex, continue" in refused.stderr
    assert list(home.iterdir()) == []
    done = install(home, "--yes")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in home.iterdir()) == [".codex", ".continue", ".local"]


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
    assert sorted(path.name for path in home.iterdir()) == [".local", ".qwen"]


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


def all_commands(hooks: dict[str, Any]) -> list[str]:
    return [item["hooks"][0]["command"] for items in hooks.values() for item in items]


def test_install_says_what_is_kept_and_where_and_how_to_decline(home: Path) -> None:
    done = install(home, "claude")
    assert "kept from now on: what you and the assistant say, with secrets masked" in done.stderr
    folder = kept_dir(state_of(home), "main", (home.parent / "notes").resolve())
    assert str(folder) in done.stderr
    assert "does not leave this machine" in done.stderr
    assert "--notes-only" in done.stderr
    settings = home / ".claude" / "settings.json"
    hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
    assert all("--keep" in command for command in all_commands(hooks))
    # Declined later: the same hooks without it, none of them twice.
    done = install(home, "claude", "--notes-only")
    assert (
        "conversations are not kept: of a session that ends, the last 15 messages" in done.stderr
    )
    declined = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
    assert set(hooks) - set(declined) == {"Stop"}
    assert [len(items) for items in declined.values()] == [1] * len(declined)
    assert not any("--keep" in command for command in all_commands(declined))
    assert uninstall(home, "claude").returncode == 0
    assert not settings.exists()


def test_install_says_whether_the_memory_is_for_all_projects_or_for_one(home: Path) -> None:
    notes = (home.parent / "notes").resolve()
    done = install(home, "claude")
    assert (
        f"one memory for all projects: sessions in every folder belong to {notes}" in done.stderr
    )
    assert "--project DIR -w DIR" in done.stderr
    project = home / "shop"
    project.mkdir()
    done = install(home, "claude", "--project", str(project))
    assert f"sessions in {project} belong to the memory in {notes}, and no others" in done.stderr
    assert (project / ".mcp.json").is_file()


def test_install_names_a_remote_provider(home: Path) -> None:
    file = home.parent / "own.json"
    file.write_text(
        json.dumps({"agents": {"defaults": {"memorySearch": {"provider": "openai"}}}}),
        encoding="utf-8",
    )
    done = subprocess.run(
        words(home, "codex"),
        env={**environ(home), "NOTEWELL_CONFIG": str(file), "OPENAI_API_KEY": "sk-none"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "your settings send text to openai to compute vectors; this text, too" in done.stderr


def test_what_is_said_after_an_install_is_found(home: Path) -> None:
    """The hooks as they are installed, run as a host runs them."""
    assert install(home, "claude").returncode == 0
    settings = home / ".claude" / "settings.json"
    hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
    chat = home / "cc-1.jsonl"
    for number in range(30):
        role = ("user", "assistant")[number % 2]
        text = "the migration takes nine hours" if number == 0 else f"something else {number}"
        record = {
            "type": role, "uuid": f"u{number}", "sessionId": "cc-1",
            "timestamp": "2026-11-15T12:00:00Z", "message": {"role": role, "content": text},
        }  # fmt: skip
        with chat.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    for event in ("SessionStart", "Stop", "SessionEnd"):
        subprocess.run(
            shlex.split(hooks[event][0]["hooks"][0]["command"]),
            env=environ(home),
            input=json.dumps({"session_id": "cc-1", "transcript_path": str(chat)}),
            encoding="utf-8",
            capture_output=True,
            check=True,
        )
    notes = str(home.parent / "notes")
    ask = [sys.executable, "-m", "notewell", "search", "migration", "-w", notes]
    found = run(home, ask)
    assert "nine hours" in found.stdout
    assert "sessions/kept/claude-cc-1.jsonl" in found.stdout


def test_uninstall_takes_out_what_install_put_in(home: Path) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "model": "opus"\n}\n', encoding="utf-8")
    assert install(home, "claude").returncode == 0
    done = uninstall(home, "claude")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "Claude Code no longer knows this memory\nClaude Code no longer calls this memory\n"
    )
    assert settings.read_text(encoding="utf-8") == '{\n  "model": "opus"\n}\n'
    assert not (home / ".claude.json").exists()
    again = uninstall(home, "claude")
    assert again.returncode == 0
    assert "does not know" in again.stdout
    assert "does not call" in again.stdout


@pytest.mark.parametrize("host", ["gemini", "qwen"])
@pytest.mark.parametrize("text", [None, '{\n  "theme": "dark"\n}\n'])
def test_uninstall_leaves_one_file_for_tools_and_hooks_as_it_was(
    home: Path, host: str, text: str | None
) -> None:
    settings = home / f".{host}" / "settings.json"
    if text is not None:
        settings.parent.mkdir()
        settings.write_text(text, encoding="utf-8")
    assert install(home, host).returncode == 0
    done = uninstall(home, host)
    assert done.returncode == 0, done.stderr
    assert (settings.read_text(encoding="utf-8") if settings.exists() else None) == text


def test_uninstall_without_a_host_finds_those_that_have_the_memory(home: Path) -> None:
    for host in ("codex", "cline"):
        assert install(home, host).returncode == 0
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{}", encoding="utf-8")
    refused = uninstall(home)
    assert refused.returncode == 2
    assert "found codex, cline:" in refused.stderr
    done = uninstall(home, "--yes")
    assert done.returncode == 0, done.stderr
    assert "Cline no longer knows" in done.stdout
    assert "Gemini" not in done.stdout
    nothing = uninstall(home, "--yes")
    assert nothing.returncode == 3
    assert "no host of this machine has this memory" in nothing.stderr


OPENCLAW = """{
  "plugins": {
    "entries": {"notewell": {"enabled": true}, "memory-core": {"enabled": false}},
    "slots": {"memory": "notewell"}
  }
}
"""
"""As OpenClaw 2026.9.6 writes it when the plugin is installed."""


def test_uninstall_names_the_commands_that_take_out_the_plugin_of_openclaw(home: Path) -> None:
    done = uninstall(home, "openclaw")
    assert (done.returncode, done.stdout) == (
        0,
        "OpenClaw does not have the plugin of Notewell\n",
    ), done.stderr
    file = home / ".openclaw" / "openclaw.json"
    file.parent.mkdir()
    file.write_text(OPENCLAW, encoding="utf-8")
    for words in (["openclaw"], ["--yes"]):
        refused = uninstall(home, *words)
        assert refused.returncode == 2
        assert "`openclaw plugins uninstall notewell`" in refused.stderr
        assert "nothing was changed" in refused.stderr
    # As OpenClaw leaves it after that command.
    file.write_text(OPENCLAW.replace("true", "false"), encoding="utf-8")
    assert uninstall(home, "openclaw").returncode == 0
    assert uninstall(home, "--yes").returncode == 3


def test_uninstall_says_that_a_plugin_is_left(home: Path) -> None:
    assert install(home, "claude").returncode == 0
    file = home / ".claude" / "settings.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    plugins = {"enabledPlugins": {"notewell@notewell": True}}
    file.write_text(json.dumps({**document, **plugins}), encoding="utf-8")
    done = uninstall(home, "claude", "--json")
    assert done.returncode == 0, done.stderr
    [claude] = json.loads(done.stdout)["hosts"]
    assert claude["tools"]["changed"]
    [advice] = claude["advice"]
    assert "`claude plugin uninstall notewell@notewell`" in advice
    assert json.loads(file.read_text(encoding="utf-8")) == plugins


def test_json_says_what_was_done_to_each_file(home: Path) -> None:
    done = install(home, "codex", "--json")
    assert done.returncode == 0, done.stderr
    [codex] = json.loads(done.stdout)["hosts"]
    state = state_of(home)
    new_file: dict[str, Any] = {"changed": True, "backup": None, "keptBackups": []}
    assert codex == {
        "host": "codex",
        "tools": {"file": f"{home}/.codex/config.toml", **new_file},
        "hooks": {"file": f"{home}/.codex/hooks.json", **new_file},
        "kept": str(kept_dir(state, "main", (home.parent / "notes").resolve())),
        "advice": ["Codex runs a new hook once you trust it: type /hooks there"],
        "error": None,
    }
    gone = uninstall(home, "codex", "--json")
    [codex] = json.loads(gone.stdout)["hosts"]
    assert codex["tools"]["changed"]
    assert codex["tools"]["backup"] is None
    assert codex["hooks"]["changed"]
    assert json.loads(uninstall(home, "--json").stdout)["hosts"] == []


def test_a_host_that_fails_does_not_stop_the_others(home: Path) -> None:
    (home / ".claude.json").write_text("not JSON", encoding="utf-8")
    make_program(home, "codex")
    done = install(home, "--yes", "--json")
    assert done.returncode == 2
    claude, codex = json.loads(done.stdout)["hosts"]
    assert claude["error"]["kind"] == "CannotMerge"
    assert claude["tools"] is None
    assert codex["tools"]["changed"]
    assert codex["error"] is None
    assert "notewell: claude:" in done.stderr
    assert (home / ".codex" / "config.toml").exists()


def test_the_entry_of_an_older_install_names_the_command_that_removes_it(home: Path) -> None:
    assert install(home, "claude").returncode == 0
    before = (home / ".claude.json").read_text(encoding="utf-8")
    older = install(home, "claude", "--state-dir", str(home / "elsewhere"))
    assert older.returncode == 2
    assert "`notewell mcp uninstall claude`" in older.stderr
    assert (home / ".claude.json").read_text(encoding="utf-8") == before
    (home / ".claude.json").write_text(
        '{"mcpServers": {"notewell": {"command": "mine"}}}', encoding="utf-8"
    )
    foreign = install(home, "claude")
    assert foreign.returncode == 2
    assert "another server named 'notewell'" in foreign.stderr
    assert "uninstall" not in foreign.stderr


def test_a_host_without_a_file_for_projects_says_so(home: Path) -> None:
    refused = install(home, "cline", "--project", str(home))
    assert refused.returncode == 2
    assert "leave out --project" in refused.stderr
    assert refused.stdout == ""
