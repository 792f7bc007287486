"""The plugins in `plugins/`, written from what `notewell install` writes.

python -m scripts.host_plugins

Entries, events and time limits are those that `notewell mcp install HOST --print` and
`notewell hook install HOST --print` show. Only the program and the folders differ: a plugin cannot
know where they are, so it runs `notewell.sh`, which lies beside it. `plugins/common` has what all
plugins share; a host copies the folder of one plugin, so each has a copy of it.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from notewell import __version__
from notewell.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
COMMON = ROOT / "plugins" / "common"

NAME = "notewell"
TITLE = "Notewell"
DESCRIPTION = (
    "A memory in your own Markdown notes: recalled at the start, searched by tools, "
    "conversations saved."
)
SCRIPT = "notewell.sh"
WORKSPACE = "NOTEWELL_WORKSPACE"
SETTING = (
    "The folder of your notes, for example ~/notes. "
    "Empty: the folder that the settings of Notewell name."
)
PLACE = ("--workspace", "--state-dir", "--config", "--embedder")
"""Options of an installed entry that a plugin cannot know, each with a value."""
PASSED = (
    WORKSPACE,
    "NOTEWELL_STATE_DIR",
    "NOTEWELL_CONFIG",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
)
"""Codex passes few variables to a server, but all of them to a hook: with these, both use the same
folders. No variable with a key is among them."""


def files() -> dict[str, str]:
    """Every generated file: its path in the repository, and its text."""
    return dict([*_claude(), *_codex(), *_gemini()])


def write() -> None:
    for name, text in files().items():
        file = ROOT / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        # Git keeps this bit; a host runs the script with `sh` in any case.
        file.chmod(0o755 if file.name == SCRIPT else 0o644)


# -- one function for each host ------------------------------------------------------------------


def _claude() -> Iterator[tuple[str, str]]:
    root = "plugins/claude-code"
    plugin = {
        **_identity(),
        "author": {"name": TITLE},
        "license": "MIT",
        "keywords": ["memory", "notes", "markdown", "search"],
        "userConfig": {
            "workspace": {
                "type": "directory",
                "title": "Folder of notes",
                "description": SETTING,
                "required": False,
            },
            "recall": {
                "type": "boolean",
                "title": "Recall for each prompt",
                "description": "Add what your notes say about a prompt to the prompt.",
                "default": True,
                "required": False,
            },
        },
    }
    server = {
        **_server("claude", "${CLAUDE_PLUGIN_ROOT}"),
        # Under the name that hooks get it with, so that both find the same folder.
        "env": {"CLAUDE_PLUGIN_OPTION_WORKSPACE": "${user_config.workspace}"},
    }
    entry = {"name": NAME, "source": f"./{root}", "description": DESCRIPTION}
    market = {
        "name": NAME,
        "owner": {"name": TITLE},
        "metadata": {"description": DESCRIPTION},
        "plugins": [{**entry, "version": __version__, "category": "productivity"}],
    }
    yield ".claude-plugin/marketplace.json", _json(market)
    yield f"{root}/.claude-plugin/plugin.json", _json(plugin)
    yield f"{root}/.mcp.json", _json({"mcpServers": {NAME: server}})
    yield f"{root}/hooks/hooks.json", _hooks("claude", "${CLAUDE_PLUGIN_ROOT}")
    yield from _common(root)


def _codex() -> Iterator[tuple[str, str]]:
    root = "plugins/codex"
    plugin = {
        **_identity(),
        "skills": "./skills/",
        "mcpServers": "./.mcp.json",
        "hooks": "./hooks/hooks.json",
        "interface": {
            "displayName": TITLE,
            "shortDescription": "A memory in your own Markdown notes",
            "longDescription": DESCRIPTION,
            "developerName": TITLE,
            "category": "Productivity",
            "capabilities": ["Read", "Write"],
        },
    }
    # A relative `cwd` is below the folder of the plugin, and no variable names that folder here.
    server = {
        **_server("codex", "."),
        "cwd": ".",
        "env_vars": list(PASSED),
    }
    entry = {
        "name": NAME,
        "source": {"source": "local", "path": f"./{root}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    market = {"name": NAME, "interface": {"displayName": TITLE}, "plugins": [entry]}
    yield ".agents/plugins/marketplace.json", _json(market)
    yield f"{root}/.codex-plugin/plugin.json", _json(plugin)
    yield f"{root}/.mcp.json", _json({"mcpServers": {NAME: server}})
    yield f"{root}/hooks/hooks.json", _hooks("codex", "${PLUGIN_ROOT}")
    yield from _common(root)


def _gemini() -> Iterator[tuple[str, str]]:
    root = "plugins/gemini"
    setting = {
        "name": "Folder of notes",
        "description": SETTING,
        "envVar": WORKSPACE,
        "sensitive": False,
    }
    server = _server("gemini", "${extensionPath}")
    extension = {
        **_identity(),
        "mcpServers": {NAME: {**server, "env": {WORKSPACE: f"${{{WORKSPACE}}}"}}},
        "settings": [setting],
    }
    yield f"{root}/gemini-extension.json", _json(extension)
    yield f"{root}/hooks/hooks.json", _hooks("gemini", "${extensionPath}")
    yield from _common(root)


# -- what they have in common --------------------------------------------------------------------


def _identity() -> dict[str, Any]:
    return {"name": NAME, "version": __version__, "description": DESCRIPTION}


def _server(host: str, folder: str) -> dict[str, Any]:
    """The entry that `notewell mcp install` writes, with the command of the plugin."""
    entry: dict[str, Any] = _printed("mcp", "install", host)["entry"]
    words = _without_place([entry["command"], *entry["args"]], "mcp")
    return {**entry, "command": "sh", "args": [f"{folder}/{SCRIPT}", *words]}


def _hooks(host: str, folder: str) -> str:
    """The hooks that `notewell hook install` writes, each with the command of the plugin."""
    # Whoever installs a plugin is not told that conversations are kept, so they are not.
    entries = _printed("hook", "install", host, "--notes-only")["entries"]
    hooks: dict[str, Any] = entries["hooks"]
    for hook in (hook for groups in hooks.values() for group in groups for hook in group["hooks"]):
        words = _without_place(shlex.split(hook["command"]), "hook")
        # Quoted: the folder is below the home of the user, whose name may have a space.
        hook["command"] = f'sh "{folder}/{SCRIPT}" {shlex.join(words)}'
    return _json({"hooks": hooks})


def _printed(*words: str) -> dict[str, Any]:
    """What a command of Notewell prints as JSON for a user without any settings."""
    with tempfile.TemporaryDirectory() as home:
        printed = io.StringIO()
        with (
            patch.dict(os.environ, {"HOME": home}, clear=True),
            redirect_stdout(printed),
            redirect_stderr(io.StringIO()),
        ):
            main([*words, "--print", "--json", "--workspace", home])
    document: dict[str, Any] = json.loads(printed.getvalue())
    return document


def _without_place(command: list[str], first: str) -> list[str]:
    """The words of a command from the first one on, without the options that name a place."""
    words = iter(command[command.index(first) :])
    kept = []
    for word in words:
        if word in PLACE:
            next(words)
        else:
            kept.append(word)
    return kept


def _common(root: str) -> Iterator[tuple[str, str]]:
    yield f"{root}/{SCRIPT}", (COMMON / SCRIPT).read_text(encoding="utf-8")
    yield f"{root}/skills/memory/SKILL.md", (COMMON / "SKILL.md").read_text(encoding="utf-8")


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    write()
