"""The plugins of the repository inside real hosts, each installed with the host's own commands.

As in `test_real_hosts`, the model is a script on loopback, and a host that npm could not install
is not tried.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.hosts.real.test_real_hosts import folder
from tests.hosts.real.trial import NOTEWELL, is_installed, try_host

ROOT = Path(__file__).parents[3]
SETTINGS = {"agents": {"defaults": {"workspace": "~/notes"}}}

__all__ = ["folder"]
pytestmark = pytest.mark.timeout(1500)


def _claude(notes: Path) -> list[list[str]]:
    return [
        ["claude", "plugin", "validate", "--strict", str(ROOT)],
        ["claude", "plugin", "validate", "--strict", str(ROOT / "plugins" / "claude-code")],
        ["claude", "plugin", "marketplace", "add", str(ROOT)],
        ["claude", "plugin", "install", "notewell@notewell", "--config", f"workspace={notes}"],
    ]


def _codex(notes: Path) -> list[list[str]]:
    return [
        ["codex", "plugin", "marketplace", "add", str(ROOT)],
        ["codex", "plugin", "add", "notewell@notewell"],
    ]


def _gemini(notes: Path) -> list[list[str]]:
    extension, answers = str(ROOT / "plugins" / "gemini"), ["--consent", "--skip-settings"]
    return [
        ["gemini", "extensions", "validate", extension],
        ["gemini", "extensions", "install", extension, *answers],
    ]


def _opencode(notes: Path) -> list[list[str]]:
    return [["opencode", "plugin", "--global", str(ROOT / "plugins" / "opencode")]]


def _openclaw(notes: Path) -> list[list[str]]:
    install = ["openclaw", "plugins", "install", "--force", "--accept-capabilities"]
    return [
        [*install, str(ROOT / "plugins" / "openclaw")],
        ["openclaw", "plugins", "disable", "memory-core"],
    ]


COMMANDS = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "openclaw": _openclaw,
}


@pytest.mark.parametrize("host", COMMANDS)
def test_a_model_uses_what_the_plugin_brings(host: str, folder: Path, tmp_path: Path) -> None:
    if not is_installed(host, folder):
        pytest.skip(f"{host} is not installed there")
    # A plugin finds the command where pipx puts it, and the notes in the settings of the user;
    # Claude Code asks for the folder itself.
    program = tmp_path / ".local" / "bin" / "notewell"
    program.parent.mkdir(parents=True)
    program.symlink_to(NOTEWELL)
    if host != "claude":
        settings = tmp_path / ".config" / "notewell" / "config.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(SETTINGS), encoding="utf-8")
    observed = try_host(host, folder, tmp_path, COMMANDS[host])
    assert observed.failures == [], f"{observed.version}:\n{observed.output[-4000:]}"
    # Also where the tools of an MCP server would be in no list.
    assert observed.listed
