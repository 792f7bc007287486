"""What the settings file of a workspace can do, which may come with a stranger's folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from notewell import Settings
from notewell.config import load_settings
from notewell.config.checks import (
    Choice,
    Duration,
    Flag,
    Key,
    Number,
    Paths,
    Sources,
    Unused,
    Url,
)
from notewell.config.registry import all_keys
from notewell.config.resolve import ConfigScope, read_configuration
from notewell.config.secret_values import Headers, SecretText
from notewell.config.workspace_rules import WORKSPACE_RULES

# -- every key of the table ----------------------------------------------------------------------

SAMPLES = {
    Headers: {"X-Sent": "x"},
    Paths: ["docs"],
    SecretText: "sk-stranger",
    Sources: ["memory", "sessions"],
    Unused: "x",
    Url: "https://stranger.example",
    Duration: "7s",
}


def sample(key: Key) -> object:
    """A valid value that is not the default."""
    check = key.check
    if isinstance(check, Flag):
        return not key.default
    if isinstance(check, Number):
        return check.high if check.high != key.default else check.low
    if isinstance(check, Choice):
        return next((choice for choice in check.choices if choice != key.default), key.default)
    return SAMPLES.get(type(check), "x")


def document(path: str, value: object) -> dict[str, Any]:
    """A file that sets one key, and the id where it is inside an entry of `agents.list`."""
    node: object = value
    parts = path.replace("[]", ".[]").replace("*", "openai").split(".")
    for part in reversed(parts):
        node = [node] if part == "[]" else {part: node}
    assert isinstance(node, dict)
    if path.startswith("agents.list[]"):
        node["agents"]["list"][0]["id"] = "main"
    return node


USER = {
    "agents": {
        "defaults": {
            "memorySearch": {"provider": "embedded", "experimental": {"sessionMemory": True}}
        }
    },
    "memory": {"backend": "qmd"},
    "plugins": {"entries": {"memory-lancedb": {"enabled": True}}},
}
"""QMD and entries are on, so that each of their settings is in the bundle that is compared."""


def effects(folder: Path, content: object) -> tuple[Settings, object, object]:
    """All that the files decide: the settings and values of agents, and what belongs to none."""
    (folder / "own.json").write_text(json.dumps(USER), encoding="utf-8")
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    (workspace / "notewell.json").write_text(json.dumps(content), encoding="utf-8")
    environment = {"HOME": str(folder), "NOTEWELL_CONFIG": str(folder / "own.json")}
    settings = load_settings(workspace, "main", environment)
    configuration = read_configuration(ConfigScope(workspace), environment)
    refused = [finding for finding in configuration.findings if finding.kind == "refused"]
    assert bool(settings.refused_keys) == bool(refused)
    agents = {id_: (agent.enabled, agent.values) for id_, agent in configuration.agents.items()}
    others = (configuration.bindings, configuration.providers, configuration.default_agent)
    return settings, (agents, others), refused


@pytest.mark.parametrize("path", sorted(all_keys()))
def test_a_key_that_is_not_on_the_list_has_no_effect(tmp_path: Path, path: str) -> None:
    key = all_keys()[path]
    settings, values, _ = effects(tmp_path, {})
    settings_after, values_after, refused = effects(tmp_path, document(path, sample(key)))
    is_same = replace(settings_after, refused_keys=()) == settings and values_after == values
    is_listed = key.path in WORKSPACE_RULES
    # What has no effect in any file is not refused in this one.
    assert bool(refused) is not (is_listed or isinstance(key.check, Unused))
    # An id names the agent of an entry and changes nothing by itself.
    assert is_same is (not is_listed or path == "agents.list[].id")


def test_the_list_is_short_and_names_keys_of_the_table() -> None:
    assert set(WORKSPACE_RULES) <= {key.path for key in all_keys().values()}
    others = {
        name
        for name in WORKSPACE_RULES
        if not name.startswith(("memorySearch.query.", "memorySearch.chunking."))
    }
    assert others == {"id", "memorySearch.enabled", "memorySearch.extraPaths"}


# -- where notes are sent ------------------------------------------------------------------------


class Provider(ThreadingHTTPServer):
    """An embeddings API on loopback that remembers what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(self.path)
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        vector = [1.0] + [0.0] * 1535
        answer = {"data": [{"index": at, "embedding": vector} for at in range(len(texts))]}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing: standard error belongs to the tests."""


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def search_settings(**search: object) -> str:
    return json.dumps({"agents": {"defaults": {"memorySearch": search}}})


class Machine:
    """A user with a key in the environment and an address in the own file, and a workspace."""

    def __init__(self, folder: Path, provider: Provider) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        (self.workspace / "MEMORY.md").write_text("We use SQLite.\n", encoding="utf-8")
        self.provider = provider
        self._own = folder / "own.json"
        self._environment = {
            **os.environ,
            "HOME": str(folder),
            "NOTEWELL_CONFIG": str(self._own),
            "NOTEWELL_STATE_DIR": str(folder / "state"),
            "OPENAI_API_KEY": "sk-user",
        }
        self.own("embedded")

    def own(self, name: str) -> None:
        remote = {"baseUrl": self.provider.url}
        self._own.write_text(search_settings(provider=name, remote=remote), encoding="utf-8")

    def workspace_file(self, text: str) -> None:
        (self.workspace / "notewell.json").write_text(text, encoding="utf-8")

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "notewell", *words, "-w", str(self.workspace)]
        return subprocess.run(
            command,
            env=self._environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path, provider: Provider) -> Machine:
    return Machine(tmp_path, provider)


@pytest.mark.parametrize(
    "content",
    [
        search_settings(provider="openai"),
        search_settings(provider="auto"),
        search_settings(fallback="openai", provider="local"),
        json.dumps({"agents": {"list": [{"id": "main", "memorySearch": {"provider": "openai"}}]}}),
    ],
)
def test_a_workspaces_file_sends_no_note_anywhere(
    machine: Machine, provider: Provider, content: str
) -> None:
    machine.workspace_file(content)
    indexed = machine("index")
    machine("search", "what do we use?")
    assert provider.requests == []
    assert "memorySearch.provider: a workspace's file may not set it" in indexed.stderr
    status = json.loads(machine("status", "--json").stdout)
    assert status["provider"] == "embedded"
    assert any(key.endswith("memorySearch.provider") for key in status["refusedKeys"])
    assert "a workspace's file may not set it" in machine("status").stdout
    checked = machine("config", "check")
    assert checked.returncode == 2
    assert "refused: " in checked.stdout
    assert "put it into your own file" in checked.stdout


@pytest.mark.parametrize(
    ("content", "mistakes"),
    [
        ("{ this is not a file of settings", "1 mistake"),
        (search_settings(chunking={"tokens": "many"}, query={"maxResults": 2}), "1 mistake"),
        (search_settings(chunkng={}, query={"maxresults": "x"}), "2 mistakes"),
    ],
)
def test_a_mistake_in_a_workspaces_file_stops_no_command_and_the_code_tells_it(
    machine: Machine, content: str, mistakes: str
) -> None:
    machine.workspace_file(content)
    indexed = machine("index")
    notice = f"ignored: {mistakes} in the workspace's settings file"
    assert (indexed.returncode, notice in indexed.stderr) == (5, True)
    for options in ((), ("--json",)):
        found = machine("search", "what do we use?", *options)
        assert (found.returncode, notice in found.stderr) == (5, True)
    status = machine("status", "--json")
    assert status.returncode == 5
    assert json.loads(status.stdout)["workspaceErrors"] == int(mistakes[0])
    assert f"{mistakes} in the workspace's settings file" in machine("status").stdout
    assert machine("config", "check").returncode == 2


def test_a_mistake_leaves_the_rest_of_a_workspaces_file(tmp_path: Path) -> None:
    settings = effects(
        tmp_path, json.loads(search_settings(chunking={"tokens": "x"}, enabled=False))
    )[0]
    assert (settings.off_because is None, settings.workspace_errors) == (False, 1)


def test_a_workspaces_file_does_not_clear_the_users_extra_paths(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(
        search_settings(provider="embedded", extraPaths=["/srv/wiki"]), encoding="utf-8"
    )
    (tmp_path / "notewell.json").write_text(search_settings(extraPaths=[]), encoding="utf-8")
    environment = {"HOME": str(tmp_path), "NOTEWELL_CONFIG": str(tmp_path / "own.json")}
    settings = load_settings(tmp_path, "main", environment)
    assert [extra.path for extra in settings.notes.extra_paths] == ["/srv/wiki"]
    assert settings.refused_keys == ("agents.defaults.memorySearch.extraPaths",)


def test_the_users_own_file_does_send_them(machine: Machine, provider: Provider) -> None:
    """The other half of the test above: without it, a wrong address would look like safety."""
    machine.own("openai")
    machine("index")
    assert provider.requests == ["/v1/embeddings"]


def test_init_does_not_write_a_path_that_would_be_refused(
    machine: Machine, tmp_path: Path
) -> None:
    (tmp_path / "wiki").mkdir()
    done = machine("init", "--extra", str(tmp_path / "wiki"))
    assert done.returncode == 2
    assert "add it to `extraPaths` in your own settings file" in done.stderr
    assert not (machine.workspace / "notewell.json").exists()
