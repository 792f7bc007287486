"""`notewell forget`: what was said is removed from every file of ours, and does not come back."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.privileges import run_unprivileged
from tests.talking_host import START, TalkingHost

from notewell import open_memory
from notewell.capture import ForgetPlace, remove_messages, writes
from notewell.core import index_words
from notewell.entries import EntriesSettings, EntryStore
from notewell.files import file_lock, locks
from notewell.http_service.transcripts import NewTurn, add_turns, transcript_file
from notewell.index.sqlite.connect import open_writer
from notewell.index.sqlite.schema import SCHEMA
from notewell.notes import open_notes
from notewell.qmd import Collection, QmdModels, SessionText, export_sessions, home_of
from notewell.sessions import (
    ForgetRule,
    ForgottenMessages,
    forgotten_file,
    phrase_digest,
)
from notewell.testing import HashEmbedder
from notewell.tools import ask_memory, find_forgettable, forget_found, request_of


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits ten seconds for a lock that a test holds all the time."""
    acquire = locks._acquire
    monkeypatch.setattr(
        locks, "_acquire", lambda fd, wait_s, **kind: acquire(fd, min(wait_s, 0.1), **kind)
    )


class Desk(TalkingHost):
    """The user of a host, who has something forgotten."""

    @property
    def place(self) -> tuple[str, ...]:
        return ("-w", str(self.workspace), "--state-dir", str(self.state))

    def configure(self, search: dict[str, Any], memory: dict[str, Any] | None = None) -> None:
        """Write the user's own settings."""
        settings = {
            "agents": {"defaults": {"memorySearch": {"provider": "none", **search}}},
            **({"memory": memory} if memory else {}),
        }
        file = self.root / "notewell.json5"
        file.write_text(json.dumps(settings), encoding="utf-8")
        self.monkeypatch.setenv("NOTEWELL_CONFIG", str(file))

    def forget(self, *words: str, answer: str = "") -> int:
        return self.run("forget", *words, answer=answer)

    def ask(self, question: str) -> list[str]:
        """As an agent asks, so that the question is recorded."""
        with open_memory(
            self.workspace, state_dir=self.state, embedder=HashEmbedder(), environment={}
        ) as memory:
            memory.sync()
            return [
                hit.path
                for hit in ask_memory(memory, question, journal_as="memory_search").answer.hits
            ]

    def files_with(self, text: str) -> list[str]:
        """The files of the state folder that have the text, in any form that is stored."""
        forms = [text.encode(), text.upper().encode(), text.encode("utf-16-le")]
        found = []
        for file in sorted(self.state.rglob("*")):
            if file.is_file():
                data = file.read_bytes()
                if any(form in data or zlib.compress(form) in data for form in forms):
                    found.append(file.name)
        return found

    def index_words(self) -> set[str]:
        (current,) = self.state.glob("memory/*/CURRENT")
        db = apsw.Connection(str(current.parent / current.read_text("ascii").strip()))
        try:
            return {term for (term, *_) in db.execute("SELECT term FROM chunks_words")}
        finally:
            db.close()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def talk(desk: Desk, *texts: str, session: str = "cc-1", day: int = 0) -> None:
    desk.say(*texts, session=session, day=day)
    desk.hook("stop", session)


