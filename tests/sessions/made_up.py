"""Transcripts of conversations that never took place, in the forms their hosts write."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Said = tuple[str, str]
"""Role and text."""


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def openclaw(said: Sequence[Said]) -> list[bytes]:
    head = {"type": "session", "version": 3, "id": "oc-1", "cwd": "/somewhere",
            "timestamp": "2026-10-02T08:00:00.000Z"}  # fmt: skip
    return [line(head), *(line(openclaw_message(*one)) for one in said)]


def openclaw_message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content}, **more}


def claude_code(said: Sequence[Said]) -> list[bytes]:
    summary = {"type": "summary", "summary": "A chat", "leafUuid": "u9"}
    return [line(summary), *(line(claude_record(n, *one)) for n, one in enumerate(said))]


def claude_record(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return {
        "type": role, "uuid": f"u{number}", "parentUuid": None, "isSidechain": False,
        "sessionId": "cc-1", "cwd": "/somewhere/shop", "version": "2.1.0",
        "timestamp": f"2026-10-03T09:{number % 60:02}:00.000Z",
        "message": {"role": role, "content": content if role == "user" else blocks},
        **more,
    }  # fmt: skip


def codex(said: Sequence[Said]) -> list[bytes]:
    meta = {"id": "cx-1", "cwd": "/somewhere/lib", "timestamp": "2026-10-04T10:00:00.000Z",
            "originator": "codex_cli_rs"}  # fmt: skip
    return [line(codex_record("session_meta", meta)), *(line(codex_item(*one)) for one in said)]


def codex_record(kind: str, payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-10-04T10:00:01.000Z", "type": kind, "payload": payload}


def codex_item(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return codex_record("response_item", {"type": "message", "role": role, "content": content})


def gemini(said: Sequence[Said]) -> list[bytes]:
    head = {"sessionId": "gm-1", "projectHash": "8c60", "startTime": "2026-10-05T11:00:00.000Z",
            "lastUpdated": "2026-10-05T11:00:00.000Z", "kind": "main"}  # fmt: skip
    return [line(head), *(line(gemini_message(n, *one)) for n, one in enumerate(said))]


def gemini_message(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    kind = "gemini" if role == "assistant" else role
    parts = [{"text": content}] if kind == "user" and isinstance(content, str) else content
    return {"id": f"g{number}", "timestamp": f"2026-10-05T11:{number % 60:02}:00.000Z",
            "type": kind, "content": parts, **more}  # fmt: skip


def qwen(said: Sequence[Said]) -> list[bytes]:
    head = qwen_record(0, "system", None, subtype="attribution_snapshot", systemPayload={})
    return [line(head), *(line(qwen_record(n, *one)) for n, one in enumerate(said, 1))]


def qwen_record(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    parts = [{"text": content}] if isinstance(content, str) else content
    role = "model" if kind == "assistant" else "user"
    message = {} if content is None else {"message": {"role": role, "parts": parts}}
    return {"uuid": f"q{number}", "parentUuid": None, "sessionId": "qw-1", "type": kind,
            "timestamp": f"2026-10-06T12:{number % 60:02}:00.000Z", "cwd": "/somewhere/app",
            "version": "0.24.4", **message, **more}  # fmt: skip


def copilot(said: Sequence[Said]) -> list[bytes]:
    start = {"sessionId": "cp-1", "version": 1, "startTime": "2026-10-07T13:00:00.000Z",
             "context": {"cwd": "/somewhere/site"}}  # fmt: skip
    head = copilot_event(0, "session.start", start)
    return [line(head), *(line(copilot_message(n, *one)) for n, one in enumerate(said, 1))]


def copilot_event(number: int, kind: str, data: Any, **more: Any) -> dict[str, Any]:
    at = f"2026-10-07T13:{number % 60:02}:00.000Z"
    return {"type": kind, "data": data, "id": f"e{number}", "timestamp": at, **more}


def copilot_message(number: int, role: str, text: str, **data: Any) -> dict[str, Any]:
    return copilot_event(number, f"{role}.message", {"content": text, **data})


HOSTS: dict[str, Callable[[Sequence[Said]], list[bytes]]] = {
    "openclaw": openclaw,
    "claude-code": claude_code,
    "codex": codex,
    "gemini": gemini,
    "qwen": qwen,
    "copilot": copilot,
}


OPENCODE_SCHEMA = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,
  time_created INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
  time_created INTEGER NOT NULL, data TEXT NOT NULL);
"""
OPENCODE_START = 1_791_288_000_000
"""In milliseconds: 2026-10-06, 12:00 UTC."""


