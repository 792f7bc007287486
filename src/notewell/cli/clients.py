"""`notewell mcp install` and `notewell hook install`: put this memory into a host's files.

A module of its own: `notewell hook` runs while a host waits, and must not import this.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.keep_words import (
    keep_words,
    kept_folder,
    settings_for,
    will_keep,
)
from notewell.cli.output import print_json, say, tell
from notewell.cli.place import IN_DATABASE, MAIN, location_of
from notewell.clients import (
    EntryExists,
    entry_text,
    hook_command_line,
    install_entry,
    install_hooks,
    is_our_entry,
    record_install,
    record_removal,
    refuse_beside_plugin,
    remove_entry,
    remove_hooks,
    with_hooks,
)
from notewell.config import default_state_dir, load_settings, moved_user_file
from notewell.errors import BadRequest, BadSetting, StateNotWritable
from notewell.hosts import HOOK_FILES, HOSTS, MCP_FILES, Machine

if TYPE_CHECKING:
    import argparse

    from notewell.clients import Installed
    from notewell.config import Settings

SERVED_NOT_INSTALLED = (
    "an entry or hook of a host works with a folder of notes; for notes in a database, run "
    "`notewell serve -w postgres:` and give the host its address and a token"
)


def run_mcp_install(arguments: argparse.Namespace) -> int:
    if arguments.print:
        _print_mcp_entry(arguments)
        return 0
    result = add_entry(arguments)
    if arguments.json:
        print_json(change_fields(result))
    else:
        report_entry(arguments, result)
    return 0


def add_entry(arguments: argparse.Namespace) -> Installed:
    """Put the MCP entry into the host's file."""
    mcp, project = MCP_FILES[arguments.client], _project(arguments)
    refuse_beside_plugin(HOSTS[arguments.client], _machine())
    entry = mcp.entry(serve_command(arguments))
    if project is not None and not project.is_dir():
        raise BadSetting("--project", f"there is no folder {str(project)!r}")
    file = mcp.file(_machine(), project)
    try:
        result = install_entry(mcp, file, arguments.name, entry)
    except EntryExists as error:
        if not is_our_entry(error.entry):
            raise
        raise BadRequest(
            f"{str(file)!r} has an entry of Notewell with other options: take it out with "
            f"`{_uninstall_command(arguments)}` and install again; nothing was changed"
        ) from error
    return _recorded(arguments, result)


def _recorded(arguments: argparse.Namespace, result: Installed) -> Installed:
    """Record the file and the folders that were made, for `uninstall`."""
    if result.changed:
        with suppress(StateNotWritable):  # Then `uninstall` leaves the folders.
            record_install(_state_dir(arguments), result.file, result.made)
    return result


def _uninstall_command(arguments: argparse.Namespace) -> str:
    words = ["notewell", "mcp", "uninstall", arguments.client]
    if arguments.project is not None:
        words += ["--project", arguments.project]
    if arguments.name != "notewell":
        words += ["--name", arguments.name]
    return hook_command_line(words)


def report_entry(arguments: argparse.Namespace, result: Installed) -> None:
    _report(result, arguments.client, "now knows" if result.changed else "already knows")
    for line in entry_advice(arguments, result):
        tell(line)


def entry_advice(arguments: argparse.Namespace, result: Installed) -> list[str]:
    """What the user must do after the installation."""
    advice = MCP_FILES[arguments.client].project_advice
    return [advice] if result.changed and advice and arguments.project is not None else []


def _print_mcp_entry(arguments: argparse.Namespace) -> None:
    mcp = MCP_FILES[arguments.client]
    file = mcp.file(_machine(), _project(arguments))
    entry = mcp.entry(serve_command(arguments))
    if arguments.json:
        print_json({"file": str(file), "name": arguments.name, "entry": entry})
    else:
        tell(f"for {file}:")
        say(entry_text(mcp, arguments.name, entry).rstrip("\n"))


def run_hook_install(arguments: argparse.Namespace) -> int:
    if arguments.print:
        _print_hooks(arguments)
        return 0
    result = add_hooks(arguments)
    if arguments.json:
        print_json({**change_fields(result), "kept": kept_folder(arguments)})
        return 0
    report_hooks(arguments, result)
    for line in keep_words(arguments):
        tell(line)
    return 0


def add_hooks(arguments: argparse.Namespace) -> Installed:
    """Put the hooks into the host's file."""
    hooks = HOOK_FILES[arguments.host]
    refuse_beside_plugin(HOSTS[arguments.host], _machine())
    file = hooks.file(_machine(), _project(arguments))
    result = install_hooks(file, hooks, hook_items(arguments), arguments.host)
    return _recorded(arguments, result)


