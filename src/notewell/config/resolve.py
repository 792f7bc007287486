"""From files to a `Configuration`: for every key the strongest value, and who set it.

    built-in values
      → the user's file       $NOTEWELL_CONFIG, or config.{json,json5,yaml,yml} in the platform's
                              folder for configuration
      → the workspace's file  notewell.{json,json5,yaml,yml} at the top of the workspace
      → the agent's entry     in either file; again the workspace's file wins

A later layer wins. Two files of one kind are an error, because nobody could say which of them
wins.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.config.agents import EntryNumbers, agent_entries, agent_values
from notewell.config.bindings import bindings_of
from notewell.config.document import ConfigFinding
from notewell.config.doubts import doubtful, shared_workspaces
from notewell.config.effects import AgentValues, without_effect
from notewell.config.layers import read_layer, user_layer, workspace_layer
from notewell.config.paths import expanded
from notewell.config.provider_entries import providers_of, unknown_providers, unused_entries
from notewell.core import (
    DEFAULT_AGENT,
    BadSessionKey,
    normal_agent_id,
    parse_session_key,
    resolve_agent,
    resolve_session,
)
from notewell.errors import BadSetting
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.config.agents import AgentEntry, Value
    from notewell.config.provider_entries import ProviderEntry
    from notewell.config.validate import Layer, Owner
    from notewell.core import Binding, Route, UnknownAgent

_STORE_PATH = "memorySearch.store.path"


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """The values of one agent by key; `settings_of` makes its `Settings` from them."""

    id: str
    workspace: Path | None
    """None: the folder that the caller names."""
    off_because: str | None
    """Why this agent has no memory; None when it has one."""
    values: Mapping[str, Any]
    """By dotted key below the agent (`memorySearch.provider`) or the file (`memory.citations`)."""
    origins: Mapping[str, str]
    """For each key of `values`, `file:line` of who set it, or `default`."""

    @property
    def enabled(self) -> bool:
        return self.off_because is None


@dataclass(frozen=True, slots=True)
class Configuration:
    """All agents, and the bindings that route messages to them."""

    agents: Mapping[str, AgentConfig]
    default_agent: str
    bindings: tuple[Binding, ...]
    providers: Mapping[str, ProviderEntry]
    findings: tuple[ConfigFinding, ...]
    origins: Mapping[str, str]
    """Who set what belongs to no agent: `bindings[0]`, `models.providers.openai.apiKey`."""
    files: tuple[str, ...]
    """The files that were read, weakest first."""
    workspace_files: frozenset[str] = frozenset()
    """Those of `files` that belong to a workspace."""

    def route(self, message: Binding) -> Route:
        """The agent of a message: the most specific binding wins, else the default agent.

        The message has the form of a binding; its `agent` is not used.
        """
        place = (message.guild, message.team)
        return resolve_agent(
            self.bindings,
            message.channel or "",
            message.account,
            message.peer,
            place=place,
            default=self.default_agent,
        )

    def route_session(self, session_key: str) -> Route | BadSessionKey | UnknownAgent:
        """The agent of a conversation: the one that its key names, else as the bindings say."""
        key = parse_session_key(session_key)
        if isinstance(key, BadSessionKey):
            return key
        return resolve_session(self.bindings, key, self.agents, self.default_agent)

    @property
    def errors(self) -> tuple[ConfigFinding, ...]:
        """What makes the user's own file unusable."""
        return tuple(error for error in self._errors if error.file not in self.workspace_files)

    @property
    def workspace_errors(self) -> tuple[ConfigFinding, ...]:
        """Mistakes in a workspace's file. What they are about is ignored: a folder from a stranger
        must not be able to switch the user's memory off by a file that cannot be read."""
        return tuple(error for error in self._errors if error.file in self.workspace_files)

    @property
    def _errors(self) -> tuple[ConfigFinding, ...]:
        return tuple(finding for finding in self.findings if finding.kind == "error")

    @property
    def refused_keys(self) -> tuple[str, ...]:
        """Keys of a workspace's file that have no effect, because it may not set them."""
        keys = (finding.key for finding in self.findings if finding.kind == "refused")
        # `*` for the name of a provider: agents read this list, so no text of a stranger's in it.
        return tuple(
            dict.fromkeys(re.sub(r"(?<=^models\.providers\.).*\.", "*.", key) for key in keys)
        )


class ConfigScope(NamedTuple):
    """Whose configuration to resolve, and for which folder."""

    workspace: Path | None = None
    """The caller's folder; it is the workspace of the agent that is resolved."""
    agent: str | None = None
    """Only this agent; None is all of them."""


