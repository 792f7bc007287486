"""`notewell review`, `history` and `undo`: the user decides, and can change their mind."""

from __future__ import annotations

import io
import json
import resource
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from notewell.capture import CannotUndo, KeepSettings, SessionEnd, keep_messages
from notewell.cli.parser import build_parser
from notewell.errors import BadRequest, NoteNotWritable
from notewell.sessions import kept_dir


class Cli:
    def __init__(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.workspace = tmp_path / "workspace"
        (self.workspace / "memory").mkdir(parents=True)
        self.state = tmp_path / "state"
        self.capsys = capsys
        self.out = self.err = ""
        text = "- remember that we ship on Friday\n- remember that Bo eats fish\n"
        (self.workspace / "memory" / "2026-11-15.md").write_text(text, encoding="utf-8")
        self.memory = self.workspace / "MEMORY.md"
        self.memory.write_text("# Mine\n\n- tea\n", encoding="utf-8")

    def __call__(self, command: str, *words: str) -> int:
        place = ["-w", str(self.workspace), "--state-dir", str(self.state)]
        arguments = build_parser(command).parse_args([command, *words, *place])
        module = import_module(f"notewell.cli.{arguments.module}")
        code: int = getattr(module, arguments.function)(arguments)
        self.out, self.err = self.capsys.readouterr()
        return code

    def json(self, command: str, *words: str) -> Any:
        self(command, *words, "--json")
        return json.loads(self.out)


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, capsys)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_reviewing_shows_a_diff_and_writes_nothing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    before = cli.memory.read_bytes()
    assert cli("review") == 0
    assert "    +## Remembered\n" in cli.out
    assert "    +- We ship on Friday (from memory/2026-11-15.md#L1-L1)" in cli.out
    assert "nothing was written" in cli.err
    assert cli.memory.read_bytes() == before


def test_only_what_is_accepted_is_written_and_it_can_be_undone(cli: Cli) -> None:
    before = cli.memory.read_bytes()
    proposals = cli.json("review")["proposals"]
    ship = next(one["id"] for one in proposals if "Friday" in one["text"])
    written = cli.json("review", "--accept", ship)["written"]
    assert written == [{"citation": "MEMORY.md#L7-L7", "added": True}]
    assert b"Bo eats fish" not in cli.memory.read_bytes()
    assert cli("history") == 0
    assert "MEMORY.md" in cli.out
    assert "review, there" in cli.out
    id_ = cli.json("history")["writes"][0]["id"]
    assert cli("undo", id_) == 0
    assert cli.out.endswith("bytes out of MEMORY.md\n")
    assert cli.memory.read_bytes() == before
    assert cli.json("history")["writes"][0]["state"] == "undone"


def test_what_an_interrupted_command_has_written_is_accepted_again_with_the_rest(
    cli: Cli,
) -> None:
    ids = [one["id"] for one in cli.json("review")["proposals"]]
    assert cli("review", "--accept", ids[0]) == 0
    assert cli("review", "--accept", *ids) == 0
    assert "it is there already: MEMORY.md#L7-L7\nwrote MEMORY.md#L8-L8\n" in cli.out
    text = cli.memory.read_text(encoding="utf-8")
    assert (text.count("We ship on Friday"), text.count("Bo eats fish")) == (1, 1)


def test_what_cannot_be_recorded_is_written_and_told_as_it_is(cli: Cli) -> None:
    first, second = [one["id"] for one in cli.json("review")["proposals"]]
    assert cli("review", "--accept", first) == 0
    (lock,) = cli.state.glob("capture/*/history.jsonl.lock")
    lock.unlink()
    lock.mkdir()  # As on a full disk: nothing can be recorded.
    assert cli("review", "--accept", second) == 5
    assert "it is saved, but the history does not have it" in cli.err
    assert "untouched" not in cli.err
    text = cli.memory.read_text(encoding="utf-8")
    assert (text.count("We ship on Friday"), text.count("Bo eats fish")) == (1, 1)
    lock.rmdir()
    assert len(cli.json("history")["writes"]) == 1


