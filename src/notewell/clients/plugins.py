"""Plugins of hosts: whether ours is on, and whether Notewell is in a host twice.

A plugin and `notewell install` bring the same server and the same hooks. With both, a conversation
is still saved once, but the model reads the notes twice and may have each tool twice.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from notewell.clients.hooks import has_hooks
from notewell.clients.install import MAX_FILE_BYTES, has_entry
from notewell.clients.merge import CannotMerge, parse_json, parse_toml
from notewell.errors import BadRequest
from notewell.hosts import HOSTS

if TYPE_CHECKING:
    from notewell.hosts import Host, Machine, PluginFile

NAME = "notewell"
"""Of the server that `notewell install` adds."""


class PluginPresent(BadRequest):
    """The host has the plugin, so there is nothing to install."""

    def __init__(self, host: Host, plugin: PluginFile) -> None:
        super().__init__(
            f"{host.title} has Notewell as a plugin already: nothing was changed. To install it "
            f"here instead, take the plugin out first: {plugin.uninstall}"
        )


class DoubleInstall(NamedTuple):
    """A host that has the plugin and also what `notewell install` writes."""

    host: Host
    plugin: PluginFile
    files: tuple[Path, ...]
    """The files with the entry and the hooks."""


def refuse_beside_plugin(host: Host, machine: Machine) -> None:
    """Raises `PluginPresent` if the host has our plugin."""
    if host.plugin and _is_on(host.plugin, machine):
        raise PluginPresent(host, host.plugin)


def has_plugin(host: Host, machine: Machine) -> bool:
    return host.plugin is not None and _is_on(host.plugin, machine)


def plugin_left(host: Host) -> str:
    """What the user must do after `notewell uninstall`, which takes out no plugin."""
    how = host.plugin.uninstall if host.plugin else ""
    return f"{host.title} has Notewell as a plugin, which only {host.title} takes out: {how}"


def double_installs(machine: Machine) -> list[DoubleInstall]:
    """The hosts of this machine that have Notewell twice."""
    return [
        DoubleInstall(host, host.plugin, files)
        for host in HOSTS.values()
        if host.plugin and _is_on(host.plugin, machine)
        if (files := _installed_files(host, machine))
    ]


def _is_on(plugin: PluginFile, machine: Machine) -> bool:
    documents = [document_of(file, plugin.format) for file in plugin.files(machine)]
    return any(
        plugin.has_ours(one) or any(map(partial(_is_ours, plugin), plugin.folders(one)))
        for one in documents
    )


def _is_ours(plugin: PluginFile, folder: str) -> bool:
    """Whether the folder of a plugin is a copy of ours."""
    if not os.path.isabs(folder):  # noqa: PTH117 - before it is made a path: it may be a name
        return False
    package = document_of(Path(folder) / "package.json", "json")
    return plugin.package is not None and package.get("name") == plugin.package


def document_of(file: Path, format_: Literal["json", "toml"]) -> dict[str, Any]:
    """The contents of a host's file; empty if it is missing or broken."""
    try:
        # A pipe or a device in its place would never end.
        if not file.is_file() or file.stat().st_size > MAX_FILE_BYTES:
            return {}
        text = file.read_text(encoding="utf-8-sig")
        return parse_toml(text) if format_ == "toml" else parse_json(text)
    except (OSError, ValueError, CannotMerge):
        return {}  # The host cannot read it either.


def _installed_files(host: Host, machine: Machine) -> tuple[Path, ...]:
    """The user's files of the host that have our entry or our hooks."""
    files = []
    if host.mcp and has_entry(host.mcp, host.mcp.file(machine, None), NAME):
        files.append(host.mcp.file(machine, None))
    if host.hooks and has_hooks(host.hooks.file(machine, None), host.hooks, host.id):
        files.append(host.hooks.file(machine, None))
    return tuple(dict.fromkeys(files))
