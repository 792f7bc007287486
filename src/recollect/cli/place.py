"""Which memory a command is about: the options that name it, and opening it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.errors import BadSetting

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from recollect.config import Settings
    from recollect.memory import Memory

HERE = "."


def add_place(parser: argparse.ArgumentParser, *, json: bool = True) -> None:
    group = parser.add_argument_group("which memory")
    group.add_argument(
        "-w",
        "--workspace",
        metavar="DIR",
        help="the folder of notes (default: the one the settings give to --agent, else here)",
    )
    group.add_argument("--agent", metavar="ID", help="whose memory (default: main)")
    group.add_argument(
        "--openclaw",
        action="store_true",
        help="the agent of the OpenClaw on this machine: its settings, notes and sessions, "
        "which are only read",
    )
    group.add_argument(
        "--state-dir",
        metavar="DIR",
        help="where indexes are kept (default: $RECOLLECT_STATE_DIR, else the platform's place)",
    )
    if json:
        group.add_argument("--json", action="store_true", help="print JSON")


def workspace_of(arguments: argparse.Namespace) -> str:
    """The folder that was named, that of the agent that was named, or the one we are in."""
    if arguments.workspace is not None:
        return str(arguments.workspace)
    if arguments.openclaw:
        return str(_openclaw(arguments)[1])
    if arguments.agent is not None:
        from recollect.config.resolve import load_configuration

        known = load_configuration(agent=arguments.agent).agents[arguments.agent.lower()]
        if known.workspace is not None:
            return str(known.workspace)
    return HERE


def memory_of(arguments: argparse.Namespace) -> Memory:
    """The memory that the options name."""
    from recollect.memory import LEASE_WAIT_S, open_memory

    settings: Settings | None = None
    workspace: str | Path = workspace_of(arguments)
    agent = arguments.agent or "main"
    if arguments.openclaw:
        agent, _, settings = _openclaw(arguments)
    return open_memory(
        workspace,
        agent=agent,
        state_dir=arguments.state_dir,
        settings=settings,
        lease_wait_s=getattr(arguments, "wait", LEASE_WAIT_S),
    )


def _openclaw(arguments: argparse.Namespace) -> tuple[str, Path, Settings]:
    """The agent of an OpenClaw, where its notes are, and what its settings come to for us."""
    from dataclasses import replace

    from recollect.config.openclaw import from_openclaw
    from recollect.config.settings import settings_of

    found = from_openclaw()
    id_ = (arguments.agent or found.configuration.default_agent).lower()
    agent = found.agents.get(id_)
    if agent is None:
        known = ", ".join(found.agents)
        raise BadSetting("agent", f"OpenClaw has no agent {id_!r}; it has: {known}")
    if agent.settings.workspace is None:
        raise BadSetting("workspace", f"OpenClaw gives its agent {id_!r} no folder")
    providers = found.configuration.providers
    keys = {name: told.api_key for name, told in providers.items() if told.api_key}
    settings = settings_of(agent.settings, keys)
    folders = ((agent.transcripts, "openclaw"), *settings.session_folders)
    return id_, agent.settings.workspace, replace(settings, session_folders=folders)
