"""An OpenClaw of the user's, read as it is: its configuration, its agents, their folders.

Nothing of it is written to: keys that would make us write into OpenClaw's folders (its index, its
model cache, its exports) are left, and so is all that is not about memory. Every key is accounted
for by a finding, `taken` or `left`.

Two spellings are understood. Earlier the settings were where ours still are; in 2026.9

    memory.search                    is our  agents.defaults.memorySearch
    agents.entries.<id>              is our  agents.list[] with that id
    agents.entries.<id>.memory.search        its memorySearch
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.config.checks import Unused
from notewell.config.layers import expanded
from notewell.config.paths import home
from notewell.config.positions import Document, Finding, Located, plain, shown
from notewell.config.read_file import read_document
from notewell.config.resolve import Asked, read_configuration
from notewell.config.secret import masked
from notewell.config.validate import Walked, dotted, walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.config.resolve import AgentConfig, Configuration

STATE_FOLDERS = (".openclaw", ".clawdbot", ".moltbot")
"""Newest name first; the first that is there is used, as OpenClaw does."""
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
    "memorySearch.store.vector.extensionPath": "Notewell loads no libraries of OpenClaw's",
    "memorySearch.store.fts": "Notewell segments every script itself",
    "memorySearch.local.modelCacheDir": "Notewell downloads nothing into OpenClaw's folders",
    "memorySearch.multimodal": "Notewell indexes Markdown only",
    "memory.qmd.sessions.exportDir": "Notewell writes nothing into OpenClaw's folders",
    "plugins.entries.memory-lancedb.config.dbPath": "that is OpenClaw's; Notewell keeps its own",
    "$include": "included files are not read: name them instead",
}
_FLAT = {"chunkSize": "chunking.tokens", "chunkOverlap": "chunking.overlap",
         "maxResults": "query.maxResults"}  # fmt: skip
"""What very early files had flat."""


@dataclass(frozen=True, slots=True)
class OpenClawAgent:
    settings: AgentConfig
    transcripts: Path
    """Where its sessions are kept, one JSON-lines file each; may not exist."""
    auth_profiles: Path
    """Where OpenClaw keeps its keys; may not exist."""


@dataclass(frozen=True, slots=True)
class OpenClaw:
    config_file: Path | None
    state_dir: Path
    agents: Mapping[str, OpenClawAgent]
    configuration: Configuration
    findings: tuple[Finding, ...]
    """What was taken, what was left, and why."""


def from_openclaw(
    path: Path | None = None, environment: Mapping[str, str] = os.environ
) -> OpenClaw:
    """The OpenClaw at `path`, its configuration or its state folder, or the one that is here."""
    env = _environment(environment)
    state_dir, file = _places(path, env)
    document = read_document(file) if file else Document(str(state_dir), Located({}, 1))
    env = {**_own_variables(document.root), **env}
    layer = walk(document._replace(root=as_ours(document.root)), "openclaw", env, LEFT)
    layer = layer._replace(findings=(*layer.findings, *_taken(layer)))
    configuration = read_configuration(Asked(), env, layer)
    agents = {
        id_: _agent(configuration, settings, state_dir)
        for id_, settings in configuration.agents.items()
    }
    configuration = replace(
        configuration, agents={id_: agent.settings for id_, agent in agents.items()}
    )
    findings = (*configuration.findings, *_sessions_elsewhere(agents, state_dir))
    return OpenClaw(file, state_dir, agents, configuration, findings)


# -- where it is ---------------------------------------------------------------------------------


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """OPENCLAW_HOME stands for the user's folder wherever OpenClaw looks."""
    named = environment.get("OPENCLAW_HOME")
    return {**environment, "HOME": named} if named else dict(environment)


def _places(path: Path | None, environment: Mapping[str, str]) -> tuple[Path, Path | None]:
    """The state folder and the file; either can be told by the caller or the environment."""
    told_state = environment.get("OPENCLAW_STATE_DIR")
    here = Path.cwd()
    if path is not None and not path.is_dir():
        state = expanded(told_state, environment, here) if told_state else path.parent
        return state, path
    if path is not None:
        return path, _config_in(path)
    state = expanded(told_state, environment, here) if told_state else _state_at_home(environment)
    told_file = environment.get("OPENCLAW_CONFIG_PATH")
    return state, expanded(told_file, environment, here) if told_file else _config_in(state)


