"""A growing transcript saved as notes: every message once, however often a hook fires."""

from __future__ import annotations

import json
import multiprocessing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from notewell.capture import NoteWriter, Saved, Skip
from notewell.capture.history import writes
from notewell.capture.hook_state import (
    SessionEnd,
    forget_pending,
    pending_sessions,
    remember_pending,
)
from notewell.capture.incremental import save_new_messages
from notewell.errors import NoteUnreadable
from notewell.notes.workspace import Workspace
from notewell.redaction import Redactor
from notewell.sessions.tail import LONG_TAIL_BYTES, TAILS_BYTES

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def claude(number: int, role: str, text: str) -> bytes:
    record = {
        "type": role, "uuid": f"u{number}", "sessionId": "cc-1", "cwd": "/somewhere",
        "timestamp": "2026-11-15T11:00:00Z", "message": {"role": role, "content": text},
    }  # fmt: skip
    return json.dumps(record).encode() + b"\n"


def codex(role: str, text: str) -> bytes:
    kind = "input_text" if role == "user" else "output_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    record = {"timestamp": "2026-11-15T11:00:00Z", "type": "response_item", "payload": payload}
    return json.dumps(record).encode() + b"\n"


def add(path: Path, *lines: bytes) -> None:
    with path.open("ab") as file:
        file.writelines(lines)


def save(
    place: NoteWriter, path: Path, *, is_compacting: bool = False, **more: Any
) -> Saved | Skip:
    reason = "pre-compact (auto)"
    ended = SessionEnd(path, "cc-1", "claude", "/somewhere", reason, is_compacting)
    return save_new_messages(place, ended, now=NOW, zone=UTC, **more)


def notes(place: NoteWriter) -> list[str]:
    """In the order they were made."""
    made = [one.write.path for one in writes(place.folder, place.notes)]
    assert len(made) == len(list((Path(place.notes.location) / "memory").iterdir()))
    return [(Path(place.notes.location) / path).read_text(encoding="utf-8") for path in made]


def said(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("User: ", "Assistant: "))]


def test_a_hook_that_fires_four_times_saves_once(place: NoteWriter, tmp_path: Path) -> None:
    path = tmp_path / "cc-1.jsonl"
    add(path, claude(1, "user", "we ship on Friday"), claude(2, "assistant", "good"))
    results = [save(place, path) for _ in range(4)]
    assert [type(one) for one in results] == [Saved, Skip, Skip, Skip]
    assert [said(one) for one in notes(place)] == [["User: we ship on Friday", "Assistant: good"]]


def test_what_is_said_after_a_compaction_is_saved_at_the_end_and_nothing_twice(
    place: NoteWriter, tmp_path: Path
) -> None:
    path = tmp_path / "cc-1.jsonl"
    for cycle in range(3):
        add(path, claude(2 * cycle, "user", f"question {cycle}"))
        add(path, claude(2 * cycle + 1, "assistant", f"answer {cycle}"))
        assert isinstance(save(place, path), Saved)
    all_said = sorted(line for one in notes(place) for line in said(one))
    assert all_said == sorted(
        [f"User: question {n}" for n in range(3)] + [f"Assistant: answer {n}" for n in range(3)]
    )


def test_a_line_that_is_half_there_is_saved_when_it_is_whole(
    place: NoteWriter, tmp_path: Path
) -> None:
    path = tmp_path / "cc-1.jsonl"
    whole = claude(2, "user", "the second one")
    add(path, claude(1, "user", "the first one"), whole[:40])
    save(place, path)
    add(path, whole[40:])
    save(place, path)
    assert [said(one) for one in notes(place)] == [
        ["User: the first one"],
        ["User: the second one"],
    ]


def test_what_we_put_in_and_what_is_secret_is_not_in_the_note(
    place: NoteWriter, tmp_path: Path
) -> None:
    path, secret = tmp_path / "cc-1.jsonl", "ghp_" + "a1B2" * 9
    recalled = '<recalled path="MEMORY.md" lines="L1-L2">\nold news\n</recalled>\nwhat now?'
    add(path, claude(1, "user", recalled), claude(2, "user", f"use {secret} for it"))
    add(path, claude(3, "assistant", "NO_REPLY"))
    save(place, path)
    assert "old news" not in notes(place)[0]
    assert secret not in notes(place)[0]
    assert said(notes(place)[0])[0] == "User: what now?"
    assert len(said(notes(place)[0])) == 2


