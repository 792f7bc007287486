"""A memory whose notes and index are both in PostgreSQL: `-w postgres:`."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.postgres_server import PASSWORD, PostgresServer, everything_in

from notewell import open_memory
from notewell.capture import Message
from notewell.cli import main
from notewell.errors import NotesNotInFolder
from notewell.postgres import Scope
from notewell.postgres.address import VARIABLE
from notewell.testing import HashEmbedder
from notewell.tools import KeptSaid, keep_said


class Client:
    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys = root, capsys

    @property
    def tenant(self) -> str:
        name: str = self._search()["store"]["tenant"]
        return name

    def set(self, key: str, value: object) -> None:
        """In the user's own settings."""
        self._write({**self._search(), key: value})

    def _search(self) -> dict[str, Any]:
        whole = json.loads((self.root / "own.json").read_text(encoding="utf-8"))
        search: dict[str, Any] = whole["agents"]["defaults"]["memorySearch"]
        return search

    def _write(self, search: dict[str, Any]) -> None:
        whole = {"agents": {"defaults": {"memorySearch": search}}}
        (self.root / "own.json").write_text(json.dumps(whole), encoding="utf-8")

    def run(self, *words: str, state: str = "state", expected: int = 0) -> dict[str, Any]:
        place = ["-w", "postgres:", "--json", "--state-dir", str(self.root / state)]
        code = main([words[0], *place, *words[1:]])
        output = self._capsys.readouterr()
        assert code == expected, output
        assert PASSWORD not in output.out + output.err
        answer: dict[str, Any] = json.loads(output.out)
        return answer


@pytest.fixture(params=["postgres", "sqlite"])
def client(
    request: pytest.FixtureRequest,
    postgres_server: PostgresServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Client:
    store = {"driver": request.param, "tenant": f"tenant-{uuid.uuid4()}"}
    whole = {"agents": {"defaults": {"memorySearch": {"store": store}}}}
    (tmp_path / "own.json").write_text(json.dumps(whole), encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_CONFIG", str(tmp_path / "own.json"))
    monkeypatch.setenv(VARIABLE, postgres_server.login_url("notewell"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return Client(tmp_path, capsys)


def test_a_note_appended_on_one_machine_is_found_on_another_without_any_folder(
    client: Client,
) -> None:
    written = client.run("append", "We chose the database PostgreSQL for the router.")
    assert written["added"]
    client.run("index")
    hits = client.run("search", "Which database did we choose?", state="another")["results"]
    assert hits[0]["path"] == written["path"]
    assert "PostgreSQL" in json.dumps(client.run("get", written["path"]))
    assert list((client.root / "here").iterdir()) == []
    client.run("search", "database", "--agent", "other", expected=3)


def test_every_command_works_without_a_folder(client: Client) -> None:
    client.run("append", "We chose the database PostgreSQL.")
    client.run("index")
    assert client.run("status")["chunks"] == 1
    verified = client.run("verify")
    assert (verified["ok"], verified["notes"], verified["chunks"]) == (True, 1, 1)
    client.run("append", "The router is replaced on Friday.")
    (difference,) = client.run("verify", expected=5)["disagreements"]
    assert "changed since it was indexed" in difference["told"]
    for write in client.run("history")["writes"]:
        client.run("undo", write["id"])
    client.run("index")
    assert client.run("status")["chunks"] == 0


def test_the_doctor_examines_the_server_and_the_notes_in_it(client: Client) -> None:
    client.run("append", "We chose the database PostgreSQL.")
    found = client.run("doctor", expected=5)
    assert [one["todo"] for one in found["findings"] if one["todo"]] == [
        "run `notewell index`; `notewell doctor --fix` does it"
    ]
    done = client.run("doctor", "--fix")
    told = [one["told"] for one in done["findings"]]
    for part in ("PostgreSQL 18", "pgvector 0.8", "row-level security is forced", "migrations"):
        assert sum(one.count(part) for one in told) == 1, part
    assert any(one.startswith("1 note in postgresql://") for one in told)
    assert any("connections are in use" in one for one in told)


def test_the_doctor_explains_a_database_that_cannot_be_reached_or_is_not_named(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"postgresql://u:{PASSWORD}@127.0.0.1:1/x")
    found = client.run("doctor", expected=5)["findings"]
    assert any("refuses the connection" in one["told"] for one in found)
    monkeypatch.delenv(VARIABLE)
    found = client.run("doctor", expected=5)["findings"]
    assert any("no database is named" in one["told"] for one in found)


def test_a_conversation_of_a_program_is_found_on_another_machine_and_can_be_forgotten(
    client: Client, postgres_server: PostgresServer
) -> None:
    client.set("sessions", {"keep": {"enabled": True}})
    said = [
        Message("user", "Where is the giraffe of the router room?"),
        Message("assistant", "It moved to the cellar in October."),
        Message("user", "Who moved it?"),
    ]
    with open_memory("postgres:", state_dir=client.root / "one") as memory:
        assert keep_said(memory, "http", "s1", said, cwd=None) == KeptSaid(3)
    for state in ("other", "one", "other"):  # No machine takes it out of the index again.
        client.run("index", state=state)
        hits = client.run("search", "giraffe router room", state=state)["results"]
        assert [hit["path"] for hit in hits] == ["sessions/kept/http-s1.jsonl"]
    assert client.run("verify", state="other")["ok"]
    forgotten = client.run("forget", "giraffe", "--yes", state="other")
    assert forgotten["forgotten"] is True
    for state in ("other", "one"):
        client.run("index", state=state)
        client.run("search", "giraffe", state=state, expected=3)
        hits = client.run("search", "who moved it to the cellar", state=state)["results"]
        assert "October" in hits[0]["snippet"]
    scope = Scope(client.tenant, "main")
    assert "iraffe" not in repr(everything_in(postgres_server, "notewell", scope))


def test_what_needs_files_says_so(client: Client) -> None:
    memory = open_memory("postgres:", state_dir=client.root / "state", embedder=HashEmbedder())
    with memory, pytest.raises(NotesNotInFolder):
        _ = memory.workspace


def test_a_workspace_cannot_choose_the_database(client: Client) -> None:
    """A file beside the notes has no say: there is no folder that it could lie in."""
    evil = {"memorySearch": {"store": {"url": "postgresql://evil.example/x", "tenant": "theirs"}}}
    (client.root / "here" / "notewell.json").write_text(json.dumps(evil), encoding="utf-8")
    client.run("append", "one")
    folder = client.root / "here" / "postgres:"
    folder.mkdir()
    (folder / "notewell.json").write_text(json.dumps(evil), encoding="utf-8")
    client.run("append", "two")
