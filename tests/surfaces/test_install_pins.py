"""Hosts start programs in an environment of their own; an installed entry works there the same."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from mcp import Client, StdioServerParameters
from tests.surfaces.tool_text import cited, text_of

from notewell.embedders import EmbedderSettings, choose_embedder
from notewell.errors import BadSetting

SECRET = "sk-this-must-not-be-written"
STRIPPED = {"PATH": os.environ["PATH"], "PYTHONWARNDEFAULTENCODING": "1"}


class Home(NamedTuple):
    folder: Path
    notes: Path
    state: Path

    def install(self, *words: str, **environ: str) -> None:
        ended = subprocess.run(
            [sys.executable, "-m", "notewell", *words, "-w", str(self.notes)],
            env={
                **STRIPPED,
                "HOME": str(self.folder),
                "NOTEWELL_STATE_DIR": str(self.state),
                "OPENAI_API_KEY": SECRET,
                **environ,
            },
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert ended.returncode == 0, ended.stderr

    def codex_entry(self) -> dict[str, Any]:
        text = (self.folder / ".codex" / "config.toml").read_text(encoding="utf-8")
        entry: dict[str, Any] = tomllib.loads(text)["mcp_servers"]["notewell"]
        return entry

    def files(self) -> str:
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "MEMORY.md").write_text("# Memory\n\nWe keep readings in SQLite.\n", encoding="utf-8")
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home", notes, tmp_path / "moved state")


def option(words: list[str], name: str) -> str | None:
    return words[words.index(name) + 1] if name in words else None


def test_hosts_wait_for_the_server(home: Home) -> None:
    home.install("mcp", "install", "claude")
    home.install("mcp", "install", "codex")
    claude = json.loads((home.folder / ".claude.json").read_text(encoding="utf-8"))
    assert claude["mcpServers"]["notewell"]["alwaysLoad"] is True
    entry = home.codex_entry()
    assert (entry["required"], entry["startup_timeout_sec"]) == (True, 30)


def test_server_and_hooks_have_one_state_folder_without_the_variable(home: Home) -> None:
    home.install("mcp", "install", "codex")
    home.install("hook", "install", "codex")
    entry = home.codex_entry()
    environ = {**STRIPPED, "HOME": str(home.folder)}

    async def search() -> None:
        started = StdioServerParameters(
            command=entry["command"], args=entry["args"], env=environ, cwd=home.folder
        )
        with anyio.fail_after(120):
            async with Client(started, mode="legacy") as client:
                found = await client.call_tool("memory_search", {"query": "readings"})
                assert cited(text_of(found))[0].startswith("MEMORY.md#L")

    anyio.run(search)
    hooks = json.loads((home.folder / ".codex" / "hooks.json").read_text(encoding="utf-8"))
    command = hooks["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    ended = subprocess.run(
        shlex.split(command),
        env=environ,
        cwd=home.folder,
        input=b'{"session_id": "a"}',
        capture_output=True,
        check=True,
    )
    assert b"SQLite" in ended.stdout
    # The index of the server, and the heartbeat of the hook.
    assert list(home.state.rglob("*.sqlite"))
    assert list(home.state.rglob("heartbeat.json"))
    assert not (home.folder / ".local").exists()
    assert not (home.folder / "Library").exists()


def test_no_secret_is_written(home: Home) -> None:
    own = home.folder.parent / "own.json"
    search = {"useEnvironmentKeys": True}
    own.write_text(
        json.dumps({"agents": {"defaults": {"memorySearch": search}}}), encoding="utf-8"
    )
    home.install("mcp", "install", "codex", NOTEWELL_CONFIG=str(own))
    home.install("hook", "install", "claude", NOTEWELL_CONFIG=str(own))
    args = home.codex_entry()["args"]
    assert option(args, "--state-dir") == str(home.state)
    assert option(args, "--config") == str(own)
    # The user's own commands use the key of the environment; the entry has the name only.
    assert option(args, "--embedder") == "openai"
    assert SECRET not in home.files()


def test_settings_that_name_a_provider_are_not_pinned(home: Home) -> None:
    folder = home.folder.parent / "xdg" / "notewell"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(
        json.dumps({"agents": {"defaults": {"memorySearch": {"provider": "embedded"}}}}),
        encoding="utf-8",
    )
    home.install("mcp", "install", "codex", XDG_CONFIG_HOME=str(folder.parent))
    args = home.codex_entry()["args"]
    assert option(args, "--embedder") is None
    expected = None if sys.platform == "darwin" else str(folder / "config.json")
    assert option(args, "--config") == expected


def test_a_pinned_provider_is_not_replaced_and_replaces_no_index(tmp_path: Path) -> None:
    decision = choose_embedder(EmbedderSettings(pinned="openai"), tmp_path, {}).decision
    # `auto` as the request: an index of another model is kept.
    assert (decision.requested, decision.used) == ("auto", "openai")
    assert "OPENAI_API_KEY" in decision.why
    named = EmbedderSettings(provider="none", pinned="openai")
    assert choose_embedder(named, tmp_path, {}).decision.used == "none"
    embedded = choose_embedder(EmbedderSettings(pinned="embedded"), tmp_path, {}).decision
    assert (embedded.requested, embedded.used) == ("auto", "embedded")
    with pytest.raises(BadSetting, match="no provider is called 'opnai'"):
        choose_embedder(EmbedderSettings(pinned="opnai"), tmp_path, {})


@pytest.mark.parametrize(("host", "says"), [("claude", "approve"), ("codex", "trust")])
def test_an_entry_of_a_project_says_what_is_left_to_do(home: Home, host: str, says: str) -> None:
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "notewell", "mcp", "install", host),
            *("-w", str(home.notes), "--project", str(home.folder)),
        ],
        env={**STRIPPED, "HOME": str(home.folder)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert says in ended.stderr
