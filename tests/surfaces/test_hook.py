"""Hooks of Claude Code, Codex and Cursor: they capture, they never fail, and Stop is silent."""

from __future__ import annotations

import argparse
import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from notewell import Settings, SyncSettings
from notewell.assembly import open_memory
from notewell.capture import capture_dir, capture_health
from notewell.cli import hook, hook_setup, main
from notewell.cli.hook_call import HookTime, parse_call
from notewell.doctor.state_files import own_files
from notewell.files import read_json
from notewell.hosts import HOOK_FILES, HOOK_GUARD
from notewell.testing import HashEmbedder
from notewell.tools import REMINDER

NO_SYNC = Settings(sync=SyncSettings(on_search=False))
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Host:
    """Calls hooks as a host does: JSON on standard input, an exit code and output back."""

    def __init__(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.workspace = tmp_path / "workspace"
        self.workspace.mkdir()
        self.state = tmp_path / "state"
        self.transcript = tmp_path / "cc-1.jsonl"
        self.capsys = capsys
        self.out = self.err = ""

    def parse(self, *words: str) -> argparse.Namespace:
        parser = argparse.ArgumentParser()
        parser.set_defaults(module="hook", json=False)
        hook.add_options(parser)
        place = ["-w", str(self.workspace), "--state-dir", str(self.state)]
        return parser.parse_args([words[0], *place, *words[1:]])

    def __call__(self, *words: str, now: datetime = NOW, **told: Any) -> None:
        told = {"session_id": "cc-1", "transcript_path": str(self.transcript), **told}
        hook.handle(self.parse(*words), json.dumps(told).encode(), now, UTC)
        self.out, self.err = self.capsys.readouterr()

    def say(self, *texts: str) -> None:
        with self.transcript.open("ab") as file:
            for text in texts:
                record = {"type": "user", "sessionId": "cc-1", "message": {"content": text}}
                file.write(json.dumps(record).encode() + b"\n")

    def notes(self) -> list[Path]:
        return sorted((self.workspace / "memory").glob("*.md"))

    @property
    def folder(self) -> Path:
        return capture_dir(self.state, "main", self.workspace.resolve())


LONG = HookTime(600, 600)


@pytest.fixture
def host(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Host:
    # A busy machine must not decide what these tests find; see test_hook_time.py for the limits.
    monkeypatch.setattr(hook_setup, "time_of", lambda *_, **__: LONG)
    return Host(tmp_path, capsys)


Configured: TypeAlias = Callable[[dict[str, Any]], Host]


@pytest.fixture
def configured(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configured:
    """The host of a user whose own file has these settings."""

    def write(settings: dict[str, Any]) -> Host:
        file = tmp_path / "own.json"
        file.write_text(json.dumps(settings), encoding="utf-8")
        monkeypatch.setenv("NOTEWELL_CONFIG", str(file))
        return host

    return write


# -- session start -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["claude", "codex"])
@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact"])
def test_a_session_begins_with_the_notes(host: Host, name: str, source: str) -> None:
    (host.workspace / "MEMORY.md").write_text("- we ship on Friday\n", encoding="utf-8")
    host("session-start", "--host", name, source=source, hook_event_name="SessionStart")
    told = json.loads(host.out)["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    assert (
        '<recalled path="MEMORY.md">\n- we ship on Friday\n</recalled>'
        in told["additionalContext"]
    )
    assert host.err == ""


def test_cursor_takes_its_context_in_another_field(host: Host) -> None:
    (host.workspace / "MEMORY.md").write_text("- we ship on Friday\n", encoding="utf-8")
    host("session-start", "--host", "cursor", conversation_id="c", workspace_roots=["/p"])
    assert "we ship on Friday" in json.loads(host.out)["additional_context"]


def test_a_prompt_is_searched_without_what_the_host_put_into_it(host: Host) -> None:
    (host.workspace / "MEMORY.md").write_text("The router is a Fritzbox.\n", encoding="utf-8")
    words = ("prompt", "--recall", "--host")
    start = "<hook_context>Which router do we have? It is a Fritzbox.</hook_context>\n\n"
    host(*words, "gemini", prompt=start + "Fix the failing test in the login form")
    assert host.out == ""
    host(*words, "gemini", prompt=start + "Which router do we have?")
    assert "MEMORY.md#L1" in json.loads(host.out)["hookSpecificOutput"]["additionalContext"]
    pasted = "Fix the failing test in the login form: Which router do we have?"
    host(*words, "qwen", prompt=pasted, submitted_prompt="Which router do we have?")
    assert "MEMORY.md#L1" in json.loads(host.out)["hookSpecificOutput"]["additionalContext"]


def test_a_recall_from_a_folder_that_is_not_there_says_why(host: Host) -> None:
    host.workspace.rmdir()
    host("prompt", "--recall", prompt="Which router do we have?")
    context = json.loads(host.out)["hookSpecificOutput"]["additionalContext"]
    assert context == (
        "(Memory could not be searched: the folder with the notes cannot be opened)"
    )
    host("prompt", prompt="Which router do we have?")
    assert host.out == ""


@pytest.mark.parametrize("session", ["", "../../elsewhere", "a/b", "..", "a\\b"])
def test_a_session_that_is_no_name_leads_to_no_file(session: str) -> None:
    data = json.dumps({"sessionId": session}).encode()
    assert parse_call("session-end", "copilot", data).transcript is None


def test_a_session_begins_with_the_tools_and_the_end_of_the_last_one(host: Host) -> None:
    for number in range(80):
        host.say(f"message number {number} about the harbour{' and its cranes' * 9}")
    host("session-end", reason="clear")
    host("session-start", session_id="cc-2", now=NOW + timedelta(days=9))
    context = json.loads(host.out)["hookSpecificOutput"]["additionalContext"]
    assert context.startswith("Notes of earlier conversations: memory_search finds")
    assert "if these tools are deferred, load them first" in context
    (note,) = host.notes()
    assert f'<recalled path="memory/{note.name}">' in context
    assert "message number 79" in context
    assert "message number 66" not in context
    assert len(context) < 1500
    assert context.count(REMINDER) == 1


def test_a_note_of_the_users_own_is_not_the_last_conversation(host: Host) -> None:
    (host.workspace / "memory").mkdir()
    note = host.workspace / "memory" / "2026-11-01-harbour.md"
    note.write_text("# Harbour\n\nThe crane is red.\n", encoding="utf-8")
    host("session-start")
    context = json.loads(host.out)["hookSpecificOutput"]["additionalContext"]
    assert "memory_search" in context
    assert "crane" not in context
    host.say("The quay is long.")
    host("session-end", reason="clear")
    later = note.with_name("2027-01-01-plans.md")
    later.write_text("# Plans\n\nPaint the crane.\n", encoding="utf-8")
    (host.workspace / "MEMORY.md").write_text("- we ship on Friday\n", encoding="utf-8")
    host("session-start", session_id="cc-2")
    context = json.loads(host.out)["hookSpecificOutput"]["additionalContext"]
    assert "The quay is long." in context
    assert "crane" not in context
    assert context.count(REMINDER) == 1


def test_without_notes_a_session_begins_without_a_word(host: Host) -> None:
    host("session-start", source="startup")
    assert (host.out, host.err) == ("", "")


def test_what_is_printed_fits_what_hosts_take(host: Host) -> None:
    (host.workspace / "memory").mkdir()
    names = ("USER.md", "MEMORY.md", "memory/2026-11-15.md", "memory/2026-11-14.md")
    for name in (*names, "memory/2026-11-13-1200.md"):
        text = "".join(f"- line {n} of a long note\n" for n in range(2000))
        (host.workspace / name).write_text(f"# Session 2026\n{text}", encoding="utf-8")
    host("session-start")
    assert 8000 < len(json.loads(host.out)["hookSpecificOutput"]["additionalContext"]) <= 10_000


def test_what_a_session_begins_with_is_cut_as_the_settings_say(configured: Configured) -> None:
    host = configured({"agents": {"defaults": {"bootstrapMaxChars": 50}}})
    (host.workspace / "MEMORY.md").write_text("- we ship on Friday\n" * 9, encoding="utf-8")
    host("session-start")
    context = json.loads(host.out)["hookSpecificOutput"]["additionalContext"]
    assert context.count("we ship on Friday") == 2
    assert "cut after 2 lines" in context


def test_the_start_of_a_session_indexes_the_words_of_the_notes(host: Host) -> None:
    (host.workspace / "memory").mkdir()
    for number in range(50):
        note = host.workspace / "memory" / f"note-{number}.md"
        note.write_text(f"the walrus number {number} sleeps\n", encoding="utf-8")
    host("session-start")
    assert host.err == ""
    with open_memory(
        host.workspace,
        state_dir=host.state,
        settings=NO_SYNC,
    ) as memory:
        assert memory.search("walrus number 49", mode="keyword").hits
        # A hook has no time for vectors; they follow with the next sync.
        assert memory.status().counts is not None
    (host.workspace / "memory" / "late.md").write_text("the ibis wakes\n", encoding="utf-8")
    host("session-start", session_id="cc-2")
    with open_memory(host.workspace, state_dir=host.state) as memory:
        assert memory.status().dirty == 0


def test_a_start_without_time_to_index_says_what_is_left(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    (host.workspace / "MEMORY.md").write_text("- we ship on Friday\n", encoding="utf-8")
    (host.workspace / "memory").mkdir()
    for name in ("ibis", "walrus"):
        note = host.workspace / "memory" / f"{name}.md"
        note.write_text(f"the {name} sleeps\n", encoding="utf-8")
    monkeypatch.setattr("notewell.sync.apply.NOTES_AT_ONCE", 1)
    # Otherwise the next sync first reads what was written a moment ago once more.
    monkeypatch.setattr("notewell.sync.plan.SETTLED_NS", 0)
    monkeypatch.setattr(hook_setup, "time_of", lambda *_, **__: HookTime(0, 600))
    host("session-start")
    assert "we ship on Friday" in host.out
    assert "2 notes are not indexed yet: run `notewell index`" in host.err
    # What was indexed answers, and the next start goes on from there.
    with open_memory(host.workspace, state_dir=host.state, settings=NO_SYNC) as memory:
        assert memory.search("when do we ship?", mode="keyword").hits
        assert not memory.search("walrus", mode="keyword").hits
    host("session-start")
    assert "1 note is not indexed yet" in host.err
    host("session-start")
    assert host.err == ""
    with open_memory(host.workspace, state_dir=host.state, settings=NO_SYNC) as memory:
        assert memory.search("walrus", mode="keyword").hits


def test_a_user_can_keep_the_start_of_a_session_from_indexing(configured: Configured) -> None:
    off = {"agents": {"defaults": {"memorySearch": {"sync": {"onSessionStart": False}}}}}
    host = configured(off)
    (host.workspace / "MEMORY.md").write_text("- we ship on Friday\n", encoding="utf-8")
    host("session-start")
    assert "we ship on Friday" in host.out
    with open_memory(host.workspace, state_dir=host.state) as memory:
        assert memory.status().state == "missing"


def test_an_index_that_must_be_rebuilt_is_left_to_the_user(configured: Configured) -> None:
    # Named: what `auto` finds in a hook would not rebuild an index of another model.
    host = configured({"agents": {"defaults": {"memorySearch": {"provider": "embedded"}}}})
    (host.workspace / "MEMORY.md").write_text("- we ship on Friday\n", encoding="utf-8")
    with open_memory(host.workspace, state_dir=host.state, embedder=HashEmbedder()) as memory:
        memory.sync()
        before = memory.status().index_path, memory.status().counts
    (host.workspace / "MEMORY.md").write_text("- we ship on Monday\n", encoding="utf-8")
    host("session-start")
    with open_memory(host.workspace, state_dir=host.state, embedder=HashEmbedder()) as memory:
        status = memory.status()
        assert (status.index_path, status.counts) == before
        assert status.dirty == 1


# -- saving --------------------------------------------------------------------------------------


def test_what_was_said_is_saved_once_though_the_hook_fires_four_times(host: Host) -> None:
    host.say("we ship on Friday")
    for _ in range(4):
        host("pre-compact", trigger="auto", hook_event_name="PreCompact")
        assert (host.out, host.err) == ("", "")
    host("session-end", reason="clear")
    (note,) = host.notes()
    assert note.name == "2026-11-15-1200.md"
    text = note.read_text(encoding="utf-8")
    assert "User: we ship on Friday" in text
    assert "- closed by: `pre-compact (auto)`" in text


def test_what_comes_after_a_compaction_is_saved_at_the_end(host: Host) -> None:
    host.say("before it")
    host("pre-compact", trigger="auto")
    host.say("behind it")
    host("session-end", reason="logout", now=NOW + timedelta(minutes=1))
    assert [("before it" in note.read_text("utf-8")) for note in host.notes()] == [True, False]


def test_a_subagent_is_not_captured(host: Host) -> None:
    host.say("we ship on Friday")
    host("session-end", agent_id="a-1", agent_type="explorer")
    assert host.notes() == []


def test_a_session_whose_end_nobody_told_is_saved_by_the_next_one(host: Host) -> None:
    host.say("we ship on Friday")
    host("stop", "--host", "codex")
    host("stop", "--host", "codex")
    assert host.notes() == []
    host("session-start", "--host", "codex", session_id="cc-2", source="startup")
    assert len(host.notes()) == 1
    host("session-start", "--host", "codex", session_id="cc-3", source="startup")
    assert len(host.notes()) == 1


def test_a_session_that_was_saved_at_its_end_is_not_saved_again_by_the_next(host: Host) -> None:
    host.say("we ship on Friday")
    host("stop", "--host", "codex")
    host("session-end", "--host", "codex", reason="exit")
    host("session-start", "--host", "codex", session_id="cc-2", source="startup")
    assert len(host.notes()) == 1


@pytest.mark.parametrize(
    "internal", [{"enabled": False}, {"entries": {"session-memory": {"enabled": False}}}]
)
def test_the_settings_can_switch_it_off(configured: Configured, internal: dict[str, Any]) -> None:
    host = configured({"hooks": {"internal": internal}})
    host.say("we ship on Friday")
    host("session-end")
    assert host.notes() == []
    host("session-start", now=NOW + timedelta(days=30))
    found = capture_health(host.folder, NOW)
    assert found is not None
    assert found.action is None


@pytest.mark.parametrize("output", ["full", "closed", "gone"])
def test_an_output_that_cannot_be_written_stops_nothing(host: Host, output: str) -> None:
    (host.workspace / "MEMORY.md").write_text("- we ship on Friday\n" * 200, encoding="utf-8")
    words = ["hook", "session-start", "-w", str(host.workspace), "--state-dir", str(host.state)]
    # A pipe whose reader has gone; the shell closes the two streams itself.
    reader, writer = os.pipe()
    os.close(reader)
    redirections = {"full": ">/dev/full", "closed": ">&- 2>&-", "gone": ""}
    ended = subprocess.run(
        [
            "sh",
            "-c",
            f'"$@" {redirections[output]}',
            "sh",
            sys.executable,
            "-m",
            "notewell",
            *words,
        ],
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    os.close(writer)
    assert ended.returncode == 0
    assert "Traceback" not in ended.stderr
    # What was done is recorded, and what was not.
    beats = json.loads((host.folder / "heartbeat.json").read_text(encoding="utf-8"))
    assert ("no answer was written" in json.dumps(beats)) is (output != "closed")


@pytest.mark.parametrize("recall", [True, False])
def test_the_settings_can_decline_recall(configured: Configured, recall: bool) -> None:
    host = configured({"hooks": {"recall": recall, "recallSeconds": 60}})
    (host.workspace / "MEMORY.md").write_text("- the router is a Fritzbox\n", encoding="utf-8")
    host("prompt", "--recall", prompt="which router do we have?")
    assert ("Fritzbox" in host.out) is recall
    # A session starts with notes in any case.
    host("session-start")
    assert "Fritzbox" in host.out
    # A failure concerns only whom a recall was promised to.
    host.workspace.rename(host.workspace.with_name("elsewhere"))
    host("prompt", "--recall", prompt="which router do we have?")
    assert ("could not be searched" in host.out) is recall


def test_the_settings_say_how_many_messages(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"hooks": {"internal": {"entries": {"session-memory": {"messages": 2}}}}}
    own = host.state.with_name("own.json")
    own.write_text(json.dumps(told), encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_CONFIG", str(own))
    host.say("one", "two", "three")
    host("session-end")
    text = host.notes()[0].read_text("utf-8")
    assert "User: one" not in text
    assert "User: two" in text


# -- nobody must feel it -------------------------------------------------------------------------


def test_stop_prints_nothing_whatever_happens(host: Host) -> None:
    for name in HOOK_FILES:
        host("stop", "--host", name)
        assert (host.out, host.err) == ("", "")
    host.state.joinpath("capture").rename(host.state / "was")
    (host.state / "capture").write_text("in the way", encoding="utf-8")
    host("stop", "--host", "codex")
    assert (host.out, host.err) == ("", "")


@pytest.mark.parametrize("data", [b"", b"not json", b"[]", b'{"transcript_path": 7}', b"\xff\xfe"])
@pytest.mark.parametrize(
    "event", ["session-start", "prompt", "pre-compact", "stop", "session-end"]
)
def test_nonsense_from_the_host_is_survived(host: Host, event: str, data: bytes) -> None:
    hook.handle(host.parse(event), data, NOW, UTC)


def test_a_failure_is_told_by_the_heartbeat(host: Host) -> None:
    host("session-end", transcript_path=str(host.workspace / "gone.jsonl"))
    assert "gone.jsonl" in host.err
    found = capture_health(host.folder, NOW)
    assert found is not None
    assert "session-end failed: cannot read the note" in found.message
    assert found.action == "fix that"


def test_a_failure_that_was_repaired_is_no_longer_told(host: Host) -> None:
    folder = host.workspace / "memory"
    folder.write_text("a file where a folder belongs", encoding="utf-8")
    host.say("we ship on Friday")
    host("session-end")
    found = capture_health(host.folder, NOW)
    assert found is not None
    assert "session-end failed" in found.message
    folder.unlink()
    host("prompt", prompt="anything")
    found = capture_health(host.folder, NOW)
    assert found is not None
    assert "session-end failed" in found.message, "another event proves nothing"
    host("session-end")
    host("session-end")
    found = capture_health(host.folder, NOW)
    assert found is not None
    assert "failed" not in found.message


def test_an_agent_without_a_memory_is_left_in_peace(host: Host) -> None:
    told = {"agents": {"defaults": {"memorySearch": {"enabled": False}}}}
    (host.workspace / "notewell.json").write_text(json.dumps(told), encoding="utf-8")
    host.say("we ship on Friday")
    for event in ("session-start", "pre-compact", "session-end"):
        host(event)
        assert (host.out, host.err) == ("", "")
    assert host.notes() == []


def test_a_capture_is_told_by_the_heartbeat(host: Host) -> None:
    host.say("we ship on Friday")
    host("session-end")
    found = capture_health(host.folder, NOW)
    assert found is not None
    assert found.message.endswith("last captured on 2026-11-15 12:00")


@pytest.mark.parametrize("guarded", [True, False])
def test_an_agent_that_a_hook_started_has_no_hooks(
    host: Host, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    host.say("we ship on Friday")
    told = json.dumps({"session_id": "cc-1", "transcript_path": str(host.transcript)})
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(told.encode()), encoding="utf-8")
    )
    monkeypatch.delenv(HOOK_GUARD, raising=False)
    if guarded:
        monkeypatch.setenv(HOOK_GUARD, "1")
    assert hook.run(host.parse("session-end")) == 0
    assert len(host.notes()) == (0 if guarded else 1)
    assert host.folder.exists() is not guarded


# -- prompts -------------------------------------------------------------------------------------


def test_a_prompt_gets_what_notes_have_only_if_asked(host: Host) -> None:
    (host.workspace / "MEMORY.md").write_text("- the router is a TL-841\n", encoding="utf-8")
    with open_memory(host.workspace, state_dir=host.state) as memory:
        memory.sync(vectors=False)
    host("prompt", prompt="which router do we have?")
    assert host.out == ""
    host("prompt", "--recall", prompt="which router do we have?")
    told = json.loads(host.out)["hookSpecificOutput"]
    assert told["hookEventName"] == "UserPromptSubmit"
    assert "TL-841" in told["additionalContext"]
    host("prompt", "--recall", prompt="zebra crossing")
    assert host.out == ""
    host("prompt", "--recall", "--host", "cursor", prompt="which router do we have?")
    assert host.out == ""


def test_a_name_is_enough_for_a_recall_and_small_talk_is_not(host: Host) -> None:
    text = "Hier im Flur ist die Fritzbox. Was noch los war: danke, wir machen morgen weiter.\n"
    (host.workspace / "MEMORY.md").write_text(text, encoding="utf-8")
    for prompt in ("was ist hier los?", "danke, weiter", "wir machen das morgen"):
        host("prompt", "--recall", prompt=prompt)
        assert host.out == ""
    host("prompt", "--recall", prompt="Fritzbox")
    assert "Fritzbox" in json.loads(host.out)["hookSpecificOutput"]["additionalContext"]


def test_a_prompt_finds_notes_that_were_never_indexed(host: Host) -> None:
    (host.workspace / "MEMORY.md").write_text("- the router is a Fritzbox\n", encoding="utf-8")
    host("prompt", "--recall", prompt="which router do we have?")
    assert (
        "the router is a Fritzbox"
        in json.loads(host.out)["hookSpecificOutput"]["additionalContext"]
    )
    assert host.err == ""


def test_a_prompt_says_why_notes_cannot_be_searched(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.engines.first_index.FIRST_INDEX_NOTES", 1)
    (host.workspace / "memory").mkdir()
    for number in range(3):
        note = host.workspace / "memory" / f"note-{number}.md"
        note.write_text("the router is a Fritzbox\n", encoding="utf-8")
    host("prompt", "--recall", prompt="which router do we have?")
    context = json.loads(host.out)["hookSpecificOutput"]["additionalContext"]
    assert "3 notes are not indexed yet: run `notewell index`" in context
    assert "3 notes are not indexed yet" in host.err
    health = capture_health(host.folder, NOW)
    assert health is not None
    assert "not indexed yet" in health.message


# -- by the user's settings ----------------------------------------------------------------------


def session_memory(**entry: Any) -> dict[str, Any]:
    return {"hooks": {"internal": {"entries": {"session-memory": entry}}}}


def flush_log(host: Host) -> list[dict[str, Any]]:
    lines = (host.folder / "flush.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_compaction_is_in_the_log_of_flushes_and_its_messages_are_saved(host: Host) -> None:
    host.say("we ship on Friday")
    host("pre-compact", trigger="auto")
    (line,) = flush_log(host)
    assert (line["session"], line["decision"]) == ("cc-1", "skip")
    assert "takes no turn from us" in line["why"]
    assert len(host.notes()) == 1


def test_a_user_who_switches_the_flush_off_gets_no_note_before_a_compaction(
    configured: Configured,
) -> None:
    off = {"agents": {"defaults": {"compaction": {"memoryFlush": {"enabled": False}}}}}
    host = configured(off)
    host.say("we ship on Friday")
    host("pre-compact", trigger="auto")
    assert host.notes() == []
    assert "memoryFlush.enabled is false" in flush_log(host)[0]["why"]
    host("session-end", reason="logout")
    assert len(host.notes()) == 1


def test_the_day_of_a_session_note_is_the_users(configured: Configured) -> None:
    host = configured({"agents": {"defaults": {"userTimezone": "Pacific/Auckland"}}})
    host.say("we ship on Friday")
    host("session-end", reason="clear")  # Noon in UTC is one in the morning there.
    assert [note.name for note in host.notes()] == ["2026-11-16-0100.md"]


def test_a_program_of_the_user_names_the_note(configured: Configured, tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    program = (
        "import json, os, sys; text = sys.stdin.read(); "
        f"json.dump([text, os.getcwd(), os.environ['NOTEWELL_HOOK']], open({str(seen)!r}, 'w', "
        "encoding='utf-8')); print('\\nShipping: ../Friday!\\nmore')"
    )
    host = configured(session_memory(slugCommand=[sys.executable, "-c", program]))
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    host.say(f"we ship on Friday, with {secret}")
    host("session-end", reason="clear")
    assert [note.name for note in host.notes()] == ["2026-11-15-shipping-friday.md"]
    text, folder, guard = json.loads(seen.read_text(encoding="utf-8"))
    assert "User: we ship on Friday" in text
    assert secret not in text
    assert (folder, guard) == (str(Path.home()), "1")
    health = capture_health(host.folder, NOW)
    assert health is not None
    assert health.action is None


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("print('   ')", "no letters or digits"),
        ("import sys\nwhile True: sys.stdout.write('x' * 9999)", "more than 64 KiB"),
        (None, "cannot be started"),
    ],
)
def test_a_program_that_fails_costs_the_name_and_not_the_note(
    configured: Configured, program: str | None, why: str
) -> None:
    command = [sys.executable, "-c", program] if program else ["no-such-program-anywhere"]
    host = configured(session_memory(slugCommand=command))
    host.say("we ship on Friday")
    host("session-end", reason="clear")
    assert [note.name for note in host.notes()] == ["2026-11-15-1200.md"]
    assert why in host.err
    health = capture_health(host.folder, NOW)
    assert health is not None
    assert why in health.message
    assert health.action


def test_a_slow_program_takes_no_more_time_than_the_hook_has(
    configured: Configured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    # A shell starts in a moment: on a busy machine, too, the first one has begun in this time.
    program = f"printf x >>{shlex.quote(str(asked))}; exec sleep 600"
    host = configured(session_memory(slugCommand=["sh", "-c", program]))
    monkeypatch.setattr(hook_setup, "time_of", lambda *_, **__: HookTime(4, 600))
    (host.workspace / "MEMORY.md").write_text("- we ship on Friday\n", encoding="utf-8")
    for number in range(3):
        host.transcript = tmp_path / f"t{number}.jsonl"
        host.say(f"message {number}")
        host("stop", "--host", "codex", session_id=f"t{number}")
    host("session-start", "--host", "codex", session_id="new", source="startup")
    # All are saved, although only the first could be asked about.
    assert len(host.notes()) == 3
    assert asked.read_text(encoding="utf-8") == "x"
    assert "we ship on Friday" in host.out


def test_a_folder_cannot_name_the_program(host: Host, tmp_path: Path) -> None:
    made = tmp_path / "made"
    command = [sys.executable, "-c", f"open({str(made)!r}, 'w'); print('theirs')"]
    file = host.workspace / "notewell.json"
    file.write_text(json.dumps(session_memory(slugCommand=command)), encoding="utf-8")
    host.say("we ship on Friday")
    host("session-end", reason="clear")
    assert not made.exists()
    assert not any("theirs" in note.name for note in host.notes())


# -- entries -------------------------------------------------------------------------------------


def lancedb(**config: bool) -> dict[str, Any]:
    return {"plugins": {"entries": {"memory-lancedb": {"enabled": True, "config": config}}}}


def stored(host: Host) -> list[str]:
    words = ["entries", "list", "--json", "-w", str(host.workspace)]
    assert main([*words, "--state-dir", str(host.state)]) == 0
    listed = json.loads(host.capsys.readouterr().out)
    return sorted(entry["text"] for entry in listed["entries"])


def test_statements_of_the_user_become_entries_at_the_end_of_a_turn(
    configured: Configured,
) -> None:
    host = configured(lancedb(autoCapture=True))
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    host.say("I prefer dark mode in every editor", "What time is it?", f"My key is {secret}")
    host("stop")
    assert (host.out, host.err) == ("", "")
    assert stored(host) == ["I prefer dark mode in every editor"]
    host.say("We decided to ship on Friday")
    for event in ("stop", "pre-compact", "session-end"):
        host(event)
        assert host.out == ""
    assert stored(host) == ["I prefer dark mode in every editor", "We decided to ship on Friday"]
    looked_at = json.loads((host.folder / "entries.json").read_text(encoding="utf-8"))
    assert looked_at["cc-1"]["bytes"] == host.transcript.stat().st_size
    # The doctor knows every file that hooks keep.
    kept = {file for file in host.folder.iterdir() if file.is_file()}
    assert kept <= set(own_files(host.state, host.folder))


def test_a_prompt_gets_the_entries_that_are_about_it(configured: Configured) -> None:
    host = configured(lancedb(autoCapture=True, autoRecall=True))
    host.say("I prefer dark mode in every editor")
    host("stop")
    host("prompt", prompt="Which mode do I prefer in my editor, dark or light?")
    context = json.loads(host.out)["hookSpecificOutput"]
    assert context["hookEventName"] == "UserPromptSubmit"
    assert "I prefer dark mode in every editor\n</recalled>" in context["additionalContext"]
    # What was put into the conversation is not captured as a statement of the user.
    host.say(context["additionalContext"])
    host("session-end")
    assert stored(host) == ["I prefer dark mode in every editor"]


def test_without_the_settings_hooks_leave_entries_alone(configured: Configured) -> None:
    host = configured(lancedb())
    host.say("I prefer dark mode in every editor")
    host("stop")
    host("session-end")
    host("prompt", prompt="Which mode do I prefer?")
    assert host.out == ""
    assert not (host.state / "lancedb").exists()
    assert not (host.folder / "entries.json").exists()


def test_entries_that_cannot_be_stored_are_tried_again_and_reported(
    configured: Configured,
) -> None:
    host = configured(lancedb(autoCapture=True))
    host.state.mkdir()
    (host.state / "lancedb").write_text("in the way", encoding="utf-8")
    host.say("I prefer dark mode in every editor")
    host("stop")
    assert (host.out, host.err) == ("", "")
    health = capture_health(host.folder, NOW)
    assert health is not None
    assert "not all entries captured" in health.message
    (host.state / "lancedb").unlink()
    host("stop")
    assert stored(host) == ["I prefer dark mode in every editor"]


@pytest.mark.parametrize("event", ["session-start", "stop", "session-end"])
def test_entries_that_a_hook_left_are_stored_by_the_hook_of_another_session(
    configured: Configured, event: str
) -> None:
    host = configured(lancedb(autoCapture=True))
    host.state.mkdir()
    (host.state / "lancedb").write_text("in the way", encoding="utf-8")
    host.say("I prefer dark mode in every editor")
    host("stop")
    (host.state / "lancedb").unlink()
    # The host was killed: no hook of that session will run any more.
    other = host.transcript.with_name("cc-2.jsonl")
    record = {"type": "user", "sessionId": "cc-2", "message": {"content": "Go on."}}
    other.write_text(json.dumps(record) + "\n", encoding="utf-8")
    host(event, session_id="cc-2", transcript_path=str(other))
    assert stored(host) == ["I prefer dark mode in every editor"]
    assert read_json(host.folder / "entries-due" / "pending.json") == {}
    assert host.folder / "entries-due" / "pending.json" in own_files(host.state, host.folder)


def test_a_transcript_that_is_gone_is_not_waited_for(configured: Configured) -> None:
    host = configured(lancedb(autoCapture=True))
    host("stop", session_id="cc-9", transcript_path=str(host.transcript.with_name("cc-9.jsonl")))
    assert read_json(host.folder / "entries-due" / "pending.json") == {}