class OpenCode:
    """Writes as the program does: with a write-ahead log, and its connection stays open."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "opencode.db"
        self.connection = sqlite3.connect(self.file, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.executescript(OPENCODE_SCHEMA)
        self.now = OPENCODE_START

    def start(self, id_: str = "ses_1", parent: str | None = None) -> None:
        row = (id_, parent, "/somewhere/shop", self.now, self.now)
        self.connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)

    def say(self, role: str, *parts: Any, session: str = "ses_1", **message: Any) -> None:
        self.now += 1000
        data = json.dumps({"role": role, **message})
        id_ = f"msg_{self.now}"
        row = (id_, session, self.now, data)
        self.connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
        for number, part in enumerate(parts):
            text = part if isinstance(part, str) else json.dumps(part)
            part_row = (f"prt_{self.now}_{number}", id_, session, self.now, text)
            self.connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", part_row)
        update = "UPDATE session SET time_updated = ? WHERE id = ?"
        self.connection.execute(update, (self.now, session))

    def undo(self, *words: str) -> None:
        """Take out the parts with these words."""
        for word in words:
            self.connection.execute("DELETE FROM part WHERE data LIKE ?", (f"%{word}%",))


OPENCLAW_SCHEMA = """
CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, spawned_by TEXT,
  updated_at INTEGER NOT NULL, transcript_updated_at INTEGER) STRICT;
CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT,
  created_at INTEGER NOT NULL, event_zstd BLOB, event_utf8_bytes INTEGER, navigation_json TEXT,
  PRIMARY KEY (session_id, seq)) STRICT;
"""


class OpenClawDatabase:
    """As OpenClaw 2026.9 writes it, with the columns that are read. Long events are compressed."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "openclaw-agent.sqlite"
        self.connection = sqlite3.connect(self.file, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.executescript(OPENCLAW_SCHEMA)
        self.now = OPENCODE_START
        self.seq = 0

    def start(self, id_: str = "s-1", spawned_by: str | None = None) -> None:
        row = (id_, spawned_by, self.now, self.now)
        self.connection.execute("INSERT INTO session_windows VALUES (?, ?, ?, ?)", row)
        head = {"type": "session", "version": 4, "id": id_, "cwd": "/somewhere",
                "timestamp": "2026-10-06T12:00:00.000Z"}  # fmt: skip
        self.add(json.dumps(head), id_)

    def say(self, role: str, text: Any, *, session: str = "s-1", **message: Any) -> None:
        event = openclaw_message(role, text, id=f"e{self.seq}")
        event["message"] |= message
        self.add(json.dumps(event), session)

    def say_compressed(self, role: str, data: bytes, session: str = "s-1") -> None:
        facts = {"type": "message", "message": {"role": role}}
        self.add(None, session, data, json.dumps({"version": 1, "navigation": facts}))

    def add(
        self,
        text: str | None,
        session: str = "s-1",
        data: bytes | None = None,
        navigation: str | None = None,
    ) -> None:
        self.seq += 1
        self.now += 1000
        size = len(text) if text else 4096
        row = (session, self.seq, text, self.now, data, size, navigation)
        self.connection.execute("INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        update = "UPDATE session_windows SET transcript_updated_at = ? WHERE session_id = ?"
        self.connection.execute(update, (self.now, session))


def text_part(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}
