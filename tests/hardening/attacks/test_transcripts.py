"""Transcripts that no host would write: they are read as far as they go, and never waited for."""

from __future__ import annotations

import itertools
import json
import os
import time
from pathlib import Path

import pytest

from notewell.errors import NotewellError
from notewell.sessions import Transcript, TranscriptFolder, Transcripts

KEY = "sessions/claude/a.jsonl"
GOOD = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "good words"}}
ODD: tuple[object, ...] = (
    None,
    True,
    -1,
    2**70,
    1e308,
    "",
    "x",
    "\ud800",
    [],
    [[]],
    {},
    {"text": {}},
    [{"type": "text"}],
)


def read(folder: Path, data: bytes) -> Transcript:
    (folder / "a.jsonl").write_bytes(data)
    return Transcripts([TranscriptFolder(folder, "claude")], lambda text: text).open(KEY)


def line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


@pytest.mark.parametrize("nested", ["[" * 200_000, '{"a":' * 100_000, "[" * 90_000 + "]" * 90_000])
def test_brackets_without_end_are_one_broken_line(tmp_path: Path, nested: str) -> None:
    found = read(tmp_path, line(GOOD) + nested.encode() + b"\n" + line(GOOD))
    assert found.text == "User: good words\n" * 2


def test_wrong_types_everywhere_are_not_said(tmp_path: Path) -> None:
    lines = [line(GOOD)]
    for name, value in itertools.product(("type", "sessionId", "message", "timestamp"), ODD):
        lines.append(line({**GOOD, name: value}))
    for name, value in itertools.product(("role", "content", "id"), ODD):
        lines.append(line({**GOOD, "message": {**GOOD["message"], name: value}}))  # type: ignore[dict-item]
    lines += [line(value) for value in ODD]
    found = read(tmp_path, b"".join(lines))
    assert found.text.startswith("User: good words\n")
    assert found.text.encode()


@pytest.mark.parametrize("host", ["openclaw", "claude", "codex"])
def test_every_host_format_bears_wrong_types(tmp_path: Path, host: str) -> None:
    first = {
        "openclaw": {"type": "message", "message": {"role": "user", "content": "good words"}},
        "claude": GOOD,
        "codex": {"type": "session_meta", "payload": {"id": "x", "cwd": "/"}},
    }[host]
    lines = [line(first)]
    for kind, value in itertools.product(("message", "response_item", "event_msg", "user"), ODD):
        lines += [line({"type": kind, "payload": value}), line({"type": kind, "message": value})]
        lines.append(line({"type": kind, "payload": {"type": "message", "content": value}}))
    assert read(tmp_path, b"".join(lines)) is not None


def test_numbers_that_are_none_and_keys_said_twice(tmp_path: Path) -> None:
    twice = b'{"type":"user","type":"user","message":{"content":"no","content":"good words"}}\n'
    numbers = b'{"type":"user","timestamp":NaN,"message":{"content":"good words"}}\n'
    infinite = b'{"type":"user","timestamp":-Infinity,"message":{"content":"good words"}}\n'
    huge = (
        b'{"type":"user","timestamp":1' + b"0" * 4000 + b',"message":{"content":"good words"}}\n'
    )
    digits = b'{"type":"user","timestamp":' + b"9" * 100_000 + b',"message":{"content":"no"}}\n'
    found = read(tmp_path, line(GOOD) + twice + numbers + infinite + huge + digits)
    assert found.text == "User: good words\n" * 5


def test_a_line_of_twenty_megabytes_is_read_in_time(tmp_path: Path) -> None:
    long = line({**GOOD, "message": {"content": "word " * 4_000_000}})
    began = time.thread_time()
    found = read(tmp_path, long + line(GOOD))
    assert found.text.endswith("User: good words\n")
    assert time.thread_time() - began < 10


def test_a_hundred_thousand_tiny_lines_take_as_long_as_they_are_many(tmp_path: Path) -> None:
    """A million, ten times that, are read in tests/hardening/torture/attacks.py."""
    began = time.thread_time()
    found = read(tmp_path, line(GOOD) + b"{}\n" * 50_000 + b"[]\n1\n" * 25_000)
    assert found.text == "User: good words\n"
    assert time.thread_time() - began < 5


def test_values_on_one_line_without_end_take_as_long_as_they_are_many(tmp_path: Path) -> None:
    began = time.thread_time()
    found = read(tmp_path, line(GOOD) + b"{} " * 100_000 + b"\n" + line(GOOD))
    assert found.text == "User: good words\n" * 2
    assert time.thread_time() - began < 5


def test_quotations_without_end_do_not_hold_up_a_capture() -> None:
    from notewell.capture import without_injected

    began = time.thread_time()
    for unit in ("<recalled>", "<recalled ", "Text between <recalled> marks, ", "</recalled>"):
        without_injected(unit * 40_000)
    assert time.thread_time() - began < 2


def test_what_is_quoted_is_still_taken_out() -> None:
    from notewell.capture import without_injected

    text = (
        'a <recalled path="x">one <recalled> two</recalled> b <recalled>c</recalled>d <recalled> e'
    )
    assert without_injected(text) == "a  b d <recalled> e"


def test_pipes_links_and_folders_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").symlink_to(tmp_path / "a.jsonl")
    (tmp_path / "c.jsonl").mkdir()
    transcripts = Transcripts([TranscriptFolder(tmp_path, "claude")], lambda text: text)
    assert transcripts.scan().notes == {}
    for name in "abc":
        with pytest.raises(NotewellError):
            transcripts.read(f"sessions/claude/{name}.jsonl")
