"""Which hosts are on this machine, and which of them have this memory."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.hosts import HOSTS, Machine

if TYPE_CHECKING:
    from notewell.hosts import Host

NAME = "notewell"
"""Of our entry among the MCP servers of a host."""


def this_machine() -> Machine:
    return Machine(Path.home(), os.environ, sys.platform)


def hosts_of(machine: Machine) -> list[Host]:
    """The hosts whose program is on the path, or that have a settings file."""
    path = machine.environ.get("PATH")
    return [
        host
        for host in installable().values()
        if shutil.which(host.program or host.id, path=path)
        or any(file.is_file() for file in _files(host, machine))
    ]


def has_ours(host: Host, machine: Machine, project: Path | None) -> bool:
    """Whether files of the host have our entry or our hooks, or it has the plugin instead."""
    from notewell.clients import has_entry, has_hooks, has_plugin

    if is_plugin_only(host):
        return project is None and has_plugin(host, machine)
    mcp, hooks = host.mcp, host.hooks
    has_file = mcp is not None and (project is None or mcp.project_file is not None)
    if mcp and has_file and has_entry(mcp, mcp.file(machine, project), NAME):
        return True
    return hooks is not None and has_hooks(hooks.file(machine, project), hooks, host.id)


def is_connected(host: Host, machine: Machine) -> bool:
    """Whether the host has this memory in every project: by its own files or by the plugin."""
    from notewell.clients import has_plugin

    return has_ours(host, machine, None) or has_plugin(host, machine)


def is_plugin_only(host: Host) -> bool:
    """Whether no file of ours can be put into the host."""
    return host.plugin_install is not None and not (host.mcp or host.hooks)


def install_choices() -> list[str]:
    return [*installable(), *(host.id for host in HOSTS.values() if is_plugin_only(host))]


def installable() -> dict[str, Host]:
    return {host.id: host for host in HOSTS.values() if host.mcp or host.hooks}


def _files(host: Host, machine: Machine) -> list[Path]:
    return [part.file(machine, None) for part in (host.mcp, host.hooks) if part]
