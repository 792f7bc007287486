"""Databases and exports as other programs write them; see `files/README.md`."""

from __future__ import annotations

import base64
import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent / "files"

_POINTS = {
    "gASVKAAAAAAAAACMJGIwYjhkODIxLWVjYmQtNGNlOS1iMmQ1LTRjNmIwZDE4N2I1MZQu": (
        "gASVOAIAAAAAAACMIHFkcmFudF9jbGllbnQuaHR0cC5tb2RlbHMubW9kZWxzlIwLUG9pbnRTdHJ1Y3SUk5Qp"
        "gZR9lCiMCF9fZGljdF9flH2UKIwCaWSUjCRiMGI4ZDgyMS1lY2JkLTRjZTktYjJkNS00YzZiMGQxODdiNTGU"
        "jAZ2ZWN0b3KUfZSMAJRdlChHP7ISEhISEhJHP94eHh4eHh5HP9hYWFhYWFhHP6gYGBgYGBhlc4wHcGF5bG9h"
        "ZJR9lCiMCGNhdGVnb3J5lIwEd29ya5SMB3VzZXJfaWSUjAZ1c2VyLTGUjAhhZ2VudF9pZJSMB2FnZW50LTGU"
        "jARyb2xllIwJYXNzaXN0YW50lIwEZGF0YZSMGk5vdGVkOiBkZXBsb3lzIG9uIFR1ZXNkYXkulIwEaGFzaJSM"
        "IGJkODYzNGI2ZWU0ZmE3MmM2N2U5N2Y5ZTY1YmRkNWMxlIwKY3JlYXRlZF9hdJSMIDIwMjYtMTEtMThUMTA6"
        "MDI6MTEuNzE2ODYzKzAwOjAwlIwKdXBkYXRlZF9hdJSMIDIwMjYtMTEtMThUMTA6MDI6MTEuNzE2ODYzKzAw"
        "OjAwlIwPdGV4dF9sZW1tYXRpemVklIwaTm90ZWQ6IGRlcGxveXMgb24gVHVlc2RheS6UdXWMEl9fcHlkYW50"
        "aWNfZXh0cmFfX5ROjBdfX3B5ZGFudGljX2ZpZWxkc19zZXRfX5SPlChoB2gNaAmQjBRfX3B5ZGFudGljX3By"
        "aXZhdGVfX5ROdWIu"
    ),
    "gASVKAAAAAAAAACMJDRmMjFlNDEzLTk4NGEtNDRmNy1iYTZmLTE4ZWM1MzE4MWY1MJQu": (
        "gASVSAIAAAAAAACMIHFkcmFudF9jbGllbnQuaHR0cC5tb2RlbHMubW9kZWxzlIwLUG9pbnRTdHJ1Y3SUk5Qp"
        "gZR9lCiMCF9fZGljdF9flH2UKIwCaWSUjCQ0ZjIxZTQxMy05ODRhLTQ0ZjctYmE2Zi0xOGVjNTMxODFmNTCU"
        "jAZ2ZWN0b3KUfZSMAJRdlChHP+aWlpaWlpdHP9XV1dXV1dZHP8KSkpKSkpNHP+4+Pj4+Pj5lc4wHcGF5bG9h"
        "ZJR9lCiMB3VzZXJfaWSUjAZ1c2VyLTGUjARyb2xllIwEdXNlcpSMBGRhdGGUjDhUaGUgdGVhbSBwcmVmZXJz"
        "IHRhYnMgaW4gTWFrZWZpbGVzIGFuZCBzcGFjZXMgaW4gUHl0aG9uLpSMBGhhc2iUjCBhMGM2ZmZiMzJhMDQ2"
        "MzI4NGRiZDQ3Y2EyOTBmOGM2OZSMCmNyZWF0ZWRfYXSUjCAyMDI2LTExLTE4VDEwOjAyOjExLjY0MjMxOCsw"
        "MDowMJSMCnVwZGF0ZWRfYXSUjCAyMDI2LTExLTE4VDEwOjAyOjExLjc0Nzc3MyswMDowMJSMD3RleHRfbGVt"
        "bWF0aXplZJSMOFRoZSB0ZWFtIHByZWZlcnMgdGFicyBpbiBNYWtlZmlsZXMgYW5kIHNwYWNlcyBpbiBQeXRo"
        "b24ulHV1jBJfX3B5ZGFudGljX2V4dHJhX1+UTowXX19weWRhbnRpY19maWVsZHNfc2V0X1+Uj5QoaAdoDWgJ"
        "kIwUX19weWRhbnRpY19wcml2YXRlX1+UTnViLg=="
    ),
}
"""Pickled points of mem0: the text of an answer, and one that was updated."""


