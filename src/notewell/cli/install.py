"""`notewell install`: the MCP entry and the hooks of a host, in one command.

Without a host it looks for the hosts of this machine and asks about each one. Without a terminal
nobody can answer, so it changes nothing unless `--yes` was given.
"""

from __future__ import annotations

import os
import shutil
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.output import tell
from notewell.cli.place import add_place
from notewell.errors import BadRequest
from notewell.hosts import HOSTS, Machine

if TYPE_CHECKING:
    import argparse

    from notewell.hosts import Host

NOTHING_FOUND = 3


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "host",
        nargs="?",
        choices=tuple(_installable()),
        help="default: look for hosts on this machine, and ask",
    )
    parser.add_argument(
        "--project", metavar="DIR", help="edit the files of this project (default: the user's)"
    )
    parser.add_argument(
        "--recall", action="store_true", help="also print what notes say about each prompt"
    )
    parser.add_argument(
        "-y", "--yes", action="store_true", help="do not ask: install in every host that is found"
    )
    add_place(parser, json=False)


def run(arguments: argparse.Namespace) -> int:
    if arguments.host:
        install_host(HOSTS[arguments.host], arguments)
        return 0
    hosts = hosts_of(Machine(Path.home(), os.environ, sys.platform))
    if not hosts:
        tell(f"no host was found on this machine; name one of: {', '.join(_installable())}")
        return NOTHING_FOUND
    for host in hosts if arguments.yes else _confirmed(hosts):
        install_host(host, arguments)
    return 0


def hosts_of(machine: Machine) -> list[Host]:
    """The hosts whose program is on the path, or that have a settings file."""
    path = machine.environ.get("PATH")
    return [
        host
        for host in _installable().values()
        if shutil.which(host.program or host.id, path=path)
        or any(file.is_file() for file in _files(host, machine))
    ]


def install_host(host: Host, arguments: argparse.Namespace) -> None:
    """Through the two commands, so that they and this one cannot differ."""
    from notewell.cli import hook, mcp

    place = {**vars(arguments), "action": "install", "print": False, "json": False}
    if host.mcp and (arguments.project is None or host.mcp.project_file):
        mcp.run(Namespace(**{**place, "client": host.id, "name": "notewell"}))
    if host.hooks:
        hook.run(Namespace(**{**place, "host": host.id}))
    else:
        tell(f"{host.title} calls no hooks of Notewell: it has the tools, and no capture")


def _confirmed(hosts: list[Host]) -> list[Host]:
    titles = ", ".join(host.id for host in hosts)
    # Both: a question that nobody sees, or that nobody can answer, must not be asked.
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadRequest(f"found {titles}: name one of them, or add --yes; nothing was changed")
    return [host for host in hosts if _asks(f"Install in {host.title}? [y/N] ")]


def _asks(question: str) -> bool:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _installable() -> dict[str, Host]:
    return {host.id: host for host in HOSTS.values() if host.mcp or host.hooks}


def _files(host: Host, machine: Machine) -> list[Path]:
    return [part.file(machine, None) for part in (host.mcp, host.hooks) if part]
