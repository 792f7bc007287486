"""`notewell mcp install` and `notewell hook install`: put this memory into a host's files.

A module of its own: `notewell hook` runs while a host waits, and must not import this.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import print_json, say, tell
from notewell.cli.place import MAIN, location_of
from notewell.clients import (
    entry_text,
    hook_command_line,
    install_entry,
    install_hooks,
    remove_entry,
    remove_hooks,
    with_hooks,
)
from notewell.config import default_state_dir, load_settings, moved_user_file
from notewell.errors import BadSetting
from notewell.hosts import HOOK_FILES, HOSTS, MCP_FILES, Machine

if TYPE_CHECKING:
    import argparse

    from notewell.clients import Installed
    from notewell.config import Settings


def run_mcp_install(arguments: argparse.Namespace) -> int:
    mcp = MCP_FILES[arguments.client]
    project = _project(arguments)
    file = mcp.file(_machine(), project)
    # Before --print, too: a wrong workspace should be an error and not a wrong entry.
    entry = mcp.entry(serve_command(arguments))
    if arguments.print:
        _print_mcp_entry(arguments, file, entry)
        return 0
    if project is not None and not project.is_dir():
        raise BadSetting("--project", f"there is no folder {str(project)!r}")
    result = install_entry(mcp, file, arguments.name, entry)
    title = HOSTS[arguments.client].title
    _report(arguments, result, f"{title} {'now knows' if result.changed else 'knows already'}")
    if result.changed and project is not None and mcp.project_advice and not arguments.json:
        tell(mcp.project_advice)
    return 0


def _print_mcp_entry(arguments: argparse.Namespace, file: Path, entry: dict[str, Any]) -> None:
    if arguments.json:
        print_json({"file": str(file), "name": arguments.name, "entry": entry})
    else:
        tell(f"for {file}:")
        say(entry_text(MCP_FILES[arguments.client], arguments.name, entry).rstrip("\n"))


def run_hook_install(arguments: argparse.Namespace) -> int:
    hooks = HOOK_FILES[arguments.host]
    file = hooks.file(_machine(), _project(arguments))
    items = {
        event: hooks.item(hook_command(arguments, ours), event)
        for event, ours in {**hooks.events, **_turn_events(arguments)}.items()
    }
    if arguments.print:
        _print_hooks(arguments, file, with_hooks(hooks.new_file, items) or "")
        return 0
    result = install_hooks(file, hooks, items)
    verb = "now calls" if result.changed else "calls"
    already = "" if result.changed else " already"
    _report(arguments, result, f"{HOSTS[arguments.host].title} {verb}", already)
    if result.changed and hooks.advice and not arguments.json:
        tell(hooks.advice)
    return 0


def run_mcp_uninstall(arguments: argparse.Namespace) -> int:
    mcp = MCP_FILES[arguments.client]
    result = remove_entry(mcp, mcp.file(_machine(), _project(arguments)), arguments.name)
    title = HOSTS[arguments.client].title
    verb = "no longer knows" if result.changed else "does not know"
    _report(arguments, result, f"{title} {verb}")
    return 0


def run_hook_uninstall(arguments: argparse.Namespace) -> int:
    hooks = HOOK_FILES[arguments.host]
    file = hooks.file(_machine(), _project(arguments))
    result = remove_hooks(file, hooks, arguments.host)
    title = HOSTS[arguments.host].title
    verb = "no longer calls" if result.changed else "does not call"
    _report(arguments, result, f"{title} {verb}")
    return 0


def _turn_events(arguments: argparse.Namespace) -> dict[str, str]:
    """The events of each turn that the options or the settings of entries want."""
    agent, workspace, settings = location_of(arguments)
    entries = (settings or load_settings(Path(workspace).absolute(), agent)).entries
    wanted = {
        "prompt": arguments.recall or (entries is not None and entries.auto_recall),
        "stop": entries is not None and entries.auto_capture,
    }
    events = HOOK_FILES[arguments.host].turn_events
    return {event: ours for event, ours in events.items() if wanted[ours]}


def _print_hooks(arguments: argparse.Namespace, file: Path, text: str) -> None:
    if arguments.json:
        print_json({"file": str(file), "entries": json.loads(text)})
    else:
        tell(f"for {file}:")
        say(text.rstrip("\n"))


def _report(arguments: argparse.Namespace, result: Installed, subject: str, end: str = "") -> None:
    if arguments.json:
        backup = str(result.backup) if result.backup else None
        print_json({"file": str(result.file), "changed": result.changed, "backup": backup})
    else:
        say(f"{subject} this memory{end}")
        tell(f"in {result.file}" + (f"; as it was: {result.backup}" if result.backup else ""))


def _machine() -> Machine:
    return Machine(Path.home(), os.environ, sys.platform)


def _project(arguments: argparse.Namespace) -> Path | None:
    return Path(arguments.project).absolute() if arguments.project is not None else None


# -- the commands that hosts run -----------------------------------------------------------------


def serve_command(arguments: argparse.Namespace) -> list[str]:
    """The command that starts the MCP server: with this Python, for this workspace, from any
    folder."""
    return [*_program(), "mcp", "serve", *_place_options(arguments)]


def hook_command(arguments: argparse.Namespace, event: str) -> str:
    """The command line of a hook."""
    words = [*_program(), "hook", event, "--host", arguments.host, *_place_options(arguments)]
    recall = ["--recall"] if event == "prompt" and arguments.recall else []
    return hook_command_line([*words, *recall])


def _place_options(arguments: argparse.Namespace) -> list[str]:
    from notewell.assembly import open_notes

    agent, place, settings = location_of(arguments)
    workspace = Path(place).absolute()
    # A wrong workspace is refused here; later the error would be in the host's log only.
    open_notes(workspace)
    # Absolute paths: the host starts the command in a folder of its own.
    options = ["--workspace", str(workspace)]
    if arguments.openclaw:
        options.append("--openclaw")
    if agent != MAIN:
        options += ["--agent", agent]
    return [*options, *_pins(arguments, settings or load_settings(workspace, agent), agent)]


def _pins(arguments: argparse.Namespace, settings: Settings, agent: str) -> list[str]:
    """What the environment decides here. Hosts start programs in an environment of their own, and
    one host may have two: Codex passes fewer variables to a server than to a hook."""
    from notewell.embedders import choose_embedder, profile_files

    state = _state_dir(arguments)
    pins = ["--state-dir", str(state)]
    if moved := moved_user_file(os.environ):
        pins += ["--config", str(moved)]
    # A provider that the settings name needs no pin. Only the name is written: never a key.
    if settings.embedder is None or settings.embedder.provider == "auto":
        chosen = choose_embedder(
            settings.embedder,
            state / "models",
            os.environ,
            auth_profiles=profile_files(state, agent),
            started_by_user=True,
        )
        pins += ["--embedder", chosen.decision.used]
    return pins


def _state_dir(arguments: argparse.Namespace) -> Path:
    named = arguments.state_dir
    return (Path(named).expanduser() if named else default_state_dir()).absolute()


def _program() -> list[str]:
    script = Path(sys.executable).with_name("notewell")
    if script.is_file():
        return [str(script)]
    # -P: a file named notewell.py in the host's working folder must not be imported instead.
    return [sys.executable, "-P", "-m", "notewell"]