def claude_mem(path: Path) -> Path:
    """With an observation that a user saved, one of a session, its summary and two prompts."""
    with sqlite3.connect(path) as database:
        database.executescript(
            """
            CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id,
              project TEXT, text TEXT, type TEXT, title TEXT, subtitle TEXT, facts TEXT,
              narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, created_at TEXT,
              created_at_epoch INTEGER);
            CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, project TEXT,
              request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT,
              notes TEXT, created_at TEXT);
            CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt_text TEXT);
            INSERT INTO observations (project, type, title, subtitle, facts, narrative,
              files_modified, created_at) VALUES
              ('harbour', 'discovery', 'Build cache', 'Manual memory', '[]',
               'The build cache lives on the second disk.', '[]', '2026-11-18T09:42:27.776Z'),
              ('harbour', 'bugfix', 'Router keeps idle connections', 'Timeout raised',
               '["idle timeout is 60 s","set in router.toml"]',
               'The idle timeout was 5 s; it is 60 s now.', '["router.toml"]',
               '2026-10-02T08:05:00.000Z');
            INSERT INTO session_summaries (project, request, learned, completed, created_at) VALUES
              ('lighthouse', 'Fix the router', 'Idle connections were closed after 5 s.',
               'Raised the timeout', '2026-10-02T08:10:00.000Z');
            INSERT INTO user_prompts (prompt_text) VALUES ('Fix the router'), ('And now?');
            """
        )
    database.close()
    return path


def mem0_history(path: Path) -> Path:
    """One memory that was updated, and one that was deleted."""
    rows = [
        ("m-1", "Tabs in Makefiles.", "ADD", "2026-11-17T09:41:24.600009+00:00", 0),
        ("m-2", "A memory that is deleted.", "ADD", "2026-11-17T09:42:00+00:00", 0),
        ("m-1", "Spaces in Python.", "UPDATE", "2026-11-18T09:41:24.783864+00:00", 0),
        ("m-2", None, "DELETE", "2026-11-18T09:43:00+00:00", 1),
    ]
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE history (memory_id TEXT, new_memory TEXT, event TEXT, "
            "updated_at DATETIME, is_deleted INTEGER)"
        )
        database.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?)", rows)
    database.close()
    return path


def mem0_store(folder: Path, *more: bytes) -> Path:
    """The folder of qdrant's local store; `more` are further points."""
    file = folder / "collection" / "mem0" / "storage.sqlite"
    file.parent.mkdir(parents=True)
    points = {id_: base64.b64decode(point) for id_, point in _POINTS.items()}
    points |= {f"more-{number}": point for number, point in enumerate(more)}
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
        database.executemany("INSERT INTO points VALUES (?, ?)", points.items())
    database.close()
    return folder


def chatgpt(*texts: str, id_: str = "conv-1", at: float = 1790928000.0) -> dict[str, Any]:
    """A conversation in turns, with a hidden message and an answer that was made again."""
    mapping: dict[str, Any] = {
        "root": {"id": "root", "message": None, "parent": None},
        "other": node("root", "assistant", "An answer that was replaced.", at),
        "tool": node("root", "assistant", "search(router)", at, recipient="web"),
    }
    parent = "root"
    for number, text in enumerate(texts):
        key = f"{id_}-{number}"
        role = ("user", "assistant")[number % 2]
        mapping[key] = node(parent, role, text, at + number, id_=key)
        parent = key
    return {
        "conversation_id": id_, "title": "Router", "create_time": at, "update_time": at + 60,
        "mapping": mapping, "current_node": parent,
    }  # fmt: skip


def node(
    parent: str, role: str, text: str, at: float, *, id_: str = "x", recipient: str = "all"
) -> Any:
    content = {"content_type": "text", "parts": [text]}
    message = {
        "id": id_, "author": {"role": role}, "create_time": at, "content": content,
        "recipient": recipient,
    }  # fmt: skip
    return {"id": id_, "message": message, "parent": parent}


def claude(*texts: str, id_: str = "conv-2") -> dict[str, Any]:
    messages = [
        {
            "uuid": f"{id_}-{number}", "sender": ("human", "assistant")[number % 2], "text": text,
            "created_at": f"2026-10-02T08:0{number}:00.000000Z", "files": [],
            "content": [{"type": "text", "text": text}, {"type": "tool_use", "input": {}}],
            "attachments": [{"file_name": "router.toml", "extracted_content": "x"}][number:],
        }
        for number, text in enumerate(texts)
    ]  # fmt: skip
    return {
        "uuid": id_, "name": "Router", "created_at": "2026-10-02T08:00:00.000000Z",
        "updated_at": "2026-10-02T08:10:00.000000Z", "chat_messages": messages,
    }  # fmt: skip


def archive(path: Path, **documents: Any) -> Path:
    """A zip with these documents; a dash in a name is written as two underscores."""
    with zipfile.ZipFile(path, "w") as opened:
        for name, document in documents.items():
            opened.writestr(f"{name.replace('__', '-')}.json", json.dumps(document))
    return path