def report_hooks(arguments: argparse.Namespace, result: Installed) -> None:
    verb, already = ("now calls", "") if result.changed else ("calls", " already")
    _report(result, arguments.host, verb, already)
    for line in hook_advice(arguments, result):
        tell(line)


def hook_advice(arguments: argparse.Namespace, result: Installed) -> list[str]:
    """What the user must do after the installation."""
    hooks = HOOK_FILES[arguments.host]
    lines = [hooks.advice, hooks.project_advice if arguments.project is not None else None]
    return [line for line in lines if line and result.changed]


def hook_items(arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The hook of each event, as the host's file has it."""
    hooks = HOOK_FILES[arguments.host]
    events = {**hooks.events, **_turn_events(arguments)}
    return {
        event: hooks.item(hook_command(arguments, ours), event) for event, ours in events.items()
    }


def run_mcp_uninstall(arguments: argparse.Namespace) -> int:
    result = drop_entry(arguments)
    if arguments.json:
        print_json(change_fields(result))
    else:
        report_entry_dropped(arguments, result)
    return 0


def drop_entry(arguments: argparse.Namespace) -> Installed:
    """Take the MCP entry out of the host's file."""
    mcp = MCP_FILES[arguments.client]
    file = mcp.file(_machine(), _project(arguments))
    return _removal_recorded(remove_entry(mcp, file, arguments.name))


def _removal_recorded(result: Installed) -> Installed:
    """Remove the empty folders that the installer made."""
    for state in result.left_states:
        with suppress(StateNotWritable):
            record_removal(state, result.file)
    return result


def report_entry_dropped(arguments: argparse.Namespace, result: Installed) -> None:
    _report(result, arguments.client, "no longer knows" if result.changed else "does not know")


def run_hook_uninstall(arguments: argparse.Namespace) -> int:
    result = drop_hooks(arguments)
    if arguments.json:
        print_json(change_fields(result))
    else:
        report_hooks_dropped(arguments, result)
    return 0


def drop_hooks(arguments: argparse.Namespace) -> Installed:
    """Take the hooks out of the host's file."""
    hooks = HOOK_FILES[arguments.host]
    file = hooks.file(_machine(), _project(arguments))
    return _removal_recorded(remove_hooks(file, hooks, arguments.host))


def report_hooks_dropped(arguments: argparse.Namespace, result: Installed) -> None:
    _report(result, arguments.host, "no longer calls" if result.changed else "does not call")


def change_fields(result: Installed) -> dict[str, Any]:
    backup = str(result.backup) if result.backup else None
    return {
        "file": str(result.file),
        "changed": result.changed,
        "backup": backup,
        "keptBackups": [str(one) for one in result.kept_backups],
    }


def _turn_events(arguments: argparse.Namespace) -> dict[str, str]:
    """The events of each turn that the options or the settings of entries want."""
    entries = settings_for(arguments).entries
    wanted = {
        "prompt": arguments.recall or (entries is not None and entries.auto_recall),
        "stop": will_keep(arguments) or (entries is not None and entries.auto_capture),
    }
    events = HOOK_FILES[arguments.host].turn_events
    return {event: ours for event, ours in events.items() if wanted[ours]}


def _print_hooks(arguments: argparse.Namespace) -> None:
    hooks = HOOK_FILES[arguments.host]
    file = hooks.file(_machine(), _project(arguments))
    text = with_hooks(hooks.new_file, hook_items(arguments)) or ""
    if arguments.json:
        print_json({"file": str(file), "entries": json.loads(text)})
    else:
        tell(f"for {file}:")
        say(text.rstrip("\n"))


def _report(result: Installed, host: str, verb: str, end: str = "") -> None:
    say(f"{HOSTS[host].title} {verb} this memory{end}")
    tell(f"in {result.file}" + (f"; as it was: {result.backup}" if result.backup else ""))
    for backup in result.kept_backups:
        tell(f"kept {backup}: it has settings that {result.file.name} does not have now")


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
    keep = ["--keep"] if will_keep(arguments) else []
    return hook_command_line([*words, *keep, *recall])


def _place_options(arguments: argparse.Namespace) -> list[str]:
    from notewell.notes import open_notes

    agent, place, settings = location_of(arguments)
    if place == IN_DATABASE:
        raise BadSetting("-w", SERVED_NOT_INSTALLED)
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