# -- resolving -----------------------------------------------------------------------------------


def load_configuration(
    workspace: Path | None = None,
    agent: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Configuration:
    """The user's file and the workspace's, resolved.

    Raises `BadSetting` on the first error in the user's file.
    """
    if agent is not None and normal_agent_id(agent) is None:
        raise BadSetting("agent", f"{agent!r} is not a valid agent id")
    scope = ConfigScope(workspace, normal_agent_id(agent) if agent else None)
    configuration = read_configuration(scope, environment)
    # "refused" is no error: without those keys, the search works as the user's own file says.
    errors = configuration.errors
    if errors:
        more = f" (and {len(errors) - 1} more: `notewell config check`)" if errors[1:] else ""
        first = errors[0]
        raise BadSetting(first.key or first.file, f"{first.message} ({first.where}){more}")
    return configuration


def read_configuration(
    scope: ConfigScope,
    environment: Mapping[str, str],
    user: Layer | None = None,
    *,
    on_this_machine: bool = False,
) -> Configuration:
    """The same, with every problem among its findings instead of raised.

    `user` replaces the user's own file: by OpenClaw's, or by one that is to be checked.
    `on_this_machine`: the findings also say which folders, files, programs and keys are missing
    here, and what follows from that. It takes longer, so only a check asks for it.
    """
    user = user or user_layer(environment)
    base = (user,) if user else ()
    entries, entry_findings = agent_entries(base)
    resolver = _Resolver(base, entries, environment)
    agents = {id_: resolver.agent(id_, scope) for id_ in resolver.ids(scope)}
    bindings, binding_origins, binding_findings = bindings_of(base, entries)
    providers, provider_origins = providers_of(base)
    findings = [
        *entry_findings,
        *binding_findings,
        *resolver.findings,
    ]
    if on_this_machine:
        findings += resolver.absent(agents)
    findings += _without_effect(base, resolver.resolved, agents, are_all=scope.agent is None)
    for layer in resolver.layers:
        findings += layer.findings
    findings.sort(key=lambda finding: (finding.file, finding.line))
    return Configuration(
        agents=agents,
        default_agent=_default_id(entries),
        bindings=bindings,
        providers=providers,
        # Every agent is resolved from the same files, so each repeats their findings.
        findings=tuple(dict.fromkeys(findings)),
        origins={**binding_origins, **provider_origins},
        files=tuple(layer.file for layer in reversed(resolver.layers)),
        workspace_files=frozenset(
            layer.file for layer in resolver.layers if layer.owner == "workspace"
        ),
    )


def _without_effect(
    base: tuple[Layer, ...],
    resolved: list[AgentValues],
    agents: Mapping[str, AgentConfig],
    *,
    are_all: bool,
) -> list[ConfigFinding]:
    """What the files set in vain. `openclaw.py` reports the entries of its file itself."""
    providers = providers_of(base)[0]
    is_openclaw = any(layer.owner == "openclaw" for layer in base)
    findings = without_effect(resolved, providers, "left" if is_openclaw else "note")
    # Another agent may use what the one of the scope does not.
    if are_all and not is_openclaw:
        findings += shared_workspaces(resolved)
        findings += unused_entries(base, [agent.values for agent in agents.values()])
    return findings


def _default_id(entries: Mapping[str, AgentEntry]) -> str:
    """The agent that is marked as default, else the first, else `main`."""
    marked = [id_ for id_, entry in entries.items() if entry.default]
    return (marked or [*entries, DEFAULT_AGENT])[0]


class _Resolver:
    """Resolves agents one by one, and reads the file of each workspace once."""

    def __init__(
        self,
        base: tuple[Layer, ...],
        entries: Mapping[str, AgentEntry],
        environment: Mapping[str, str],
    ) -> None:
        self._base = base
        self._entries = entries
        self._numbers = EntryNumbers()
        self._default = _default_id(entries)
        self._environment = environment
        self._by_folder: dict[Path, Layer | None] = {}
        self.layers = list(reversed(base))
        """All layers that were read, the strongest first."""
        self.findings: list[ConfigFinding] = []
        self.resolved: list[AgentValues] = []

    def ids(self, scope: ConfigScope) -> list[str]:
        """The agent of the scope, or all: the user's, and those in the workspace's own file."""
        if scope.agent is not None:
            return [scope.agent]
        here = self._layer(scope.workspace) if scope.workspace else None
        local = agent_entries((here,))[0] if here else {}
        return list({**dict.fromkeys(self._entries or [DEFAULT_AGENT]), **dict.fromkeys(local)})

    def agent(self, id_: str, scope: ConfigScope) -> AgentConfig:
        is_default = id_ == self._default
        # The user's file alone says where the workspace is; only then is its file known.
        named = self._workspace(
            agent_values(id_, self._base, self._numbers, is_default=is_default)[0]["workspace"]
        )
        # The caller's folder belongs to the agent that was asked for, or to the default one.
        is_here = id_ == (scope.agent or self._default) or id_ not in self._entries
        workspace = scope.workspace if scope.workspace is not None and is_here else named
        layer = self._layer(workspace) if workspace else None
        layers = (*self._base, layer) if layer else self._base
        values, findings = agent_values(id_, layers, self._numbers, is_default=is_default)
        # Only the user's own file can name providers: `models.providers` is refused elsewhere.
        providers = providers_of(self._base)[0]
        self.findings += findings
        self.findings += unknown_providers(values, providers, openclaw=self._is_openclaw)
        agent = AgentValues(id_, values, workspace, named)
        self.findings += doubtful(agent, providers)
        self.resolved.append(agent)
        return self._agent_config(id_, workspace, values, is_named=workspace == named)

    def absent(self, agents: Mapping[str, AgentConfig]) -> list[ConfigFinding]:
        """What the agents name and this machine does not have; resolves what `auto` uses."""
        from notewell.config.doubts import absent
        from notewell.config.effects_embedder import choice_of

        providers = providers_of(self._base)[0]
        findings: list[ConfigFinding] = []
        for number, agent in enumerate(self.resolved):
            config = agents[agent.id]
            if not config.enabled or any(one.kind == "error" for one in self.findings):
                continue
            try:
                choice = choice_of(config, providers, self._environment)
            except BadSetting as error:
                findings.append(_bad_setting(agent, error))
            else:
                self.resolved[number] = agent._replace(choice=choice)
            findings += absent(self.resolved[number], self._environment)
        return findings

    @property
    def _is_openclaw(self) -> bool:
        return any(layer.owner == "openclaw" for layer in self._base)

    def _workspace(self, value: Value) -> Path | None:
        if value.value is None:
            return None
        return expanded(value.value, self._environment, Path(value.file).parent)

    def _layer(self, workspace: Path) -> Layer | None:
        # OpenClaw's workspaces have no file of ours, and a `notewell.json` there must not change
        # what its user configured for OpenClaw.
        if self._is_openclaw:
            return None
        if workspace not in self._by_folder:
            layer = workspace_layer(workspace, self._environment)
            self._by_folder[workspace] = layer
            if layer:
                self.layers.insert(0, layer)
                self.findings += agent_entries((layer,))[1]
        return self._by_folder[workspace]

    def _agent_config(
        self, id_: str, workspace: Path | None, resolved: Mapping[str, Value], *, is_named: bool
    ) -> AgentConfig:
        values: dict[str, Any] = {key: value.value for key, value in resolved.items()}
        store = resolved[_STORE_PATH]
        if store.value is not None:
            named = store.value.replace("{agentId}", id_)
            path = str(expanded(named, self._environment, Path(store.file).parent))
            values[_STORE_PATH] = path
        values["workspace"] = str(workspace) if workspace else None
        origins = {key: value.origin for key, value in resolved.items()}
        if workspace and not is_named:
            origins["workspace"] = "the command line"
        return AgentConfig(
            id=id_,
            workspace=workspace,
            off_because=_off_because(resolved),
            values=values,
            origins=origins,
        )


def _bad_setting(agent: AgentValues, error: BadSetting) -> ConfigFinding:
    """What would stop every command of the agent."""
    own = f"memorySearch.{error.setting}"
    key = own if own in agent.values else error.setting
    value = agent.values.get(key) or agent.values["memorySearch.provider"]
    return ConfigFinding("error", value.file, value.line, key, error.problem)


def _off_because(values: Mapping[str, Value]) -> str | None:
    enabled = values["memorySearch.enabled"]
    if not enabled.value:
        return f"memorySearch.enabled is false ({enabled.origin})"
    # OpenClaw's way to switch the memory off for all agents.
    slot = values["plugins.slots.memory"]
    if str(slot.value).lower() == "none":
        return f"plugins.slots.memory is none ({slot.origin})"
    return None


def check_file(
    path: Path, owner: Owner, environment: Mapping[str, str]
) -> tuple[ConfigFinding, ...]:
    """All findings about one file, read as its owner's."""
    layer = read_layer(path, owner, environment)
    configuration = read_configuration(ConfigScope(), environment, layer, on_this_machine=True)
    return tuple(finding for finding in configuration.findings if finding.file == str(path))
