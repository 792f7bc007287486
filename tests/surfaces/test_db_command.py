"""`notewell db`: the tables in PostgreSQL."""

from __future__ import annotations

import json

import pytest
from tests.postgres_server import PASSWORD, PostgresServer

from notewell.cli import main
from notewell.postgres.address import VARIABLE


def test_tables_are_created_once_and_the_status_says_what_is_missing(
    postgres_server: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    postgres_server.create_database("by_command", migrated=False)
    monkeypatch.setenv(VARIABLE, postgres_server.owner_url("by_command"))
    assert main(["db", "status"]) == 1
    assert "run `notewell db init`" in capsys.readouterr().out
    assert main(["db", "init", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["applied"][0] == "1 index"
    assert main(["db", "migrate"]) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert main(["db", "status", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert any(one["message"].startswith("pgvector") for one in findings)


def test_a_user_without_rights_is_told_so_and_no_password_is_shown(
    postgres_server: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    postgres_server.create_database("not_ours", migrated=False)
    monkeypatch.setenv(VARIABLE, postgres_server.login_url("not_ours"))
    assert main(["db", "init"]) == 1
    shown = capsys.readouterr()
    assert "does not let this user create the extension pgvector: let an admin" in shown.err
    monkeypatch.setenv(VARIABLE, f"postgresql://u:{PASSWORD}@127.0.0.1:1/x")
    assert main(["db", "status"]) == 75
    shown = capsys.readouterr()
    assert "refuses the connection" in shown.err
    assert PASSWORD not in shown.err + shown.out


def test_without_an_address_it_says_which_variable_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert main(["db", "status"]) == 2
    assert VARIABLE in capsys.readouterr().err
