"""A key, an address and headers go to the provider that they were written for, and to no other.

Each test starts `notewell` as a process and reads what arrived at servers on loopback sockets.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.embedders.fake_server import FakeProvider
from tests.embedders.machine import Machine

OPENAI_KEY = "sk-canary-openai-0123456789"
GEMINI_KEY = "g-canary-gemini-0123456789"
LAB_KEY = "lab-canary-0123456789"


class Request(NamedTuple):
    """What a wire log needs: which path, which key, which header of the user's."""

    path: str
    key: str
    team: str = ""


def requests_at(server: FakeProvider) -> set[Request]:
    return {
        Request(
            seen.path,
            seen.headers.get("x-goog-api-key")
            or seen.headers.get("authorization", "").removeprefix("Bearer "),
            seen.headers.get("x-team", ""),
        )
        for seen in server.seen
    }


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def first() -> Iterator[FakeProvider]:
    with FakeProvider() as server:
        yield server


@pytest.fixture
def second() -> Iterator[FakeProvider]:
    with FakeProvider(dims=3072) as server:
        yield server


def test_a_fallback_gets_neither_the_key_nor_the_address_of_the_first_provider(
    machine: Machine, first: FakeProvider
) -> None:
    first.always("401")
    remote = {"baseUrl": first.url("openai"), "apiKey": OPENAI_KEY, "headers": {"X-Team": "a"}}
    machine.configure({"provider": "openai", "fallback": "gemini", "remote": remote})
    indexed = machine.run("index")
    assert requests_at(first) == {Request("/openai/v1/embeddings", OPENAI_KEY, "a")}
    assert "gemini" in indexed.stderr + indexed.stdout
    status = json.loads(machine.run("status", "--json").stdout)
    assert OPENAI_KEY not in json.dumps(status)


def test_an_agent_with_another_provider_does_not_inherit_a_key_or_an_address(
    machine: Machine, first: FakeProvider, second: FakeProvider
) -> None:
    remote = {"baseUrl": first.url("openai"), "apiKey": OPENAI_KEY, "headers": {"X-Team": "a"}}
    google = {"baseUrl": second.url("gemini"), "apiKey": GEMINI_KEY}
    openai = {"provider": "openai", "model": "text-embedding-3-large", "remote": remote}
    main = {"id": "main", "memorySearch": {"provider": "gemini"}}
    machine.configure(
        {},
        agents={"defaults": {"memorySearch": openai}, "list": [main]},
        models={"providers": {"gemini": google}},
    )
    assert machine.run("index").returncode == 0
    assert requests_at(first) == set()
    assert {request.key for request in requests_at(second)} == {GEMINI_KEY}
    assert {request.team for request in requests_at(second)} == {""}
    assert "written for 'openai'" in machine.run("config", "check").stdout


def test_the_key_of_an_entry_does_not_go_to_another_address_of_the_provider(
    machine: Machine, first: FakeProvider, second: FakeProvider
) -> None:
    entry = {"baseUrl": second.url("openai"), "apiKey": LAB_KEY, "headers": {"X-Team": "lab"}}
    machine.configure(
        {"provider": "openai", "remote": {"baseUrl": first.url("openai")}},
        models={"providers": {"openai": entry}},
    )
    machine.run("index")
    assert requests_at(second) == set()
    assert {(request.key, request.team) for request in requests_at(first)} <= {("", "")}


def test_a_fallback_uses_its_own_entry(
    machine: Machine, first: FakeProvider, second: FakeProvider
) -> None:
    first.always("401")
    remote = {"baseUrl": first.url("openai"), "apiKey": OPENAI_KEY, "headers": {"X-Team": "a"}}
    google = {"baseUrl": second.url("gemini"), "apiKey": GEMINI_KEY, "headers": {"X-Team": "g"}}
    machine.configure(
        {"provider": "openai", "fallback": "gemini", "remote": remote},
        models={"providers": {"google": google}},
    )
    machine.run("index")
    assert requests_at(first) == {Request("/openai/v1/embeddings", OPENAI_KEY, "a")}
    path = "/gemini/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert requests_at(second) == {Request(path, GEMINI_KEY, "g")}
    found = json.loads(machine.run("search", "router", "--json").stdout)
    assert found["results"]


