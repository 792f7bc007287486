"""What was said is found, without its secrets, and never in the place of notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from notewell import Memory, NotesSettings, SessionSettings, Settings, open_memory
from notewell.errors import NotANote, NoteUnreadable
from notewell.testing import HashEmbedder

TOKEN = "ghp_" + "x7Kq2Lm9" * 4 + "Zt4R"


def said(role: str, text: str, at: str = "2026-11-02T10:00:00Z") -> str:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "message", "timestamp": at, "message": message}) + "\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("The boat is green.\n", encoding="utf-8")
    return folder


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "state" / "agents" / "main" / "sessions" / "abc.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(
        said("user", f"the zebra is called Ada, the token is {TOKEN}")
        + said("assistant", "I will remember the zebra."),
        encoding="utf-8",
    )
    return path


BOTH = Settings(sessions=SessionSettings(enabled=True))


def opened(
    workspace: Path, tmp_path: Path, settings: Settings = BOTH, agent: str = "main"
) -> Memory:
    return open_memory(
        workspace,
        agent=agent,
        state_dir=tmp_path / "state",
        settings=settings,
        embedder=HashEmbedder(),
    )


@pytest.fixture
def memory(workspace: Path, tmp_path: Path, transcript: Path) -> Iterator[Memory]:
    with opened(workspace, tmp_path) as memory:
        memory.sync()
        yield memory


def test_what_was_said_is_found_and_can_be_read_without_its_secrets(
    memory: Memory, transcript: Path, tmp_path: Path
) -> None:
    hit = memory.search("what is the zebra called?").hits[0]
    assert (hit.path, hit.source) == ("sessions/abc.jsonl", "sessions")
    assert "[redacted:github-token" in hit.snippet
    lines = memory.get(hit.path)
    assert lines.text.startswith("User: the zebra is called Ada, the token is [redacted")
    assert TOKEN in transcript.read_text(encoding="utf-8")
    kept = [path.read_bytes() for path in (tmp_path / "state" / "memory").rglob("*.sqlite*")]
    assert kept
    assert not any(TOKEN.encode() in data for data in kept)


def test_a_session_is_dated_by_when_it_was_held(memory: Memory) -> None:
    asked = memory.search("what was said about the zebra on 2026-11-02?")
    assert asked.hits[0].parts.recency == 1.25


def test_transcripts_are_not_read_unless_asked_for(
    workspace: Path, tmp_path: Path, transcript: Path
) -> None:
    with opened(workspace, tmp_path, Settings()) as memory:
        memory.sync()
        assert memory.search("zebra").hits == ()
        with pytest.raises(NotANote):
            memory.get("sessions/abc.jsonl")


def test_no_agent_sees_the_sessions_of_another(
    workspace: Path, tmp_path: Path, transcript: Path
) -> None:
    with opened(workspace, tmp_path, agent="other") as memory:
        memory.sync()
        assert memory.search("zebra").hits == ()
        for path in ("sessions/abc.jsonl", "sessions/../../main/sessions/abc.jsonl"):
            with pytest.raises((NotANote, NoteUnreadable)):
                memory.get(path)


def test_a_few_new_turns_wait_and_a_sync_takes_them(memory: Memory, transcript: Path) -> None:
    with transcript.open("a", encoding="utf-8") as file:
        file.write(said("user", "the giraffe is called Bob"))
    memory.indexer.look_again()
    assert memory.status().dirty == 0
    assert "giraffe" not in str(memory.search("giraffe"))
    memory.sync()
    assert "giraffe" in memory.search("giraffe").hits[0].snippet


def test_enough_new_turns_are_taken_in_by_the_next_search(
    workspace: Path, tmp_path: Path, transcript: Path
) -> None:
    settings = Settings(sessions=SessionSettings(enabled=True, delta_messages=2))
    with opened(workspace, tmp_path, settings) as memory:
        memory.sync()
        with transcript.open("a", encoding="utf-8") as file:
            file.write(said("user", "the giraffe is called Bob") + said("assistant", "Noted."))
        memory.indexer.look_again()
        assert "giraffe" in memory.search("giraffe").hits[0].snippet


def test_a_sync_of_notes_does_not_forget_sessions_nor_the_other_way_round(
    memory: Memory, workspace: Path, transcript: Path
) -> None:
    (workspace / "memory" / "new.md").write_text("zebra stripes", encoding="utf-8")
    report = memory.sync()
    assert (report.written, report.forgotten) == (1, 0)
    transcript.unlink()
    report = memory.sync()
    assert (report.written, report.forgotten) == (0, 1)
    assert [hit.path for hit in memory.search("zebra").hits] == ["memory/new.md"]


def test_sessions_do_not_crowd_notes_out(
    workspace: Path, tmp_path: Path, transcript: Path
) -> None:
    for number in range(8):
        other = transcript.with_name(f"s{number}.jsonl")
        other.write_text(said("user", f"zebra zebra zebra {number}"), encoding="utf-8")
        note = workspace / "memory" / f"n{number}.md"
        note.write_text(
            f"once a zebra was here among many other things {number}", encoding="utf-8"
        )
    with opened(workspace, tmp_path) as memory:
        memory.sync()
        sources = [hit.source for hit in memory.search("zebra").hits]
    assert sorted(sources) == ["memory"] * 3 + ["sessions"] * 3


def test_notes_are_masked_too_if_asked(workspace: Path, tmp_path: Path) -> None:
    note = workspace / "memory" / "secret.md"
    note.write_text(f"the robot's token is {TOKEN}\n", encoding="utf-8")
    with opened(workspace, tmp_path, Settings(notes=NotesSettings(redact=True))) as memory:
        memory.sync()
        assert "[redacted:github-token" in memory.search("token of the robot").hits[0].snippet
    assert TOKEN in note.read_text(encoding="utf-8")


def test_other_hosts_transcripts_are_read_where_the_settings_say(
    workspace: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "claude" / "-home-me-notes"
    folder.mkdir(parents=True)
    line = {
        "type": "user",
        "sessionId": "s1",
        "uuid": "u1",
        "timestamp": "2026-11-03T09:00:00Z",
        "cwd": "/home/me/notes",
        "message": {"role": "user", "content": "the llama is called Eve"},
    }
    (folder / "s1.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    settings = Settings(sessions=SessionSettings(enabled=True, folders=((folder, "claude"),)))
    with opened(workspace, tmp_path, settings) as memory:
        memory.sync()
        hit = memory.search("what is the llama called?").hits[0]
        assert hit.path == "sessions/claude/s1.jsonl"
        assert memory.get(hit.path).text == "User: the llama is called Eve\n".rstrip("\n")


def test_after_a_compaction_even_a_few_turns_are_taken_in(
    memory: Memory, transcript: Path
) -> None:
    with transcript.open("a", encoding="utf-8") as file:
        file.write(said("user", "the giraffe is called Bob"))
        file.write(json.dumps({"type": "compaction", "summary": "animals"}) + "\n")
    memory.indexer.look_again()
    assert "giraffe" in memory.search("giraffe").hits[0].snippet
