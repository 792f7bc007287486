"""Hooks keep conversations whole, and what was said is found; nothing is kept unasked."""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.talking_host import TalkingHost

from notewell import open_memory
from notewell.capture import capture_dir, history, logs
from notewell.cli import hook_setup
from notewell.cli.hook_call import HookTime
from notewell.errors import NotewellError
from notewell.files import read_json_lines
from notewell.notes import open_notes
from notewell.sessions.tail import TAILS_BYTES
from notewell.sync import Synced, Timing, WatchEvent
from notewell.testing import HashEmbedder
from notewell.tools import CallContext, call

BOUND_S = 60.0


class Host(TalkingHost):
    """A host whose hooks were installed with `--keep`, and a person who asks afterwards."""

    def heartbeat(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.captures / "heartbeat.json").read_text("utf-8"))
        return found

    def print_output(self, size: int) -> None:
        """A tool prints so many bytes into the transcript."""
        content = [{"type": "tool_result", "content": "x" * size}]
        record = {"type": "user", "sessionId": "cc-1", "message": {"content": content}}
        with self.transcript().open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")

    def notes(self) -> list[Path]:
        return sorted((self.workspace / "memory").glob("*.md"))

    def found(self, question: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
        return [hit["path"] for hit in self.search(capsys, question)["results"]]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    # A busy machine must not decide what these tests find.
    monkeypatch.setattr(hook_setup, "time_of", lambda *_, **__: HookTime(600, 600))
    return Host(tmp_path, monkeypatch)


@pytest.mark.parametrize("event", ["prompt", "stop", "pre-compact", "session-end"])
def test_every_event_that_names_a_transcript_keeps_what_was_said(host: Host, event: str) -> None:
    host.say(*(f"message {n}" for n in range(40)))
    host.hook(event)
    host.hook(event)
    host.say("one more")
    host.hook(event)
    assert host.said() == [*(f"message {n}" for n in range(40)), "one more"]
    assert host.heartbeat()["keeps"] is True
    assert "trouble" not in host.heartbeat()


@pytest.mark.parametrize(
    ("flags", "enabled", "is_kept"),
    [((), None, False), ((), True, True), (("--keep",), False, False), (("--keep",), None, True)],
)
def test_the_settings_decide_else_the_entry_of_the_hook(
    host: Host, flags: tuple[str, ...], enabled: bool | None, is_kept: bool
) -> None:
    host.flags = flags
    if enabled is not None:
        host.settings(enabled=enabled)
    host.say("we ship on Friday", "good")
    host.hook("stop")
    host.hook("session-end")
    assert bool(host.said()) is is_kept
    assert host.heartbeat()["keeps"] is is_kept
    # The session note is written in any case.
    assert len(host.notes()) == 1


def test_what_was_said_early_in_a_long_session_is_found(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    (host.workspace / "MEMORY.md").write_text("# Facts\n\n- tea\n", encoding="utf-8")
    assert host.run("index") == 0
    host.say("the migration of the billing tables takes nine hours", "noted")
    host.say(*(f"something else, number {n}" for n in range(60)))
    host.hook("session-end")
    assert "nine hours" not in "".join(note.read_text("utf-8") for note in host.notes())
    paths = host.found("how long does the migration of the billing tables take?", capsys)
    assert paths[0] == "sessions/kept/claude-cc-1.jsonl"
    capsys.readouterr()
    assert host.run("get", paths[0], "--from", "1", "--lines", "1") == 0
    assert "nine hours" in capsys.readouterr().out


def test_the_model_reads_the_answer_after_the_question_in_a_conversation(host: Host) -> None:
    filler = "and then we spoke about the weather, the food and the long way home. " * 4
    talk = ["how long does the migration of the billing tables take?", filler, filler, filler]
    host.say(*talk, "nine hours, as the operator found out")
    host.hook("session-end")
    with open_memory(host.workspace, state_dir=host.state, embedder=HashEmbedder()) as memory:
        memory.sync()
        question = "migration of the billing tables"
        hit = memory.search(question).hits[0]
        assert hit.source == "sessions"
        assert "nine hours" not in hit.snippet
        assert "nine hours" in hit.shown_text
        arguments = {"query": question}
        assert "nine hours" in call(memory, "memory_search", arguments).to_text()
        # A small answer leaves out what was said between them.
        few = call(memory, "memory_search", arguments, CallContext(inject_chars=500)).to_text()
        assert "nine hours" in few
        assert "migration of the billing tables" in few
        assert few.count("the long way home") < 12


def test_the_first_conversation_that_is_kept_rebuilds_no_index(host: Host) -> None:
    (host.workspace / "MEMORY.md").write_text("# Facts\n\n- tea\n", encoding="utf-8")
    with open_memory(host.workspace, state_dir=host.state, embedder=HashEmbedder()) as memory:
        memory.sync()
    host.say("the migration takes nine hours", "noted")
    host.hook("stop")
    with open_memory(host.workspace, state_dir=host.state, embedder=HashEmbedder()) as memory:
        report = memory.sync()
        assert report.rebuilt is None
        assert memory.search("migration").hits[0].source == "sessions"
        # A group does not see what was said to the agent in private.
        group = memory.search("migration", session_key="agent:main:slack:channel:eng")
        assert group.hits == ()
        with pytest.raises(NotewellError):
            memory.get("sessions/kept/claude-cc-1.jsonl", session_key="agent:main:slack:channel:e")


def test_a_session_note_does_not_repeat_the_conversation_that_is_kept(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    host.say("the migration takes nine hours", "noted: nine hours for the migration")
    host.hook("session-end")
    (host.workspace / "MEMORY.md").write_text("- the migration: nine hours\n", encoding="utf-8")
    assert host.run("index") == 0
    found = {"MEMORY.md", "sessions/kept/claude-cc-1.jsonl"}
    assert set(host.found("how long is the migration?", capsys)) == found
    # What the user adds to the session note is no copy.
    with host.notes()[0].open("a", encoding="utf-8") as note:
        note.write("\n## Later\n\nMigration postponed, said Ada.\n")
    assert f"memory/{host.notes()[0].name}" in host.found("who postponed the migration?", capsys)
    # Where the conversation is not searched, the note is what there is.
    host.settings(search=False)
    assert host.run("index") == 0
    paths = set(host.found("how long is the migration?", capsys))
    assert paths == {"MEMORY.md", f"memory/{host.notes()[0].name}"}


def test_a_long_message_in_a_session_note_is_not_shown_beside_the_transcript(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = " ".join(f"Step {n} of the migration moves table {n}." for n in range(150))
    host.say("how does the migration work?", steps)
    host.hook("session-end")
    assert "Step 90 of" in host.notes()[0].read_text("utf-8")
    assert host.run("index") == 0
    assert set(host.found("step 40 of the migration table", capsys)) == {
        "sessions/kept/claude-cc-1.jsonl"
    }


def test_kept_conversations_can_be_left_out_of_the_search(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    host.say("the migration takes nine hours", "noted")
    host.hook("stop")
    assert host.run("index") == 0
    assert host.found("migration", capsys)
    host.settings(search=False)
    assert host.run("index") == 0
    assert host.found("migration", capsys) == []
    # Nothing of it is left in the index either.
    capsys.readouterr()
    assert host.run("status", "--json") in (0, 5)
    assert json.loads(capsys.readouterr().out)["files"] == 0


def test_two_workspaces_of_an_agent_do_not_share_conversations(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    host.say("the migration takes nine hours", "noted")
    host.hook("session-end")
    host.workspace = host.root / "other"
    (host.workspace / "memory").mkdir(parents=True)
    (host.workspace / "MEMORY.md").write_text("# Facts\n\n- tea\n", encoding="utf-8")
    assert host.found("migration", capsys) == []


def test_a_session_whose_host_was_killed_is_kept_by_the_next_start(host: Host) -> None:
    host.hook("session-start")
    host.say("we ship on Friday", "good")
    host.hook("session-start", "cc-2")
    assert host.said() == ["we ship on Friday", "good"]
    # It may still run, in another window: its note is not due.
    assert host.notes() == []
    host.say("and on Monday we rest")
    host.hook("session-start", "cc-3")
    assert host.said()[-1] == "and on Monday we rest"


def test_a_session_that_is_over_is_no_longer_waited_for(host: Host) -> None:
    host.hook("session-start")
    host.say("we ship on Friday")
    at = host.transcript().stat().st_mtime - timedelta(days=2).total_seconds()
    os.utime(host.transcript(), (at, at))
    host.hook("session-start", "cc-2")
    assert host.said() == ["we ship on Friday"]
    folder = capture_dir(host.state, "main", host.workspace.resolve())
    assert list(json.loads((folder / "pending.json").read_text("utf-8"))) == ["cc-2"]


def test_the_end_of_a_session_does_not_read_the_history_of_a_year(host: Host) -> None:
    parsed: list[Path] = []

    def counted(file: Path) -> Iterator[dict[str, Any]]:
        parsed.append(file)
        return read_json_lines(file)

    host.monkeypatch.setattr(logs, "read_json_lines", counted)
    for number in range(3):
        host.say(f"we ship on day {number}", "good", session=f"cc-{number}")
        host.hook("session-end", f"cc-{number}")
    assert len(host.notes()) == 3
    assert parsed == []
    folder = capture_dir(host.state, "main", host.workspace.resolve())
    assert len(history.writes(folder, open_notes(host.workspace))) == 3


def test_what_cannot_be_kept_stops_neither_the_host_nor_the_note(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    host.kept.parent.mkdir(parents=True)
    host.kept.write_text("a file in the place of the folder", encoding="utf-8")
    host.say("we ship on Friday", "good")
    host.hook("session-end")
    assert len(host.notes()) == 1
    assert "the conversation is not kept" in host.heartbeat()["trouble"]["why"]
    assert "Traceback" not in capsys.readouterr().err
    # The next start tries again.
    host.kept.unlink()
    host.hook("session-start", "cc-2")
    assert host.said() == ["we ship on Friday", "good"]


def test_a_conversation_that_its_host_has_too_is_indexed_once(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    host.say("the migration takes nine hours", "noted")
    host.hook("stop")
    host.say("the rollback takes two hours", session="cc-2")
    search = {
        "experimental": {"sessionMemory": True},
        "sources": ["memory", "sessions"],
        "sessions": {"paths": [str(host.root / "projects")]},
    }
    file = host.root / "own.json"
    settings = {"agents": {"defaults": {"memorySearch": search}}}
    file.write_text(json.dumps(settings), encoding="utf-8")
    host.monkeypatch.setenv("NOTEWELL_CONFIG", str(file))
    assert host.run("index") == 0
    assert host.found("migration", capsys) == ["sessions/kept/claude-cc-1.jsonl"]
    assert host.found("rollback", capsys) == ["sessions/projects/cc-2.jsonl"]
    # The host deletes its file: what was kept stays.
    host.transcript().unlink()
    assert host.found("migration", capsys) == ["sessions/kept/claude-cc-1.jsonl"]


def test_conversations_in_folders_that_are_left_out_are_not_kept(host: Host) -> None:
    host.settings(leaveOut=["/code"])
    host.say("a private matter")
    host.hook("stop")
    assert host.said() == []
    host.settings(leaveOut=["/home/bob"])
    host.hook("stop")
    assert host.said() == ["a private matter"]


def test_kept_conversations_are_removed_as_the_settings_say(host: Host) -> None:
    for session, age in (("cc-1", 90), ("cc-2", 10), ("cc-3", 0)):
        host.say("x" * 150_000, "y" * 150_000, "z" * 150_000, session=session)
        host.hook("stop", session)
        at = host.transcript(session).stat().st_mtime - age * 86_400
        os.utime(host.kept / f"claude-{session}.jsonl", (at, at))
    host.settings(days=30)
    host.hook("session-start", "cc-9")
    names = sorted(file.name for file in host.kept.glob("*.jsonl"))
    assert names == ["claude-cc-2.jsonl", "claude-cc-3.jsonl"]
    host.say("x" * 200_000, session="cc-3")
    host.hook("stop", "cc-3")
    host.settings(megabytes=1)
    host.hook("session-start", "cc-9")
    assert [file.name for file in host.kept.glob("*.jsonl")] == ["claude-cc-3.jsonl"]


def test_status_and_doctor_say_what_is_kept_and_what_is_not(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown(command: str) -> str:
        capsys.readouterr()
        assert host.run(command) in (0, 5)
        return capsys.readouterr().out

    (host.workspace / "MEMORY.md").write_text("# Facts\n\n- tea\n", encoding="utf-8")
    assert host.run("index") == 0
    assert "kept" not in shown("status")
    host.flags = ()
    host.say("we ship on Friday", "good")
    host.hook("session-end")
    for command in ("status", "doctor"):
        assert "the last 15 messages of each session only, as a note" in shown(command)
        assert "notewell install HOST" in shown(command)
    host.flags = ("--keep",)
    host.hook("session-end")
    for command in ("status", "doctor"):
        assert "1 conversation, 0.0 MB, the oldest of " in shown(command)
        assert "the last 15 messages" not in shown(command)
    host.settings(days=30, megabytes=500, search=False)
    assert "removed after 30 days or beyond 500 MB" in shown("status")
    assert "not searched" in shown("status")
    capsys.readouterr()
    assert host.run("status", "--json") in (0, 5)
    kept = json.loads(capsys.readouterr().out)["kept"]
    assert kept["keeps"] is True
    assert kept["conversations"] == 1
    assert kept["folder"] == str(host.kept)


def test_a_memory_that_was_open_before_the_first_conversation_was_kept_finds_it(
    host: Host,
) -> None:
    (host.workspace / "MEMORY.md").write_text("The oven is hot.\n", encoding="utf-8")
    with open_memory(host.workspace, state_dir=host.state, embedder=HashEmbedder()) as server:
        server.sync()
        assert not host.kept.exists()
        host.say("when is the migration of the billing tables?", "on Friday")
        host.hook("stop")
        with open_memory(host.workspace, state_dir=host.state, embedder=HashEmbedder()) as other:
            other.sync()
        # It must not take the conversation out of the index in which another process put it.
        server.sync()
        assert server.search("migration billing tables").hits[0].source == "sessions"
        assert "on Friday" in server.get("sessions/kept/claude-cc-1.jsonl").text


def test_a_watch_that_began_before_hears_of_the_first_kept_conversation(host: Host) -> None:
    stop, syncs = threading.Event(), queue.Queue[Synced]()

    def on_event(event: WatchEvent) -> None:
        if isinstance(event, Synced):
            syncs.put(event)

    with open_memory(host.workspace, state_dir=host.state, embedder=HashEmbedder()) as server:
        # Nothing but a notice starts a sync.
        timing = Timing(session_debounce_s=0.01, safety_s=10_000)
        thread = threading.Thread(
            target=lambda: server.watch(stop, on_event=on_event, timing=timing)
        )
        thread.start()
        try:
            syncs.get(timeout=BOUND_S)
            host.say("when is the migration of the billing tables?", "on Friday")
            host.hook("stop")
            while not syncs.get(timeout=BOUND_S).report.written:
                pass  # A folder was made on the way to the file.
        finally:
            stop.set()
            thread.join(BOUND_S)
        assert server.search("migration billing tables").hits[0].source == "sessions"


def test_with_notes_only_each_message_of_a_long_stretch_is_in_a_note(host: Host) -> None:
    host.flags = ()
    host.say("the beginning", "noted")
    host.hook("pre-compact")
    # Between two compactions, tools print more than a hook reads of a file that it never saw.
    for number in range(20):
        host.say(f"question {number}", f"answer {number}")
        host.print_output(500_000)
    host.hook("pre-compact")
    text = "".join(note.read_text(encoding="utf-8") for note in host.notes())
    for number in range(20):
        assert text.count(f"User: question {number}\n") == 1
    assert "missing" not in text


def test_a_note_says_what_was_too_long_to_be_read(host: Host) -> None:
    host.flags = ()
    host.say("the beginning", "noted")
    host.hook("pre-compact")
    host.say("in between", "noted")
    host.print_output(TAILS_BYTES[-1])
    host.say("the end", "good")
    host.hook("pre-compact")
    note = "".join(note.read_text(encoding="utf-8") for note in host.notes())
    assert "in between" not in note
    assert "User: the end" in note
    assert "- missing: `what was said in 33.6 MB of the transcript before this`" in note
