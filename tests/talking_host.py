"""A host whose hooks keep conversations, and its user at the command line."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from notewell.capture import capture_dir
from notewell.cli import main
from notewell.sessions import kept_dir

FOLDER = "/code/shop"
START = datetime(2026, 11, 10, 9, 0, tzinfo=UTC)


class TalkingHost:
    """It writes transcripts as Claude Code does; `say` speaks in turns, the user first."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.workspace, self.state = root / "workspace", root / "state"
        self.workspace.mkdir(exist_ok=True)
        self.monkeypatch = monkeypatch
        self.flags: tuple[str, ...] = ("--keep",)
        """The options with which its hooks were installed."""
        self.number = 0

    def run(self, *words: str, payload: Any = None, answer: str = "") -> int:
        """A command; with `answer`, a person at a terminal types it."""
        typed = json.dumps(payload) if payload is not None else answer
        stdin = io.TextIOWrapper(io.BytesIO(typed.encode()), encoding="utf-8")
        if answer:
            stdin.isatty = lambda: True  # type: ignore[method-assign]
        self.monkeypatch.setattr(sys, "stdin", stdin)
        return main([*words, "-w", str(self.workspace), "--state-dir", str(self.state)])

    def hook(self, event: str, session: str = "cc-1", cwd: str = FOLDER) -> None:
        path = str(self.transcript(session))
        payload = {"session_id": session, "transcript_path": path, "cwd": cwd}
        words = ("hook", event, "--host", "claude", *self.flags)
        assert self.run(*words, payload=payload) == 0

    def transcript(self, session: str = "cc-1") -> Path:
        return self.root / "projects" / f"{session}.jsonl"

    def say(self, *texts: str, session: str = "cc-1", cwd: str = FOLDER, day: int = 0) -> None:
        """Each message a minute after the one before; `day` counts from the first one."""
        path = self.transcript(session)
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as file:
            for text in texts:
                self.number += 1
                role = ("user", "assistant")[self.number % 2 == 0]
                at = START + timedelta(days=day, minutes=self.number)
                record = {
                    "type": role, "uuid": f"u{self.number}", "sessionId": session, "cwd": cwd,
                    "timestamp": at.isoformat(),
                    "message": {"role": role, "content": text},
                }  # fmt: skip
                file.write(json.dumps(record).encode() + b"\n")

    @property
    def kept(self) -> Path:
        return kept_dir(self.state, "main", self.workspace.resolve())

    @property
    def captures(self) -> Path:
        return capture_dir(self.state, "main", self.workspace.resolve())

    def said(self) -> list[str]:
        """All messages that are kept."""
        lines = [
            json.loads(line)
            for file in sorted(self.kept.glob("*.jsonl"))
            for line in file.read_text(encoding="utf-8").splitlines()
        ]
        return [line["message"]["content"] for line in lines if line["type"] == "message"]

    def settings(self, **keep: Any) -> None:
        """Set `memorySearch.sessions.keep` in the user's own file."""
        search = {"sessions": {"keep": keep}}
        file = self.root / "own.json"
        settings = {"agents": {"defaults": {"memorySearch": search}}}
        file.write_text(json.dumps(settings), encoding="utf-8")
        self.monkeypatch.setenv("NOTEWELL_CONFIG", str(file))

    def search(self, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
        """The answer of `notewell search --json`."""
        capsys.readouterr()
        assert self.run("search", *words, "--json") in (0, 3)
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer
