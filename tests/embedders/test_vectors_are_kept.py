"""Vectors that are there are replaced only by vectors: an embedder that does not work replaces
none, and every run says which provider failed, why, and what was used.

Each test starts `notewell` as a process; the providers are servers on loopback sockets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.embedders.fake_server import FakeProvider
from tests.embedders.machine import Machine

REFUSED = "the key is not accepted (HTTP 401"
KEPT = "The index keeps its vectors of text-embedding-3-small"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def first() -> Iterator[FakeProvider]:
    with FakeProvider(dims=1536) as server:
        yield server


@pytest.fixture
def second() -> Iterator[FakeProvider]:
    with FakeProvider(dims=3072) as server:
        yield server


def openai(server: FakeProvider, **more: Any) -> dict[str, Any]:
    remote = {"baseUrl": server.url("openai"), "apiKey": "sk-0123456789"}
    return {"provider": "openai", "remote": remote, **more}


def google(server: FakeProvider, name: str = "gemini") -> dict[str, Any]:
    return {"providers": {name: {"baseUrl": server.url("gemini"), "apiKey": "g-0123456789"}}}


def status(machine: Machine) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(machine.run("status", "--json").stdout)
    return payload


def made_by(machine: Machine) -> tuple[str, int]:
    """The provider in use, and how many chunks have a vector that it can compare."""
    now = status(machine)
    return now["provider"], now["vector"]["embedded"] if now["vector"]["available"] else 0


def found(machine: Machine, question: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(machine.run("search", "--json", question).stdout)
    return payload


def test_index_says_which_provider_failed_why_and_what_was_used(
    machine: Machine, first: FakeProvider
) -> None:
    first.always("401")
    machine.configure(openai(first, fallback="embedded"))
    for _ in range(2):  # The second run finds an index of the fallback, and asks the first again.
        indexed = machine.run("index")
        assert indexed.returncode == 5
        assert "openai is not used, embedded is: fallback, because the 'openai'" in indexed.stderr
        assert REFUSED in indexed.stderr
    indexed = machine.run("index", "--json")
    assert indexed.returncode == 5
    fallback = json.loads(indexed.stdout)["fallback"]
    assert (fallback["from"], fallback["to"]) == ("openai", "embedded")
    assert REFUSED in fallback["reason"]
    first.always(None)
    indexed = machine.run("index", "--json")
    assert (indexed.returncode, json.loads(indexed.stdout)["fallback"]) == (0, None)


def test_a_fallback_without_a_key_leaves_the_vectors_and_names_a_key_that_counts(
    machine: Machine, first: FakeProvider
) -> None:
    machine.configure(openai(first, fallback="gemini"))
    assert machine.run("index").returncode == 0
    first.always("401")
    machine.write_note("2026-11-02.md", "# Boat\n\nThe boat is green.\n")
    indexed = machine.run("index")
    assert indexed.returncode == 5
    assert "built a new index" not in indexed.stderr
    assert REFUSED in indexed.stderr
    fallback = indexed.stderr.partition("The fallback cannot take its place: ")[2]
    assert "set GEMINI_API_KEY or GOOGLE_API_KEY or models.providers.gemini.apiKey" in fallback
    assert "remote.apiKey" not in fallback
    assert KEPT in fallback
    assert made_by(machine) == ("openai", 1)
    assert KEPT in status(machine)["lastError"]["message"]
    # The words are up to date.
    assert [hit["path"] for hit in found(machine, "boat")["results"]] == ["memory/2026-11-02.md"]
    first.always(None)
    indexed = machine.run("index", "--json")
    report = json.loads(indexed.stdout)
    assert (indexed.returncode, report["rebuilt"], report["vectorsAdded"]) == (0, None, 1)


def test_a_fallback_that_refuses_too_leaves_the_vectors(
    machine: Machine, first: FakeProvider, second: FakeProvider
) -> None:
    machine.configure(openai(first, fallback="gemini"), models=google(second))
    assert machine.run("index").returncode == 0
    first.always("401")
    second.always("401")
    machine.write_note("2026-11-02.md", "# Boat\n\nThe boat is green.\n")
    indexed = machine.run("index")
    assert indexed.returncode == 5
    assert indexed.stderr.count(REFUSED) == 2
    assert KEPT in indexed.stderr
    assert made_by(machine) == ("openai", 1)
    second.always(None)  # One that works takes over, with vectors of its own.
    indexed = machine.run("index", "--json")
    assert (indexed.returncode, json.loads(indexed.stdout)["fallback"]["to"]) == (5, "gemini")
    assert made_by(machine) == ("gemini", 2)


def test_a_fallback_that_stands_in_for_a_missing_key_must_work_before_it_replaces_vectors(
    machine: Machine, first: FakeProvider, second: FakeProvider
) -> None:
    entry = {"baseUrl": first.url("openai"), "apiKey": "env:LAB_TOKEN", "models": ["m"]}
    models = {"providers": {"mylab": entry, **google(second)["providers"]}}
    machine.configure({"provider": "mylab", "fallback": "gemini"}, models=models)
    machine.variables["LAB_TOKEN"] = "lab-0123456789"
    assert machine.run("index").returncode == 0
    del machine.variables["LAB_TOKEN"]
    second.always("401")
    machine.write_note("2026-11-02.md", "# Boat\n\nThe boat is green.\n")
    indexed = machine.run("index")
    assert (indexed.returncode, "built a new index" in indexed.stderr) == (5, False)
    assert "The index keeps its vectors of m" in indexed.stderr
    assert found(machine, "boat")["results"]
    machine.variables["LAB_TOKEN"] = "lab-0123456789"
    report = json.loads(machine.run("index", "--json").stdout)
    assert (report["rebuilt"], report["vectorsAdded"]) == (None, 1)


def test_another_provider_in_the_settings_must_work_before_it_replaces_vectors(
    machine: Machine, first: FakeProvider, second: FakeProvider
) -> None:
    machine.configure(openai(first))
    assert machine.run("index").returncode == 0
    machine.configure({"provider": "gemini"}, models=google(second))
    second.always("401")
    indexed = machine.run("index")
    assert (indexed.returncode, "built a new index" in indexed.stderr) == (5, False)
    assert KEPT in indexed.stderr
    assert found(machine, "router")["mode"] == "keyword"
    machine.run("index", "--text-only")  # Words alone replace no vectors either.
    machine.configure(openai(first))
    assert made_by(machine) == ("openai", 1)
    machine.configure({"provider": "gemini"}, models=google(second))
    second.always(None)
    assert machine.run("index").returncode == 0
    assert made_by(machine) == ("gemini", 1)


def test_the_fallback_of_an_index_is_known_by_any_of_its_names(
    machine: Machine, first: FakeProvider, second: FakeProvider
) -> None:
    first.always("401")
    machine.configure(openai(first, fallback="Google"), models=google(second, "google"))
    assert machine.run("index").returncode == 5
    answer = found(machine, "router")
    assert (answer["mode"], answer["provider"]) == ("hybrid", "gemini")


# -- messages name the setting that counts -------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "setting"),
    [("404", "models.providers.mylab.baseUrl"), ("401", "models.providers.mylab.apiKey")],
)
def test_an_error_of_a_provider_of_the_users_own_names_its_entry(
    machine: Machine, first: FakeProvider, fault: str, setting: str
) -> None:
    first.always(fault)
    entry = {"baseUrl": first.url("openai"), "apiKey": "lab-0123456789", "models": ["m"]}
    machine.configure({"provider": "mylab"}, models={"providers": {"mylab": entry}})
    indexed = machine.run("index")
    assert (indexed.returncode, setting in indexed.stderr) == (5, True)
    assert "remote." not in indexed.stderr


@pytest.mark.parametrize(
    ("fault", "setting"), [("404", "remote.baseUrl"), ("401", "(remote.apiKey)")]
)
def test_an_error_at_the_address_of_the_settings_names_them(
    machine: Machine, first: FakeProvider, fault: str, setting: str
) -> None:
    first.always(fault)
    machine.configure(openai(first))
    assert setting in machine.run("index").stderr


def test_a_question_that_took_too_long_names_the_setting_of_its_time(
    machine: Machine, first: FakeProvider
) -> None:
    machine.configure(openai(first, query={"embeddingTimeoutSeconds": 0.3}))
    assert machine.run("index").returncode == 0
    first.always("hang")
    searched = machine.run("search", "router")
    assert searched.returncode == 5
    assert "query.embeddingTimeoutSeconds" in searched.stderr
