"""Which agent answers: by its id however it is written, by bindings, and by a session key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from tests.surfaces.tool_text import text_of

from notewell import Memory, open_memory
from notewell.config import load_configuration
from notewell.core import BadSessionKey, Route, UnknownAgent
from notewell.errors import BadSetting
from notewell.testing import HashEmbedder

AGENTS = ("main", "work", "family", "support")
BINDINGS = [
    {"agentId": "work", "match": {"channel": "slack"}},
    {"agentId": "family", "match": {"channel": "slack", "accountId": "home"}},
    {"agentId": "support", "match": {"channel": "slack", "peer": {"kind": "group", "id": "G1"}}},
    {"agentId": "family", "match": {"channel": "discord", "guildId": "g7"}},
    {"agentId": "support", "match": {"channel": "msteams", "teamId": "t7"}},
]


class Home:
    """A user with four agents, each with a folder and one note that names it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            "HOME": str(folder),
            "NOTEWELL_CONFIG": str(folder / "own.json"),
            "NOTEWELL_STATE_DIR": str(folder / "state"),
        }
        for id_ in AGENTS:
            (folder / id_).mkdir()
            (folder / id_ / "MEMORY.md").write_text(f"zebra of {id_}\n", encoding="utf-8")
        agents = [{"id": id_, "workspace": str(folder / id_)} for id_ in AGENTS]
        self.settings: dict[str, Any] = {"agents": {"list": agents}, "bindings": BINDINGS}
        self.write()

    def write(self) -> None:
        (self.folder / "own.json").write_text(json.dumps(self.settings), encoding="utf-8")

    def open(self, workspace: str | None = None, **message: Any) -> Memory:
        return open_memory(
            workspace, environment=self.environment, embedder=HashEmbedder(), **message
        )


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize(
    ("message", "agent"),
    [
        ({"channel": "slack"}, "work"),
        ({"channel": "Slack", "account": "office"}, "work"),
        ({"channel": "slack", "account": "home"}, "family"),
        ({"channel": "slack", "account": "home", "peer": ("group", "g1")}, "support"),
        ({"channel": "slack", "peer": ("direct", "g1")}, "work"),
        ({"channel": "discord"}, "main"),
        ({"channel": "discord", "guild": "g7"}, "family"),
        ({"channel": "msteams", "team": "t7"}, "support"),
        ({"channel": "telegram", "peer": ("dm", "7")}, "main"),
    ],
)
def test_bindings_decide_whose_notes_are_searched(
    home: Home, message: dict[str, Any], agent: str
) -> None:
    with home.open(**message) as memory:
        memory.sync()
        assert memory.agent == agent
        (hit,) = memory.search("zebra").hits
        assert f"zebra of {agent}" in hit.snippet


def test_a_named_agent_needs_no_workspace_if_the_settings_give_it_one(home: Home) -> None:
    with home.open(agent="Work") as memory:
        assert (memory.agent, memory.workspace) == ("work", home.folder / "work")
    with home.open() as memory:
        assert memory.agent == "main"
    # The caller's folder wins over that of the settings.
    with home.open(str(home.folder / "main"), channel="slack") as memory:
        assert (memory.agent, memory.workspace) == ("work", home.folder / "main")


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"agent": "work", "channel": "slack"}, "name an agent, or a channel that decides it"),
        ({"account": "home"}, "a message has one"),
        ({"channel": "slack", "peer": ("crowd", "1")}, "'crowd' is not a kind"),
        ({"agent": "no/id"}, "'no/id' is not an id"),
        ({"agent": "stranger"}, "give agent 'stranger' no folder"),
    ],
)
def test_a_message_that_cannot_be_routed_is_refused(
    home: Home, message: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadSetting, match=problem):
        home.open(**message)


def test_a_binding_that_is_not_understood_is_an_error_and_not_another_agent(home: Home) -> None:
    home.settings["bindings"] = [{"agentId": "work", "match": {"channel": "slack", "peer": 5}}]
    home.write()
    with pytest.raises(BadSetting, match="was not understood"):
        home.open(channel="slack")


def test_a_mistake_in_the_workspace_of_another_agent_stops_nobody(home: Home) -> None:
    (home.folder / "family" / "notewell.json").write_text("{", encoding="utf-8")
    with home.open(channel="slack") as memory:
        assert memory.agent == "work"


