"""An existing OpenClaw: its configuration, its agents and their folders, read only.

Keys that would make Notewell write into OpenClaw's folders (its index, its model cache, its
exports) are not used, nor are keys that are not about memory. Every key of the file has a finding:
`taken` if it has an effect, else `left` with the reason.

Two spellings are understood. Earlier versions have the keys where ours are; since 2026.9

    memory.search                    is our  agents.defaults.memorySearch
    agents.entries.<id>              is our  agents.list[] with that id
    agents.entries.<id>.memory.search        its memorySearch
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.config.agents import RULES
from notewell.config.checks import Unused
from notewell.config.document import (
    ConfigFinding,
    Document,
    Located,
    plain,
    shown,
)
from notewell.config.layers import read_document
from notewell.config.paths import expanded, home
from notewell.config.provider_entries import why_unused
from notewell.config.resolve import ConfigScope, read_configuration
from notewell.config.secret_values import masked
from notewell.config.validate import below_agent, check_document, dotted
from notewell.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.config.document import FindingKind
    from notewell.config.resolve import AgentConfig, Configuration
    from notewell.config.validate import Layer, Setting

STATE_FOLDERS = (".openclaw", ".clawdbot", ".moltbot")
"""OpenClaw's names, newest first; the first folder that exists is used, as OpenClaw does."""
CONFIG_NAMES = (
    "openclaw.json",
    "openclaw.json5",
    "openclaw.yaml",
    "config.yaml",
    "clawdbot.json",
    "moltbot.json",
)
LEFT = {
    "memorySearch.store.path": "that is OpenClaw's index; Notewell keeps its own",
    "memorySearch.store.vector.extensionPath": "Notewell does not load OpenClaw's libraries",
    "memorySearch.store.fts": "Notewell segments every script itself",
    "memorySearch.local.modelCacheDir": "Notewell downloads nothing into OpenClaw's folders",
    "memorySearch.multimodal": "Notewell indexes Markdown only",
    "memory.qmd.sessions.exportDir": "Notewell writes nothing into OpenClaw's folders",
    "plugins.entries.memory-lancedb.config.dbPath": "that is OpenClaw's; Notewell keeps its own",
    "$include": "included files are not read: name them instead",
}
_FLAT = {"chunkSize": "chunking.tokens", "chunkOverlap": "chunking.overlap",
         "maxResults": "query.maxResults"}  # fmt: skip
"""Keys that very early files had one level higher."""


@dataclass(frozen=True, slots=True)
class OpenClawAgent:
    config: AgentConfig
    transcripts: Path
    """The folder of its sessions, one JSON-lines file each; may not exist."""
    database: Path
    """Where later versions keep them; may not exist."""

    def session_folders(self) -> tuple[tuple[Path, str], ...]:
        """The folders with its sessions, each with a name."""
        files = (self.transcripts, "openclaw")
        if not self.database.is_file():
            return (files,)
        stored = (self.database.parent, "openclaw-agent")
        return (files, stored) if self.transcripts.is_dir() else (stored,)


@dataclass(frozen=True, slots=True)
class OpenClaw:
    config_file: Path | None
    state_dir: Path
    agents: Mapping[str, OpenClawAgent]
    configuration: Configuration
    findings: tuple[ConfigFinding, ...]
    """Which keys are used, which are not, and why."""


def from_openclaw(
    path: Path | None = None, environment: Mapping[str, str] = os.environ
) -> OpenClaw:
    """The OpenClaw at `path` (its configuration file or its state folder), or the user's own."""
    env = _environment(environment)
    state_dir, file = _places(path, env)
    document = read_document(file) if file else Document(str(state_dir), Located({}, 1))
    # OpenClaw uses its own `env` block only for variables that the environment does not have.
    env = {**_own_variables(document.root), **env}
    ours = document._replace(root=with_our_keys(document.root))
    layer = check_document(ours, "openclaw", env, LEFT)
    configuration = read_configuration(ConfigScope(), env, layer)
    taken = _taken(layer, configuration)
    agents = {
        id_: _agent(configuration, config, state_dir)
        for id_, config in configuration.agents.items()
    }
    configuration = replace(
        configuration, agents={id_: agent.config for id_, agent in agents.items()}
    )
    findings = (*configuration.findings, *taken)
    return OpenClaw(file, state_dir, agents, configuration, findings)


# -- where it is ---------------------------------------------------------------------------------


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment as OpenClaw sees it: OPENCLAW_HOME replaces the user's folder."""
    named = environment.get("OPENCLAW_HOME")
    return {**environment, "HOME": named} if named else dict(environment)


def _places(path: Path | None, environment: Mapping[str, str]) -> tuple[Path, Path | None]:
    """The state folder and the configuration file, named by the caller or the environment."""
    state_dir = environment.get("OPENCLAW_STATE_DIR")
    here = Path.cwd()
    # A file that does not exist is reported by `read_document`, with its name.
    if path is not None and not path.is_dir():
        state = expanded(state_dir, environment, here) if state_dir else path.parent
        return state, path
    if path is not None:
        return path, _config_in(path)
    state = expanded(state_dir, environment, here) if state_dir else _state_at_home(environment)
    config_path = environment.get("OPENCLAW_CONFIG_PATH")
    return state, expanded(config_path, environment, here) if config_path else _config_in(state)


def _state_at_home(environment: Mapping[str, str]) -> Path:
    folders = [home(environment) / name for name in STATE_FOLDERS]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def _config_in(state: Path) -> Path | None:
    files = (state / name for name in CONFIG_NAMES)
    return next((file for file in files if file.is_file()), None)


# -- its spelling --------------------------------------------------------------------------------


