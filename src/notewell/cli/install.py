"""`notewell install` and `uninstall`: the MCP entry and the hooks of a host, in one command.

Without a host they look for hosts on this machine and ask about each one. Without a terminal
nobody can answer, so they change nothing unless `--yes` was given. A host that fails does not stop
the others.
"""

from __future__ import annotations

import sys
from argparse import BooleanOptionalAction, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.hook_keep import add_notes_only
from notewell.cli.host_presence import (
    NAME,
    has_ours,
    hosts_of,
    install_choices,
    installable,
    is_plugin_only,
    this_machine,
)
from notewell.cli.output import can_ask, print_json, say, tell
from notewell.cli.place import add_place, refuse_place
from notewell.errors import BadRequest, NotewellError
from notewell.hosts import HOSTS
from notewell.records import dataclass, replace

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from notewell.clients import Installed
    from notewell.hosts import Host, Machine

NOTHING_FOUND = 3


@dataclass(frozen=True, slots=True)
class HostChange:
    """What was done to the files of one host."""

    host: Host
    tools: Installed | None = None
    hooks: Installed | None = None
    kept: str | None = None
    """Where the hooks keep conversations; None if they do not."""
    advice: tuple[str, ...] = ()
    """What the user must do now, or should know."""
    error: NotewellError | None = None


def add_options(parser: argparse.ArgumentParser) -> None:
    _add_host_options(parser, "install in every host that is found", install_choices())
    parser.add_argument(
        "--recall",
        action=BooleanOptionalAction,
        default=True,
        help="print what notes say about each prompt (default: yes)",
    )
    add_notes_only(parser)
    add_place(parser)