def test_no_byte_of_a_forgotten_phrase_is_left_and_no_hook_brings_it_back(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    # Always the same word: some words share a bucket of the test embedder with "user".
    canary = "zyx93b1aa02c6f4"
    desk.hook("session-start")
    talk(
        desk, f"the painter of the vault is {canary}", "I see", "the vault is in the cellar", "yes"
    )
    assert desk.ask(f"what is {canary}?") == ["sessions/kept/claude-cc-1.jsonl"]
    assert desk.run("append", f"the vault opens with {canary}") == 0
    desk.ask("vault")
    assert len(desk.files_with(canary)) >= 3
    assert desk.forget(canary, "--yes") == 5
    # The note is its owner's.
    (note,) = (desk.workspace / "memory").glob("*.md")
    assert f"memory/{note.name}#L" in capsys.readouterr().err
    assert canary in note.read_text(encoding="utf-8")
    note.unlink()
    assert desk.forget(canary, "--yes") == 0
    assert desk.files_with(canary) == []
    assert index_words(canary) not in desk.index_words()
    assert desk.said() == ["I see", "the vault is in the cellar", "yes"]
    for event in ("prompt", "stop", "pre-compact", "session-end", "session-start"):
        desk.hook(event)
    assert desk.ask(canary) == []
    desk.forget(canary, "--yes")  # The question just asked.
    assert desk.files_with(canary) == []
    # Nor does a hook that no longer knows what it has kept.
    for file in desk.kept.glob("*.jsonl"):
        file.unlink()
    desk.hook("stop")
    assert desk.said() == ["I see", "the vault is in the cellar", "yes"]
    assert canary not in "".join(
        path.read_text(encoding="utf-8") for path in desk.workspace.rglob("*.md")
    )
    # What is said from now on is kept, the same words too.
    desk.number += 10_000
    talk(desk, f"again {canary}", day=400)
    assert f"again {canary}" in desk.said()


def test_a_conversation_a_time_and_a_phrase_can_be_combined(desk: Desk) -> None:
    talk(desk, "tea on Monday", "noted", session="a")
    talk(desk, "tea on Tuesday", "fine", session="b", day=1)
    assert desk.forget("tea", "--session", "b", "--on", "2026-11-10", "--yes") == 3
    assert desk.forget("tea", "--session", "sessions/kept/claude-b.jsonl#L1-L2", "--yes") == 0
    assert desk.said() == ["tea on Monday", "noted", "fine"]
    assert desk.forget("--after", "2026-11-10", "--yes") == 0
    assert desk.said() == ["tea on Monday", "noted"]
    assert desk.forget("--before", "2026-11-12", "--yes") == 0
    assert desk.said() == []
    desk.hook("session-end", "b")
    assert desk.said() == []


def test_it_shows_who_said_what_and_when_and_asks(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "ghp_" + "a1B2" * 9
    talk(desk, f"the key is {secret}", "Thank you", "the cat is ill", "Oh no")
    capsys.readouterr()
    assert desk.forget("the key") == 4
    shown = capsys.readouterr()
    assert "sessions/kept/claude-cc-1.jsonl#L1" in shown.out
    assert "2026-11-10" in shown.out
    assert "User: the key is [redacted:github-token" in shown.out
    assert "--yes" in shown.err
    assert desk.forget("the key", answer="n\n") == 4
    assert len(desk.said()) == 4
    # By the secret itself: it is stored as its mask.
    assert desk.forget(secret, answer="y\n") == 0
    assert "forget 1 message of 4 in 1 conversation? " in capsys.readouterr().out
    assert desk.said() == ["Thank you", "the cat is ill", "Oh no"]


def test_everything_goes_only_if_its_number_is_typed(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(desk, "the cat", "the dog", "the bird")
    assert desk.forget("the", answer="y\n") == 4
    assert "all 3 messages; type 3" in capsys.readouterr().out
    assert desk.forget("the", answer="3\n") == 0
    assert desk.said() == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "name what to forget"),
        (("",), "has no word"),
        (("?!",), "has no word"),
        (("--session", "nobody"), "no conversation is called 'nobody'"),
        (("--on", "yesterday"), "'yesterday' is no date"),
        (("--on", "2026-11-10", "--before", "2026-11-10"), "--on names a day"),
        (("--after", "2026-11-10", "--before", "2026-11-10"), "it ends before it begins"),
    ],
)
def test_a_wrong_wish_is_refused_and_removes_nothing(
    desk: Desk, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], reason: str
) -> None:
    talk(desk, "the cat is ill", "oh")
    assert desk.forget(*words, "--yes") == 2
    assert reason in capsys.readouterr().err
    assert len(desk.said()) == 2
    assert not forgotten_file(desk.kept).exists()


def test_words_are_compared_whole_and_without_case_in_every_script(desk: Desk) -> None:
    talk(desk, "Rosa calls", "rosalind calls", "我们的计划是保密的", "Straße der Rosa")
    assert desk.forget("ROSA", "--yes") == 0
    assert desk.said() == ["rosalind calls", "我们的计划是保密的"]
    assert desk.forget("计划", "--yes") == 0
    assert desk.said() == ["rosalind calls"]


