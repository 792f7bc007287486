"""A host that saves one JSON document per chat, and rewrites it with every message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from notewell.errors import NotANote, NoteUnreadable
from notewell.hosts import TRANSCRIPT_FORMATS, RecordFacts, TranscriptFormat
from notewell.hosts.messages import Record, clean_text, parse_time, turn_of
from notewell.sessions import (
    DeltaLimits,
    TranscriptFolder,
    Transcripts,
    hold_back,
    path_of_session,
    read_tail,
    session_of_path,
)
from notewell.sessions.records import MAX_DOCUMENT_BYTES


def _records(document: Record) -> list[Record]:
    messages: list[Record] = document["messages"]
    return [{"chat": document.get("chat"), "start": document.get("start")}, *messages]


def _read(record: Record) -> RecordFacts:
    if "chat" in record:
        at = parse_time(record.get("start"))
        return RecordFacts(session_id=clean_text(record["chat"]), at=at)
    return RecordFacts(turn_of(record.get("who"), [record.get("text", "")]))


ACME = TranscriptFormat(
    "acme",
    lambda document: isinstance(document.get("messages"), list),
    _read,
    suffix=".json",
    records=_records,
)
FORMATS = (*TRANSCRIPT_FORMATS, ACME)
KEY = "sessions/acme/c-1.json"


def chat(*texts: str) -> bytes:
    messages = [{"who": "user", "text": text} for text in texts]
    document = {"chat": "c-1", "start": "2026-10-05T08:00:00Z", "messages": messages}
    return json.dumps(document, indent=1).encode()


def opened(folder: Path) -> Transcripts:
    return Transcripts([TranscriptFolder(folder, "acme")], str, FORMATS)


def test_a_document_is_found_and_read(tmp_path: Path) -> None:
    (tmp_path / "c-1.json").write_bytes(chat("when do we ship?", "on Friday?"))
    transcripts = opened(tmp_path)
    assert list(transcripts.scan().notes) == [KEY]
    transcript = transcripts.open(KEY)
    assert transcript.text == "User: when do we ship?\nUser: on Friday?\n"
    assert transcript.line_map == (2, 3)
    assert (transcript.session.format, transcript.session.id) == ("acme", "c-1")
    assert str(transcript.session.day()) == "2026-10-05"


def test_without_the_format_the_file_is_not_a_transcript(tmp_path: Path) -> None:
    (tmp_path / "c-1.json").write_bytes(chat("hello"))
    assert Transcripts([TranscriptFolder(tmp_path, "acme")], str).scan().notes == {}


def test_the_agents_own_folder_has_json_lines_only(tmp_path: Path) -> None:
    (tmp_path / "sessions.json").write_bytes(chat("hello"))
    transcripts = Transcripts([TranscriptFolder(tmp_path)], str, FORMATS)
    assert transcripts.scan().notes == {}
    with pytest.raises(NotANote):
        transcripts.read("sessions/sessions.json")


def test_an_incomplete_document_is_an_error_and_not_an_empty_conversation(tmp_path: Path) -> None:
    (tmp_path / "c-1.json").write_bytes(chat("hello")[:-9])
    with pytest.raises(NoteUnreadable, match="its JSON is not complete"):
        opened(tmp_path).read(KEY)


def test_a_document_that_is_too_large_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "c-1.json").write_bytes(b" " * (MAX_DOCUMENT_BYTES + 1))
    with pytest.raises(NoteUnreadable, match="larger than 64 MiB"):
        opened(tmp_path).read(KEY)


def test_a_document_that_grew_is_read_again_at_once(tmp_path: Path) -> None:
    file = tmp_path / "c-1.json"
    file.write_bytes(chat("one"))
    transcripts = opened(tmp_path)
    indexed = {path: found.stat for path, found in transcripts.scan().notes.items()}
    file.write_bytes(chat("one", "two"))
    scan = transcripts.scan()
    assert hold_back(scan, indexed, transcripts.new_messages, DeltaLimits()) == scan
    assert scan.notes[KEY].stat != indexed[KEY]


def test_only_new_messages_are_saved_though_the_file_is_rewritten(tmp_path: Path) -> None:
    file = tmp_path / "c-1.json"
    position: dict[str, Any] = {}

    def added(*texts: str) -> list[str]:
        nonlocal position
        new = tmp_path / "new"
        new.write_bytes(chat(*texts))
        new.replace(file)
        tail = read_tail(file, position, str, messages=15, formats=FORMATS)
        position = json.loads(json.dumps(tail.position))
        return tail.lines

    assert added("one") == ["User: one"]
    assert added("one", "two", "three") == ["User: two", "User: three"]
    assert added("one", "two", "three") == []
    assert added("anew") == ["User: anew"]  # fewer messages than before: another conversation


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"messages": 1}', b'"text"'])
def test_a_document_of_something_else_has_no_format(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "c-1.json").write_bytes(data)
    assert opened(tmp_path).open(KEY).text == ""
    with pytest.raises(NoteUnreadable, match="not a transcript of a host"):
        read_tail(tmp_path / "c-1.json", {}, str, messages=15, formats=FORMATS)


def gemini_chat(*said: tuple[str, str]) -> bytes:
    """What Gemini CLI wrote before it appended lines."""
    messages = [
        {"id": f"m{n}", "timestamp": "2025-10-05T08:00:01.000Z", "type": kind, "content": text}
        for n, (kind, text) in enumerate(said)
    ]
    document = {
        "sessionId": "gm-0",
        "projectHash": "8c60",
        "startTime": "2025-10-05T08:00:00.000Z",
        "lastUpdated": "2025-10-05T08:09:00.000Z",
        "messages": messages,
    }
    return json.dumps(document, indent=2).encode()


def test_a_chat_of_an_earlier_gemini_is_found_among_its_other_files(tmp_path: Path) -> None:
    chats = tmp_path / "8c60" / "chats"
    chats.mkdir(parents=True)
    said = ("user", "when do we ship?"), ("info", "a notice"), ("gemini", "On Friday.")
    (chats / "session-2025-10-05T08-00-gm0.json").write_bytes(gemini_chat(*said))
    (tmp_path / "8c60" / "logs.json").write_bytes(b"[]")
    (tmp_path / "8c60" / "checkpoint-one.json").write_bytes(gemini_chat(("user", "hello")))
    (chats / "session-2026-01-01T08-00-gm1.jsonl").write_bytes(b"")
    transcripts = Transcripts([TranscriptFolder(tmp_path, "tmp")], str)
    key = "sessions/tmp/8c60/chats/session-2025-10-05T08-00-gm0.json"
    later = "sessions/tmp/8c60/chats/session-2026-01-01T08-00-gm1.jsonl"
    assert list(transcripts.scan().notes) == [key, later]
    transcript = transcripts.open(key)
    assert transcript.text == "User: when do we ship?\nAssistant: On Friday.\n"
    assert (transcript.session.id, str(transcript.session.day())) == ("gm-0", "2025-10-05")
    assert path_of_session(session_of_path(key)) == key


def test_a_hook_of_an_earlier_gemini_saves_new_messages_only(tmp_path: Path) -> None:
    file = tmp_path / "session-1.json"
    file.write_bytes(gemini_chat(("user", "one"), ("gemini", "two")))
    tail = read_tail(file, {}, str, messages=15)
    assert tail.lines == ["User: one", "Assistant: two"]
    file.write_bytes(gemini_chat(("user", "one"), ("gemini", "two"), ("user", "three")))
    assert read_tail(file, tail.position, str, messages=15).lines == ["User: three"]
