"""`docs/reference/settings.md`, generated from the table of settings.

python -m scripts.docs.settings_page > docs/reference/settings.md
"""
# ruff: noqa: E501 - a page has one sentence a line, however long it is

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from notewell.config.keys_memory import AGENT_KEYS, BINDING_KEYS, ENTRY_KEYS, GLOBAL_KEYS
from notewell.config.keys_search import SEARCH_KEYS
from notewell.config.registry import agent_keys, global_keys
from notewell.config.workspace_rules import is_allowed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from notewell.config.checks import Key

_HEAD = """# Settings

This page is generated from the table of settings in the code; `notewell config schema` prints the same as a JSON Schema for editors.
Each setting has [a test that shows its effect](settings-tests.md).

Settings come in layers, and a later layer wins:

1. the built-in defaults,
2. your own file: `$NOTEWELL_CONFIG`, else `config.json`, `.json5`, `.yaml` or `.yml` in the platform's folder for configuration (Linux: `~/.config/notewell/`, macOS: `~/Library/Application Support/notewell/`, Windows: `%APPDATA%\\notewell\\`),
3. the workspace's file: `notewell.json`, `.json5`, `.yaml` or `.yml` in its top folder,
4. the agent's entry in `agents.list`, in either file.

`notewell config show --origin` shows the file and line of each value.
`notewell config check` lists every problem in the files; for an unknown key it suggests the nearest known one.
It also names values that have no effect beside others, and folders, programs and keys that are missing on this machine.
A number outside its bounds is replaced by the nearest bound; a value of the wrong type is an error.
In your own file, `${NAME}` is replaced by the variable `NAME` of the environment. If it is not set, that is an error; in an
`apiKey` it means that the key is missing: `config check` and `status` name the variable, and search goes on without that provider.

A workspace's file may come with a folder from a stranger.
It can set only the keys marked **workspace**: ranking, chunks, paths inside the workspace, and `enabled: false`.
Every other key is ignored there; `config check` reports it as refused, and `status` and `index` name it.
A mistake in it does not stop a command: what it is about is ignored, with a notice, `index`, `search` and `status` exit with 5, and `config check` lists the mistakes.
A workspace can add extra paths; an empty list there does not clear yours.
A folder outside the workspace counts only after you have said yes: `notewell index` asks once on a terminal, and keeps your answer in `outside-folders.json` beside your own file.
"""

_SECTIONS: tuple[tuple[str, str, str, Iterable[Key]], ...] = (
    ("What is searched, and how", "agents.defaults.memorySearch", "An entry of `agents.list` "
     "can have its own `memorySearch`, whose keys win.", SEARCH_KEYS),
    ("Agents", "agents.defaults", "An entry of `agents.list` can have these, too.", AGENT_KEYS),
    ("Entries of `agents.list`", "agents.list[]", "Without entries there is one agent, `main`. "
     "OpenClaw's other keys (`name`, `model`, `tools`, …) are accepted and not used.",
     ENTRY_KEYS),
    ("Bindings", "bindings[]", "Which agent answers a message: the one bound to the peer, else "
     "to the account, else to the channel, else the default agent. "
     "`open_memory(channel=\"slack\", account=\"acme\", peer=(\"direct\", \"u7\"))` opens the memory of "
     "that agent.", BINDING_KEYS),
    ("Everything else", "", "Set once, for all agents.", GLOBAL_KEYS),
)  # fmt: skip


def settings_page() -> str:
    parts = [_HEAD]
    for title, above, text, keys in _SECTIONS:
        place = f"Below `{above}`. " if above else ""
        search = "memorySearch." if above.endswith("memorySearch") else ""
        rows = "\n".join(_row(key, f"{search}{key.path}") for key in keys)
        head = "| key | takes | default | meaning |\n|---|---|---|---|"
        parts.append(f"\n## {title}\n\n{place}{text}\n\n{head}\n{rows}\n")
    parts.append(f"\n{_PYTHON}\n{_fields()}\n")
    parts.append("\n" + _TAIL)
    return "".join(parts)


def _fields() -> str:
    """Each field of `Settings` with the keys that decide it."""
    keys: dict[str, list[str]] = {}
    for path, key in {**agent_keys(), **global_keys()}.items():
        if key.field:
            keys.setdefault(key.field, []).append(f"`{path}`")
    rows = (f"| `{field}` | {', '.join(paths)} |" for field, paths in sorted(keys.items()))
    return "\n".join(("| field | keys |", "|---|---|", *rows))


def _row(key: Key, path: str) -> str:
    marks = " **workspace**" if is_allowed(key._replace(path=path)) else ""
    marks += {"seed": "", "openclaw": " (later OpenClaw)", "ours": " (Notewell only)"}[key.since]
    return f"| `{key.path}` | {key.check.says} | {_shown(key.default)} | {key.meaning}{marks} |"


def _shown(default: object) -> str:
    if default is None or default in ((), {}):
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return ", ".join(f"`{item}`" for item in default)
    return f"`{default}`" if isinstance(default, str) else f"{default}".removesuffix(".0")


_PYTHON = """## From Python

`open_memory(workspace, settings=Settings(...))` uses no file.
`Settings` has a group for each package, and each group is a frozen dataclass that `notewell` exports (`NotesSettings`, `SessionSettings`, `StoreSettings`, `SyncSettings`, `SearchSettings`, `CaptureSettings`, `EmbedderSettings`, `QmdSettings`):

```python
from notewell import SearchSettings, Settings, SyncSettings

settings = Settings(search=SearchSettings(max_results=10), sync=SyncSettings(on_search=False))
```

`load_settings(workspace)` returns what the files say; `dataclasses.replace` changes it.
"""

_TAIL = """## Environment

| variable | meaning |
|---|---|
| `NOTEWELL_CONFIG` | your own file, instead of the one in the platform's folder |
| `NOTEWELL_STATE_DIR` | the folder of indexes and downloaded models; `--state-dir` wins over it |
| `XDG_CONFIG_HOME`, `XDG_STATE_HOME` | on Linux, the parents of the folders `notewell/` for configuration and state |
| `OPENCLAW_STATE_DIR`, `OPENCLAW_CONFIG_PATH`, `OPENCLAW_HOME` | where an existing OpenClaw is; OpenClaw uses the same variables |

## Coming from OpenClaw

`notewell config openclaw` reads an existing OpenClaw, in either spelling, and reports for each key whether it was taken or left, and why.
It writes nothing into OpenClaw's folders.

| later OpenClaw (2026.9) | here, and in earlier OpenClaw |
|---|---|
| `memory.search` | `agents.defaults.memorySearch` |
| `agents.entries.<id>` | `agents.list[]` with that `id` |
| `agents.entries.<id>.memory.search` | `agents.list[].memorySearch` |
"""

if __name__ == "__main__":
    sys.stdout.write(settings_page())
