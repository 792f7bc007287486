"""Hooks of OpenCode, whose conversations are in a database."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.sessions.made_up import OpenCode, text_part

from notewell.capture import capture_dir, capture_health
from notewell.cli import hook

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Hooks:
    def __init__(self, tmp_path: Path) -> None:
        self.workspace, self.state = tmp_path / "workspace", tmp_path / "state"
        self.workspace.mkdir()
        self.database = tmp_path / "opencode.db"

    def __call__(self, event: str, session: str = "ses_1") -> None:
        parser = argparse.ArgumentParser()
        hook.add_options(parser)
        place = ["-w", str(self.workspace), "--state-dir", str(self.state)]
        arguments = parser.parse_args([event, "--host", "opencode", *place])
        call = {"session_id": session, "transcript_path": f"{self.database}/{session}.jsonl"}
        hook.handle(arguments, json.dumps(call).encode(), NOW, UTC)

    def notes(self) -> list[str]:
        # By stem: `…-1200-2` comes after `…-1200`.
        files = sorted((self.workspace / "memory").glob("*.md"), key=lambda file: file.stem)
        return [file.read_text(encoding="utf-8") for file in files]

    def health(self) -> str:
        folder = capture_dir(self.state, "main", self.workspace.resolve())
        health = capture_health(folder, NOW)
        assert health is not None
        return health.message


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[OpenCode]:
    host = OpenCode(tmp_path)
    with closing(host.connection):
        host.start()
        host.say("user", text_part("Who is Otto?"), text_part("Recalled.", synthetic=True))
        host.say("assistant", text_part("The walrus."))
        yield host


def test_each_message_is_saved_once(hooks: Hooks, host: OpenCode) -> None:
    hooks("pre-compact")
    hooks("session-end")
    host.say("user", text_part("And Pia?"))
    host.say("assistant", text_part("The penguin."))
    hooks("session-end")
    hooks("session-end")
    first, second = hooks.notes()
    assert "Who is Otto?" in first
    assert "Recalled" not in first
    assert "Pia" in second
    assert "Otto" not in second


def test_after_an_undo_each_message_is_saved_once(hooks: Hooks, host: OpenCode) -> None:
    host.say("user", text_part("And Pia?"))
    host.say("assistant", text_part("A penguin, I guess."))
    hooks("session-end")
    # The host takes out the last turn, and one in the middle; the user goes on.
    host.undo("I guess", "Pia", "The walrus")
    host.say("user", text_part("Who is Pia?"))
    hooks("session-end")
    host.say("assistant", text_part("The penguin."))
    hooks("session-end")
    _, second, third = hooks.notes()
    assert "User: Who is Pia?" in second
    assert "Otto" not in second
    assert "Assistant: The penguin." in third
    assert "User: " not in third


def test_a_message_between_others_is_saved(hooks: Hooks, host: OpenCode) -> None:
    hooks("session-end")
    # A text of the assistant that was not there when its message was read.
    now, host.now = host.now, host.now - 1500
    host.say("assistant", text_part("He lives at the pier."))
    host.now = now
    hooks("session-end")
    assert "He lives at the pier." in hooks.notes()[1]
    assert "walrus" not in hooks.notes()[1]


def test_several_sessions_end_in_one_process(hooks: Hooks, host: OpenCode) -> None:
    host.start("ses_2")
    host.say("user", text_part("Who is Pia?"), session="ses_2")
    calls = [
        {"session_id": name, "transcript_path": f"{hooks.database}/{name}.jsonl"}
        for name in ("ses_1", "gone", "ses_2")
    ]
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "notewell", "hook", "session-end", "--host", "opencode"),
            *("-w", str(hooks.workspace), "--state-dir", str(hooks.state)),
        ],
        input=json.dumps(calls),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "")
    # One that cannot be saved does not hold up the others.
    assert "no such conversation" in ended.stderr
    first, second = sorted(hooks.notes())
    assert "Otto" in first + second
    assert "Pia" in first + second


def test_a_conversation_with_a_subagent_is_not_saved(hooks: Hooks, host: OpenCode) -> None:
    host.start("ses_2", parent="ses_1")
    host.say("user", text_part("Count the files."), session="ses_2")
    hooks("session-end", "ses_2")
    assert hooks.notes() == []


def test_a_conversation_that_is_gone_is_reported_once(
    hooks: Hooks, host: OpenCode, capsys: pytest.CaptureFixture[str]
) -> None:
    for session in ("ses_1", "gone"):
        hooks("stop", session)
    assert hooks.notes() == []
    capsys.readouterr()
    hooks("session-start", "new")
    assert "no such conversation" in capsys.readouterr().err
    assert "Who is Otto?" in hooks.notes()[0]
    hooks("session-start", "newer")
    assert capsys.readouterr().err == ""


def test_a_conversation_that_cannot_be_read_now_does_not_hold_up_the_others(
    hooks: Hooks, host: OpenCode, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = hooks.database
    hooks.database = tmp_path / "damaged" / "opencode.db"
    hooks.database.parent.mkdir()
    hooks.database.write_bytes(b"no database")
    hooks("stop", "ses_0")
    hooks.database = whole
    hooks("stop")
    for session in ("new", "newer"):  # It waits on, and is reported each time.
        hooks("session-start", session)
        assert "cannot be read" in capsys.readouterr().err
    (note,) = hooks.notes()
    assert "Who is Otto?" in note


def test_a_database_that_is_gone_is_reported_once(
    hooks: Hooks, capsys: pytest.CaptureFixture[str]
) -> None:
    hooks("stop")
    hooks("session-start", "new")
    assert "opencode.db" in capsys.readouterr().err
    assert "opencode.db" in hooks.health()
    hooks("session-start", "newer")
    assert capsys.readouterr().err == ""
    assert "opencode.db" not in hooks.health()
