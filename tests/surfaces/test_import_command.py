"""`notewell import`: another program's memories become notes, once, and can be taken back."""

from __future__ import annotations

import io
import json
import re
import shlex
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.imports import written

from notewell.cli import main
from notewell.sessions import kept_dir

SECRET = "ghp_" + "a1B2" * 9


class Place:
    """An empty workspace, and a state folder of its own."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.workspace, self.state = root / "notes", root / "state"
        self.workspace.mkdir()
        self._capsys = capsys
        self.errors = ""

    def run(self, *words: str) -> int:
        return main([*words, "-w", str(self.workspace), "--state-dir", str(self.state)])

    def answer(self, *words: str, code: int = 0) -> Any:
        self._capsys.readouterr()
        assert self.run(*words, "--json") == code
        output = self._capsys.readouterr()
        self.errors = output.err
        return json.loads(output.out)

    def notes(self) -> dict[str, str]:
        return {
            path.relative_to(self.workspace).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(self.workspace.rglob("*.md"))
        }

    def kept(self) -> dict[str, list[Any]]:
        folder = kept_dir(self.state, "main", str(self.workspace))
        return {
            path.name: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            for path in sorted(folder.glob("*.jsonl"))
        }


@pytest.fixture
def place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Place:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OPENCLAW_HOME", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return Place(tmp_path, capsys)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    (tmp_path / ".claude-mem").mkdir()
    return written.claude_mem(tmp_path / ".claude-mem" / "claude-mem.db")


def test_memories_are_found_with_their_day_and_taken_back_as_a_whole(
    place: Place, database: Path
) -> None:
    before = database.read_bytes()
    done = place.answer("import", "claude-mem", "--yes")
    assert (done["path"], done["written"], done["unchanged"]) == (str(database), 3, 0)
    assert done["notes"] == [
        "memory/imported/claude-mem/2026-10-02.md",
        "memory/imported/claude-mem/2026-11-18.md",
    ]
    hits = place.answer("search", "idle timeout of the router", "--mode", "keyword")["results"]
    assert hits[0]["path"] == "memory/imported/claude-mem/2026-10-02.md"
    assert "it is 60 s now" in hits[0]["snippet"]

    again = place.answer("import", "claude-mem", "--yes")
    assert (again["written"], again["unchanged"], again["notes"]) == (0, 3, [])
    history = place.answer("history")["writes"]
    assert [write["origin"] for write in history] == [done["undo"]] * 2

    undone = place.answer("undo", done["undo"])
    assert (undone["paths"], undone["left"]) == (done["notes"], [])
    assert place.notes() == {}
    assert database.read_bytes() == before


def test_the_proposed_undo_names_the_memory(
    place: Place, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.run("import", "claude-mem", "--yes") == 0
    proposed = re.search(r"`notewell (undo .*)` takes all of it back", capsys.readouterr().err)
    assert proposed
    assert main(shlex.split(proposed[1])) == 0
    assert place.notes() == {}


def test_without_a_terminal_nothing_is_written_unasked(place: Place, database: Path) -> None:
    assert place.run("import", "claude-mem", str(database)) == 4
    preview = place.answer("import", "claude-mem", "--dry-run")
    assert (preview["dryRun"], preview["new"], preview["written"]) == (True, 3, 0)
    assert preview["leftOut"][0]["path"] == "2 prompts"
    assert place.notes() == {}
    assert not list(place.state.rglob("history.jsonl"))


def test_what_changed_comes_beside_what_is_there(place: Place, database: Path) -> None:
    place.answer("import", "claude-mem", "--yes")
    (edited, text), _ = place.notes().items()
    (place.workspace / edited).write_text(f"{text}\nMine.\n", encoding="utf-8")
    with sqlite3.connect(database) as opened:
        opened.execute("UPDATE observations SET narrative = 'It is 90 s now.' WHERE id = 2")
    opened.close()
    done = place.answer("import", "claude-mem", "--yes")
    assert (done["changed"], done["unchanged"]) == (1, 2)
    notes = place.notes()
    assert notes[edited].endswith("Mine.\n")
    assert "It is 90 s now." in notes["memory/imported/claude-mem/2026-10-02-2.md"]


def test_an_undo_leaves_a_note_that_was_edited(place: Place, database: Path) -> None:
    done = place.answer("import", "claude-mem", "--yes")
    edited = place.workspace / done["notes"][1]
    edited.write_text("Mine.\n", encoding="utf-8")
    undone = place.answer("undo", done["undo"], code=5)
    assert [left["path"] for left in undone["left"]] == [done["notes"][1]]
    assert place.notes() == {done["notes"][1]: "Mine.\n"}
    wrong = place.answer("undo", "import:mem0:0", code=2)
    assert "no import is called" in wrong["error"]["message"]


def test_one_project_can_be_chosen(place: Place, database: Path) -> None:
    done = place.answer("import", "claude-mem", str(database), "--only", "lighthouse", "--yes")
    assert done["written"] == 1
    wrong = place.answer("import", "claude-mem", str(database), "--only", "x", "--yes", code=2)
    assert "harbour (2), lighthouse (1)" in wrong["error"]["message"]


def test_the_memories_of_several_users_are_not_mixed(place: Place, tmp_path: Path) -> None:
    memories = [
        {"id": f"m-{user}", "memory": f"About {user}.", "user_id": user, "created_at": None}
        for user in ("user-1", "user-2")
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"results": memories}), encoding="utf-8")
    refusal = place.answer("import", "mem0", str(path), "--yes", code=2)
    assert "user-1 (1), user-2 (1)" in refusal["error"]["message"]
    place.answer("import", "mem0", str(path), "--only", "user-2", "--yes")
    (note,) = place.notes().values()
    assert "About user-2." in note
    assert "user-1" not in note


def test_secrets_are_masked(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    entity = {"type": "entity", "name": "Router", "entityType": "part", "observations": [SECRET]}
    path.write_text(json.dumps(entity), encoding="utf-8")
    place.answer("import", "server-memory", str(path), "--yes")
    files = [file for file in place.workspace.parent.rglob("*") if file.is_file()]
    assert [file.name for file in files if SECRET.encode() in file.read_bytes()] == [path.name]
    assert place.answer("import", "server-memory", str(path), "--yes")["unchanged"] == 2


def test_a_folder_that_has_no_notes_is_not_filled_by_mistake(
    place: Place, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.workspace)
    assert main(["import", "claude-mem", "--yes", "--state-dir", str(place.state)]) == 2
    assert place.notes() == {}


def test_a_link_in_the_workspace_leads_nowhere(place: Place, database: Path) -> None:
    outside = place.workspace.parent / "outside"
    outside.mkdir()
    (place.workspace / "memory").mkdir()
    (place.workspace / "memory" / "imported").symlink_to(outside)
    assert place.run("import", "claude-mem", "--yes") == 1
    assert list(outside.iterdir()) == []


def test_bad_input_says_why_and_writes_nothing(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('[{"mapping": {', encoding="utf-8")
    for what in ("chatgpt", "claude", "mem0", "server-memory"):
        assert (
            "ends early"
            in place.answer("import", what, str(path), "--yes", code=2)["error"]["message"]
        )
    assert "there is no " in place.answer("import", "claude-mem", code=2)["error"]["message"]
    assert not place.state.exists()


# -- conversations -------------------------------------------------------------------------------


def test_an_export_is_kept_as_conversations_each_message_once(
    place: Place, tmp_path: Path
) -> None:
    path = tmp_path / "export.zip"
    written.archive(path, conversations=[written.chatgpt("Why does it drop?", f"Key {SECRET}.")])
    preview = place.answer("import", "chatgpt", str(path), "--dry-run")
    assert (preview["memories"][0]["messages"], place.kept()) == (2, {})
    assert place.run("import", "chatgpt", str(path)) == 4
    place.answer("import", "chatgpt", str(path), "--yes")
    longer = written.chatgpt("Why does it drop?", f"Key {SECRET}.", "And the second router?")
    written.archive(path, conversations=[longer])
    done = place.answer("import", "chatgpt", str(path), "--yes")
    assert done["memories"][0]["messages"] == 1
    ((name, (head, *lines)),) = place.kept().items()
    assert (name, head["host"], head["id"]) == ("chatgpt-conv-1.jsonl", "chatgpt", "conv-1")
    assert [line["message"]["role"] for line in lines] == ["user", "assistant", "user"]
    assert lines[0]["timestamp"] == "2026-10-02T08:00:00+00:00"
    assert SECRET not in json.dumps(lines)
    assert place.answer("import", "chatgpt", str(path), "--yes")["memories"][0]["unchanged"] == 1
    hits = place.answer("search", "second router", "--mode", "keyword")["results"]
    assert hits[0]["path"] == "sessions/kept/chatgpt-conv-1.jsonl"


def test_an_import_of_conversations_is_taken_back_except_what_went_on(
    place: Place, tmp_path: Path
) -> None:
    path = tmp_path / "conversations.json"
    conversations = [written.chatgpt("One?", id_="conv-1"), written.chatgpt("Two?", id_="conv-2")]
    path.write_text(json.dumps(conversations), encoding="utf-8")
    first = place.answer("import", "chatgpt", str(path), "--yes")["memories"][0]["undo"]
    longer = [written.chatgpt("One?", "Yes.", id_="conv-1"), conversations[1]]
    path.write_text(json.dumps(longer), encoding="utf-8")
    # Nothing began with it, so there is nothing that could be removed as a whole.
    assert place.answer("import", "chatgpt", str(path), "--yes")["memories"][0]["undo"] is None
    (recorded,) = place.answer("history")["imports"]
    assert (recorded["origin"], recorded["conversations"]) == (first, 2)
    undone = place.answer("undo", first, code=5)
    assert undone["conversations"] == ["chatgpt-conv-2.jsonl"]
    assert [left["path"] for left in undone["left"]] == ["chatgpt-conv-1.jsonl"]
    assert list(place.kept()) == ["chatgpt-conv-1.jsonl"]
    hits = place.answer("search", "Two", "--mode", "keyword", code=3)["results"]
    assert hits == []
    again = place.answer("import", "chatgpt", str(path), "--yes")["memories"][0]
    assert (again["messages"], len(place.kept())) == (1, 2)


def test_what_was_forgotten_is_not_imported_again(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([written.claude("Why does it drop?", "Yes.")]), encoding="utf-8")
    place.answer("import", "claude", str(path), "--yes")
    assert list(place.kept()) == ["claudeai-conv-2.jsonl"]
    place.answer("forget", "--session", "conv-2", "--yes")
    assert place.answer("import", "claude", str(path), "--yes")["memories"][0]["messages"] == 0


def test_an_openclaw_is_imported_one_agent_at_a_time(place: Place, tmp_path: Path) -> None:
    state = tmp_path / ".openclaw"
    agents = [{"id": "main"}, {"id": "work"}]
    for agent in agents:
        folder = state / "agents" / agent["id"] / "agent"
        folder.mkdir(parents=True)
        _openclaw_database(folder / "openclaw-agent.sqlite", f"Said to {agent['id']}.")
    (state / "openclaw.json").write_text(json.dumps({"agents": {"list": agents}}), "utf-8")
    refusal = place.answer("import", "openclaw", str(state), "--yes", code=2)
    assert "main, work" in refusal["error"]["message"]
    done = place.answer("import", "openclaw", str(state), "--only", "work", "--yes")
    assert done["memories"][0]["messages"] == 1
    ((_, message),) = place.kept().values()
    assert message["message"]["content"] == "Said to work."
    # The database of one agent, for example from a backup.
    database = state / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    done = place.answer("import", "openclaw", str(database), "--dry-run")
    assert done["found"][0]["conversations"] == 1


def test_an_openclaw_that_is_not_there_is_said(place: Place, tmp_path: Path) -> None:
    message = place.answer("import", "openclaw", "--yes", code=2)["error"]["message"]
    assert str(tmp_path / ".openclaw") in message
    missing = place.answer("import", "openclaw", str(tmp_path / "x"), "--yes", code=2)
    assert "cannot be imported" in missing["error"]["message"]


def _openclaw_database(path: Path, text: str) -> None:
    record = {
        "type": "message", "id": "m-1", "timestamp": "2026-10-02T08:00:00Z",
        "message": {"role": "user", "content": text},
    }  # fmt: skip
    with sqlite3.connect(path) as opened:
        opened.executescript(
            "CREATE TABLE session_windows (session_id TEXT, transcript_updated_at INTEGER, "
            "updated_at INTEGER, spawned_by TEXT);"
            "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, "
            "event_zstd BLOB, navigation_json TEXT);"
            "INSERT INTO session_windows VALUES ('s-1', 1790928000000, 1790928000000, NULL);"
        )
        opened.execute(
            "INSERT INTO transcript_events VALUES ('s-1', 1, ?, NULL, NULL)", (json.dumps(record),)
        )
    opened.close()