# -- entries of models.providers -----------------------------------------------------------------


def test_an_entry_decides_the_address_of_a_provider_of_ours(
    machine: Machine, first: FakeProvider
) -> None:
    gateway = {"baseUrl": first.url("openai"), "apiKey": OPENAI_KEY, "headers": {"X-Team": "a"}}
    machine.configure(
        {"provider": "openai", "outputDimensionality": 8},
        models={"providers": {"openai": gateway}},
    )
    indexed = machine.run("index")
    assert indexed.returncode == 0, indexed.stderr
    assert requests_at(first) == {Request("/openai/v1/embeddings", OPENAI_KEY, "a")}


def test_remote_settings_win_over_the_entry_of_their_provider(
    machine: Machine, first: FakeProvider, second: FakeProvider
) -> None:
    entry = {"baseUrl": second.url("openai"), "apiKey": "old", "headers": {"X-Team": "old"}}
    remote = {"baseUrl": first.url("openai"), "apiKey": OPENAI_KEY, "headers": {"x-team": "a"}}
    machine.configure(
        {"provider": "openai", "outputDimensionality": 8, "remote": remote},
        models={"providers": {"openai": entry}},
    )
    assert machine.run("index").returncode == 0
    assert requests_at(first) == {Request("/openai/v1/embeddings", OPENAI_KEY, "a")}
    assert not second.seen


@pytest.mark.parametrize(
    ("api", "family", "path"),
    [
        (None, "openai", "/openai/v1/embeddings"),
        ("openai-completions", "openai", "/openai/v1/embeddings"),
        ("openai-responses", "openai", "/openai/v1/embeddings"),
        ("google-generative-ai", "gemini", "/gemini/v1beta/models/some-model:batchEmbedContents"),
        ("voyage", "voyage", "/voyage/v1/embeddings"),
        ("ollama", "ollama", "/ollama/api/embed"),
    ],
)
def test_a_provider_of_the_users_own_has_its_address_key_and_wire_format(
    machine: Machine, first: FakeProvider, api: str | None, family: str, path: str
) -> None:
    entry = {"baseUrl": first.url(family), "apiKey": LAB_KEY, "headers": {"X-Team": "lab"}}
    machine.configure(
        {"provider": "mylab", "model": "some-model"},
        models={"providers": {"mylab": {**entry, **({"api": api} if api else {})}}},
    )
    # Keys of other providers lie around and stay where they are.
    machine.variables = {"OPENAI_API_KEY": OPENAI_KEY, "GEMINI_API_KEY": GEMINI_KEY}
    checked = machine.run("config", "check")
    assert checked.returncode == 0, checked.stderr + checked.stdout
    indexed = machine.run("index")
    assert indexed.returncode == 0, indexed.stderr
    assert requests_at(first) == {Request(path, LAB_KEY, "lab")}
    status = json.loads(machine.run("status", "--json").stdout)
    assert status["provider"] == "mylab"


def test_a_provider_of_the_users_own_can_be_the_fallback(
    machine: Machine, first: FakeProvider, second: FakeProvider
) -> None:
    first.always("401")
    remote = {"baseUrl": first.url("voyage"), "apiKey": "voyage-canary-0123456789"}
    entry = {"baseUrl": second.url("openai"), "apiKey": LAB_KEY}
    machine.configure(
        {"provider": "voyage", "fallback": "mylab", "remote": remote},
        models={
            "providers": {"mylab": {**entry, "models": [{"id": "chat"}, {"id": "some-embed"}]}}
        },
    )
    machine.run("index")
    keys = {request.key for request in requests_at(first)}
    assert keys == {"voyage-canary-0123456789"}
    assert requests_at(second) == {Request("/openai/v1/embeddings", LAB_KEY)}