def test_a_transcript_of_codex_is_read_too(place: NoteWriter, tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    add(path, codex("user", "rename the module"), codex("assistant", "renamed"))
    save(place, path)
    assert said(notes(place)[0]) == ["User: rename the module", "Assistant: renamed"]


def test_of_a_long_transcript_only_the_end_is_read(place: NoteWriter, tmp_path: Path) -> None:
    path = tmp_path / "cc-1.jsonl"
    add(path, claude(1, "user", "at the beginning"), claude(2, "assistant", "x" * TAILS_BYTES[-1]))
    add(path, claude(3, "user", "at the end"))
    save(place, path)
    assert said(notes(place)[0]) == ["User: at the end"]


def test_messages_behind_what_a_tool_printed_are_found(place: NoteWriter, tmp_path: Path) -> None:
    path = tmp_path / "cc-1.jsonl"
    add(path, claude(1, "user", "before the tool"), claude(2, "tool", "x" * TAILS_BYTES[0]))
    add(path, claude(3, "user", "behind the tool"))
    save(place, path)
    assert said(notes(place)[0]) == ["User: before the tool", "User: behind the tool"]


def test_a_transcript_that_was_replaced_is_read_from_its_start(
    place: NoteWriter, tmp_path: Path
) -> None:
    path = tmp_path / "cc-1.jsonl"
    add(path, claude(1, "user", "a rather long first message"))
    save(place, path)
    path.rename(tmp_path / "old.jsonl")
    add(path, claude(1, "user", "anew"))
    save(place, path)
    assert said(notes(place)[-1]) == ["User: anew"]


@pytest.mark.parametrize("data", [None, b"plain text\n", b'{"a": 1}\n'])
def test_what_cannot_be_read_is_said(
    place: NoteWriter, tmp_path: Path, data: bytes | None
) -> None:
    path = tmp_path / "cc-1.jsonl"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(NoteUnreadable):
        save(place, path)


def _fire(root: Path, state: Path, path: Path) -> None:
    save(NoteWriter(Workspace.open(root), state, Redactor()), path)


def test_hooks_that_fire_at_once_save_once(place: NoteWriter, tmp_path: Path) -> None:
    path = tmp_path / "cc-1.jsonl"
    add(path, claude(1, "user", "we ship on Friday"))
    spawn = multiprocessing.get_context("fork")
    crew = [
        spawn.Process(target=_fire, args=(Path(place.notes.location), place.folder, path))
        for _ in range(4)
    ]
    for one in crew:
        one.start()
    for one in crew:
        one.join(60)
    assert [one.exitcode for one in crew] == [0, 0, 0, 0]
    assert len(notes(place)) == 1


def test_a_host_that_tells_of_no_end_has_its_session_saved_by_the_next(tmp_path: Path) -> None:
    first = SessionEnd(tmp_path / "a.jsonl", "a", "codex", None, "stop")
    for _ in range(3):
        remember_pending(tmp_path, first)
    assert [one.session for one in pending_sessions(tmp_path, "b")] == ["a"]
    assert pending_sessions(tmp_path, "a") == []
    forget_pending(tmp_path, ["a"])
    assert pending_sessions(tmp_path, "b") == []


@pytest.mark.parametrize("is_compacting", [True, False])
def test_of_a_hundred_megabytes_a_few_are_read(
    place: NoteWriter, tmp_path: Path, is_compacting: bool
) -> None:
    path, output = tmp_path / "cc-1.jsonl", claude(0, "tool", "x" * 100_000)
    with path.open("wb") as file:
        for number in range(500):
            file.write(output + claude(2 * number, "user", f"question {number}") + output)
    before = bytes_read()
    save(place, path, is_compacting=is_compacting)
    if before is not None:
        assert bytes_read() - before < 2 * LONG_TAIL_BYTES
    saved = said(notes(place)[0])
    assert saved[-1] == "User: question 499"
    assert len(saved) == (21 if is_compacting else 15)


def bytes_read() -> Any:
    """How many bytes this process has read; None where the system does not count them."""
    try:
        facts = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next(int(fact.split()[1]) for fact in facts if fact.startswith("rchar"))
