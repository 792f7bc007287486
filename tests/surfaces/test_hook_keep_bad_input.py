"""Hooks keep conversations whatever is in a host's file, and whatever happens to ours: nothing is
doubled, nothing is lost, and the host notices nothing of it."""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from notewell.cli import hook_setup, main
from notewell.cli.hook import handle
from notewell.cli.hook_call import HookTime
from notewell.cli.parser import build_parser
from notewell.sessions.records import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBOR"}}
NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def line(number: int, content: Any, role: str = "user", at: datetime = NOON) -> bytes:
    record = {
        "type": role, "uuid": f"u{number}", "sessionId": "cc-1", "cwd": "/code/shop",
        "timestamp": at.isoformat(), "message": {"role": role, "content": content},
    }  # fmt: skip
    return json.dumps(record).encode() + b"\n"


class Keeper:
    """A host that calls the hooks as they were installed."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.transcript = root / "cc-1.jsonl"
        self.workspace, self.state = root / "workspace", root / "state"
        self.workspace.mkdir()
        self.monkeypatch = monkeypatch
        self.own = root / "own.json"
        self.own.write_text("{}", encoding="utf-8")
        monkeypatch.setenv("NOTEWELL_CONFIG", str(self.own))

    def add(self, *lines: bytes) -> None:
        with self.transcript.open("ab") as file:
            file.writelines(lines)

    def words(self, event: str) -> list[str]:
        place = ["--workspace", str(self.workspace), "--state-dir", str(self.state)]
        return ["hook", event, "--host", "claude", "--keep", *place]

    def payload(self) -> bytes:
        path = str(self.transcript)
        return json.dumps({"session_id": "cc-1", "transcript_path": path}).encode()

    def hook(self, event: str = "stop") -> None:
        stdin = io.TextIOWrapper(io.BytesIO(self.payload()), encoding="utf-8")
        self.monkeypatch.setattr(sys, "stdin", stdin)
        assert main(self.words(event)) == 0

    def hook_at(self, now: datetime, event: str = "stop") -> None:
        """The same, by another clock."""
        assert handle(build_parser("hook").parse_args(self.words(event)), self.payload(), now, UTC)

    def kept_file(self) -> Path:
        (found,) = self.state.glob("agents/main/sessions/*/*.jsonl")
        return found

    def said(self) -> list[str]:
        lines = [json.loads(one) for one in self.kept_file().read_bytes().splitlines()]
        return [one["message"]["content"] for one in lines if one["type"] == "message"]

    def trouble(self) -> str | None:
        (file,) = self.state.rglob("heartbeat.json")
        trouble = json.loads(file.read_text("utf-8")).get("trouble")
        return trouble and str(trouble["why"])


@pytest.fixture
def keeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keeper:
    # A busy machine must not decide what these tests find.
    monkeypatch.setattr(hook_setup, "time_of", lambda *_, **__: HookTime(600, 600))
    return Keeper(tmp_path, monkeypatch)


def test_a_line_that_is_half_written_is_kept_when_it_is_whole(keeper: Keeper) -> None:
    whole = line(2, "and rest on Monday")
    for cut in (1, len(whole) // 2, len(whole) - 2):
        keeper.transcript.write_bytes(line(1, "we ship on Friday") + whole[:cut])
        keeper.hook()
        assert keeper.said() == ["we ship on Friday"]
    # A record that lacks nothing but the end of its line is complete; it is not kept again.
    for rest in (whole[-2:-1], whole[-1:], line(3, "good")):
        keeper.add(rest)
        keeper.hook()
    assert keeper.said() == ["we ship on Friday", "and rest on Monday", "good"]
    assert keeper.trouble() is None


@pytest.mark.parametrize("how", ["rotated", "shrunk", "rewritten", "copied back", "gone"])
def test_a_file_that_the_host_replaces_doubles_and_loses_nothing(keeper: Keeper, how: str) -> None:
    first = [line(n, f"message {n}") for n in range(10)]
    keeper.add(*first)
    keeper.hook()
    match how:
        case "rotated":  # A new file with the same name, and only new messages.
            keeper.transcript.rename(keeper.transcript.with_suffix(".old"))
        case "shrunk":  # As after a rewind: the last messages are gone.
            keeper.transcript.write_bytes(b"".join(first[:4]))
        case "rewritten":  # Other bytes, the same messages.
            texts = [one.replace(b'": "', b'":  "') for one in first]
            keeper.transcript.write_bytes(b"".join(texts))
        case "copied back":  # From a backup: another inode, an old time.
            keeper.transcript.unlink()
            keeper.transcript.write_bytes(b"".join(first))
            os.utime(keeper.transcript, (1, 1))
        case "gone":
            keeper.transcript.unlink()
            keeper.hook()
    keeper.add(line(10, "message 10"), line(11, "message 11"))
    keeper.hook("session-end")
    assert keeper.said() == [f"message {n}" for n in range(12)]
    assert keeper.trouble() is None


def test_a_hundred_megabytes_in_one_line_are_passed_over(keeper: Keeper) -> None:
    keeper.add(line(1, "before"))
    keeper.hook()
    with keeper.transcript.open("ab") as file:
        file.write(b'{"type":"user","message":{"content":"')
        file.truncate(keeper.transcript.stat().st_size + MAX_LINE_BYTES + 36 * 2**20)
    keeper.hook()
    keeper.add(b'"}}\n', line(2, "behind"))
    for _ in range(6):  # One hook reads 32 MB.
        keeper.hook()
    assert keeper.said() == ["before", "behind"]


def test_of_tools_and_images_only_what_was_said_is_kept(keeper: Keeper) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"text": "not said"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": 'a "text" of a file'}
    nested = {**result, "content": [{"type": "text", "text": "a page"}, IMAGE]}
    said = {"type": "text", "text": "what is in this picture?"}
    keeper.add(
        line(1, [said, IMAGE]),
        line(2, [{"type": "thinking", "thinking": "hm"}, call], "assistant"),
        line(3, [result]),
        line(4, [nested]),
        line(5, [IMAGE]),
        line(6, [{"type": "text", "text": "a cat"}, call], "assistant"),
        line(7, []),
        line(8, ""),
        line(9, None),
    )
    keeper.hook()
    assert keeper.said() == ["what is in this picture?", "a cat"]
    assert b"iVBOR" not in keeper.kept_file().read_bytes()


def test_lines_that_are_no_records_are_passed_over(keeper: Keeper) -> None:
    junk = [b"\n", b"null\n", b"[1]\n", b"{\n", b"\xff\xfe\n", b"\0" * 300 + b"\n", b'"x"\n']
    keeper.add(*junk, line(1, "one"), *junk, line(2, "two"), *junk)
    keeper.hook()
    keeper.add(*junk, line(3, "three"))
    keeper.hook()
    assert keeper.said() == ["one", "two", "three"]
    assert keeper.trouble() is None


@pytest.mark.parametrize("days", [None, 30])
@pytest.mark.parametrize("years", [-30, -1, 1, 30])
def test_a_clock_that_jumps_loses_nothing(keeper: Keeper, days: int | None, years: int) -> None:
    keep = {"days": days} if days else {}
    search = {"memorySearch": {"sessions": {"keep": keep}}}
    keeper.own.write_text(json.dumps({"agents": {"defaults": search}}), encoding="utf-8")
    jumped = NOON + timedelta(days=365 * years)
    # The clock jumps between what is said and the hook, and back; the host has it, too.
    keeper.add(line(1, "one"))
    keeper.hook_at(jumped)
    keeper.add(line(2, "two"), line(3, "three", at=jumped))
    keeper.hook_at(jumped)
    keeper.hook_at(NOON, "session-start")
    keeper.hook_at(NOON)
    keeper.add(line(4, "four", at=jumped))
    keeper.hook_at(jumped, "session-end")
    keeper.hook_at(jumped, "session-start")
    assert keeper.said() == ["one", "two", "three", "four"]


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """As on a disk that is nearly full: a part of a write fits."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("event", ["stop", "pre-compact", "session-end"])
def test_a_full_disk_is_reported_and_the_next_hook_goes_on(
    keeper: Keeper, event: str, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper.add(line(1, "one " + "x" * 20_000))
    keeper.hook()
    before = keeper.kept_file().read_bytes()
    keeper.add(line(2, "two"), line(3, "three"))
    capsys.readouterr()
    with file_size_limit(len(before) + 30):
        keeper.hook(event)
    assert keeper.kept_file().read_bytes() == before
    assert "the conversation is not kept" in (keeper.trouble() or "")
    out, err = capsys.readouterr()
    assert (out, "Traceback" in err) == ("", False)
    keeper.hook("session-end")
    assert keeper.said() == ["one " + "x" * 20_000, "two", "three"]
    assert keeper.trouble() is None


def test_a_hook_keeps_nothing_beside_notes_in_a_database(
    keeper: Keeper, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper.add(line(1, "the router is a Fritzbox"))
    place = ["--workspace", "postgres:", "--state-dir", str(keeper.state)]
    arguments = build_parser("hook").parse_args(["hook", "session-end", "--keep", *place])
    assert handle(arguments, keeper.payload(), NOON, UTC)
    assert "hooks need a folder of notes" in capsys.readouterr().err
    assert not list(keeper.state.rglob("*.jsonl"))
    assert main(["hook", "install", "claude", "--print", *place]) == 2
    assert "notewell serve -w postgres:" in capsys.readouterr().err
