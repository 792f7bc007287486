"""Conversations kept whole: each message once, whatever happens to the host's file or to ours."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from notewell.capture import (
    KeepSettings,
    Kept,
    SessionEnd,
    drop_expired,
    keep_messages,
    kept_files,
)
from notewell.errors import NoteUnreadable, StateNotWritable
from notewell.redaction import Redactor
from notewell.sessions import TranscriptFolder, Transcripts, read_new, source
from notewell.sessions.records import MAX_LINE_BYTES

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
SECRET = "ghp_" + "a1B2" * 9


def claude(number: int, text: str, role: str = "user") -> bytes:
    record = {
        "type": role, "uuid": f"u{number}", "sessionId": "cc-1", "cwd": "/code/shop",
        "timestamp": f"2026-11-15T11:00:{number % 60:02}Z",
        "message": {"role": role, "content": text},
    }  # fmt: skip
    return json.dumps(record).encode() + b"\n"


def tool(number: int, size: int) -> bytes:
    block = {"type": "tool_result", "tool_use_id": "t", "content": "x" * size}
    record = {"type": "user", "uuid": f"t{number}", "sessionId": "cc-1",
              "message": {"role": "user", "content": [block]}}  # fmt: skip
    return json.dumps(record).encode() + b"\n"


def codex(second: int, text: str) -> bytes:
    content = [{"type": "input_text", "text": text}]
    payload = {"type": "message", "role": "user", "content": content}
    at = f"2026-11-15T11:00:{second:02}Z"
    record = {"timestamp": at, "type": "response_item", "payload": payload}
    return json.dumps(record).encode() + b"\n"


def add(path: Path, *lines: bytes) -> None:
    with path.open("ab") as file:
        file.writelines(lines)


class Desk:
    """A host's transcript and the folder in which it is kept."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "kept"
        self.path = root / "cc-1.jsonl"

    def keep(self, path: Path | None = None, **more: Any) -> Kept:
        settings = KeepSettings(**more)
        ended = SessionEnd(path or self.path, "cc-1", "claude", "/code/shop", "stop")
        return keep_messages(self.folder, ended, Redactor(), settings=settings, now=NOW)

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.jsonl"))

    def records(self) -> list[dict[str, Any]]:
        lines = [line for file in self.files() for line in file.read_bytes().splitlines()]
        return [json.loads(line) for line in lines]

    def said(self) -> list[str]:
        messages = [one["message"] for one in self.records() if one["type"] == "message"]
        return [f"{one['role']}: {one['content']}" for one in messages]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_each_message_is_kept_once_however_often_a_hook_runs(desk: Desk) -> None:
    for turn in range(3):
        add(desk.path, claude(2 * turn, f"question {turn}"))
        add(desk.path, claude(2 * turn + 1, f"answer {turn}", "assistant"))
        assert [desk.keep().messages for _ in range(4)] == [2, 0, 0, 0]
    assert desk.said() == [
        f"{role} {turn}" for turn in range(3) for role in ("user: question", "assistant: answer")
    ]


def test_a_kept_file_says_who_when_where_and_is_read_as_a_transcript(desk: Desk) -> None:
    add(desk.path, claude(1, f"use {SECRET}\nfor it"), claude(2, "good", "assistant"))
    desk.keep()
    head, first, _ = desk.records()
    assert (head["type"], head["id"], head["host"]) == ("session", "cc-1", "claude")
    assert head["cwd"] == "/code/shop"
    assert first["timestamp"] == "2026-11-15T11:00:01+00:00"
    assert SECRET not in desk.files()[0].read_text(encoding="utf-8")
    transcripts = Transcripts([TranscriptFolder(desk.folder, "kept")], Redactor())
    opened = transcripts.open("sessions/kept/claude-cc-1.jsonl")
    assert opened.text.splitlines()[1] == "Assistant: good"
    assert opened.text.startswith("User: use [redacted:github-token]")
    assert opened.session.cwd == "/code/shop"
    assert desk.files()[0].stat().st_mode & 0o777 == 0o600


def test_what_notewell_put_into_the_conversation_is_not_kept(desk: Desk) -> None:
    add(desk.path, claude(1, '<recalled path="MEMORY.md">\nold news\n</recalled>\nwhat now?'))
    desk.keep()
    assert desk.said() == ["user: \nwhat now?"]


def test_what_the_host_deletes_stays(desk: Desk) -> None:
    add(desk.path, claude(1, "we ship on Friday"))
    desk.keep()
    desk.path.unlink()
    with pytest.raises(NoteUnreadable):
        desk.keep()
    assert desk.said() == ["user: we ship on Friday"]


def test_a_half_line_is_kept_when_it_is_whole(desk: Desk) -> None:
    whole = claude(2, "the second one")
    for cut in (1, 40, len(whole) - 1):
        desk.path.write_bytes(claude(1, "the first one") + whole[:cut])
        desk.keep()
    add(desk.path, whole[-1:])
    desk.keep()
    assert desk.said() == ["user: the first one", "user: the second one"]


