"""A host that keeps all its conversations in one SQLite database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.sessions.made_up import OpenCode, text_part

from notewell.errors import NoteUnreadable
from notewell.sessions import DeltaLimits, TranscriptFolder, Transcripts, hold_back

KEY = "sessions/opencode/opencode.db/ses_1.jsonl"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[OpenCode]:
    host = OpenCode(tmp_path)
    with closing(host.connection):
        host.start()
        yield host


def opened(folder: Path) -> Transcripts:
    return Transcripts([TranscriptFolder(folder, "opencode")], str)


def test_a_conversation_in_a_database_is_a_transcript(host: OpenCode, tmp_path: Path) -> None:
    host.say("user", text_part("when do we\nship?"))
    host.say("assistant", {"type": "step-start"}, text_part("On Friday."), text_part("Or later."))
    transcripts = opened(tmp_path)
    assert list(transcripts.scan().notes) == [KEY]
    transcript = transcripts.open(KEY)
    assert transcript.text == (
        "User: when do we ship?\nAssistant: On Friday.\nAssistant: Or later.\n"
    )
    session = transcript.session
    assert (session.format, session.id, session.cwd) == ("opencode", "ses_1", "/somewhere/shop")
    assert str(session.day()) == "2026-10-06"
    assert transcripts.read(KEY).stat == transcripts.scan().notes[KEY].stat


def test_only_what_was_said_is_read(host: OpenCode, tmp_path: Path) -> None:
    host.say(
        "user",
        text_part("Hi."),
        text_part("The file a.txt:", synthetic=True),
        summary={"diffs": []},
    )
    tool = {"type": "tool", "state": {"output": 'a "type":"text" quoted'}}
    host.say("assistant", {"type": "reasoning", "text": "Hm."}, tool, text_part("Done."))
    host.say("assistant", text_part("Hi was said."), summary=True, mode="compaction")
    host.say("user", text_part("not shown", ignored=True))
    host.start("ses_2", parent="ses_1")
    host.say("user", text_part("From an agent."), session="ses_2")
    transcripts = opened(tmp_path)
    assert list(transcripts.scan().notes) == [KEY]
    assert transcripts.read(KEY).text == "User: Hi.\nAssistant: Done.\n"


def test_a_damaged_part_is_skipped_and_counted(host: OpenCode, tmp_path: Path) -> None:
    host.say("user", text_part("Hi."), '{"type":"text","text":"brok')
    note = opened(tmp_path).read(KEY)
    assert note.text == "User: Hi.\n"
    assert note.repairs == ("1 line is not JSON and left out",)


def test_the_host_can_write_at_any_time_and_a_sync_sees_it(host: OpenCode, tmp_path: Path) -> None:
    host.say("user", text_part("one"))
    transcripts = opened(tmp_path)
    indexed = {path: found.stat for path, found in transcripts.scan().notes.items()}
    host.connection.execute("BEGIN IMMEDIATE")
    host.say("user", text_part("two"))
    assert transcripts.read(KEY).text == "User: one\n"  # not committed
    host.connection.execute("COMMIT")
    scan = transcripts.scan()
    assert hold_back(scan, indexed, transcripts.new_messages, DeltaLimits()) == scan
    assert scan.notes[KEY].stat != indexed[KEY]
    assert transcripts.read(KEY).text == "User: one\nUser: two\n"


def test_a_database_that_is_closed_is_read_and_gets_no_files(tmp_path: Path) -> None:
    host = OpenCode(tmp_path)
    host.start()
    host.say("user", text_part("Hi."))
    host.connection.close()
    before = host.file.read_bytes()
    assert opened(tmp_path).read(KEY).text == "User: Hi.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["opencode.db"]
    assert host.file.read_bytes() == before


@pytest.mark.parametrize("data", [b"no database", b""])
def test_another_database_of_that_name_is_reported(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "opencode.db").write_bytes(data)
    scan = opened(tmp_path).scan()
    (report,) = scan.unreadable
    assert report.path == "sessions/opencode/opencode.db"
    assert report.why.startswith("its database cannot be read")


def test_a_link_to_a_database_is_not_followed(host: OpenCode, tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (below / "opencode.db").symlink_to(host.file)
    transcripts = opened(below)
    assert [one.why for one in transcripts.scan().unreadable] == [
        "a symbolic link; links are not followed"
    ]
    with pytest.raises(NoteUnreadable, match="links are not followed"):
        transcripts.read(KEY)


def test_a_conversation_that_is_gone_is_an_error(host: OpenCode, tmp_path: Path) -> None:
    with pytest.raises(NoteUnreadable, match="not there"):
        opened(tmp_path).read("sessions/opencode/opencode.db/ses_9.jsonl")


@pytest.mark.parametrize("id_", ["../x", "a/b", "", "a\nb"])
def test_an_id_that_is_no_name_is_left_out(host: OpenCode, tmp_path: Path, id_: str) -> None:
    host.start(id_)
    assert list(opened(tmp_path).scan().notes) == [KEY]