@pytest.mark.parametrize("key", ["provider", "fallback"])
def test_an_api_without_vectors_is_refused_by_the_check_and_by_the_choice(
    machine: Machine, key: str
) -> None:
    entry = {"baseUrl": "https://chat.example/v1", "apiKey": LAB_KEY, "api": "anthropic-messages"}
    machine.configure({"provider": "openai", key: "chat"}, models={"providers": {"chat": entry}})
    for command in (("config", "check"), ("index",)):
        refused = machine.run(*command)
        assert refused.returncode != 0
        assert "anthropic-messages" in refused.stdout + refused.stderr
        assert "openai-completions" in refused.stdout + refused.stderr


def test_an_entry_without_an_address_sends_nothing_and_says_what_to_set(machine: Machine) -> None:
    machine.configure(
        {"provider": "mylab", "model": "some-model"},
        models={"providers": {"mylab": {"apiKey": LAB_KEY}}},
    )
    status = machine.run("status")
    assert "models.providers.mylab.baseUrl" in status.stdout + status.stderr


def test_with_auto_remote_settings_go_to_openai_alone(
    machine: Machine, first: FakeProvider
) -> None:
    machine.configure(
        {"provider": "auto", "remote": {"headers": {"X-Team": "secret-of-openai"}}},
        models={"providers": {"gemini": {"baseUrl": first.url("gemini"), "apiKey": GEMINI_KEY}}},
    )
    machine.run("index")
    path = "/gemini/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert requests_at(first) == {Request(path, GEMINI_KEY)}


# -- auth profiles -------------------------------------------------------------------------------


def write_profiles(state: Path, agent: str, profiles: dict[str, str]) -> Path:
    path = state / "agents" / agent / "agent" / "auth-profiles.json"
    path.parent.mkdir(parents=True)
    entries = {
        f"{provider}:default": {"type": "api_key", "provider": provider, "key": key}
        for provider, key in profiles.items()
    }
    path.write_text(json.dumps({"version": 1, "profiles": entries}), encoding="utf-8")
    path.chmod(0o600)
    return path


def test_keys_come_from_the_auth_profiles_of_openclaw(
    machine: Machine, first: FakeProvider
) -> None:
    state = machine.home / ".openclaw"
    path = write_profiles(state, "main", {"openai": OPENAI_KEY, "voyage": "not this one"})
    before = path.read_bytes()
    config = {
        "agents": {
            "defaults": {
                "workspace": str(machine.workspace),
                "memorySearch": {"provider": "openai", "outputDimensionality": 8},
            }
        },
        "models": {"providers": {"openai": {"baseUrl": first.url("openai")}}},
    }
    (state / "openclaw.json").write_text(json.dumps(config), encoding="utf-8")
    indexed = machine.run("index", "--openclaw")
    assert indexed.returncode == 0, indexed.stderr
    assert requests_at(first) == {Request("/openai/v1/embeddings", OPENAI_KEY)}
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    # Without --openclaw, the keys of that OpenClaw are not ours.
    first.seen.clear()
    machine.run("index")
    assert not first.seen


@pytest.mark.parametrize("openclaw", [True, False])
@pytest.mark.parametrize(
    ("in_settings", "in_file", "used"),
    [
        (None, None, "first"),
        (["openai:work"], None, "work"),
        (["openai:gone", "openai:work"], None, "work"),
        (["openai:work"], ["openai:first"], "first"),
    ],
)
def test_the_settings_order_the_auth_profiles(
    machine: Machine,
    first: FakeProvider,
    openclaw: bool,
    in_settings: list[str] | None,
    in_file: list[str] | None,
    used: str,
) -> None:
    state = machine.home / ".openclaw" if openclaw else machine.state
    path = write_profiles(state, "main", {})
    profiles = {
        f"openai:{name}": {"type": "api_key", "provider": "openai", "key": f"key-of-{name}"}
        for name in ("first", "work")
    }
    order = {"order": {"openai": in_file}} if in_file else {}
    path.write_text(json.dumps({"profiles": profiles, **order}), encoding="utf-8")
    search = {"provider": "openai", "outputDimensionality": 8}
    config = {
        "agents": {"defaults": {"workspace": str(machine.workspace), "memorySearch": search}},
        "models": {"providers": {"openai": {"baseUrl": first.url("openai")}}},
        "auth": {"order": {"openai": in_settings}} if in_settings else {},
    }
    if openclaw:
        (state / "openclaw.json").write_text(json.dumps(config), encoding="utf-8")
    else:
        machine.configure(search, models=config["models"], auth=config["auth"])
    indexed = machine.run("index", *(["--openclaw"] if openclaw else []))
    assert indexed.returncode == 0, indexed.stderr
    assert requests_at(first) == {Request("/openai/v1/embeddings", f"key-of-{used}")}