@pytest.mark.parametrize(
    ("key", "route"),
    [
        # The host routed it: the key names an agent that is not the default one.
        ("agent:family:slack:group:G1", Route("family", "key")),
        # The host knows no bindings, and writes `main` into every key.
        ("agent:main:slack:group:G1", Route("support", "peer")),
        ("agent:main:slack:home:dm:u7", Route("family", "account")),
        ("agent:main:slack:dm:u7", Route("work", "channel")),
        ("agent:main:main", Route("main", "default")),
        (
            "agent:nobody:slack:dm:u7",
            UnknownAgent("nobody", ("main", "work", "family", "support")),
        ),
    ],
)
def test_a_session_key_decides_too(home: Home, key: str, route: Route | UnknownAgent) -> None:
    assert load_configuration(environment=home.environment).route_session(key) == route


@pytest.mark.parametrize("command", [["mcp", "serve"], ["token", "create", "telegram"]])
def test_a_session_key_of_an_unknown_agent_is_refused(home: Home, command: list[str]) -> None:
    key = "agent:nobody:telegram:dm:x"
    done = run_notewell(home, *command, "--session-key", key)
    assert done.returncode == 2
    assert "'nobody'; the settings have: main, work, family, support" in done.stderr
    assert done.stdout == ""
    home.settings = {}
    home.write()
    # Without agents in the settings there is one memory, whatever id the host uses.
    done = run_notewell(home, *command, "--session-key", key)
    assert done.returncode == 0, done.stderr


def test_without_a_list_of_agents_too_a_key_does_not_lead_past_the_agent(home: Home) -> None:
    home.settings = {}
    home.write()
    arguments = ("mcp", "serve", "--agent", "main", "--session-key")
    done = run_notewell(home, *arguments, "agent:work:slack:dm:u7")
    assert (done.returncode, done.stdout) == (2, "")
    assert "it belongs to the agent 'work', and --agent is 'main'" in done.stderr
    assert run_notewell(home, *arguments, "agent:main:slack:dm:u7").returncode == 0


@pytest.mark.parametrize(
    ("options", "key", "problem"),
    [
        (["--agent", "main"], "agent:work:slack:dm:u7", "it belongs to the agent 'work'"),
        (["--agent", "main", "-w", "."], "agent:work:slack:dm:u7", "belongs to the agent 'work'"),
        (["-w", "."], "agent:work:slack:dm:u7", "whose notes are not in '.'"),
        (["--agent", "main"], "agent:nobody:slack:dm:u7", "it belongs to the agent 'nobody'"),
        (["--agent", "work"], "agent:work:slack:dm:u7", None),
        (["-w", "../work"], "agent:work:slack:dm:u7", None),
        # Hosts without agents of their own write `main` into every key.
        (["--agent", "work"], "agent:main:slack:dm:u7", None),
        (["--agent", "other", "-w", "."], "agent:other:slack:dm:u7", None),
    ],
)
def test_a_conversation_of_another_agent_is_not_served(
    home: Home, options: list[str], key: str, problem: str | None
) -> None:
    done = run_notewell(home, "mcp", "serve", *options, "--session-key", key)
    assert done.returncode == (2 if problem else 0), done.stderr
    assert (problem or "") in done.stderr
    assert done.stdout == ""


def run_notewell(home: Home, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "notewell", *arguments],
        env={**os.environ, **home.environment},
        cwd=home.folder / "main",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_a_bad_session_key_is_a_value(home: Home) -> None:
    configuration = load_configuration(environment=home.environment)
    assert isinstance(configuration.route_session("nonsense"), BadSessionKey)


def test_an_id_in_capitals_has_no_index_of_its_own(home: Home) -> None:
    command = [sys.executable, "-m", "notewell", "index", "-w", str(home.folder / "main")]
    for agent in ("main", "Main", "MAIN"):
        done = subprocess.run(
            [*command, "--agent", agent],
            env={**os.environ, **home.environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    for agent in ("Main", " main "):
        with home.open(str(home.folder / "main"), agent=agent) as memory:
            assert memory.agent == "main"
            memory.sync()
    (index,) = (home.folder / "state" / "memory").iterdir()
    assert index.name.startswith("main-")


@pytest.mark.parametrize(
    ("key", "agent"),
    [("agent:main:slack:group:G1", "support"), ("agent:family:slack:dm:u7", "family")],
)
def test_the_session_key_of_an_mcp_server_decides_whose_notes_it_finds(
    home: Home, key: str, agent: str
) -> None:
    allowed = {"scope": {"default": "allow"}, "curated": "shared"}
    home.settings |= {"memory": allowed}
    home.write()

    async def asking() -> str:
        started = StdioServerParameters(
            command=sys.executable,
            args=["-m", "notewell", "mcp", "serve", "--session-key", key],
            env={**os.environ, **home.environment},
            cwd=home.folder,
        )
        with anyio.fail_after(120):
            async with Client(started) as client:
                answer = await client.call_tool("memory_search", {"query": "zebra"})
                return text_of(answer)

    assert f"zebra of {agent}" in anyio.run(asking)
