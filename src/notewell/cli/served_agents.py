"""Which agents `notewell serve` serves: one that its options name, or those of the settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.place import IN_DATABASE, MAIN, location_of
from notewell.errors import BadSetting

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from notewell.config import Configuration
    from notewell.http_service import AgentDirectory, AgentRegistry, Roster, ServedAgent


def agents_of(
    arguments: argparse.Namespace, registry: AgentRegistry | None = None
) -> tuple[Roster, AgentDirectory | None]:
    """The agent that the options name, else every agent of the database, or that has a workspace
    in the settings; and where to look for others later: None if options decide."""
    from notewell.http_service import Roster

    if registry is not None:
        return _database_agents(arguments, registry)
    if arguments.workspace or arguments.agent or arguments.openclaw:
        return Roster(_single_agent(arguments)), None
    directory = SettingsDirectory(arguments)
    return directory.read(), directory


def _database_agents(
    arguments: argparse.Namespace, registry: AgentRegistry
) -> tuple[Roster, AgentDirectory | None]:
    from notewell.http_service import Roster, ServedAgent

    if arguments.agent:
        registry.add(arguments.agent)
        return Roster({arguments.agent: ServedAgent(IN_DATABASE)}), None
    if registry.is_new():
        registry.add(MAIN)
    return registry.read(), registry


class SettingsDirectory:
    """The agents of the user's settings file; without any, the agent of this folder."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments

    def mark(self) -> object:
        from notewell.config import user_file_mark

        return user_file_mark(os.environ)

    def read(self) -> Roster:
        from notewell.config import load_configuration
        from notewell.http_service import Roster

        configuration = load_configuration()
        agents = _configured_agents(configuration) or _single_agent(self._arguments)
        # A single agent answers everybody.
        return Roster(agents) if len(agents) == 1 else Roster(agents, _by_bindings(configuration))


def _configured_agents(configuration: Configuration) -> dict[str, ServedAgent]:
    from notewell.config import preloaded_settings
    from notewell.http_service import ServedAgent

    # The default agent first: tokens use the first of their agents unless a request names one.
    ids = sorted(configuration.agents, key=lambda id_: id_ != configuration.default_agent)
    return {
        id_: ServedAgent(
            str(configuration.agents[id_].workspace),
            preloaded=preloaded_settings(configuration, id_),
        )
        for id_ in ids
        if configuration.agents[id_].workspace
    }


def _single_agent(arguments: argparse.Namespace) -> Mapping[str, ServedAgent]:
    from notewell.core import normal_agent_id
    from notewell.http_service import ServedAgent

    agent, workspace, settings = location_of(arguments)
    id_ = agent.lower()
    if normal_agent_id(id_) != id_:
        raise BadSetting("agent", f"{agent!r} is not an agent id")
    return {id_: ServedAgent(str(Path(workspace).absolute()), settings)}


def _by_bindings(configuration: Configuration) -> Callable[[str], str | None]:
    """How bindings choose among the agents."""
    from notewell.core import BadSessionKey, UnknownAgent

    def route(session_key: str) -> str | None:
        found = configuration.route_session(session_key)
        if isinstance(found, UnknownAgent):
            return found.id  # No token has it, so the request is refused.
        # A key that cannot be parsed is routed nowhere; the memory treats it as a group's.
        if isinstance(found, BadSessionKey) or found.by == "default":
            return None
        return found.agent

    return route
