"""Every command, with servers that answer, refuse or are gone: none of them shows the password."""

from __future__ import annotations

import argparse
import json
import logging
import traceback
import uuid
from contextlib import suppress
from pathlib import Path

import pytest
from tests.postgres_server import LOGIN, PASSWORD, PostgresServer

from notewell import open_memory
from notewell.cli import main
from notewell.cli.parser import build_parser
from notewell.errors import NotewellError
from notewell.postgres.address import VARIABLE
from notewell.postgres.database import close_shared
from notewell.testing import HashEmbedder

PLACES = (["-w", "postgres:"], ["-w", "notes"])
COMMANDS: dict[str, list[str]] = {
    "index": [],
    "append": ["We chose the database PostgreSQL."],
    "search": ["database"],
    "get": ["MEMORY.md"],
    "status": [],
    "doctor": [],
    "verify": [],
    "review": [],
    "history": [],
    "undo": ["no-such-write"],
    "forget": ["no such words", "--yes"],
    "import": ["server-memory", "no-such-file", "--yes"],
}
OWN_PLACE = (
    ["db", "init"],
    ["db", "migrate"],
    ["db", "status"],
    ["db", "status", "--json"],
    ["push", "notes"],
    ["pull", "notes"],
    ["pull", "--all", "copy"],
    ["config", "show"],
    ["config", "check"],
    ["agents", "list"],
    ["agents", "add", "support"],
    ["agents", "remove", "support"],
    ["worker", "--once"],
    ["token", "create", "phone", "-w", "postgres:"],
    ["token", "list", "-w", "postgres:"],
)
NO_STORE = {
    *("init", "watch", "entries", "sessions", "hook", "eval", "model", "install", "uninstall"),
    *("mcp", "serve", "completion", "redact"),
}
"""They open no memory, or run until they are stopped: as a service they answer as a library does,
which is looked at below."""
URLS = {
    "good": "postgresql://{login}:{password}@/notewell?host={folder}",
    "wrong": "postgresql://{login}:{password}@/notewell?host={folder}&user=nobody_we_know",
    "gone": "postgresql://{login}:{password}@127.0.0.1:1/notewell",
    "missing": "postgresql://{login}:{password}@/no_such_database?host={folder}",
    "slash": "postgresql://{login}:1/{password}@host/notewell",
    "at": "postgresql://{login}:a@{password}@host/notewell",
}


def test_every_command_is_walked_or_left_out_for_a_reason() -> None:
    (commands,) = (
        action
        for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    walked = {*COMMANDS, *(words[0] for words in OWN_PLACE)}
    assert walked | NO_STORE == set(commands.choices)


@pytest.mark.parametrize(
    ("kind", "is_variable"),
    [
        ("good", True),
        ("good", False),
        ("wrong", True),
        ("missing", False),
        ("gone", True),
        ("slash", True),
        ("slash", False),
        ("at", True),
    ],
)
def test_nothing_that_is_printed_logged_or_kept_has_the_password(
    postgres_server: PostgresServer,
    kind: str,
    is_variable: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = URLS[kind].format(login=LOGIN, password=PASSWORD, folder=postgres_server.folder)
    store = {"driver": "postgres", "tenant": f"tenant-{uuid.uuid4()}"}
    if not is_variable:
        store["url"] = url
    own = tmp_path / "own.json"
    own.write_text(
        json.dumps({"agents": {"defaults": {"memorySearch": {"store": store}}}}), encoding="utf-8"
    )
    monkeypatch.setenv("NOTEWELL_CONFIG", str(own))
    monkeypatch.setenv("NOTEWELL_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv(VARIABLE, url if is_variable else "")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "notes" / "MEMORY.md").write_text("# Ours\n\n- The router.\n", encoding="utf-8")
    walks = [[name, *words, *place] for name, words in COMMANDS.items() for place in PLACES]
    walks += [[*words, "--json"] for words in walks]
    with caplog.at_level(logging.DEBUG):
        # An address in the words of a command is a mistake that must not be repeated.
        for words in (*walks, *OWN_PLACE, ["status", "-w", url], ["worker", "--once", "-w", url]):
            with suppress(SystemExit):  # Of argparse.
                main(words)
            shown = capsys.readouterr()
            assert PASSWORD not in shown.out + shown.err, words
            assert "Traceback" not in shown.err, words
        error = error_of_library()
    assert (error is None) == (kind == "good")
    if error is not None:
        assert PASSWORD not in "".join(traceback.format_exception(error)) + error.public_text()
    assert PASSWORD not in caplog.text
    close_shared()
    own.unlink()
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in kept if PASSWORD.encode() in path.read_bytes()] == []


def error_of_library() -> NotewellError | None:
    try:
        with open_memory("postgres:", embedder=HashEmbedder()) as memory:
            memory.search("database")
    except NotewellError as error:
        return error
    return None