def test_keys_come_from_the_auth_profiles_in_our_own_state(
    machine: Machine, first: FakeProvider
) -> None:
    write_profiles(machine.state, "main", {"mylab": LAB_KEY})
    machine.configure(
        {"provider": "mylab", "model": "some-model"},
        models={"providers": {"mylab": {"baseUrl": first.url("openai")}}},
    )
    assert machine.run("index").returncode == 0
    assert requests_at(first) == {Request("/openai/v1/embeddings", LAB_KEY)}
    status = json.loads(machine.run("status", "--json").stdout)["embedder"]
    assert status["keyFrom"] == "the auth profile 'mylab:default'"
    assert not status["keyIsExposed"]


@pytest.mark.skipif(os.name == "nt", reason="no permission bits")
def test_status_says_when_other_users_can_read_the_profiles(machine: Machine) -> None:
    path = write_profiles(machine.state, "main", {"openai": OPENAI_KEY})
    machine.configure({"provider": "openai"})
    assert "other users can read" not in machine.run("status").stdout
    path.chmod(0o644)
    status = machine.run("status")
    assert f"chmod 600 {path}" in status.stdout
    assert OPENAI_KEY not in status.stdout


def test_a_profile_is_not_sent_to_an_address_of_memory_search_alone(
    machine: Machine, first: FakeProvider
) -> None:
    write_profiles(machine.state, "main", {"openai": OPENAI_KEY})
    remote = {"baseUrl": first.url("openai")}
    machine.configure({"provider": "openai", "outputDimensionality": 8, "remote": remote})
    machine.run("index")
    assert requests_at(first) == {Request("/openai/v1/embeddings", "")}


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["google", "Gemini"])
def test_another_name_of_a_provider_of_ours_is_that_provider(
    machine: Machine, first: FakeProvider, name: str
) -> None:
    entry = {"baseUrl": first.url("gemini"), "apiKey": GEMINI_KEY}
    search = {"provider": name, "outputDimensionality": 128}
    machine.configure(search, models={"providers": {"google": entry}})
    assert machine.run("index").returncode == 0
    path = "/gemini/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert requests_at(first) == {Request(path, GEMINI_KEY)}


def test_with_auto_an_entry_for_conversations_only_is_passed_over(machine: Machine) -> None:
    entry = {"apiKey": OPENAI_KEY, "api": "openai-codex-responses"}
    machine.configure({"provider": "auto"}, models={"providers": {"openai": entry}})
    assert machine.run("index").returncode == 0
    embedder = json.loads(machine.run("status", "--json").stdout)["embedder"]
    assert embedder["used"] == "embedded"
    (step,) = [step for step in embedder["steps"] if step["provider"] == "openai"]
    assert "openai-codex-responses" in step["why"]


@pytest.mark.parametrize("entry", [{"models": [{"id": "m"}]}, {"baseUrl": "https://lab.example"}])
def test_the_check_says_what_an_entry_lacks(machine: Machine, entry: dict[str, object]) -> None:
    machine.configure({"provider": "mylab"}, models={"providers": {"mylab": entry}})
    checked = machine.run("config", "check").stdout
    missing = "baseUrl" if "models" in entry else "models"
    assert f"no vectors: models.providers.mylab.{missing} is not set" in checked
