"""Which memory a command uses: the options that name it, and opening it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from notewell.errors import BadSetting, WorkspaceNotSet
from notewell.records import NamedTuple

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from notewell.config import Configuration, Settings
    from notewell.core import BadSessionKey, Route
    from notewell.memory import Memory

HERE = "."
IN_DATABASE = "postgres:"
"""`notewell.notes.IN_DATABASE`; importing it here would load that package for --help."""
MAIN = "main"


def add_place(parser: argparse.ArgumentParser, *, json: bool = True) -> None:
    group = parser.add_argument_group("which memory")
    group.add_argument(
        "-w",
        "--workspace",
        metavar="DIR",
        type=_workspace,
        help="the folder of notes (default: the one the settings give to --agent, else here); "
        "`postgres:` for the notes in the database of your settings, or its address without a "
        "password: `postgresql://host/name`",
    )
    # In lower case from here on, as in every settings file and state folder.
    group.add_argument(
        "--agent", metavar="ID", type=str.lower, help="whose memory (default: main)"
    )
    group.add_argument(
        "--openclaw",
        action="store_true",
        help="the agent of the OpenClaw on this machine: its settings, notes and sessions, "
        "which are only read",
    )
    group.add_argument(
        "--state-dir",
        metavar="DIR",
        help="where Notewell keeps indexes, history and tokens "
        "(default: $NOTEWELL_STATE_DIR, else the platform's place)",
    )
    if json:
        group.add_argument("--json", action="store_true", help="print JSON")


def _workspace(text: str) -> str:
    if text.startswith(("postgresql://", "postgres://")):
        _use_database(text)
        return IN_DATABASE
    # A shell expands no `~` in quotation marks, and hosts start commands without a shell.
    return os.path.expanduser(text)  # noqa: PTH111 - `Path` would change what is no path.


def _use_database(address: str) -> None:
    """The address of a database that stands on the command line."""
    from argparse import ArgumentTypeError

    # Up to the last `@`: a password may have one, and a slash, which a URL should not.
    user = address.partition("://")[2].rpartition("@")[0]
    if ":" in user or "password=" in address.lower():
        # Without the address: an error message may be stored.
        raise ArgumentTypeError(
            "every user of this machine can read the words of a command: put an address with a "
            "password into NOTEWELL_DATABASE_URL, or the password into ~/.pgpass"
        )
    # The one place where every reader of settings looks.
    os.environ["NOTEWELL_DATABASE_URL"] = address


def place_words(arguments: argparse.Namespace) -> list[str]:
    """The options again, for a command that a message proposes."""
    words = ["-w", str(arguments.workspace)] if arguments.workspace is not None else []
    words += ["--agent", arguments.agent] if arguments.agent else []
    words += ["--openclaw"] if arguments.openclaw else []
    words += ["--state-dir", arguments.state_dir] if arguments.state_dir else []
    return words


def add_database(parser: argparse.ArgumentParser, otherwise: str) -> None:
    """For a command about services: their tokens may be in the database."""
    parser.add_argument(
        "-w",
        "--workspace",
        metavar="postgres:",
        type=_database,
        help="of the services on the database of your settings, or on `postgresql://host/name` "
        f"(without a password); {otherwise}",
    )


def _database(text: str) -> str:
    from argparse import ArgumentTypeError

    place = _workspace(text)
    if place != IN_DATABASE:
        raise ArgumentTypeError("it must be `postgres:`, or the address of a database")
    return place


def refuse_place(parser: argparse.ArgumentParser) -> None:
    """For an uninstall: who installed with -w would repeat it, and learn here that it is not
    needed."""
    from argparse import SUPPRESS

    parser.add_argument("-w", "--workspace", type=_no_place, help=SUPPRESS)


def _no_place(folder: str) -> str:
    from argparse import ArgumentTypeError

    raise ArgumentTypeError(
        f"leave it out: Notewell is taken out of the host, whatever its folder is; {folder!r} and "
        f"its notes stay. --project DIR names the files of a project"
    )


def add_pins(parser: argparse.ArgumentParser) -> None:
    """What an installed entry says, so that the environment of the host does not decide it."""
    group = parser.add_argument_group("in the entries that hosts run")
    group.add_argument(
        "--config", metavar="FILE", help="your settings file (default: $NOTEWELL_CONFIG)"
    )
    group.add_argument(
        "--embedder",
        metavar="PROVIDER",
        help="the provider, where the settings leave it to `auto`",
    )
    group.add_argument(
        "--configured",
        action="store_true",
        help="without -w: the folder that the settings name, never the current one",
    )


def apply_pins(arguments: argparse.Namespace) -> None:
    """Before the settings are read. `memory_of` applies the embedder."""
    if arguments.config:
        # The one place where every reader of settings looks.
        os.environ["NOTEWELL_CONFIG"] = arguments.config


class MemoryLocation(NamedTuple):
    """The agent and the workspace that the options name."""

    agent: str
    workspace: str
    settings: Settings | None = None
    """The settings of an OpenClaw; None: from our own files."""


def location_of(arguments: argparse.Namespace) -> MemoryLocation:
    """The folder from the options, the folder of the agent, or the current folder."""
    if arguments.openclaw:
        location = _openclaw(arguments)
        # The settings of the agent stay; only the folder of notes is replaced.
        return location._replace(workspace=arguments.workspace or location.workspace)
    if arguments.agent:
        _require_own_key(arguments, arguments.agent)
    elif agent := _routed(arguments):
        return MemoryLocation(agent, _routed_folder(arguments, agent))
    if arguments.workspace is not None:
        return MemoryLocation(arguments.agent or MAIN, str(arguments.workspace))
    return _configured(arguments)


def workspace_of(arguments: argparse.Namespace) -> str:
    return location_of(arguments).workspace


def memory_of(
    arguments: argparse.Namespace, *, by_host: bool = False, embedder_s: float | None = None
) -> Memory:
    """The memory that the options name. `by_host`: a host runs this command, not a person.
    `embedder_s` limits the time-outs of the embedder."""
    from notewell.assembly import LEASE_WAIT_S, open_memory

    agent, workspace, settings = location_of(arguments)
    # Only the commands that hosts run have the option.
    if pinned := getattr(arguments, "embedder", None):
        settings = _with_embedder(settings, agent, workspace, pinned=pinned)
    if embedder_s is not None:
        settings = _with_embedder(settings, agent, workspace, limit_s=embedder_s)
    return open_memory(
        workspace,
        agent=agent,
        state_dir=arguments.state_dir,
        settings=settings,
        # Only `index` has --wait; every other command waits for the default time.
        lease_wait_s=getattr(arguments, "wait", LEASE_WAIT_S),
        started_by_user=not by_host,
    )


def _with_embedder(
    settings: Settings | None,
    agent: str,
    workspace: str,
    *,
    pinned: str | None = None,
    limit_s: float | None = None,
) -> Settings:
    """The settings with the provider that `auto` takes, or with shorter time-outs."""
    from pathlib import Path

    from notewell.config import load_settings
    from notewell.embedders import EmbedderSettings
    from notewell.records import replace

    settings = settings or load_settings(Path(os.path.realpath(workspace)), agent)
    embedder = settings.embedder or EmbedderSettings()
    if pinned is not None:
        embedder = replace(embedder, pinned=pinned)
    if limit_s is not None:
        # Never 0, which the settings refuse.
        limit_s = max(limit_s, 0.1)
        embedder = replace(
            embedder,
            query_timeout_s=min(embedder.query_timeout_s or limit_s, limit_s),
            document_timeout_s=min(embedder.document_timeout_s or limit_s, limit_s),
        )
    return replace(settings, embedder=embedder)


def _routed(
    arguments: argparse.Namespace, configuration: Configuration | None = None
) -> str | None:
    """The agent to which `--session-key` and the bindings route; None: nothing decides it."""
    # Only `mcp serve` has the option.
    session_key = getattr(arguments, "session_key", None)
    if not session_key:
        return None
    from notewell.core import BadSessionKey

    route = route_of(session_key, configuration)
    # A key that cannot be parsed stops nobody: the scope of the memory decides about it.
    if isinstance(route, BadSessionKey) or route.by == "default":
        return None
    return route.agent


def route_of(
    session_key: str, configuration: Configuration | None = None
) -> Route | BadSessionKey:
    """Where the settings route a session key; refuses one that names an agent they do not have."""
    from notewell.config import ConfigScope, read_configuration
    from notewell.core import UnknownAgent

    configuration = configuration or read_configuration(ConfigScope(), os.environ)
    route = configuration.route_session(session_key)
    if isinstance(route, UnknownAgent):
        raise BadSetting("session key", f"{route.why}; name one of them, or add it to the list")
    return route


def _require_own_key(
    arguments: argparse.Namespace, agent: str, configuration: Configuration | None = None
) -> None:
    """Refuses a session key of another agent, whose conversation must not see this memory."""
    named = _named_agent(arguments, configuration)
    if named is not None and named != agent:
        raise BadSetting(
            "session key",
            f"it belongs to the agent {named!r}, and --agent is {agent!r}; leave out --agent, "
            f"or give the key of a conversation of {agent!r}",
        )


def _named_agent(
    arguments: argparse.Namespace, configuration: Configuration | None = None
) -> str | None:
    """The agent that `--session-key` names; None if it leaves that to others: hosts without
    agents of their own write the default one into every key."""
    from notewell.config import ConfigScope, read_configuration
    from notewell.core import BadSessionKey, UnknownAgent, parse_session_key

    session_key = getattr(arguments, "session_key", None)
    if not session_key:
        return None
    configuration = configuration or read_configuration(ConfigScope(), os.environ)
    route = configuration.route_session(session_key)
    if isinstance(route, BadSessionKey):
        return None
    if isinstance(route, UnknownAgent):
        return route.id
    if route.by == "key":
        return route.agent
    # Without a list of agents every key leads to the one there is; but not past `--agent`.
    key = parse_session_key(session_key)
    return None if isinstance(key, BadSessionKey) or key.agent == MAIN else key.agent


def _routed_folder(arguments: argparse.Namespace, agent: str) -> str:
    """The folder of the agent to which a session key routes; -w must not be another one's."""
    folder, given = _folder_of(agent), arguments.workspace
    if given is None:
        return str(folder or HERE)
    same = folder is None or os.path.realpath(given) == os.path.realpath(folder)
    if not same and _named_agent(arguments) == agent:
        raise BadSetting(
            "session key",
            f"it belongs to the agent {agent!r}, whose notes are not in {str(given)!r}; leave "
            f"out -w, or give the key of a conversation about these notes",
        )
    return str(given)


