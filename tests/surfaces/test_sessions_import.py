"""`notewell sessions import`: what hosts already have is kept, each message once."""

from __future__ import annotations

import io
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from notewell.cli import main
from notewell.sessions import kept_dir, source

SECRET = "ghp_" + "a1B2" * 9


def claude(number: int, text: str, at: str = "2026-11-15T11:00:00Z", **more: Any) -> bytes:
    role = ("user", "assistant")[number % 2]
    record = {
        "type": role, "uuid": f"u{number}", "sessionId": "cc-1", "cwd": "/code/shop",
        "timestamp": at, "message": {"role": role, "content": text}, **more,
    }  # fmt: skip
    return json.dumps(record).encode() + b"\n"


def tool(number: int, size: int) -> bytes:
    block = {"type": "tool_result", "tool_use_id": "t", "content": "x" * size}
    record = {"type": "user", "uuid": f"t{number}", "message": {"content": [block]}}
    return json.dumps(record).encode() + b"\n"


def codex(second: int, text: str) -> bytes:
    content = [{"type": "input_text", "text": text}]
    payload = {"type": "message", "role": "user", "content": content}
    at = f"2026-11-15T11:00:{second:02}Z"
    record = {"timestamp": at, "type": "response_item", "payload": payload}
    return json.dumps(record).encode() + b"\n"