def with_our_keys(root: Located) -> Located:
    """The same values under Notewell's keys, each with its own line."""
    top = _members(root)
    memory = _members(top.get("memory"))
    agents = _members(top.get("agents"))
    defaults = _members(agents.get("defaults"))
    # Newest spelling first: a file that was migrated by hand can have both.
    shared = [memory.pop("search", None), defaults.pop("memorySearch", None),
              top.pop("memorySearch", None)]  # fmt: skip
    line = next((value.line for value in shared if value), 1)
    if any(shared):
        defaults["memorySearch"] = Located(_merged_search(shared), line)
    if defaults:
        agents["defaults"] = Located(defaults, line)
    entries = _entries(agents)
    if entries:
        agents["list"] = Located(entries, entries[0].line)
    # `_members` made copies, so the changed sections must be put back.
    for name, members in (("memory", memory), ("agents", agents)):
        if members:
            top[name] = Located(members, top[name].line if name in top else line)
    return Located(top, root.line)


def _members(value: Located | None) -> dict[str, Located]:
    return dict(value.data) if value and isinstance(value.data, dict) else {}


def _entries(agents: dict[str, Located]) -> list[Located]:
    """The agents as a list; `entries` wins over `list`, as in OpenClaw."""
    listed = agents.get("list")
    named = agents.pop("entries", None)
    if named and isinstance(named.data, dict):
        entries = [
            Located({"id": Located(id_, entry.line), **_members(entry)}, entry.line)
            for id_, entry in named.data.items()
        ]
    else:
        entries = listed.data if listed and isinstance(listed.data, list) else []
    return [_entry(entry) for entry in entries]


def _entry(value: Located) -> Located:
    members = _members(value)
    memory = _members(members.pop("memory", None))
    shared = [memory.pop("search", None), members.pop("memorySearch", None)]
    line = next((search.line for search in shared if search), value.line)
    if any(shared):
        members["memorySearch"] = Located(_merged_search(shared), line)
    return Located(members, value.line)


def _merged_search(sections: list[Located | None]) -> dict[str, Located]:
    """One `memorySearch` made from several; the first section that has a key wins."""
    search: dict[str, Located] = {}
    for section in sections:
        search = {**_members(section), **search}
    # Some versions have `cache` below `store`.
    store = _members(search.get("store"))
    if "cache" in store and "cache" not in search:
        search["cache"] = store.pop("cache")
        search["store"] = Located(store, search["store"].line)
    for flat, path in _FLAT.items():
        if flat in search:
            above, name = path.split(".")
            value = search.pop(flat)
            # A nested value, which is the newer spelling, wins over the flat one.
            members = _members(search.get(above))
            search[above] = Located({name: value, **members}, value.line)
    return search


def _own_variables(root: Located) -> dict[str, str]:
    """The variables of the file's own `env` block; they can also be in `env.vars`."""
    block = plain(_members(root).get("env", Located({}, 1)))
    variables = block if isinstance(block, dict) else {}
    inner = variables.get("vars")
    # What is not text, `vars` itself for example, is no variable.
    variables = {**(inner if isinstance(inner, dict) else {}), **variables}
    return {name: text for name, text in variables.items() if isinstance(text, str)}


# -- what comes of it ----------------------------------------------------------------------------


def _taken(layer: Layer, configuration: Configuration) -> list[ConfigFinding]:
    """Every value of the file: taken, or left because it has no effect."""
    findings = []
    # `read_configuration` has reported providers that we do not have, and values without effect.
    reported = {
        (finding.line, finding.key) for finding in configuration.findings if finding.kind == "left"
    }
    # Of a list of rules there is one finding for all that is in it.
    lists = tuple(key for _, key in reported if key in RULES)
    for setting in layer.settings:
        key = dotted(setting.path)
        if (setting.line, below_agent(setting.path)) in reported or key.startswith(lists):
            continue
        reason = _without_effect(setting, configuration)
        message = reason or f"taken: {shown(masked(setting.value))}"
        kind: FindingKind = "left" if reason else "taken"
        findings.append(ConfigFinding(kind, layer.file, setting.line, key, message))
    return sorted(findings, key=lambda finding: finding.line)


def _without_effect(setting: Setting, configuration: Configuration) -> str | None:
    """Why the value changes nothing; None if it does."""
    path = setting.path
    if isinstance(setting.key.check, Unused):
        about_memory = path[0] == "plugins"
        return f"not used: {setting.key.meaning}" if about_memory else "not about memory"
    if path[0] == "bindings" and f"bindings[{path[1]}]" not in configuration.origins:
        return f"not used: bindings[{path[1]}] is not"
    agents = [agent.values for agent in configuration.agents.values()]
    return why_unused(path, agents, configuration.providers)


def _agent(configuration: Configuration, config: AgentConfig, state_dir: Path) -> OpenClawAgent:
    if config.workspace is None:
        workspace = _default_workspace(configuration, config.id, state_dir)
        values = {**config.values, "workspace": str(workspace)}
        origins = {**config.origins, "workspace": "OpenClaw's default"}
        config = replace(config, workspace=workspace, values=values, origins=origins)
    folder = state_dir / "agents" / config.id
    return OpenClawAgent(config, folder / "sessions", folder / "agent" / "openclaw-agent.sqlite")


def _default_workspace(configuration: Configuration, id_: str, state_dir: Path) -> Path:
    if id_ == configuration.default_agent:
        return state_dir / "workspace"
    # Some versions put the folders of other agents inside the default agent's.
    default = configuration.agents[configuration.default_agent].workspace
    below = default / id_ if default else None
    return below if below and below.is_dir() else state_dir / f"workspace-{id_}"
