"""A key setting refers to a variable that the host did not pass on: the key is missing, and
everything that needs no key works as before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.embedders.fake_server import FakeProvider
from tests.embedders.machine import Machine
from tests.embedders.test_environment_keys import ask_over_mcp

KEY = "lab-canary-0123456789"
REFERENCES = ["${LAB_KEY}", "env:LAB_KEY", "lab-${LAB_KEY}", {"source": "env", "id": "LAB_KEY"}]
DEGRADED = 5


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


def configure_remote(machine: Machine, server: FakeProvider, reference: object) -> str:
    remote = {"baseUrl": server.url("openai"), "apiKey": reference}
    machine.configure({"provider": "openai", "outputDimensionality": 8, "remote": remote})
    return "remote.apiKey"


def configure_entry(machine: Machine, server: FakeProvider, reference: object) -> str:
    entry = {"baseUrl": server.url("openai"), "apiKey": reference, "models": [{"id": "m"}]}
    machine.configure({"provider": "mylab"}, models={"providers": {"mylab": entry}})
    return "models.providers.mylab.apiKey"


def embedder_of(machine: Machine) -> dict[str, Any]:
    embedder: dict[str, Any] = json.loads(machine.run("status", "--json").stdout)["embedder"]
    return embedder


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("configure", [configure_remote, configure_entry])
def test_search_goes_on_by_keyword_and_status_names_the_variable(
    machine: Machine, server: FakeProvider, configure: Any, reference: object
) -> None:
    setting = configure(machine, server, reference)
    found = machine.run("search", "router", "--json")
    assert found.returncode in (0, DEGRADED), found.stderr
    assert json.loads(found.stdout)["results"]
    assert "LAB_KEY" in found.stdout + found.stderr
    status = machine.run("status")
    assert status.returncode == DEGRADED, status.stderr
    assert f"{setting} names the environment (LAB_KEY), and no key is there" in status.stdout
    assert "LAB_KEY" in embedder_of(machine)["why"]
    checked = machine.run("config", "check")
    assert checked.returncode == 0
    assert f"{setting}: the environment has no LAB_KEY" in checked.stdout
    assert server.seen == []


@pytest.mark.parametrize("value", ["", "  "])
def test_notes_are_read_and_written_and_hooks_answer(
    machine: Machine, server: FakeProvider, value: str
) -> None:
    machine.variables["LAB_KEY"] = value
    configure_remote(machine, server, "${LAB_KEY}")
    note = machine.run("get", "memory/2026-11-01.md")
    assert (note.returncode, "router" in note.stdout) == (0, True)
    assert machine.run("append", "The switch is in the cellar.").returncode == 0
    payload = json.dumps({"session_id": "s", "cwd": str(machine.workspace)})
    started = machine.run("hook", "session-start", "--host", "claude", stdin=payload)
    assert (started.returncode, started.stdout != "") == (0, True)
    assert server.seen == []


def test_an_mcp_server_shakes_hands_and_answers(machine: Machine, server: FakeProvider) -> None:
    configure_entry(machine, server, "${LAB_KEY}")
    ask_over_mcp(machine)
    assert server.seen == []


def test_an_index_with_vectors_stays_until_the_variable_is_back(
    machine: Machine, server: FakeProvider
) -> None:
    configure_remote(machine, server, "${LAB_KEY}")
    machine.variables["LAB_KEY"] = KEY
    assert machine.run("index").returncode == 0
    requests = len(server.seen)
    del machine.variables["LAB_KEY"]
    assert json.loads(machine.run("search", "router", "--json").stdout)["results"]
    assert len(server.seen) == requests
    machine.variables["LAB_KEY"] = KEY
    status = machine.run("status")
    assert status.returncode == 0, status.stdout
    assert "1 with a vector" in status.stdout
    assert {seen.headers["authorization"] for seen in server.seen} == {f"Bearer {KEY}"}


@pytest.mark.parametrize("reference", ["env:LAB_KEY", "${LAB_KEY}"])
def test_auto_does_not_silently_pass_over_a_provider_without_its_key(
    machine: Machine, reference: str
) -> None:
    machine.configure({"provider": "auto", "remote": {"apiKey": reference}})
    assert machine.run("index").returncode == 0
    status = machine.run("status")
    assert status.returncode == DEGRADED
    assert "openai is not used: remote.apiKey names the environment (LAB_KEY)" in status.stdout
    embedder = embedder_of(machine)
    assert embedder["used"] == "embedded"
    assert ["LAB_KEY" in text for text in embedder["brokenKeys"]] == [True]
    assert "remote.apiKey: the environment has no LAB_KEY" in machine.run("config", "check").stdout


def test_in_any_other_setting_an_unset_variable_is_an_error(machine: Machine) -> None:
    machine.configure({"remote": {"headers": {"X-Team": "${LAB_TEAM}"}}})
    failed = machine.run("get", "memory/2026-11-01.md")
    assert failed.returncode == 2
    assert "the environment has no LAB_TEAM" in failed.stderr
