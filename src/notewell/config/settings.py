"""The settings of one agent's memory: a bundle of the packages' own settings.

    table of keys ──check──▶ values by key ──settings_of──▶ Settings(search=…, sync=…, …)

Each group is a frozen dataclass of the package that reads it, and that package is handed its group
only. A row of the table names the group and the field (`Key.field`), so that a new setting is one
row, one field and its reader.

Every search loads this module, so it imports neither the table nor a parser.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from notewell.capture import CaptureSettings, FlushSettings, KeepSettings
from notewell.config.paths import has_files, has_workspace_file
from notewell.errors import BadSetting
from notewell.index import StoreSettings
from notewell.notes import NotesSettings
from notewell.records import dataclass, field, replace
from notewell.search import SearchSettings
from notewell.sessions import SessionSettings
from notewell.sync import SyncSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from notewell.config.provider_entries import ProviderEntry
    from notewell.config.resolve import AgentConfig, Configuration
    from notewell.core import ConversationScope
    from notewell.embedders import EmbedderSettings
    from notewell.entries import EntriesSettings
    from notewell.notes import ExtraPath
    from notewell.qmd import ExtraFolder, QmdSettings

SEED_MIN_SCORE = 0.35


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set for a memory, by the package that reads it.

    Settings(search=SearchSettings(max_results=10), sync=SyncSettings(on_search=False))
    """

    notes: NotesSettings = field(default_factory=NotesSettings)
    sessions: SessionSettings = field(default_factory=SessionSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    sync: SyncSettings = field(default_factory=SyncSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    # The next three are optional, because their modules are not loaded by a plain search.
    embedder: EmbedderSettings | None = None
    """None: `auto`."""
    qmd: QmdSettings | None = None
    """How to use QMD; None: the built-in engine answers."""
    entries: EntriesSettings | None = None
    """What agents may do with entries; None: they have none."""
    fallback_engine: Literal["builtin", "none"] = "builtin"
    """The engine that answers when QMD fails."""
    citations: Literal["on", "off", "auto"] = "auto"
    """Whether agents are shown where a hit comes from; auto: in private conversations."""
    scope: ConversationScope | None = None
    """Which conversations may see the memory; None: all, or with QMD only direct ones."""
    curated: Literal["private", "shared"] = "private"
    """Whether MEMORY.md, transcripts and entries are for private conversations only."""
    off_because: str | None = None
    """Why this agent has no memory; None when it has one."""
    refused_keys: tuple[str, ...] = ()
    """Keys of the workspace's file that were ignored, because only the user's own file may set
    them; `notewell config check` explains each."""
    workspace_errors: int = 0
    """Mistakes in the workspace's file; what they are about is ignored."""


def load_settings(
    workspace: Path, agent: str | None = None, environment: Mapping[str, str] = os.environ
) -> Settings:
    """What the user's file and the workspace's file say; the defaults where there is no file."""
    # Most workspaces have no file: then neither the table of keys nor a parser is imported.
    if not has_files(workspace, environment):
        return Settings()
    from notewell.config.resolve import load_configuration

    configuration = load_configuration(workspace, agent, environment)
    id_ = agent.lower() if agent else configuration.default_agent
    settings = settings_of(configuration.agents[id_], configuration.providers)
    return replace(
        settings,
        refused_keys=configuration.refused_keys,
        workspace_errors=len(configuration.workspace_errors),
    )


def preloaded_settings(configuration: Configuration, agent: str) -> Settings | None:
    """What `load_settings` would return, without reading the user's file again for each of many
    agents. None if the workspace has a file of its own or a value is not valid: `load_settings`
    says what follows from that."""
    config = configuration.agents[agent]
    if config.workspace is None or has_workspace_file(config.workspace):
        return None
    try:
        return settings_of(config, configuration.providers)
    except BadSetting:
        return None


# -- from keys to fields -------------------------------------------------------------------------


_SWITCHES: Mapping[str, Any] = {
    "memorySearch.cache.enabled": 0,
    "memorySearch.query.hybrid.mmr.enabled": None,
    "memorySearch.query.hybrid.temporalDecay.enabled": None,
    "hooks.internal.enabled": 0,
    "hooks.internal.entries.session-memory.enabled": 0,
}
"""Keys that switch a field of another key off, and what the field is then."""


def settings_of(agent: AgentConfig, providers: Mapping[str, ProviderEntry]) -> Settings:
    """The groups that an agent's values come to."""
    fields = _fields(agent.values)
    return Settings(
        notes=NotesSettings(**_group(fields, "notes")),
        sessions=SessionSettings(**_group(fields, "sessions")),
        store=StoreSettings(**_group(fields, "store")),
        sync=SyncSettings(**_group(fields, "sync")),
        search=SearchSettings(**_group(fields, "search")),
        capture=CaptureSettings(
            **_group(fields, "capture"),
            flush=FlushSettings(**_group(fields, "capture.flush")),
            keep=KeepSettings(**_group(fields, "capture.keep")),
        ),
        embedder=_embedder(fields, providers, agent.values["auth.order"]),
        qmd=_qmd(agent.values, fields),
        entries=_entries(agent.values, fields),
        fallback_engine=fields["fallback_engine"],
        citations=fields["citations"],
        scope=_scope(agent.values),
        curated=fields["curated"],
        off_because=agent.off_because,
    )


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each field that a key sets. A key that is unset leaves its field out, so that
    the default of the dataclass holds."""
    from notewell.config.registry import agent_keys, global_keys

    keys = {**agent_keys(), **global_keys()}
    fields: dict[str, Any] = {}
    for path, key in keys.items():
        if key.field and path not in _SWITCHES and values[path] is not None:
            fields[key.field] = _converted(path, key.field, values[path])
    # The preset first, so that what the user set wins over it.
    if values["memorySearch.query.preset"] == "seed":
        fields = {"search.fusion": "seed", "search.min_score": SEED_MIN_SCORE, **fields}
    for path, value_when_off in _SWITCHES.items():
        if not values[path]:
            fields[keys[path].field] = value_when_off
    fields["notes.enabled"] = "memory" in values["memorySearch.sources"]
    fields["search.keyword_only"] = values["memorySearch.provider"] == "none"
    return fields


def _converted(path: str, target: str, value: Any) -> Any:
    # Keys are in milliseconds as in OpenClaw; our own fields are always in seconds.
    if path.endswith("Ms"):
        return value / 1000
    conversion = _CONVERSIONS.get(target)
    return conversion(value) if conversion else value


def _group(fields: Mapping[str, Any], group: str) -> dict[str, Any]:
    """The fields of one group by their own names, without those of groups inside it."""
    # `embedder.remote.batch.enabled` is no field of `embedder` but of a group inside it.
    above = f"{group}."
    named = {path.removeprefix(above): path for path in fields if path.startswith(above)}
    return {name: fields[path] for name, path in named.items() if "." not in name}


def _embedder(
    fields: Mapping[str, Any],
    providers: Mapping[str, ProviderEntry],
    auth_order: Mapping[str, tuple[str, ...]],
) -> EmbedderSettings:
    from notewell.embedders import (
        BatchSettings,
        EmbedderSettings,
        LocalSettings,
        ProviderSettings,
        RemoteSettings,
    )

    batch = BatchSettings(**_group(fields, "embedder.remote.batch"))
    return EmbedderSettings(
        **_group(fields, "embedder"),
        remote=RemoteSettings(**_group(fields, "embedder.remote"), batch=batch),
        local=LocalSettings(**_group(fields, "embedder.local")),
        providers={
            name: ProviderSettings(**{**entry._asdict(), "headers": entry.headers or {}})
            for name, entry in providers.items()
        },
        auth_order=auth_order,
    )


def _qmd(values: Mapping[str, Any], fields: Mapping[str, Any]) -> QmdSettings | None:
    if values["memory.backend"] != "qmd":
        return None
    from notewell.qmd import QmdSettings

    return QmdSettings(**_group(fields, "qmd"))


def _scope(values: Mapping[str, Any]) -> ConversationScope | None:
    """One value from a default and a list of rules. The scope below `memory.qmd` is OpenClaw's; it
    holds for every engine, so that another engine does not open what it closes."""
    for above in ("memory.scope", "memory.qmd.scope"):
        default, rules = values[f"{above}.default"], values[f"{above}.rules"]
        if default is not None or rules:
            from notewell.core import scope_from

            return scope_from(default, rules)
    return None


def _entries(values: Mapping[str, Any], fields: Mapping[str, Any]) -> EntriesSettings | None:
    if not values["plugins.entries.memory-lancedb.enabled"]:
        return None
    from notewell.entries import EntriesSettings

    return EntriesSettings(**_group(fields, "entries"))


def _extra_paths(paths: Iterable[tuple[str, str | None]]) -> tuple[ExtraPath, ...]:
    from notewell.notes import ExtraPath

    return tuple(ExtraPath(*path) for path in paths)


def _extra_folders(paths: Iterable[tuple[str, str | None, str | None]]) -> tuple[ExtraFolder, ...]:
    from notewell.qmd import ExtraFolder

    return tuple(ExtraFolder(*path) for path in paths)


def _named_folders(paths: Iterable[tuple[str, str | None]]) -> tuple[tuple[Path, str], ...]:
    """Each folder by the host that writes it, else by its own name; of two folders with the same
    name the second has a number."""
    named: dict[str, Path] = {}
    for text, _ in paths:
        path = Path(text).expanduser()
        name = _host_of(path) or path.name.strip(".-") or "sessions"
        # `kept` is the folder of the conversations that hooks keep.
        if name in named or name == "kept":
            name = f"{name}-{len(named) + 1}"
        named[name] = path
    return tuple((path, name) for name, path in named.items())


def _host_of(path: Path) -> str | None:
    """`claude-code` for `~/.claude/projects`: several hosts call their folder `projects`."""
    from notewell.hosts import HOSTS

    formats = {host.id: host.transcripts for host in HOSTS.values()}
    hidden = [part[1:] for part in path.parts if part.startswith(".")]
    id_ = next((name for name in (path.name, *hidden) if name in formats), None)
    known = formats.get(id_) if id_ else None
    return known.name if known else id_


def _absolute_folders(paths: Iterable[tuple[str, str | None]]) -> tuple[Path, ...]:
    return tuple(Path(os.path.abspath(Path(text).expanduser())) for text, _ in paths)  # noqa: PTH100


_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    "notes.extra_paths": _extra_paths,
    "sessions.enabled": lambda sources: "sessions" in sources,
    "sessions.folders": _named_folders,
    "capture.keep.left_out": _absolute_folders,
    "store.path": Path,
    "store.extension_path": lambda path: Path(path).expanduser(),
    "qmd.paths": _extra_folders,
}
"""From the value of a key to the value of its field, where they differ."""
