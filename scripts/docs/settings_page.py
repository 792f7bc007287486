"""`docs/reference/settings.md`, written from the table.

python -m scripts.docs.settings_page > docs/reference/settings.md
"""
# ruff: noqa: E501 - a page has one sentence a line, however long it is

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from notewell.config.keys_memory import AGENT_KEYS, BINDING_KEYS, ENTRY_KEYS, GLOBAL_KEYS
from notewell.config.keys_search import SEARCH_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from notewell.config.checks import Key

_HEAD = """# Settings

This page is written from the table of settings in the code; `notewell config schema` prints the same for editors.

Settings come in layers, and a later one wins:

1. what is built in,
2. your own file: `$NOTEWELL_CONFIG`, else `config.json`, `.json5`, `.yaml` or `.yml` in the platform's folder for configuration (Linux: `~/.config/notewell/`, macOS: `~/Library/Application Support/notewell/`, Windows: `%APPDATA%\\notewell\\`),
3. the workspace's file: `notewell.json`, `.json5`, `.yaml` or `.yml` at its top,
4. the agent's entry in `agents.list`, of either file.

`notewell config show --origin` says which file and line each value comes from.
`notewell config check` names every problem of the files, an unknown key with the nearest known one.
A number outside its bounds is taken as the nearest bound; a value of the wrong type is an error.
In your own file `${NAME}` is filled in from the environment.

A workspace's file may come with a folder from a stranger.
Keys marked **own file** name a program, an address, a secret or another folder, and are refused there.
`extraPaths` that leave the workspace are taken, and `config check` points at them.
"""

_SECTIONS: tuple[tuple[str, str, str, Iterable[Key]], ...] = (
    ("What is searched, and how", "agents.defaults.memorySearch", "An entry of `agents.list` "
     "may have its own `memorySearch`, whose keys win.", SEARCH_KEYS),
    ("Agents", "agents.defaults", "An entry of `agents.list` may have these too.", AGENT_KEYS),
    ("Entries of `agents.list`", "agents.list[]", "Without any there is one agent, `main`. "
     "OpenClaw's other keys (`name`, `model`, `tools`, …) are accepted and not used.",
     ENTRY_KEYS),
    ("Bindings", "bindings[]", "Which agent answers a message: the one bound to the peer, else "
     "to the account, else to the channel, else the default agent.", BINDING_KEYS),
    ("Everything else", "", "Set once, for all agents.", GLOBAL_KEYS),
)  # fmt: skip


def settings_page() -> str:
    parts = [_HEAD]
    for title, above, text, keys in _SECTIONS:
        place = f"Below `{above}`. " if above else ""
        rows = "\n".join(_row(key) for key in keys)
        head = "| key | takes | default | meaning |\n|---|---|---|---|"
        parts.append(f"\n## {title}\n\n{place}{text}\n\n{head}\n{rows}\n")
    parts.append("\n" + _TAIL)
    return "".join(parts)


def _row(key: Key) -> str:
    marks = " **own file**" if key.own else ""
    marks += {"seed": "", "openclaw": " (later OpenClaw)", "ours": " (Notewell only)"}[key.since]
    return f"| `{key.path}` | {key.check.says} | {_shown(key.default)} | {key.meaning}{marks} |"


def _shown(default: object) -> str:
    if default is None or default in ((), {}):
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return ", ".join(f"`{one}`" for one in default)
    return f"`{default}`" if isinstance(default, str) else f"{default}".removesuffix(".0")


_TAIL = """## Environment

| variable | meaning |
|---|---|
| `NOTEWELL_CONFIG` | your own file, instead of the one in the platform's folder |
| `NOTEWELL_STATE_DIR` | where indexes and pulled models are kept; `--state-dir` wins over it |
| `XDG_CONFIG_HOME`, `XDG_STATE_HOME` | on Linux, where the folders `notewell/` for configuration and state are |
| `OPENCLAW_STATE_DIR`, `OPENCLAW_CONFIG_PATH`, `OPENCLAW_HOME` | where an OpenClaw to be read is, as OpenClaw has them |

## Coming from OpenClaw

`notewell config openclaw` reads an OpenClaw where it is, in either spelling, and says of each key whether it was taken or left and why.
Nothing of OpenClaw's is written to.

| later OpenClaw (2026.9) | here, and in earlier OpenClaw |
|---|---|
| `memory.search` | `agents.defaults.memorySearch` |
| `agents.entries.<id>` | `agents.list[]` with that `id` |
| `agents.entries.<id>.memory.search` | `agents.list[].memorySearch` |
"""

if __name__ == "__main__":
    sys.stdout.write(settings_page())