@pytest.mark.parametrize("lines", [[claude(n, f"message {n}") for n in range(6)],
                                   [codex(n, f"message {n}") for n in range(6)]])  # fmt: skip
def test_a_file_that_was_shrunk_rotated_or_copied_doubles_nothing(
    desk: Desk, lines: list[bytes], tmp_path: Path
) -> None:
    desk.path.write_bytes(b"".join(lines[:3]))
    desk.keep()
    # Rewritten without its first message, then with one more.
    desk.path.write_bytes(b"".join(lines[1:3]))
    desk.keep()
    assert desk.keep().messages == 0
    add(desk.path, lines[3])
    desk.keep()
    # Another inode with the whole conversation, as after a restore or in another folder.
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / desk.path.name
    other.write_bytes(b"".join(lines[:5]))
    desk.keep(other)
    # The same size as before, and another content.
    other.write_bytes(b"".join(lines[1:6]))
    desk.keep(other)
    assert desk.said() == [f"user: message {n}" for n in range(6)]


@pytest.mark.parametrize("cut", [1, 30, 90, 150])
def test_a_message_behind_a_torn_line_is_kept(desk: Desk, cut: int) -> None:
    """The host was killed in the middle of a write, and went on in the same file."""
    add(desk.path, claude(1, "before"), claude(2, 'torn {"a": {"b": 1}}')[:cut])
    desk.keep()
    add(desk.path, claude(3, "behind"), claude(4, "last"))
    desk.keep()
    assert desk.said() == ["user: before", "user: behind", "user: last"]


def test_equal_messages_are_two_messages(desk: Desk) -> None:
    add(desk.path, codex(1, "yes"), codex(2, "yes"))
    desk.keep()
    add(desk.path, codex(3, "yes"))
    desk.keep()
    assert desk.said() == ["user: yes"] * 3


def test_output_of_tools_is_passed_over_and_not_read_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(desk.path, claude(1, "before"), tool(2, 400_000), tool(3, 10))
    desk.keep()
    assert desk.records()[-1]["customType"] == "position"
    assert desk.records()[-1]["source"]["end"] == desk.path.stat().st_size
    add(desk.path, claude(4, "behind"))
    desk.keep()
    assert desk.said() == ["user: before", "user: behind"]


def test_a_line_of_a_hundred_megabytes_is_passed_over(desk: Desk) -> None:
    add(desk.path, claude(1, "before"))
    desk.keep()
    with desk.path.open("ab") as file:
        file.write(b'{"type":"user","message":{"content":"')
        file.truncate(desk.path.stat().st_size + MAX_LINE_BYTES + 36 * 2**20)
    assert desk.keep().messages == 0
    add(desk.path, b'"}}\n', claude(2, "behind"))
    # One call reads a part of it at most.
    while not desk.keep().is_complete:
        pass
    assert desk.said() == ["user: before", "user: behind"]