def _folder_of(agent: str) -> Path | None:
    """The folder of an agent. Raises for a mistake in the bindings, which could route wrongly."""
    from notewell.config import load_configuration

    return load_configuration(agent=agent).agents[agent].workspace


def _configured(arguments: argparse.Namespace) -> MemoryLocation:
    """The agent, and the folder that the settings give to it.

    A user who is in a workspace and names no agent means that workspace.
    """
    from pathlib import Path

    # `has_files` is cheap. The readers of settings files load only if there is one to read.
    from notewell.config import has_files

    if getattr(arguments, "configured", False):
        return _configured_only(arguments)
    # `lexists`: a broken link still shows that this folder is meant as a workspace.
    in_workspace = any(os.path.lexists(name) for name in ("MEMORY.md", "memory.md", "memory"))
    if not has_files(Path(HERE), os.environ) or (arguments.agent is None and in_workspace):
        return MemoryLocation(arguments.agent or MAIN, HERE)
    id_, folder = _agent_and_folder(arguments)
    return MemoryLocation(id_, str(folder) if folder else HERE)


def _configured_only(arguments: argparse.Namespace) -> MemoryLocation:
    """For a plugin: it runs in the folder of the host's project, where nobody asked for notes."""
    from notewell.config import user_config_dir

    id_, folder = _agent_and_folder(arguments)
    if folder is None:
        raise WorkspaceNotSet(str(user_config_dir(os.environ)))
    return MemoryLocation(id_, str(folder))


