"""One user's machine: a home, a settings file, some notes, and the command line as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_AMBIENT = ("_API_KEY", "NOTEWELL_", "XDG_", "OPENCLAW_")
"""What the environment of the tests must not hand on."""


@dataclass
class Machine:
    home: Path
    variables: dict[str, str] = field(default_factory=dict)
    """More variables of the environment."""

    def __post_init__(self) -> None:
        (self.workspace / "memory").mkdir(parents=True)
        self.write_note("2026-11-01.md", "# Router\n\nWe shipped the router on Monday.\n")

    @property
    def workspace(self) -> Path:
        return self.home / "notes"

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def environment(self) -> dict[str, str]:
        clean = {
            name: value
            for name, value in os.environ.items()
            if not any(part in name for part in _AMBIENT)
        }
        own = {"HOME": str(self.home), "NOTEWELL_STATE_DIR": str(self.state)}
        config = self.home / "own.json"
        if config.exists():
            own["NOTEWELL_CONFIG"] = str(config)
        return {**clean, **own, **self.variables}

    def write_note(self, name: str, text: str) -> None:
        (self.workspace / "memory" / name).write_text(text, encoding="utf-8")

    def configure(self, search: dict[str, Any], **others: Any) -> None:
        """Write the user's own file: `memorySearch` of all agents, and other sections."""
        content = {"agents": {"defaults": {"memorySearch": search}}, **others}
        (self.home / "own.json").write_text(json.dumps(content), encoding="utf-8")

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "notewell", *arguments],
            cwd=self.workspace,
            env=self.environment,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
