"""The real hosts: how each one is told of the scripted model and run once without a person.

`notewell install` does the rest, as for a user; OpenClaw gets our plugin. The settings here only
replace a subscription (the address of the model and a key), switch off updates and telemetry, and
allow the tools that a person would allow with a key press.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.hosts.real.model import Proxy

Environ = dict[str, str]
PLUGIN = Path(__file__).parents[3] / "plugins" / "openclaw"


class Started(NamedTuple):
    """The command of one run, and what it needs besides the environment of every host."""

    command: list[str]
    environ: Environ = {}  # noqa: RUF012 - a default of a named tuple, never changed
    before: Sequence[list[str]] = ()
    """Commands of the host itself that must run first."""
    after: Sequence[list[str]] = ()
    """Commands of the host itself that end what it leaves running."""


class Program(NamedTuple):
    start: Callable[[Path, str, str], Started]
    """From the home folder, the address of the model, and the prompt."""
    proxy: Proxy | None = None
    catalogue: str | None = None
    """How the first request names a tool that is behind a proxy, with `{}` for our name."""
    install: Sequence[list[str]] | None = None
    """The commands that put Notewell into the host; None: `notewell install HOST`."""


def _write(file: Path, document: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=2), encoding="utf-8")


def _claude(home: Path, url: str, prompt: str) -> Started:
    environ = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    # The second name is that of the server of the plugin.
    allowed = ["--allowedTools", "mcp__notewell__*,mcp__plugin_notewell_notewell__*"]
    return Started(["claude", "-p", prompt, "--model", "claude-sonnet-4-5", *allowed], environ)


_CODEX = """\
model = "gpt-5.1-codex"
model_provider = "scripted"
approval_policy = "never"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
"""


def _codex(home: Path, url: str, prompt: str) -> Started:
    file = home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text(_CODEX.format(url=url), encoding="utf-8")
    # A person approves the hooks once, in `/hooks`.
    options = ["--dangerously-bypass-hook-trust", "--skip-git-repo-check"]
    return Started(["codex", "exec", *options, prompt], {"SCRIPTED_KEY": "x"})


def _opencode(home: Path, url: str, prompt: str) -> Started:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "x"},
        "models": {"scripted": {"limit": {"context": 200_000, "output": 8_000}}},
    }
    settings = {
        "model": "local/scripted",
        "small_model": "local/scripted",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"local": provider},
    }
    _write(home / ".config" / "opencode" / "opencode.json", settings)
    return Started(["opencode", "run", prompt])


def _gemini(home: Path, url: str, prompt: str) -> Started:
    settings = {
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "folderTrust": {"enabled": False},
        },
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(home / ".gemini" / "settings.json", settings)
    options = ["-m", "gemini-2.5-pro", "--approval-mode", "yolo", "--skip-trust"]
    environ = {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": url}
    return Started(["gemini", "-p", prompt, *options], environ)


def _qwen(home: Path, url: str, prompt: str) -> Started:
    settings = {
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "model": {"name": "scripted"},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(home / ".qwen" / "settings.json", settings)
    environ = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted"}
    return Started(["qwen", "-p", prompt, "--approval-mode", "yolo"], environ)


def _copilot(home: Path, url: str, prompt: str) -> Started:
    environ = {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "x",
        "COPILOT_MODEL": "gpt-5.1",
        "COPILOT_OFFLINE": "true",
    }
    options = ["--allow-all-tools", "--disable-builtin-mcps", "--no-auto-update"]
    return Started(["copilot", "-p", prompt, *options], environ)


def _cline(home: Path, url: str, prompt: str) -> Started:
    account = ["-p", "openai", "-k", "x", "-m", "scripted", "-b", f"{url}/v1"]
    run = ["cline", prompt, "-P", "openai-compatible", "-m", "scripted"]
    # It leaves a program behind that serves all its windows.
    return Started(run, before=[["cline", "auth", *account]], after=[["cline", "hub", "stop"]])


_CONTINUE = """\
name: Local
version: 1.0.0
schema: v1
models:
  - name: scripted
    provider: openai
    model: scripted
    apiBase: {url}/v1
    apiKey: x
    roles: [chat]
"""


def _continue(home: Path, url: str, prompt: str) -> Started:
    file = home / ".continue" / "config.yaml"
    file.parent.mkdir()
    file.write_text(_CONTINUE.format(url=url), encoding="utf-8")
    return Started(["cn", "-p", "--config", str(file), "--auto", prompt])


def _openclaw(home: Path, url: str, prompt: str) -> Started:
    model = {"id": "scripted", "name": "scripted", "contextWindow": 200_000, "maxTokens": 8_000}
    provider = {
        "baseUrl": f"{url}/v1",
        "apiKey": "x",
        "api": "openai-completions",
        "models": [model],
    }
    agent = {
        "workspace": str(home / "notes"),
        "model": {"primary": "local/scripted"},
        "skipBootstrap": True,
    }
    settings = {
        "agents": {"defaults": agent},
        "models": {"mode": "merge", "providers": {"local": provider}},
    }
    _write(home / ".openclaw" / "openclaw.json", settings)
    return Started(["openclaw", "agent", "--local", "--session-id", "check", "--message", prompt])


PROGRAMS = {
    "claude": Program(_claude),
    "codex": Program(_codex),
    "openclaw": Program(
        _openclaw,
        Proxy("tool_call", "id", "args", "{}"),
        "- {} (notewell)",
        install=[
            ["openclaw", "plugins", "install", str(PLUGIN), "--force", "--accept-capabilities"],
            ["openclaw", "plugins", "disable", "memory-core"],
        ],
    ),
    "opencode": Program(_opencode),
    "gemini": Program(_gemini),
    "qwen": Program(
        _qwen,
        Proxy("tool_call", "name", "arguments", "mcp__notewell__{}"),
        "mcp__notewell__{}",
    ),
    "copilot": Program(_copilot),
    "cline": Program(_cline),
    "continue": Program(_continue),
}
