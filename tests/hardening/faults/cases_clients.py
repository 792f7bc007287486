"""The settings file of a host gets our entry, or loses it: whole, private, nothing beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.hardening.faults.scene import Scene, Seen

from notewell.clients import install_entry, remove_entry
from notewell.hosts import HOSTS, McpFile

ENTRY = {"command": "notewell", "args": ["mcp", "serve"]}
SETTINGS = {"theme": "dark", "mcpServers": {"other": {"command": "other", "env": {"KEY": "s"}}}}


@dataclass(frozen=True, slots=True)
class InstallCase:
    """The file has a key of the user's, so nobody else may read it or a copy of it."""

    name: str
    removes: bool = False
    writes_to: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        file = self._file(scene)
        file.parent.mkdir(mode=0o700)
        file.write_text(json.dumps(SETTINGS), encoding="utf-8")
        file.chmod(0o600)
        if self.removes:
            install_entry(self._mcp(), file, "notewell", dict(ENTRY))

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        file = self._file(scene)
        arm()
        if self.removes:
            remove_entry(self._mcp(), file, "notewell")
        else:
            install_entry(self._mcp(), file, "notewell", dict(ENTRY))

    def look(self, scene: Scene) -> Seen:
        folder = self._file(scene).parent
        readable = sorted(path.name for path in folder.iterdir() if path.stat().st_mode & 0o077)
        text = json.loads(self._file(scene).read_text(encoding="utf-8"))
        return {"parts": {"settings": text, "open to others": readable}}

    def _file(self, scene: Scene) -> Path:
        return scene.state / "host" / "settings.json"

    def _mcp(self) -> McpFile:
        mcp = HOSTS["claude"].mcp
        assert mcp is not None
        return mcp


CLIENT_CASES = (
    InstallCase("install an entry for a host"),
    InstallCase("take the entry of a host out", removes=True),
)