def _state_at_home(environment: Mapping[str, str]) -> Path:
    folders = [home(environment) / name for name in STATE_FOLDERS]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def _config_in(state: Path) -> Path | None:
    files = (state / name for name in CONFIG_NAMES)
    return next((file for file in files if file.is_file()), None)


# -- its spelling --------------------------------------------------------------------------------


def as_ours(root: Located) -> Located:
    """The same values under the keys Notewell uses, each still on its own line."""
    top = _members(root)
    memory = _members(top.get("memory"))
    agents = _members(top.get("agents"))
    defaults = _members(agents.get("defaults"))
    shared = [memory.pop("search", None), defaults.pop("memorySearch", None),
              top.pop("memorySearch", None)]  # fmt: skip
    line = next((told.line for told in shared if told), 1)
    if any(shared):
        defaults["memorySearch"] = Located(_search(shared), line)
    if defaults:
        agents["defaults"] = Located(defaults, line)
    entries = _entries(agents)
    if entries:
        agents["list"] = Located(entries, entries[0].line)
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
        told = [
            Located({"id": Located(id_, entry.line), **_members(entry)}, entry.line)
            for id_, entry in named.data.items()
        ]
    else:
        told = listed.data if listed and isinstance(listed.data, list) else []
    return [_entry(one) for one in told]


def _entry(value: Located) -> Located:
    members = _members(value)
    memory = _members(members.pop("memory", None))
    shared = [memory.pop("search", None), members.pop("memorySearch", None)]
    line = next((told.line for told in shared if told), value.line)
    if any(shared):
        members["memorySearch"] = Located(_search(shared), line)
    return Located(members, value.line)


def _search(told: list[Located | None]) -> dict[str, Located]:
    """One `memorySearch` of several; the first to name a key wins."""
    search: dict[str, Located] = {}
    for one in told:
        search = {**_members(one), **search}
    store = _members(search.get("store"))
    if "cache" in store and "cache" not in search:
        search["cache"] = store.pop("cache")
        search["store"] = Located(store, search["store"].line)
    for flat, path in _FLAT.items():
        if flat in search:
            above, name = path.split(".")
            value = search.pop(flat)
            known = _members(search.get(above))
            search[above] = Located({name: value, **known}, value.line)
    return search


def _own_variables(root: Located) -> dict[str, str]:
    """The file's own `env` block, which OpenClaw reads where the environment has nothing."""
    block = plain(_members(root).get("env", Located({}, 1)))
    told = block if isinstance(block, dict) else {}
    more = told.get("vars")
    told = {**(more if isinstance(more, dict) else {}), **told}
    return {name: text for name, text in told.items() if isinstance(text, str)}


# -- what comes of it ----------------------------------------------------------------------------


def _taken(layer: Walked) -> list[Finding]:
    findings = []
    for setting in layer.settings:
        unused = isinstance(setting.key.check, Unused)
        message = "not about memory" if unused else f"taken: {shown(masked(setting.value))}"
        kind = "left" if unused else "taken"
        key = dotted(setting.path)
        findings.append(Finding(kind, layer.file, setting.line, key, message))  # type: ignore[arg-type]
    return findings


def _agent(configuration: Configuration, settings: AgentConfig, state_dir: Path) -> OpenClawAgent:
    if settings.workspace is None:
        workspace = _usual_workspace(configuration, settings.id, state_dir)
        values = {**settings.values, "workspace": str(workspace)}
        origins = {**settings.origins, "workspace": "OpenClaw's usual place"}
        settings = replace(settings, workspace=workspace, values=values, origins=origins)
    folder = state_dir / "agents" / settings.id
    return OpenClawAgent(settings, folder / "sessions", folder / "agent" / "auth-profiles.json")


def _usual_workspace(configuration: Configuration, id_: str, state_dir: Path) -> Path:
    if id_ == configuration.default_agent:
        return state_dir / "workspace"
    default = configuration.agents[configuration.default_agent].workspace
    below = default / id_ if default else None
    return below if below and below.is_dir() else state_dir / f"workspace-{id_}"


def _sessions_elsewhere(agents: Mapping[str, OpenClawAgent], state_dir: Path) -> list[Finding]:
    """Later OpenClaw keeps sessions in a database, whose form is its own affair."""
    return [
        Finding("note", str(state_dir), 0, id_, "its sessions are in OpenClaw's own database, "
                "which is not read; transcripts that were exported are")
        for id_, agent in agents.items()
        if (state_dir / "agents" / id_ / "agent" / "openclaw-agent.sqlite").is_file()
        and not agent.transcripts.is_dir()
    ]  # fmt: skip