def test_an_undo_that_cannot_be_recorded_says_so(cli: Cli) -> None:
    before = cli.memory.read_bytes()
    (first, _) = [one["id"] for one in cli.json("review")["proposals"]]
    assert cli("review", "--accept", first) == 0
    (write,) = cli.json("history")["writes"]
    (lock,) = cli.state.glob("capture/*/history.jsonl.lock")
    lock.unlink()
    lock.mkdir()
    assert cli("undo", write["id"]) == 5
    assert "it is undone, but the history does not say so: cannot write to" in cli.err
    assert "untouched" not in cli.err
    assert cli.memory.read_bytes() == before


def test_what_is_written_before_an_error_is_told(cli: Cli) -> None:
    ids = [one["id"] for one in cli.json("review")["proposals"]]
    cli.memory.write_text(f"# Mine\n\n{'tea ' * 2000}\n", encoding="utf-8")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    room = cli.memory.stat().st_size + 130  # For the first one and its heading.
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(NoteNotWritable):
            cli("review", "--accept", *ids)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "wrote MEMORY.md#L7-L7" in cli.capsys.readouterr().out


def test_answers_at_the_terminal_decide(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("n\ny\n"))
    cli("review")
    assert "1 entry written to MEMORY.md" in cli.out
    assert cli.memory.read_text(encoding="utf-8").count("<!-- @review") == 1
    assert cli("review") == 3


def test_an_end_of_input_accepts_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cli.memory.read_bytes()
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    assert cli("review") == 0
    assert cli.memory.read_bytes() == before
    assert len(cli.json("review")["proposals"]) == 2


def test_another_section_can_be_named(cli: Cli) -> None:
    id_ = cli.json("review")["proposals"][0]["id"]
    cli("review", "--section", "Facts", "--accept", id_)
    assert "## Facts\n" in cli.memory.read_text(encoding="utf-8")


def test_what_is_not_proposed_cannot_be_accepted(cli: Cli) -> None:
    with pytest.raises(BadRequest, match="not proposed"):
        cli("review", "--accept", "ffffffff")


def test_nothing_to_propose_and_nothing_written_have_a_code(cli: Cli) -> None:
    (cli.workspace / "memory" / "2026-11-15.md").write_text("- sunny\n", encoding="utf-8")
    assert cli("review") == 3
    assert cli("history") == 3
    assert cli.json("history") == {"version": 1, "writes": [], "forgotten": [], "imports": []}


def test_history_says_what_became_of_a_write(cli: Cli) -> None:
    cli("review", "--accept", cli.json("review")["proposals"][0]["id"])
    id_ = cli.json("history")["writes"][0]["id"]
    cli.memory.write_text("# Mine\n", encoding="utf-8")
    assert "no longer there" in cli.json("history")["writes"][0]["state"]
    with pytest.raises(CannotUndo):
        cli("undo", id_)
    cli.memory.unlink()
    assert cli.json("history")["writes"][0]["state"] == "not there"


def test_what_was_decided_in_a_kept_conversation_is_proposed_and_written_only_if_accepted(
    cli: Cli, tmp_path: Path
) -> None:
    text = "We decided to use SQLite instead of Postgres."
    host_file = tmp_path / "cc-1.jsonl"
    record = {
        "type": "user", "uuid": "u1", "sessionId": "cc-1", "timestamp": "2026-11-15T11:00:00Z",
        "message": {"role": "user", "content": text},
    }  # fmt: skip
    host_file.write_text(json.dumps(record) + "\n", encoding="utf-8")
    keep_messages(
        kept_dir(cli.state, "main", cli.workspace.resolve()),
        SessionEnd(host_file, "cc-1", "claude", None, "stop"),
        str,
        settings=KeepSettings(),
        now=datetime(2026, 11, 15, 12, 0, tzinfo=UTC),
    )
    before = cli.memory.read_bytes()
    listed = cli.json("review")["proposals"]
    (proposal,) = [one for one in listed if one["text"] == text]
    assert proposal["why"] == ["you decided it"]
    assert proposal["sources"] == ["sessions/kept/claude-cc-1.jsonl#L1-L1"]
    assert cli.memory.read_bytes() == before
    assert cli("review", "--accept", proposal["id"]) == 0
    assert f"{text} (from sessions/kept/claude-cc-1.jsonl#L1-L1)" in cli.memory.read_text("utf-8")
