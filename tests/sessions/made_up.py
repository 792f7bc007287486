"""Transcripts of conversations that never took place, in the forms their hosts write."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
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


HOSTS: dict[str, Callable[[Sequence[Said]], list[bytes]]] = {
    "openclaw": openclaw,
    "claude-code": claude_code,
    "codex": codex,
}