class Machine:
    """A home with transcripts of hosts, and a workspace."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.workspace, self.state = root / "home", root / "notes", root / "state"
        self.workspace.mkdir()
        self.home.mkdir()
        self.monkeypatch = monkeypatch
        monkeypatch.setenv("HOME", str(self.home))
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_DATA_HOME"):
            monkeypatch.delenv(name, raising=False)

    @property
    def projects(self) -> Path:
        return self.home / ".claude" / "projects" / "-code-shop"

    def write(self, name: str, *lines: bytes) -> Path:
        path = self.projects / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.writelines(lines)
        return path

    def run(self, *words: str, payload: Any = None) -> int:
        stdin = io.TextIOWrapper(io.BytesIO(json.dumps(payload).encode()), encoding="utf-8")
        self.monkeypatch.setattr(sys, "stdin", stdin)
        return main([*words, "-w", str(self.workspace), "--state-dir", str(self.state)])

    def take(self, *words: str) -> int:
        return self.run("sessions", "import", *words, "--yes")

    def hook(self, path: Path, event: str = "stop") -> None:
        payload = {"session_id": path.stem, "transcript_path": str(path)}
        assert self.run("hook", event, "--host", "claude", "--keep", payload=payload) == 0

    @property
    def kept(self) -> Path:
        return kept_dir(self.state, "main", self.workspace.resolve())

    def files(self) -> list[str]:
        return sorted(file.name for file in self.kept.glob("*.jsonl"))

    def said(self) -> list[str]:
        lines = [
            json.loads(line)
            for name in self.files()
            for line in (self.kept / name).read_text(encoding="utf-8").splitlines()
        ]
        return [line["message"]["content"] for line in lines if line["type"] == "message"]

    def settings(self, **keep: Any) -> None:
        file = self.home / "own.json"
        search = {"sessions": {"keep": keep}}
        settings = {"agents": {"defaults": {"memorySearch": search}}}
        file.write_text(json.dumps(settings), encoding="utf-8")
        self.monkeypatch.setenv("NOTEWELL_CONFIG", str(file))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_what_hosts_have_is_shown_kept_and_found(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.write("cc-1.jsonl", claude(0, f"the router uses {SECRET}"), tool(1, 5000))
    rollout = machine.home / ".codex" / "sessions" / "2026" / "rollout-1.jsonl"
    rollout.parent.mkdir(parents=True)
    rollout.write_bytes(codex(1, "we deploy on Fridays"))
    assert machine.run("sessions", "import", "--dry-run") == 0
    shown = capsys.readouterr().err
    assert "Claude Code: 1 conversation" in shown
    assert "Codex: 1 conversation" in shown
    assert str(machine.workspace) in shown
    assert not machine.kept.exists()
    assert machine.run("sessions", "import") == 4
    assert "--yes" in capsys.readouterr().err
    assert not machine.kept.exists()
    assert machine.take() == 0
    assert "2 messages of 2 conversations" in capsys.readouterr().out
    assert machine.files() == ["claude-cc-1.jsonl", "codex-rollout-1.jsonl"]
    assert machine.run("search", "--mode", "keyword", "deploy Fridays") == 0
    assert "sessions/kept/codex-rollout-1.jsonl" in capsys.readouterr().out
    assert SECRET not in "".join(machine.said())
    assert machine.take("--json") == 0
    again = json.loads(capsys.readouterr().out)
    assert again["memories"][0]["messages"] == 0
    assert again["memories"][0]["unchanged"] == 2


def test_hosts_and_paths_are_named_and_nothing_else_is_read(
    machine: Machine, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    machine.write("cc-1.jsonl", claude(0, "in the home"))
    copy = tmp_path / "backup" / "cc-7.jsonl"
    copy.parent.mkdir()
    copy.write_bytes(claude(0, "in the backup"))
    assert machine.take("codex") == 3
    assert machine.take(str(copy.parent)) == 0
    assert machine.said() == ["in the backup"]
    assert machine.take("claude", str(copy)) == 0
    assert machine.said() == ["in the home", "in the backup"]
    capsys.readouterr()
    assert machine.take(str(tmp_path / "absent")) == 2
    assert "absent" in capsys.readouterr().err
    assert machine.take(str(machine.kept)) == 2
    assert "kept already" in capsys.readouterr().err
    assert machine.take("cursor") == 2
    assert machine.take("--since", "yesterday") == 2


def test_since_leaves_conversations_that_ended_before(machine: Machine) -> None:
    old, new = (
        machine.write("old.jsonl", claude(0, "old")),
        machine.write("new.jsonl", claude(0, "new")),
    )
    for path, day in ((old, 1), (new, 20)):
        at = datetime(2026, 10, day, tzinfo=UTC).timestamp()
        os.utime(path, (at, at))
    assert machine.take("--since", "2026-10-10") == 0
    assert machine.said() == ["new"]


@pytest.mark.parametrize("order", ["hook first", "import first"])
def test_a_message_is_kept_once_beside_the_hooks(machine: Machine, order: str) -> None:
    path = machine.write("cc-1.jsonl", claude(0, "one"), claude(1, "two"))
    for turn in range(6):
        if (turn % 2 == 0) is (order == "hook first"):
            machine.hook(path)
        else:
            assert machine.take() == 0
        machine.write("cc-1.jsonl", claude(10 + turn, f"turn {turn}"))
    machine.hook(path, "session-end")
    machine.take()
    assert machine.said() == ["one", "two", *(f"turn {turn}" for turn in range(6))]
    assert machine.files() == ["claude-cc-1.jsonl"]


def test_the_beginning_is_added_to_a_conversation_whose_end_a_hook_has_kept(
    machine: Machine,
) -> None:
    path = machine.write("cc-1.jsonl", claude(0, "long ago"), tool(9, source.FIRST_BYTES))
    machine.write("cc-1.jsonl", claude(2, "just now"))
    machine.hook(path)
    assert machine.files() == ["claude-cc-1.part.jsonl"]
    machine.write("cc-1.jsonl", claude(4, "and now"))
    assert machine.take() == 0
    assert machine.files() == ["claude-cc-1.jsonl"]
    assert machine.said() == ["long ago", "just now", "and now"]
    machine.write("cc-1.jsonl", claude(6, "at last"))
    machine.hook(path)
    machine.take()
    assert machine.said() == ["long ago", "just now", "and now", "at last"]
    assert machine.files() == ["claude-cc-1.jsonl"]


def test_what_a_host_has_removed_stays_when_the_beginning_is_added(machine: Machine) -> None:
    path = machine.write("cc-1.jsonl", tool(9, source.FIRST_BYTES), claude(2, "removed later"))
    machine.hook(path)
    path.write_bytes(claude(0, "the beginning") + claude(4, "the end"))
    machine.take()
    assert sorted(machine.said()) == ["removed later", "the beginning", "the end"]
    machine.take()
    machine.hook(path)
    assert len(machine.said()) == 3


def test_a_long_transcript_is_read_in_parts_and_each_message_once(machine: Machine) -> None:
    """Also one that begins with output of tools, and one that was copied to another folder."""
    output = tool(9, source.LIMIT_BYTES // 2)
    said = [claude(2 * number, f"message {number}") + output for number in range(6)]
    machine.write("cc-1.jsonl", output * 3, *said)
    machine.take()
    assert machine.said() == [f"message {number}" for number in range(6)]
    machine.write("../moved/cc-1.jsonl", *said, claude(20, "after the move"))
    machine.take()
    machine.take()
    messages = [*(f"message {number}" for number in range(6)), "after the move"]
    assert sorted(machine.said()) == sorted(messages)


def test_a_long_transcript_whose_beginning_is_not_taken_is_read_to_its_end(
    machine: Machine,
) -> None:
    """Nothing of the first part is kept: the next part follows all the same."""
    long_ago = claude(0, "long ago", "2020-01-01T11:00:00Z")
    now = datetime.now(UTC).isoformat()
    path = machine.write(
        "cc-1.jsonl", long_ago, tool(9, source.LIMIT_BYTES), claude(2, "new", now)
    )
    machine.settings(days=30)
    assert machine.take() == 0
    assert machine.said() == ["new"]
    machine.hook(path)
    machine.take()
    assert machine.said() == ["new"]


def test_the_beginning_is_not_added_in_a_folder_that_is_left_out_now(machine: Machine) -> None:
    path = machine.write("cc-1.jsonl", claude(0, "long ago"), tool(9, source.FIRST_BYTES))
    machine.write("cc-1.jsonl", claude(2, "just now"))
    machine.hook(path)
    machine.settings(leaveOut=["/code/shop"])
    assert machine.take() == 0
    assert machine.files() == ["claude-cc-1.part.jsonl"]
    assert machine.said() == ["just now"]


def test_a_folder_with_a_long_first_message_is_known_as_that_of_its_host(
    machine: Machine,
) -> None:
    """Otherwise the conversation would be kept twice, or in the memory of another project."""
    picture = [{"type": "image", "source": {"data": "x" * source.HEAD_BYTES}}]
    text = {"type": "text", "text": "what is this?"}
    message = {"role": "user", "content": [*picture, text]}
    path = machine.write("cc-1.jsonl", claude(0, "", message=message), claude(1, "a cat"))
    machine.hook(path)
    assert machine.take(str(machine.projects)) == 0
    assert machine.files() == ["claude-cc-1.jsonl"]
    assert machine.said() == ["what is this?", "a cat"]


def test_the_same_session_in_two_folders_is_kept_once(machine: Machine) -> None:
    lines = [claude(number, f"message {number}") for number in range(40)]
    machine.write("cc-1.jsonl", *lines[:30])
    machine.write("../-code-moved/cc-1.jsonl", *lines)
    elsewhere = machine.home / ".codex" / "sessions" / "cc-1.jsonl"
    elsewhere.parent.mkdir(parents=True)
    elsewhere.write_bytes(b"".join(lines))
    for _ in range(3):
        machine.take()
    assert machine.files() == ["claude-cc-1.jsonl"]
    assert sorted(machine.said()) == sorted(f"message {number}" for number in range(40))


def test_settings_say_what_is_left_out(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.write("cc-1.jsonl", claude(0, "in the shop"))
    machine.write("cc-2.jsonl", claude(0, "a secret", cwd="/code/private/x"))
    machine.settings(leaveOut=["/code/private"])
    assert machine.take() == 0
    assert machine.said() == ["in the shop"]
    machine.settings(enabled=False)
    assert machine.take() == 2
    assert "sessions.keep.enabled" in capsys.readouterr().err


def test_nothing_is_taken_that_the_retention_would_remove_at_once(machine: Machine) -> None:
    now = datetime.now(UTC)
    for days in (1, 20, 100):
        at = now - timedelta(days=days)
        path = machine.write(f"s{days}.jsonl", claude(days, f"{days} days ago", at.isoformat()))
        os.utime(path, (at.timestamp(), at.timestamp()))
    machine.settings(days=30)
    machine.take()
    assert machine.said() == ["1 days ago", "20 days ago"]
    # They are removed so many days after the last message, and not after the import.
    machine.settings(days=10)
    machine.hook(machine.projects / "s1.jsonl", "session-start")
    assert machine.said() == ["1 days ago"]
    machine.take()
    assert machine.said() == ["1 days ago"]


def test_beyond_the_size_the_oldest_are_not_taken(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in range(1, 6):
        at = datetime(2026, 10, day, tzinfo=UTC)
        lines = (claude(n, f"{day} {n} " + "x " * 50_000, at.isoformat()) for n in range(8))
        path = machine.write(f"s{day}.jsonl", *lines)
        os.utime(path, (at.timestamp(), at.timestamp()))
    machine.settings(megabytes=1)
    assert machine.take() == 0
    assert machine.files() == ["claude-s4.jsonl", "claude-s5.jsonl"]
    assert "3 older conversations left out" in capsys.readouterr().err
    # Nothing of it is removed, and nothing comes back.
    machine.hook(machine.projects / "s5.jsonl", "session-start")
    machine.take()
    assert "claude-s5.jsonl" in machine.files()
    assert "claude-s3.jsonl" not in machine.files()


def test_bad_input_costs_nothing_but_itself(
    machine: Machine, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    machine.write(
        "good.jsonl", claude(0, "good"), b'{"type":"user","mess', b"\n", claude(2, "behind")
    )
    machine.write("half.jsonl", claude(0, "whole"), claude(2, "half")[:50])
    machine.write("future.jsonl", claude(0, "from the future", "2999-01-01T00:00:00Z"))
    image = {"type": "image", "source": {"data": "x" * 9000}}
    said_image = claude(2, "", message={"role": "user", "content": [image]})
    machine.write("images.jsonl", claude(0, "look"), said_image)
    machine.write("statistics.jsonl", b'{"count": 1}\n')
    machine.write("empty.jsonl")
    with machine.write("long.jsonl", claude(0, "before")).open("ab") as file:
        file.write(b'{"type":"user","message":{"content":"')
        file.truncate(file.tell() + 100 * 2**20)
        file.seek(0, os.SEEK_END)
        file.write(b'"}}\n' + claude(2, "after"))
    secret = tmp_path / "elsewhere.jsonl"
    secret.write_bytes(claude(0, "behind a link"))
    (machine.projects / "link.jsonl").symlink_to(secret)
    database = machine.home / ".local" / "share" / "opencode" / "opencode.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert machine.take() == 5
    said = ["after", "before", "behind", "from the future", "good", "look", "whole"]
    assert sorted(machine.said()) == said
    told = capsys.readouterr().err
    assert "opencode.db" in told
    assert "link.jsonl" in told
    assert "statistics.jsonl" in told
    assert machine.take() == 5
    assert sorted(machine.said()) == said
    machine.write("half.jsonl", claude(2, "half")[50:])
    machine.take()
    assert "half" in machine.said()


def test_a_database_that_its_host_has_locked_is_reported_and_read_later(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    database = machine.home / ".local" / "share" / "opencode" / "opencode.db"
    database.parent.mkdir(parents=True)
    with sqlite3.connect(database) as connection:
        connection.executescript(
            "CREATE TABLE session (id, parent_id, directory, time_created, time_updated);"
            "CREATE TABLE message (id, session_id, time_created, data);"
            "CREATE TABLE part (id, message_id, session_id, time_created, data);"
            "INSERT INTO session VALUES ('ses_1', NULL, '/code', 1, 1763204400000);"
            "INSERT INTO message VALUES ('m1', 'ses_1', 1763204400000, '{\"role\":\"user\"}');"
            "INSERT INTO part VALUES ('p1', 'm1', 'ses_1', 1763204400000,"
            ' \'{"type":"text","text":"said in OpenCode"}\');'
        )
    connection.close()
    # The log shows that a program is using the database; its lock keeps readers out.
    code = (
        "import sqlite3, sys; held = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "held.execute('BEGIN EXCLUSIVE'); print('locked', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout
    assert holder.stdout.readline() == b"locked\n"
    (database.parent / "opencode.db-wal").write_bytes(b"x")
    assert machine.take() in {3, 5}
    assert "opencode.db" in capsys.readouterr().err
    holder.communicate(timeout=60)
    (database.parent / "opencode.db-wal").unlink(missing_ok=True)
    for _ in range(2):
        assert machine.take() == 0
        assert machine.said() == ["said in OpenCode"]


def test_a_full_disk_stops_it_and_the_next_run_goes_on(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two", "three"):
        machine.write(f"{name}.jsonl", claude(0, f"{name} " + "long " * 1000))
    machine.take("--dry-run")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, limit[1]))
        assert machine.take() == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert "run it again" in capsys.readouterr().err
    assert machine.said() == []
    assert machine.take() == 0
    assert len(machine.said()) == 3


def test_words_that_could_not_be_indexed_are_not_called_found(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.write("cc-1.jsonl", claude(0, "one"))
    machine.state.mkdir()
    (machine.state / "memory").write_bytes(b"")  # No folder for the index can be made.
    assert machine.take() == 5
    told = capsys.readouterr().err
    assert "the words are not searchable yet" in told
    assert "found by their words now" not in told
    assert machine.said() == ["one"]


def test_it_goes_where_the_installer_has_put_the_memory(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One memory for all, and another one for a project that has its own."""
    project, notes = tmp_path / "shop", tmp_path / "shop-notes"
    project.mkdir()
    notes.mkdir()
    place = ("--state-dir", str(machine.state))
    assert main(["hook", "install", "claude", "-w", str(machine.workspace), *place]) == 0
    shop = ("--project", str(project), "-w", str(notes))
    assert main(["hook", "install", "claude", *shop, *place]) == 0
    machine.write("cc-1.jsonl", claude(0, "in no project", cwd=str(tmp_path)))
    machine.write("cc-2.jsonl", claude(0, "in the shop", cwd=str(project)))
    machine.monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert main(["sessions", "import", "--yes", "--json", *place]) == 0
    memories = json.loads(capsys.readouterr().out)["memories"]
    assert {Path(one["workspace"]).name: one["messages"] for one in memories} == {
        "notes": 1,
        "shop-notes": 1,
    }
    assert machine.said() == ["in no project"]
    # Whoever names a memory gets all into that one.
    shutil.rmtree(machine.state / "agents")
    machine.take()
    assert sorted(machine.said()) == ["in no project", "in the shop"]


