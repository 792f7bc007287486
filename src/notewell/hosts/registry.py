"""The hosts that Notewell knows. Each list of hosts, suffixes or formats is derived from HOSTS."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.hosts.host import (
        HookCalls,
        HookFile,
        Host,
        McpFile,
        TranscriptDatabase,
        TranscriptFormat,
    )

# Modules of this package, each with a HOST. The order matters twice: a transcript belongs to the
# first format that owns one of its records, and commands list their choices in this order.
_MODULES = (
    "openclaw",
    "claude",
    "codex",
    "cursor",
    "vscode",
    "gemini",
    "qwen",
    "copilot",
    "opencode",
    "cline",
    "continue_",
)


def _host(module: str) -> Host:
    # Imported by name, so that a new host needs one edit here and not an import as well.
    host: Host = import_module(f"notewell.hosts.{module}").HOST
    return host


_ALL = [_host(module) for module in _MODULES]

HOSTS: dict[str, Host] = {host.id: host for host in _ALL}
TRANSCRIPT_FORMATS: tuple[TranscriptFormat, ...] = tuple(
    format_ for host in _ALL for format_ in (host.transcripts, host.earlier_transcripts) if format_
)
TRANSCRIPT_DATABASES: dict[str, TranscriptDatabase] = {
    host.database.file: host.database for host in _ALL if host.database
}
HOOK_FILES: dict[str, HookFile] = {host.id: host.hooks for host in _ALL if host.hooks}
HOOK_CALLS: dict[str, HookFile | HookCalls] = HOOK_FILES | {
    host.id: host.hook_calls for host in _ALL if host.hook_calls
}
"""Every host that may call `notewell hook`."""
MCP_FILES: dict[str, McpFile] = {host.id: host.mcp for host in _ALL if host.mcp}