def add_uninstall_options(parser: argparse.ArgumentParser) -> None:
    _add_host_options(parser, "uninstall from every host that has it", install_choices())
    refuse_place(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_host_options(parser: argparse.ArgumentParser, yes: str, hosts: list[str]) -> None:
    parser.add_argument(
        "host",
        nargs="?",
        choices=tuple(hosts),
        help="default: look for hosts on this machine, and ask",
    )
    parser.add_argument(
        "--project", metavar="DIR", help="edit the files of this project (default: the user's)"
    )
    parser.add_argument("-y", "--yes", action="store_true", help=f"do not ask: {yes}")


def run(arguments: argparse.Namespace) -> int:
    from notewell.cli.keep_words import keep_words

    none = "no host was found"
    return _run(arguments, install_host, hosts_of, "Install in", none, keep_words)


def run_uninstall(arguments: argparse.Namespace) -> int:
    def with_ours(machine: Machine) -> list[Host]:
        named = arguments.project
        project = Path(named).absolute() if named is not None else None
        return [HOSTS[one] for one in install_choices() if has_ours(HOSTS[one], machine, project)]

    none = "no host of this machine has this memory"
    return _run(arguments, uninstall_host, with_ours, "Uninstall from", none)


def _run(
    arguments: argparse.Namespace,
    change: Callable[[Host, argparse.Namespace], HostChange],
    find: Callable[[Machine], list[Host]],
    question: str,
    none: str,
    words: Callable[[argparse.Namespace], list[str]] = lambda _: [],
) -> int:
    """`words` are what a user must know about hooks: said once, before a question."""
    is_asked = not arguments.host and not arguments.yes
    if arguments.host:
        hosts = [HOSTS[arguments.host]]
    else:
        hosts = find(this_machine())
        if not hosts:
            if arguments.json:
                print_json({"hosts": []})
            tell(f"{none}; name one of: {', '.join(installable())}")
            return NOTHING_FOUND
        if is_asked:
            _require_terminal(hosts)
            _tell_words(words(arguments), [host.hooks for host in hosts])
            hosts = [host for host in hosts if asks(f"{question} {host.title}? [y/N] ")]
    changes = [change(host, arguments) for host in hosts]
    if not is_asked:
        _tell_words(words(arguments), [one.hooks for one in changes])
    return _report(changes, arguments)


def _tell_words(lines: Iterable[str], hooks: Iterable[object]) -> None:
    for line in lines if any(hooks) else ():
        tell(line)


def _report(changes: list[HostChange], arguments: argparse.Namespace) -> int:
    if arguments.json:
        print_json({"hosts": [_fields(change) for change in changes]})
    failed = [(change.host.id, change.error) for change in changes if change.error]
    for host, error in failed:
        tell(f"notewell: {host}: {error}")
    return failed[0][1].exit_code if failed else 0


def _fields(change: HostChange) -> dict[str, Any]:
    from notewell.cli.clients import change_fields

    error = change.error
    return {
        "host": change.host.id,
        "tools": change_fields(change.tools) if change.tools else None,
        "hooks": change_fields(change.hooks) if change.hooks else None,
        "kept": change.kept,
        "advice": list(change.advice),
        "error": {"kind": type(error).__name__, "message": str(error)} if error else None,
    }


def install_host(host: Host, arguments: argparse.Namespace) -> HostChange:
    from notewell.cli import clients
    from notewell.cli.keep_words import import_words, kept_folder
    from notewell.cli.mcp import require_sdk

    if is_plugin_only(host):
        return HostChange(host, error=BadRequest(f"{_plugin_sentence(host)}; nothing was changed"))

    def add_entry(place: argparse.Namespace) -> Installed:
        require_sdk()  # Without it, the host would start a server that exits at once.
        return clients.add_entry(place)

    place = _place(host, arguments)
    change = _changed(host, place, add_entry, clients.add_hooks)
    kept = kept_folder(place) if change.hooks else None
    remarks = [*_remarks(change), *(import_words(host, arguments.project) if kept else ())]
    if not arguments.json:
        _say_change(change, place, clients.report_entry, clients.report_hooks, remarks)
    advice = [
        *(clients.entry_advice(place, change.tools) if change.tools else ()),
        *(clients.hook_advice(place, change.hooks) if change.hooks else ()),
    ]
    return replace(change, kept=kept, advice=(*advice, *remarks))


def _remarks(change: HostChange) -> list[str]:
    """What the host does not have after the installation."""
    host = change.host
    if change.tools and host.plugin_install:
        return [_plugin_sentence(host)]
    if change.tools and not host.hooks:
        return [
            f"{host.title} calls no hooks of Notewell: it has the tools, and neither recall "
            "nor capture"
        ]
    if change.hooks and host.mcp and not change.tools:
        return [
            f"{host.title} has no file for the tools of one project: add them with "
            f"`notewell mcp install {host.id}`"
        ]
    return []


def _plugin_sentence(host: Host) -> str:
    return (
        f"{host.title} recalls and captures with the plugin of Notewell only: in a checkout of "
        f"it, CHECKOUT, run `{host.plugin_install}`"
    )


def uninstall_host(host: Host, arguments: argparse.Namespace) -> HostChange:
    from notewell.cli import clients
    from notewell.clients import has_plugin, plugin_left

    if is_plugin_only(host):
        return _without_plugin(host, arguments)
    place = _place(host, arguments)
    change = _changed(host, place, clients.drop_entry, clients.drop_hooks, hooks_first=True)
    if change.hooks and change.tools and change.hooks.file == change.tools.file:
        # The backups of one file: the second removal decided about those of the first one.
        hooks = replace(change.hooks, backup=change.tools.backup, kept_backups=())
        change = replace(change, hooks=hooks)
    remarks = [plugin_left(host)] if has_plugin(host, this_machine()) else []
    if not arguments.json:
        reports = clients.report_entry_dropped, clients.report_hooks_dropped
        _say_change(change, place, *reports, remarks)
    return replace(change, advice=tuple(remarks))


def _without_plugin(host: Host, arguments: argparse.Namespace) -> HostChange:
    """Only the host itself takes out a plugin: its own records name it."""
    from notewell.clients import has_plugin, plugin_left

    if has_plugin(host, this_machine()):
        error = BadRequest(f"{plugin_left(host)}; nothing was changed")
        return HostChange(host, error=error)
    if not arguments.json:
        say(f"{host.title} does not have the plugin of Notewell")
    return HostChange(host)


def _place(host: Host, arguments: argparse.Namespace) -> argparse.Namespace:
    """The options as `notewell mcp install` and `notewell hook install` have them."""
    return Namespace(**{**vars(arguments), "client": host.id, "host": host.id, "name": NAME})


def _changed(
    host: Host,
    place: argparse.Namespace,
    change_entry: Callable[[argparse.Namespace], Installed],
    change_hooks: Callable[[argparse.Namespace], Installed],
    *,
    hooks_first: bool = False,
) -> HostChange:
    """Both parts. If the second one fails, the first one is done, and is in the result.

    `hooks_first` is the reverse of an installation: what was put last into a file comes out first.
    """
    change = HostChange(host)
    # A host that has neither a file for the project nor hooks gets the error about that.
    wants_entry = place.project is None or not host.hooks
    try:
        if host.hooks and hooks_first:
            change = replace(change, hooks=change_hooks(place))
        if host.mcp and (wants_entry or host.mcp.project_file):
            change = replace(change, tools=change_entry(place))
        if host.hooks and not hooks_first:
            change = replace(change, hooks=change_hooks(place))
    except NotewellError as error:
        return replace(change, error=error)
    return change


def _say_change(
    change: HostChange,
    place: argparse.Namespace,
    say_entry: Callable[[argparse.Namespace, Installed], None],
    say_hooks: Callable[[argparse.Namespace, Installed], None],
    remarks: Iterable[str],
) -> None:
    if change.tools:
        say_entry(place, change.tools)
    if change.hooks:
        say_hooks(place, change.hooks)
    for line in remarks:
        tell(line)


# -- questions -----------------------------------------------------------------------------------


def _require_terminal(hosts: list[Host]) -> None:
    titles = ", ".join(host.id for host in hosts)
    if not can_ask():
        raise BadRequest(f"found {titles}: name one of them, or add --yes; nothing was changed")


def asks(question: str) -> bool:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