def test_a_pipe_in_place_of_a_projects_file_is_no_file(machine: Machine, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / ".claude").mkdir(parents=True)
    os.mkfifo(project / ".claude" / "settings.json")
    machine.write("cc-1.jsonl", claude(0, "in the shop", cwd=str(project)))
    machine.monkeypatch.chdir(machine.workspace)
    assert main(["sessions", "import", "--yes", "--state-dir", str(machine.state)]) == 0
    assert machine.said() == ["in the shop"]


def test_the_installer_names_the_command_where_there_is_something_to_import(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("install", "claude")
    machine.run(*words)
    assert "sessions import" not in capsys.readouterr().err
    machine.write("cc-1.jsonl", claude(0, "from before"))
    machine.run(*words)
    assert "1 conversation from before" in (told := capsys.readouterr().err)
    assert "`notewell sessions import claude`" in told
    machine.run(*words, "--notes-only")
    assert "sessions import" not in capsys.readouterr().err
    # Hooks of one project: the command imports that project and no others.
    project = machine.home / "a shop"
    project.mkdir()
    machine.run(*words, "--project", str(project))
    shown = capsys.readouterr().err
    assert "and no others" in shown
    assert f"`notewell sessions import claude --project '{project}'` keeps" in shown


@pytest.mark.parametrize("is_part", [False, True], ids=["whole", "end only"])
def test_what_was_forgotten_does_not_come_back(machine: Machine, is_part: bool) -> None:
    output = tool(9, source.FIRST_BYTES) if is_part else b""
    path = machine.write("cc-1.jsonl", claude(0, "the client is Rosalind"), output)
    machine.write("cc-1.jsonl", claude(2, "Rosalind pays on Friday"), claude(4, "the rest"))
    machine.hook(path)
    machine.run("forget", "Rosalind", "--yes")
    for _ in range(2):
        machine.take()
        machine.hook(path)
        assert machine.said() == ["the rest"]
    for name in machine.files():
        (machine.kept / name).unlink()
    machine.take()
    assert machine.said() == ["the rest"]


def test_a_dry_run_counts_what_an_import_would_do(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.write("cc-1.jsonl", claude(0, "the first"), claude(1, "the second"))
    machine.write("cc-2.jsonl", claude(0, "another"))
    assert machine.run("sessions", "import", "--dry-run") == 0
    assert "would keep 3 messages of 2 conversations" in capsys.readouterr().out
    assert not machine.kept.exists()
    assert machine.take() == 0
    machine.write("cc-2.jsonl", claude(0, "another"), claude(1, "one more"))
    before = {file: file.read_bytes() for file in machine.kept.iterdir()}
    capsys.readouterr()
    assert machine.run("sessions", "import", "--dry-run", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    (memory,) = shown["memories"]
    assert shown["dryRun"] is True
    assert (memory["messages"], memory["conversations"], memory["unchanged"]) == (1, 1, 1)
    assert {file: file.read_bytes() for file in machine.kept.iterdir()} == before
    machine.take("--json")
    assert json.loads(capsys.readouterr().out)["memories"] == [memory]
    assert machine.run("sessions", "import", "--dry-run") == 0
    assert "would keep 0 messages of 0 conversations" in capsys.readouterr().out


def test_the_conversations_of_one_project_can_be_imported(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.write("cc-1.jsonl", claude(0, "in the shop", cwd="/code/shop"))
    machine.write("cc-2.jsonl", claude(0, "in the bakery", cwd="/code/bakery/oven"))
    assert machine.take("--project", "/code/bakery") == 0
    assert machine.said() == ["in the bakery"]
    assert machine.take("--project", "/code/nowhere") == 3
    assert "no conversation is from /code/nowhere" in capsys.readouterr().err
