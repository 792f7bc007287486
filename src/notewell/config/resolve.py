"""From layers to a `Configuration`: the strongest word for every key, and who said it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.config.agents import agent_entries, agent_values, bindings_of, providers_of
from notewell.config.layers import expanded, user_layer, workspace_layer
from notewell.config.positions import Finding
from notewell.core import DEFAULT_AGENT, normal_agent_id
from notewell.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.config.agents import Entry, ProviderEntry, Value
    from notewell.config.positions import Kind
    from notewell.config.validate import Owner, Walked
    from notewell.core import Binding


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """What holds for one agent, by key; `settings_of` makes its `Settings` from it."""

    id: str
    workspace: Path | None
    """None: the folder that is asked for."""
    off_because: str | None
    """Why this agent has no memory; None when it has one."""
    values: Mapping[str, Any]
    """By dotted key below the agent (`memorySearch.provider`) or the file (`memory.citations`)."""
    origins: Mapping[str, str]
    """For each key of `values`, `file:line` of who said it, or `default`."""

    @property
    def enabled(self) -> bool:
        return self.off_because is None


@dataclass(frozen=True, slots=True)
class Configuration:
    """All agents and how messages find them."""

    agents: Mapping[str, AgentConfig]
    default_agent: str
    bindings: tuple[Binding, ...]
    providers: Mapping[str, ProviderEntry]
    findings: tuple[Finding, ...]
    origins: Mapping[str, str]
    """Who said what is not an agent's: `bindings[0]`, `models.providers.openai.apiKey`."""
    files: tuple[str, ...]
    """The files that were read, weakest first."""


class Asked(NamedTuple):
    """Whose configuration is wanted, and where."""

    workspace: Path | None = None
    """The folder the asker is in; it is the workspace of the agent asked for."""
    agent: str | None = None
    """Only this agent; without it all of them."""