def test_one_call_reads_a_bounded_part_and_the_next_ones_the_rest(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(desk.path, *(claude(n, f"message {n}") for n in range(50)))
    calls = []
    after = None
    while True:
        new = read_new(desk.path, after, limit_bytes=1000)
        calls.append([one.turn.text for one in new.messages])
        after = new.position
        if new.is_complete:
            break
    assert [text for texts in calls for text in texts] == [f"message {n}" for n in range(50)]
    assert max(map(len, calls)) < 10


def test_of_a_large_file_that_was_never_seen_the_end_is_kept(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(desk.path, claude(1, "long ago"), tool(2, source.FIRST_BYTES), claude(3, "just now"))
    desk.keep()
    assert [file.name for file in desk.files()] == ["claude-cc-1.part.jsonl"]
    add(desk.path, claude(4, "and now"))
    desk.keep()
    assert desk.said() == ["user: just now", "user: and now"]


def test_a_hook_on_a_transcript_of_a_hundred_megabytes_reads_its_end(desk: Desk) -> None:
    with desk.path.open("wb") as file:
        for number in range(1000):
            file.write(tool(number, 100_000))
    add(desk.path, claude(5000, "at the end"))
    before = _bytes_read()
    desk.keep()
    add(desk.path, claude(5001, "and behind it"))
    desk.keep()
    if before is not None:
        assert _bytes_read() - before < 3 * source.FIRST_BYTES
    assert desk.said() == ["user: at the end", "user: and behind it"]


def _bytes_read() -> Any:
    try:
        facts = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next(int(fact.split()[1]) for fact in facts if fact.startswith("rchar"))


def test_a_write_that_is_cut_anywhere_is_completed(desk: Desk) -> None:
    """A process that was killed, or a power cut, leaves a part of the last write."""
    add(desk.path, claude(1, "one"))
    desk.keep()
    begun = desk.files()[0].stat().st_size
    add(desk.path, *(claude(n, f"message {n}") for n in range(2, 5)))
    desk.keep()
    whole = desk.files()[0].read_bytes()
    breaks = [at for at in range(len(whole)) if whole[at : at + 1] == b"\n"]
    sizes = {*range(0, len(whole), 17), *breaks, *(at + 1 for at in breaks[:-1])}
    for size in sorted(sizes):
        for rest in (b"", b"\0" * 20, b"\0\n\xff\n"):
            desk.files()[0].write_bytes(whole[:size] + rest)
            desk.keep()
            if size >= begun:
                assert desk.files()[0].read_bytes() == whole
            assert desk.said() == ["user: one", *(f"user: message {n}" for n in range(2, 5))]


def test_a_full_disk_leaves_the_file_as_it_was(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(desk.path, claude(1, "one"))
    desk.keep()
    before = desk.files()[0].read_bytes()
    add(desk.path, claude(2, "two"))
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        # A part of the line fits, as on a disk that is nearly full.
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limit[1]))
        with pytest.raises(StateNotWritable):
            desk.keep()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert desk.files()[0].read_bytes() == before
    desk.keep()
    assert desk.said() == ["user: one", "user: two"]


def _fire(desk: Desk, path: Path) -> None:
    for _ in range(20):
        desk.keep(path)


def test_two_hosts_and_several_hooks_at_once(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "cc-2.jsonl"
    spawn = multiprocessing.get_context("fork")
    crew = [spawn.Process(target=_fire, args=(desk, path)) for path in (desk.path, other) * 2]
    add(desk.path, claude(0, "message 0"))
    add(other, claude(0, "message 0"))
    for one in crew:
        one.start()
    for number in range(1, 40):
        add(desk.path, claude(number, f"message {number}"))
        add(other, claude(number, f"message {number}"))
    for one in crew:
        one.join(60)
    assert [one.exitcode for one in crew] == [0] * 4
    desk.keep()
    desk.keep(other)
    assert desk.said() == [f"user: message {n}" for n in range(40)] * 2


@pytest.mark.parametrize("data", [b"plain text\n", b'{"a": 1}\n'])
def test_a_file_of_no_known_host_is_reported(desk: Desk, data: bytes) -> None:
    desk.path.write_bytes(data)
    with pytest.raises(NoteUnreadable):
        desk.keep()
    assert desk.files() == []


def test_nothing_is_kept_of_folders_that_are_left_out(desk: Desk, tmp_path: Path) -> None:
    add(desk.path, claude(1, "a secret project"))
    assert desk.keep(left_out=(Path("/code"),)).messages == 0
    assert desk.keep(left_out=(Path("/code/sho"),)).messages == 1


def test_old_conversations_are_removed_as_the_settings_say(desk: Desk, tmp_path: Path) -> None:
    for number, age in enumerate((0, 10, 40, 400)):
        path = tmp_path / f"s-{number}.jsonl"
        add(path, claude(number, f"{number} " + "x" * 1000))
        desk.keep(path)
        at = (NOW - timedelta(days=age)).timestamp()
        os.utime(desk.folder / f"claude-s-{number}.jsonl", (at, at))
    assert kept_files(desk.folder).conversations == 4
    assert drop_expired(desk.folder, KeepSettings(), NOW) == 0
    assert drop_expired(desk.folder, KeepSettings(days=100), NOW) == 1
    # A clock that is years ahead removes nothing more.
    assert drop_expired(desk.folder, KeepSettings(days=100), NOW.replace(year=2040)) == 0
    big = desk.folder / "claude-s-2.jsonl"
    add(big, b"\n" * 1_000_000)
    at = (NOW - timedelta(days=40)).timestamp()
    os.utime(big, (at, at))
    assert drop_expired(desk.folder, KeepSettings(megabytes=1), NOW) == 1
    assert [file.name for file in desk.files()] == ["claude-s-0.jsonl", "claude-s-1.jsonl"]


def test_messages_older_than_the_retention_are_not_kept_again(desk: Desk) -> None:
    record = json.loads(claude(1, "long ago")) | {"timestamp": "2025-01-01T00:00:00Z"}
    add(desk.path, json.dumps(record).encode() + b"\n", claude(2, "today"))
    desk.keep(days=30)
    assert desk.said() == ["user: today"]


def test_a_link_in_place_of_the_file_is_not_written_through(desk: Desk, tmp_path: Path) -> None:
    add(desk.path, claude(1, "one"))
    target = tmp_path / "target"
    target.write_bytes(b"mine\n")
    desk.folder.mkdir()
    (desk.folder / "claude-cc-1.jsonl").symlink_to(target)
    with pytest.raises(StateNotWritable):
        desk.keep()
    assert target.read_bytes() == b"mine\n"
