"""The conversations of OpenClaw 2026.9 and later: in its database, long messages compressed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.made_up import OpenClawDatabase, line, openclaw_message

from notewell.cli import main
from notewell.errors import NoteUnreadable
from notewell.sessions import TranscriptFolder, Transcripts
from notewell.sessions.compressed import MAX_RECORD_BYTES

KEY = "sessions/openclaw-agent/openclaw-agent.sqlite/s-1.jsonl"


def compressed(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.compress(data)
    import zstandard

    return zstandard.compress(data)


def compressed_message(role: str, text: str) -> bytes:
    return compressed(json.dumps(openclaw_message(role, text, id="long")).encode())


def opened(folder: Path) -> Transcripts:
    return Transcripts([TranscriptFolder(folder, "openclaw-agent")], str)


@pytest.fixture
def host(tmp_path: Path) -> OpenClawDatabase:
    host = OpenClawDatabase(tmp_path)
    host.start()
    return host


def test_what_was_said_is_read_while_openclaw_runs(host: OpenClawDatabase, tmp_path: Path) -> None:
    host.say("user", "When do we ship?")
    host.say("toolResult", "a long file")
    host.add(json.dumps({"type": "compaction", "id": "c", "summary": "We spoke about shipping."}))
    host.say("assistant", [{"type": "text", "text": "On Friday."}, {"type": "toolCall"}])
    transcripts = opened(tmp_path)
    assert list(transcripts.scan().notes) == [KEY]
    transcript = transcripts.open(KEY)
    assert transcript.text == "User: When do we ship?\nAssistant: On Friday.\n"
    assert (transcript.session.id, transcript.session.cwd) == ("s-1", "/somewhere")
    assert str(transcript.session.day()) == "2026-10-06"


def test_compressed_messages_are_read(host: OpenClawDatabase, tmp_path: Path) -> None:
    host.say_compressed("user", compressed_message("user", "lorem ipsum " * 500))
    host.say_compressed("toolResult", b"not even compressed: nobody reads it")
    text = opened(tmp_path).read(KEY).text
    assert text == "User: " + "lorem ipsum " * 499 + "lorem ipsum\n"


@pytest.mark.parametrize(
    "data",
    [
        b"no zstd",
        compressed_message("user", "cut " * 500)[:-9],
        compressed(b"[" * 9),
        compressed(b"[" * 100_000),
        compressed(b" " * (MAX_RECORD_BYTES + 1)),
    ],
    ids=["other", "cut", "no JSON", "too deep", "too large"],
)
def test_a_damaged_message_is_counted(host: OpenClawDatabase, tmp_path: Path, data: bytes) -> None:
    host.say("user", "before")
    host.say_compressed("user", data)
    host.add("{no JSON")
    host.say("user", "after")
    note = opened(tmp_path).read(KEY)
    assert note.text == "User: before\nUser: after\n"
    assert any("2" in repair for repair in note.repairs)


@pytest.mark.parametrize("navigation", ["{no JSON", '{"navigation": "text"}', "[]"])
def test_a_message_is_read_although_what_is_said_about_it_is_damaged(
    host: OpenClawDatabase, tmp_path: Path, navigation: str
) -> None:
    host.say("user", "before")
    host.add(None, "s-1", compressed_message("user", "compressed"), navigation)
    assert opened(tmp_path).read(KEY).text == "User: before\nUser: compressed\n"


def test_a_text_that_is_not_utf8_is_reported(host: OpenClawDatabase, tmp_path: Path) -> None:
    host.connection.execute("INSERT INTO session_windows VALUES (CAST(x'ff' AS TEXT), NULL, 1, 1)")
    scan = opened(tmp_path).scan()
    assert scan.notes == {}
    assert [problem.why for problem in scan.unreadable] == [
        "its database has a text that is not UTF-8"
    ]


def test_without_a_decoder_the_conversation_is_reported_with_the_remedy(
    host: OpenClawDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.say_compressed("user", compressed_message("user", "lorem ipsum " * 500))
    host.start("s-2")
    host.say("user", "short", session="s-2")
    module = "compression" if sys.version_info >= (3, 14) else "zstandard"
    monkeypatch.setitem(sys.modules, module, None)
    transcripts = opened(tmp_path)
    with pytest.raises(NoteUnreadable, match=r"pip install '\.\[openclaw\]'"):
        transcripts.read(KEY)
    assert transcripts.read(KEY.replace("s-1", "s-2")).text == "User: short\n"


def test_subagents_and_messages_of_other_agents_were_not_said(
    host: OpenClawDatabase, tmp_path: Path
) -> None:
    host.start("s-2", spawned_by="agent:main:main")
    host.say("user", "from a subagent", session="s-2")
    host.say("user", "from another agent", provenance={"kind": "inter_session"})
    host.say("user", "from the system", provenance={"kind": "internal_system"})
    host.say("user", "from a person", provenance={"kind": "external_user"})
    transcripts = opened(tmp_path)
    assert list(transcripts.scan().notes) == [KEY]
    assert transcripts.read(KEY).text == "User: from a person\n"


def test_openclaw_can_write_while_we_read_and_nothing_is_left_beside_its_database(
    host: OpenClawDatabase, tmp_path: Path
) -> None:
    transcripts = opened(tmp_path)
    before = transcripts.scan().notes[KEY]
    host.say("user", "later")
    assert transcripts.scan().notes[KEY] != before
    assert transcripts.read(KEY).text == "User: later\n"
    host.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    host.connection.close()
    # OpenClaw leaves an empty log behind.
    log = tmp_path / "openclaw-agent.sqlite-wal"
    log.touch()
    assert transcripts.read(KEY).text == "User: later\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == [host.file.name, log.name]


def test_other_transcripts_beside_the_database_are_left_alone(
    host: OpenClawDatabase, tmp_path: Path
) -> None:
    below = tmp_path / "codex-home" / "sessions"
    below.mkdir(parents=True)
    (below / "rollout-1.jsonl").write_bytes(line(openclaw_message("user", "once more")))
    assert list(opened(tmp_path).scan().notes) == [KEY]


def test_the_memory_of_an_openclaw_finds_what_was_said_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / ".openclaw"
    folder = state / "agents" / "main" / "agent"
    folder.mkdir(parents=True)
    (state / "workspace").mkdir()
    search: dict[str, Any] = {
        "experimental": {"sessionMemory": True},
        "sources": ["memory", "sessions"],
        "provider": "none",
    }
    config = {"agents": {"defaults": {"memorySearch": search}}}
    (state / "openclaw.json").write_text(json.dumps(config), encoding="utf-8")
    host = OpenClawDatabase(folder)
    host.start()
    host.say("user", "The walrus sleeps in the harbour.")
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(state))
    monkeypatch.setenv("NOTEWELL_STATE_DIR", str(tmp_path / "state"))
    assert main(["index", "--openclaw"]) == 0
    assert main(["search", "--openclaw", "walrus"]) == 0
    assert f"{KEY}#L1" in capsys.readouterr().out