def load_configuration(
    workspace: Path | None = None,
    agent: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Configuration:
    """The user's file and the workspace's, resolved; raises `BadSetting` on the first error."""
    if agent is not None and normal_agent_id(agent) is None:
        raise BadSetting("agent", f"{agent!r} is no id of an agent")
    asked = Asked(workspace, normal_agent_id(agent) if agent else None)
    configuration = read_configuration(asked, environment)
    errors = [finding for finding in configuration.findings if finding.kind == "error"]
    if errors:
        more = f" (and {len(errors) - 1} more: `notewell config check`)" if errors[1:] else ""
        first = errors[0]
        raise BadSetting(first.key or first.file, f"{first.message} ({first.where}){more}")
    return configuration


def read_configuration(
    asked: Asked, environment: Mapping[str, str], user: Walked | None = None
) -> Configuration:
    """The same, with every problem among its findings instead of raised.

    `user` stands in for the user's own file: OpenClaw's, or one that is to be checked.
    """
    user = user or user_layer(environment)
    base = (user,) if user else ()
    entries, found = agent_entries(base)
    resolver = _Resolver(base, entries, environment)
    agents = {id_: resolver.agent(id_, asked) for id_ in resolver.ids(asked)}
    bindings, binding_origins, more = bindings_of(base, entries)
    providers, provider_origins = providers_of(base)
    findings = [*found, *more, *resolver.findings, *_shared_indexes(agents)]
    for layer in resolver.layers:
        findings += layer.findings
    findings.sort(key=lambda finding: (finding.file, finding.line))
    return Configuration(
        agents=agents,
        default_agent=_default_id(entries),
        bindings=bindings,
        providers=providers,
        findings=tuple(dict.fromkeys(findings)),
        origins={**binding_origins, **provider_origins},
        files=tuple(layer.file for layer in reversed(resolver.layers)),
    )


def _default_id(entries: Mapping[str, Entry]) -> str:
    """The agent that is marked, else the first, else `main`."""
    marked = [id_ for id_, entry in entries.items() if entry.default]
    return (marked or [*entries, DEFAULT_AGENT])[0]


class _Resolver:
    """Reads each workspace's file once."""

    def __init__(
        self,
        base: tuple[Walked, ...],
        entries: Mapping[str, Entry],
        environment: Mapping[str, str],
    ) -> None:
        self._base = base
        self._entries = entries
        self._default = _default_id(entries)
        self._environment = environment
        self._by_folder: dict[Path, Walked | None] = {}
        self.layers = list(reversed(base))
        """All layers that spoke, the strongest first."""
        self.findings: list[Finding] = []

    def ids(self, asked: Asked) -> list[str]:
        """The agent asked for, or all: the user's, and those the folder's own file speaks of."""
        if asked.agent is not None:
            return [asked.agent]
        here = self._layer(asked.workspace) if asked.workspace else None
        local = agent_entries((here,))[0] if here else {}
        return list({**dict.fromkeys(self._entries or [DEFAULT_AGENT]), **dict.fromkeys(local)})

    def agent(self, id_: str, asked: Asked) -> AgentConfig:
        alone, _ = agent_values(id_, self._base, is_default=id_ == self._default)
        told = alone["workspace"]
        workspace = self._workspace(told)
        is_here = id_ == (asked.agent or self._default) or id_ not in self._entries
        if asked.workspace is not None and is_here:
            workspace = asked.workspace
        layer = self._layer(workspace) if workspace else None
        layers = (*self._base, layer) if layer else self._base
        values, findings = agent_values(id_, layers, is_default=id_ == self._default)
        known = {name for walked in self._base for name in providers_of((walked,))[0]}
        self.findings += [*findings, *_unknown_providers(values, known, openclaw=self._is_foreign)]
        return self._settled(id_, workspace, values)

    @property
    def _is_foreign(self) -> bool:
        return any(layer.owner == "openclaw" for layer in self._base)

    def _workspace(self, told: Value) -> Path | None:
        if told.value is None:
            return None
        return expanded(told.value, self._environment, Path(told.file).parent)

    def _layer(self, workspace: Path) -> Walked | None:
        if self._is_foreign:  # OpenClaw's folders have no file of ours.
            return None
        if workspace not in self._by_folder:
            layer = workspace_layer(workspace, self._environment)
            self._by_folder[workspace] = layer
            if layer:
                self.layers.insert(0, layer)
                self.findings += agent_entries((layer,))[1]
        return self._by_folder[workspace]

    def _settled(self, id_: str, workspace: Path | None, told: Mapping[str, Value]) -> AgentConfig:
        values: dict[str, Any] = {key: value.value for key, value in told.items()}
        path = values["memorySearch.store.path"]
        if path is not None:
            base = Path(told["memorySearch.store.path"].file).parent
            named = path.replace("{agentId}", id_)
            values["memorySearch.store.path"] = str(expanded(named, self._environment, base))
        values["workspace"] = str(workspace) if workspace else None
        origins = {key: value.origin for key, value in told.items()}
        if workspace and origins["workspace"] == "default":
            origins["workspace"] = "the command line"
        return AgentConfig(
            id=id_,
            workspace=workspace,
            off_because=_off_because(told),
            values=values,
            origins=origins,
        )


def _off_because(told: Mapping[str, Value]) -> str | None:
    enabled = told["memorySearch.enabled"]
    if not enabled.value:
        return f"memorySearch.enabled is false ({enabled.origin})"
    slot = told["plugins.slots.memory"]
    if str(slot.value).lower() == "none":
        return f"plugins.slots.memory is none ({slot.origin})"
    return None


def _unknown_providers(
    values: dict[str, Value], known: set[str], *, openclaw: bool
) -> list[Finding]:
    """A provider is one of ours or one the user named; OpenClaw has more, which we leave."""
    from notewell.config.validate import did_you_mean
    from notewell.embedders import PROVIDER_NAMES

    findings = []
    for key in ("memorySearch.provider", "memorySearch.fallback"):
        told = values[key]
        if told.value.lower() in PROVIDER_NAMES:
            values[key] = told._replace(value=told.value.lower())
        elif told.value not in known:
            message = f"{told.value!r} is no provider{did_you_mean(told.value, PROVIDER_NAMES)}"
            if openclaw:
                message = f"Notewell has no provider {told.value!r}; the default holds"
                values[key] = told._replace(value="none" if "fallback" in key else "auto")
            kind: Kind = "left" if openclaw else "error"
            findings.append(Finding(kind, told.file, told.line, key, message))
    return findings


def _shared_indexes(agents: Mapping[str, AgentConfig]) -> list[Finding]:
    """One index an agent: two in one file would read each other's notes."""
    seen: dict[str, str] = {}
    findings = []
    for id_, agent in agents.items():
        path = agent.values["memorySearch.store.path"]
        if path and path in seen:
            file, _, line = agent.origins["memorySearch.store.path"].rpartition(":")
            message = (
                f"agents {seen[path]!r} and {id_!r} would share the index {path!r}: "
                "put {agentId} into the path"
            )
            key = "memorySearch.store.path"
            findings.append(Finding("error", file, int(line), key, message))
        elif path:
            seen[path] = id_
    return findings


def check_file(path: Path, owner: Owner, environment: Mapping[str, str]) -> tuple[Finding, ...]:
    """Everything there is to say about one file, read as its owner's."""
    from notewell.config.layers import read_layer

    layer = read_layer(path, owner, environment)
    configuration = read_configuration(Asked(), environment, layer)
    return tuple(finding for finding in configuration.findings if finding.file == str(path))