def _agent_and_folder(arguments: argparse.Namespace) -> tuple[str, Path | None]:
    """The agent that is asked for, else the default one, and its folder in the settings."""
    from notewell.config import ConfigScope, load_configuration, read_configuration

    configuration = read_configuration(ConfigScope(), os.environ)
    id_ = arguments.agent or configuration.default_agent
    # Settings that name no agent but `main` accept any id: a user may start one without a file.
    if (
        arguments.agent
        and configuration.agents.keys() - {MAIN}
        and id_ not in configuration.agents
    ):
        known = ", ".join(configuration.agents)
        raise BadSetting("agent", f"the settings have no agent {id_!r}; they have: {known}")
    agent = load_configuration(agent=id_).agents.get(id_)
    # `open_memory` refuses an id that is not valid, with a better message.
    return id_, agent.workspace if agent else None


def _openclaw(arguments: argparse.Namespace) -> MemoryLocation:
    """An agent of OpenClaw: where its notes are, and its settings translated to ours."""
    from notewell.config import from_openclaw, settings_of
    from notewell.embedders import profile_files
    from notewell.records import replace

    openclaw = from_openclaw()
    configuration = openclaw.configuration
    if arguments.agent:
        _require_own_key(arguments, arguments.agent, configuration)
    id_ = arguments.agent or _routed(arguments, configuration) or configuration.default_agent
    agent = openclaw.agents.get(id_)
    if agent is None:
        known = ", ".join(openclaw.agents)
        raise BadSetting("agent", f"OpenClaw has no agent {id_!r}; it has: {known}")
    if agent.config.workspace is None:
        raise BadSetting("workspace", f"OpenClaw gives its agent {id_!r} no folder")
    settings = settings_of(agent.config, configuration.providers)
    # OpenClaw keeps transcripts in its own folders and formats, outside our state folder.
    folders = (*agent.session_folders(), *settings.sessions.folders)
    sessions = replace(settings.sessions, folders=folders)
    embedder = settings.embedder
    if embedder:
        embedder = replace(embedder, auth_profiles=profile_files(openclaw.state_dir, id_))
    settings = replace(settings, sessions=sessions, embedder=embedder)
    return MemoryLocation(id_, str(agent.config.workspace), settings)