def test_the_history_says_that_something_was_forgotten_and_not_what(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(desk, "the cat is ill", "oh", session="a")
    desk.ask("cat")
    assert desk.forget("the cat is ill", "--yes") == 0
    capsys.readouterr()
    assert desk.run("history") == 0
    line = capsys.readouterr().out
    assert "forgot by phrase: 1 message, 1 conversation" in line
    assert "cat" not in line
    assert desk.run("history", "--json") == 0
    (done,) = json.loads(capsys.readouterr().out)["forgotten"]
    assert (done["by"], done["messages"]) == (["phrase"], 1)
    assert writes(desk.captures, open_notes(desk.workspace)) == []


def test_the_answer_as_json_has_every_message_and_place(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(desk, "the cat is ill", "oh")
    (desk.workspace / "MEMORY.md").write_text("# Pets\n\nThe cat\nis ill.\n", encoding="utf-8")
    capsys.readouterr()
    assert desk.forget("cat is ill", "--json") == 4
    answer = json.loads(capsys.readouterr().out)
    assert answer["forgotten"] is False
    assert answer["counts"] == {"messages": 1, "conversations": 1, "questions": 0, "entries": 0}
    (message,) = answer["messages"]
    assert (message["speaker"], message["line"]) == ("User", 1)
    assert answer["notes"] == [{"path": "MEMORY.md", "line": 3}]
    assert desk.forget("cat is ill", "--json", "--yes") == 5
    assert json.loads(capsys.readouterr().out)["forgotten"] is True


def test_a_session_note_of_a_forgotten_conversation_is_named(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(desk, "the cat is ill", "oh")
    desk.hook("session-end")
    (note,) = (desk.workspace / "memory").glob("*.md")
    capsys.readouterr()
    assert desk.forget("--session", "cc-1", "--yes") == 5
    assert f"memory/{note.name}#L1" in capsys.readouterr().err
    assert desk.said() == []


def test_what_is_forgotten_before_a_session_ends_is_in_no_session_note(desk: Desk) -> None:
    talk(desk, "the cat is ill", "oh", "the dog is well", "good")
    assert desk.forget("cat", "--yes") == 0
    desk.hook("session-end")
    (note,) = (desk.workspace / "memory").glob("*.md")
    text = note.read_text(encoding="utf-8")
    assert "the dog is well" in text
    assert "cat" not in text


def test_a_damaged_record_of_what_was_forgotten_keeps_nothing_rather_than_too_much(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(desk, "the cat is ill", "oh")
    assert desk.forget("cat", "--yes") == 0
    forgotten_file(desk.kept).write_text("{", encoding="utf-8")
    for file in desk.kept.glob("*.jsonl"):
        file.unlink()
    desk.hook("stop")
    assert desk.said() == []
    assert desk.forget("oh", "--yes") == 1
    assert "forgotten messages would come back" in capsys.readouterr().err


def test_what_was_said_while_the_clock_was_ahead_can_be_forgotten(desk: Desk) -> None:
    desk.say("the cat is ill", "oh", day=5000)
    desk.hook("stop")
    assert desk.forget("cat", "--yes") == 0
    assert desk.said() == ["oh"]
    for file in desk.kept.glob("*.jsonl"):
        file.unlink()
    desk.hook("stop")
    assert desk.said() == ["oh"]


# -- beside other writers, and in other places ---------------------------------------------------


def test_two_at_once_and_a_hook_beside_them_leave_one_result(desk: Desk) -> None:
    for turn in range(20):
        desk.say(f"the cat is ill {turn}", f"oh {turn}")
    desk.hook("stop")
    command = [sys.executable, "-m", "notewell", "forget", "cat", "--yes"]
    running = [subprocess.Popen([*command, *desk.place]) for _ in range(2)]
    for turn in range(20, 30):
        desk.say(f"the dog is well {turn}", f"good {turn}")
        desk.hook("stop")
    assert sorted(one.wait(60) for one in running) in ([0, 0], [0, 3])
    desk.hook("stop")
    said = desk.said()
    assert [text for text in said if "cat" in text] == []
    assert len(said) == len(set(said)) == 40


def test_two_first_wishes_that_were_shown_at_the_same_time_are_both_done(desk: Desk) -> None:
    talk(desk, "the cat is ill", "the dog is well", "the rest", "good")
    with open_memory(
        desk.workspace, state_dir=desk.state, embedder=HashEmbedder(), environment={}
    ) as memory:
        shown = [
            find_forgettable(memory, request_of(memory, phrase=word)) for word in ("cat", "dog")
        ]
        for findings in shown:
            forget_found(memory, findings)
    assert desk.said() == ["the rest", "good"]


def test_a_file_that_gets_its_other_name_meanwhile_is_rewritten_too(desk: Desk) -> None:
    """As an import does when it adds the beginning to the end of a conversation."""
    talk(desk, "the cat is ill", "oh")
    desk.say("my cat eats", "good", session="cc-2")
    desk.hook("stop", "cc-2")
    whole = desk.kept / "claude-cc-2.jsonl"
    part = whole.rename(desk.kept / "claude-cc-2.part.jsonl")
    place = ForgetPlace(desk.kept, desk.kept.parent, desk.captures)
    salt = b"salt"

    class Renaming(ForgottenMessages):
        def has(self, session: str | None, text: str, at: datetime | None) -> bool:
            if part.exists():
                part.rename(whole)
            return super().has(session, text, at)

    rule = ForgetRule("1", datetime.now(UTC), phrase=phrase_digest(salt, ["cat"]))
    assert remove_messages(place, Renaming(salt, (rule,))) == 2
    assert desk.said() == ["oh", "good"]


def test_the_copy_that_a_killed_import_has_left_goes_too(desk: Desk) -> None:
    talk(desk, "the cat is ill", "oh")
    (kept,) = desk.kept.glob("*.jsonl")
    for copy in (kept.with_name(f".{kept.name}.tmp"), desk.kept.parent / ".chat-1.jsonl.tmp"):
        copy.write_bytes(kept.read_bytes()[:-9])
    assert desk.forget("cat", "--yes") == 0
    assert desk.files_with("the cat is ill") == []


def test_what_programs_sent_over_http_is_forgotten_too(desk: Desk) -> None:
    file = transcript_file(desk.state, "main", "chat-1")
    turns = [NewTurn("user", "the cat is ill"), NewTurn("assistant", "oh")]
    assert add_turns(file, turns, "key", START) == 2
    assert desk.forget("cat", "--yes") == 0
    assert b"cat" not in file.read_bytes()
    # A request that is repeated adds nothing, and a later turn is added to the new file.
    assert add_turns(file, turns, "key", START) == 0
    assert add_turns(file, [NewTurn("user", "and the dog?")], "other", START) == 1
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [line["message"]["content"] for line in lines if line["type"] == "message"] == [
        "oh",
        "and the dog?",
    ]


def test_a_searched_file_of_a_host_is_named_and_no_longer_found(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.say("the cat is ill", "oh", "the dog is well")
    settings = desk.root / "notewell.json5"
    search = {
        "provider": "none",
        "sources": ["memory", "sessions"],
        "experimental": {"sessionMemory": True},
        "sessions": {"paths": [str(desk.root / "projects")]},
    }
    settings.write_text(
        json.dumps({"agents": {"defaults": {"memorySearch": search}}}), encoding="utf-8"
    )
    monkeypatch.setenv("NOTEWELL_CONFIG", str(settings))
    assert desk.run("index") == 0
    assert desk.run("search", "cat") == 0
    assert desk.forget("cat", "--yes") == 5
    assert "sessions/projects/cc-1.jsonl" in capsys.readouterr().err
    assert desk.files_with("the cat is ill") == []
    assert desk.run("search", "cat") == 3
    assert desk.run("search", "dog") == 0
    assert desk.run("index", "--force") == 0
    assert desk.files_with("the cat is ill") == []


def test_entries_with_the_phrase_go_too(desk: Desk) -> None:
    pytest.importorskip("lancedb")
    talk(desk, "hello", "hi")
    folder = EntriesSettings().folder(desk.state)
    store = EntryStore(folder, "main", HashEmbedder(), redact=str)
    store.store("The user's cat is called Zyxwvut")
    store.store("The user drinks tea")
    assert desk.forget("Zyxwvut", "--yes") == 0
    assert [entry.text for entry in store.entries()] == ["The user drinks tea"]
    assert desk.files_with("Zyxwvut") == []


@pytest.mark.usefixtures("impatient")
def test_a_removal_that_is_completed_later_leaves_entries_stored_since(desk: Desk) -> None:
    pytest.importorskip("lancedb")
    talk(desk, "the cat is ill", "oh")
    desk.ask("cat")
    store = EntryStore(EntriesSettings().folder(desk.state), "main", HashEmbedder(), redact=str)
    (lock,) = desk.state.glob("memory/*/writer.lock")
    with file_lock(lock, wait_s=0):
        assert desk.forget("cat", "--yes") == 75
    store.store("The user's cat is called Zyxwvut")
    assert desk.forget() == 0
    assert [entry.text for entry in store.entries()] == ["The user's cat is called Zyxwvut"]


def test_a_folder_that_cannot_be_written_is_an_error_and_nothing_is_said_to_be_done(
    desk: Desk,
) -> None:
    talk(desk, "the cat is ill", "oh")
    desk.kept.parent.chmod(0o500)
    try:
        done = run_unprivileged(["forget", "cat", "--yes", *desk.place])
    finally:
        desk.kept.parent.chmod(0o700)
    assert done.returncode == 1, done.stderr
    assert "forgot" not in done.stdout
    assert len(desk.said()) == 2


def test_a_transcript_that_cannot_be_written_is_named_and_the_next_call_completes(
    desk: Desk,
) -> None:
    file = transcript_file(desk.state, "main", "chat-1")
    add_turns(file, [NewTurn("user", "the cat is ill")], "key", START)
    file.chmod(0o400)
    done = run_unprivileged(["forget", "cat", "--yes", *desk.place])
    file.chmod(0o600)
    assert done.returncode == 1
    assert f"cannot write to {str(file)!r}" in done.stderr
    assert "permission denied" in done.stderr.lower()
    assert "Traceback" not in done.stderr
    assert desk.forget() == 0
    assert desk.files_with("the cat is ill") == []


@pytest.mark.usefixtures("impatient")
def test_an_interrupted_removal_is_completed_by_the_next_call(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(desk, "the cat is ill", "oh")
    desk.ask("cat")
    (lock,) = desk.state.glob("memory/*/writer.lock")
    with file_lock(lock, wait_s=0):
        # Another process writes the index for longer than we wait.
        assert desk.forget("cat", "--yes") == 75
    assert desk.said() == ["oh"]
    assert "index-1.sqlite" in desk.files_with("the cat is ill")
    assert desk.forget() == 0
    assert "completed" in capsys.readouterr().err
    assert desk.files_with("the cat is ill") == []
    assert desk.forget("--yes") == 2


def test_what_was_exported_for_qmd_is_removed_with_its_index(desk: Desk) -> None:
    talk(desk, "the cat is ill", "oh")
    home = home_of(desk.state.absolute(), "main", desk.workspace.resolve())
    text = SessionText("sessions/kept/claude-cc-1.jsonl", "cc-1", "User: the cat is ill", START)
    export_sessions(home.sessions, [text], now=START, retention_days=None)
    home.index.parent.mkdir(parents=True)
    for suffix in ("", "-wal"):
        home.index.with_name(home.index.name + suffix).write_bytes(b"the cat is ill")
    assert desk.forget("cat", "--yes") == 0
    assert desk.files_with("the cat is ill") == []


SEARCH_ALL = {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}


def test_the_indexes_of_all_workspaces_of_the_agent_lose_what_programs_sent(desk: Desk) -> None:
    desk.configure(SEARCH_ALL)
    file = transcript_file(desk.state, "main", "chat-1")
    add_turns(file, [NewTurn("user", "the cat is ill"), NewTurn("user", "tea")], "key", START)
    first, second = desk.workspace, desk.root / "second"
    second.mkdir()
    for workspace in (second, first):
        desk.workspace = workspace
        assert desk.run("index") == 0
        assert desk.run("search", "cat") == 0
    assert desk.forget("cat", "--yes") == 0
    assert desk.files_with("the cat is ill") == []
    desk.workspace = second
    assert desk.run("search", "cat") == 3
    assert desk.run("search", "tea") == 0


@pytest.mark.parametrize("harm", ["an older schema", "damage"])
def test_an_index_of_another_workspace_that_cannot_be_cleaned_is_removed(
    desk: Desk, harm: str
) -> None:
    desk.configure(SEARCH_ALL)
    file = transcript_file(desk.state, "main", "chat-1")
    add_turns(file, [NewTurn("user", "the cat is ill"), NewTurn("user", "tea")], "key", START)
    first, second = desk.workspace, desk.root / "second"
    second.mkdir()
    desk.workspace = second
    assert desk.run("index") == 0
    (index,) = desk.state.glob("memory/*/index-1.sqlite")
    if harm == "damage":
        (index.parent / "SUSPECT").write_text("index-1.sqlite", encoding="ascii")
    else:
        db = open_writer(index)
        db.pragma("user_version", SCHEMA - 1)
        db.close()
    desk.workspace = first
    assert desk.forget("cat", "--yes") == 0
    assert desk.files_with("the cat is ill") == []
    desk.workspace = second
    assert desk.run("search", "tea") == 0


def test_a_first_index_that_was_cut_short_is_removed(desk: Desk) -> None:
    talk(desk, "the cat is ill", "oh")
    desk.configure({})
    assert desk.run("index") == 0
    (current,) = desk.state.glob("memory/*/CURRENT")
    index, cache = current.parent / "index-1.sqlite", current.parent / "cache.sqlite"
    index.rename(index.with_name("index-2.sqlite.damaged"))
    index.write_bytes(b"half of a page: the cat is ill")
    for file in (current, cache):
        file.unlink(missing_ok=True)
    assert desk.forget("cat", "--yes") == 0
    assert desk.files_with("the cat is ill") == []


def test_an_index_from_before_qmd_is_cleaned_also_if_qmd_does_not_run(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(desk, "the cat is ill", "oh")
    desk.configure({})
    assert desk.run("index") == 0
    assert desk.files_with("the cat is ill") != []
    qmd = {"backend": "qmd", "fallback": "none", "qmd": {"command": str(desk.root / "no-qmd")}}
    desk.configure({}, qmd)
    capsys.readouterr()
    assert desk.forget("cat", "--yes") == 5
    shown = capsys.readouterr()
    assert "forgot 1 message" in shown.out
    assert "QMD has no index now" in shown.err
    assert desk.files_with("the cat is ill") == []
    # It is done: there is nothing to complete.
    assert desk.forget("cat", "--yes") in (3, 5)
    assert "completed" not in capsys.readouterr().err


def test_what_was_exported_for_qmd_elsewhere_is_removed_after_qmd_was_switched_off(
    desk: Desk,
) -> None:
    talk(desk, "the cat is ill", "oh")
    elsewhere, home = desk.root / "exports", home_of(desk.state, "main", desk.workspace.resolve())
    text = SessionText("sessions/kept/claude-cc-1.jsonl", "cc-1", "User: the cat is ill", START)
    export_sessions(elsewhere, [text], now=START, retention_days=None)
    (elsewhere / "mine.md").write_text("the cat is ill", encoding="utf-8")
    home.prepare(
        [Collection("sessions-main", elsewhere, "**/*.md", "sessions")], QmdModels(), None
    )
    assert desk.forget("cat", "--yes") == 0
    assert [file.name for file in elsewhere.iterdir()] == ["mine.md"]


def test_vectors_do_not_stay_in_the_cache_when_there_is_no_index(desk: Desk) -> None:
    (desk.workspace / "MEMORY.md").write_text("The oven is hot.\n", encoding="utf-8")
    talk(desk, "the cat is ill", "oh")
    desk.ask("cat")
    (current,) = desk.state.glob("memory/*/CURRENT")
    for file in (current, *current.parent.glob("index-*")):
        file.unlink()
    with open_memory(desk.workspace, state_dir=desk.state, embedder=HashEmbedder()) as memory:
        store = memory.indexer.store
        assert store.cache_entries() == 2
        forget_found(memory, find_forgettable(memory, request_of(memory, phrase="cat")))
        # That of the note stays: it was paid for.
        assert store.cache_entries() == 1
