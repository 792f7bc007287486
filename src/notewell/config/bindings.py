"""`bindings`: which agent answers a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.config.agents import problem_of
from notewell.config.document import ConfigFinding
from notewell.config.validate import dotted
from notewell.core import Binding, Peer, chat_type_of, normal_agent_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from notewell.config.agents import AgentEntry
    from notewell.config.validate import Layer, Setting


def bindings_of(
    layers: Iterable[Layer], entries: Mapping[str, AgentEntry]
) -> tuple[tuple[Binding, ...], dict[str, str], list[ConfigFinding]]:
    """The rules that route messages, in the order of the file."""
    bindings: list[Binding] = []
    origins: dict[str, str] = {}
    findings: list[ConfigFinding] = []
    for layer in layers:
        for number, settings in _binding_settings(layer).items():
            line = next(iter(settings.values())).line
            binding, problem = _binding({key: settings[key].value for key in settings}, entries)
            key = f"bindings[{number}]"
            # A binding that lost one of its conditions would match messages of other people.
            if any(finding.key.startswith(f"{key}.match") for finding in _unused(layer)):
                problem = problem or "not used: one of its conditions was not understood"
            if binding is None or problem:
                findings.append(problem_of(layer, line, key, problem))
                continue
            if any(binding._replace(agent=other.agent) == other for other in bindings):
                message = "never used: an earlier binding matches the same messages"
                findings.append(ConfigFinding("note", layer.file, line, key, message))
            bindings.append(binding)
            origins[key] = f"{layer.file}:{line}"
    return tuple(bindings), origins, findings


def _unused(layer: Layer) -> list[ConfigFinding]:
    return [finding for finding in layer.findings if finding.kind in ("error", "left")]


def _binding_settings(layer: Layer) -> dict[Any, dict[str, Setting]]:
    """The settings of each binding by its number."""
    by_number: dict[Any, dict[str, Setting]] = {}
    for setting in layer.settings:
        if setting.path[0] == "bindings":
            by_number.setdefault(setting.path[1], {})[dotted(setting.path[2:])] = setting
    return by_number


def _binding(
    values: Mapping[str, Any], entries: Mapping[str, AgentEntry]
) -> tuple[Binding | None, str]:
    """The binding, or None and the reason why it cannot be used."""
    agent = normal_agent_id(values.get("agentId", "")) or ""
    if not agent:
        return None, "a binding needs an agentId"
    # Without `agents.list` every valid id is an agent.
    if entries and agent not in entries:
        return None, f"there is no agent {agent!r}: agents are {', '.join(entries)}"
    kind, id_ = chat_type_of(values.get("match.peer.kind")), values.get("match.peer.id")
    if (kind is None) != (id_ is None):
        return None, "a peer has a kind (direct, group or channel) and an id"
    peer = Peer(kind, id_) if kind and id_ else None
    places = (values.get(f"match.{name}") for name in ("guildId", "teamId"))
    channel, account = values.get("match.channel"), values.get("match.accountId")
    return Binding(agent, channel, account, peer, *places), ""
