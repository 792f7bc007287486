"""The OpenClaw plugin: its code in Node, over the real program. The real host is in `hosts.sh`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import notewell
from notewell.tools import TOOLS

HERE = Path(__file__).parent
PLUGIN = HERE.parents[1] / "plugins" / "openclaw"
PRIVATE = {"agentId": "main", "sessionKey": "agent:main:telegram:dm:ada"}
GROUP = {"agentId": "main", "sessionKey": "agent:main:telegram:group:-100"}
OTHER = {"agentId": "work", "sessionKey": "agent:work:main"}

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or os.name != "posix", reason="needs Node on a POSIX system"
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A machine with an OpenClaw of two agents, and the program as a file."""
    state = tmp_path / ".openclaw"
    config = {
        "agents": {"entries": {"main": {"default": True}, "work": {}}},
        "memory": {"search": {"provider": "none"}},
    }
    for folder, text in (("workspace", "The walrus is Otto."), ("workspace-work", "No walrus.")):
        (state / folder / "memory").mkdir(parents=True)
        (state / folder / "MEMORY.md").write_text(f"{text}\n", encoding="utf-8")
    zoo = state / "workspace" / "memory" / "zoo.md"
    zoo.write_text("The walrus eats fish.\n", encoding="utf-8")
    (state / "openclaw.json").write_text(json.dumps(config), encoding="utf-8")
    program = tmp_path / "notewell"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/started\nexec {sys.executable} -m notewell "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    return tmp_path


def node(home: Path, driver: str, asked: dict[str, Any]) -> dict[str, Any]:
    state = home / "state"
    environ = {**os.environ, "HOME": str(home), "NOTEWELL_STATE_DIR": str(state)}
    ended = subprocess.run(
        ["node", str(HERE / driver), json.dumps(asked)],
        capture_output=True,
        encoding="utf-8",
        timeout=240,
        env={**environ, "OPENCLAW_STATE_DIR": "", "OPENCLAW_CONFIG_PATH": ""},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    printed: dict[str, Any] = json.loads(ended.stdout)
    return printed


def drive(home: Path, *calls: dict[str, Any], **asked: Any) -> dict[str, Any]:
    asked = {"pluginConfig": {"command": str(home / "notewell")}, **asked}
    plugin = str(PLUGIN / "index.js")
    return node(home, "openclaw_driver.mjs", {"plugin": plugin, "calls": calls, **asked})


def serve(home: Path, calls: list[str], **asked: Any) -> dict[str, Any]:
    args = ["mcp", "serve", "--openclaw", "--agent", "main", "--session-key-per-call"]
    asked = {
        "server": {"command": str(home / "notewell"), "args": args},
        "tool": "memory_search",
        "args": {"query": "walrus"},
        **asked,
    }
    module = str(PLUGIN / "server.js")
    return node(home, "openclaw_server_driver.mjs", {"module": module, "calls": calls, **asked})


def search(**context: str) -> dict[str, Any]:
    return {"tool": "memory_search", "args": {"query": "walrus"}, **context}


def text_of(answer: dict[str, Any]) -> str:
    (block,) = answer["content"]
    assert block["type"] == "text"
    return str(block["text"])


def test_the_versions_and_the_lists_of_tools_agree(home: Path) -> None:
    manifest = json.loads((PLUGIN / "openclaw.plugin.json").read_text(encoding="utf-8"))
    package = json.loads((PLUGIN / "package.json").read_text(encoding="utf-8"))
    assert manifest["version"] == package["version"] == notewell.__version__
    assert set(package["files"]) == {path.name for path in PLUGIN.iterdir()} - {"package.json"}
    registered = drive(home)
    assert registered["kind"] == manifest["kind"] == "memory"
    assert {"promptBuilder", "flushPlanResolver"} <= set(registered["capability"])
    assert manifest["contracts"]["tools"] == sorted(tool["name"] for tool in registered["tools"])
    served = {spec.name: spec.input_schema for spec in TOOLS}
    for tool in registered["tools"]:
        schema = served[tool["name"]]
        assert tool["parameters"]["required"] == schema["required"]
        assert tool["parameters"]["properties"].keys() == schema["properties"].keys()


def test_an_answer_reaches_the_model_once(home: Path) -> None:
    text = "The penguin is called Pia."
    saved, found, read = drive(
        home,
        {"tool": "memory_append", "args": {"text": text}, **PRIVATE},
        {"tool": "memory_search", "args": {"query": "penguin"}, **PRIVATE},
        {"tool": "memory_get", "args": {"path": "MEMORY.md"}, **PRIVATE},
    )["answers"]
    assert "Saved" in text_of(saved)
    assert json.dumps(found).count(text) == 1
    assert json.dumps(read).count("Otto") == 1
    notes = (home / ".openclaw" / "workspace" / "memory").glob("2*.md")
    assert [text in note.read_text(encoding="utf-8") for note in notes] == [True]


def test_each_conversation_and_each_agent_sees_its_own(home: Path) -> None:
    mixed_up = {**PRIVATE, "agentId": "work"}
    nobody = {"sessionKey": "main"}
    driven = drive(home, *(search(**who) for who in (PRIVATE, GROUP, OTHER, mixed_up, nobody)))
    private, group, other, confused, unknown = map(text_of, driven["answers"])
    assert "Otto" in private
    assert "Otto" not in group
    assert "eats fish" in group
    assert "No walrus" in other
    assert "Otto" not in other
    assert "may not see the memory" in confused
    assert "did not say which agent" in unknown
    # One program per agent, for all its conversations.
    started = (home / "started").read_text(encoding="utf-8").splitlines()
    assert sorted(started) == [
        f"mcp serve --openclaw --agent {agent} --session-key-per-call"
        for agent in ("main", "work")
    ]


def test_a_program_that_is_missing_is_named_with_the_next_step(home: Path) -> None:
    driven = drive(home, search(**PRIVATE), pluginConfig={"command": "/nowhere/notewell"})
    (answer,) = driven["answers"]
    assert answer["details"] == {"unavailable": True}
    assert "'/nowhere/notewell' was not found" in text_of(answer)
    assert "plugins.entries.notewell.config.command" in text_of(answer)
    assert "was not found" in driven["logged"][-1]


def test_other_tools_of_the_same_name_are_reported(home: Path) -> None:
    slots = {"slots": {"memory": "notewell"}}
    (said,) = drive(home, config={"plugins": slots})["logged"]
    assert "openclaw plugins disable memory-core" in said
    entries = {"memory-core": {"enabled": False}}
    assert drive(home, config={"plugins": {**slots, "entries": entries}})["logged"] == []


@pytest.mark.parametrize("early", [False, True])
def test_a_program_that_dies_is_started_again(home: Path, early: bool) -> None:
    """`early`: the next call is sent before its end is known."""
    served = serve(home, ["", "kill"], early=early, version="0.0.1")
    assert all("Otto" in answer["text"] for answer in served["answers"])
    assert len((home / "started").read_text(encoding="utf-8").splitlines()) == 2
    assert f"the program is {notewell.__version__}" in served["logged"][0]


def test_a_program_that_always_ends_is_not_started_for_ever(home: Path) -> None:
    script = f"require('fs').appendFileSync('{home}/started', 'x'); console.error('no /home/x')"
    served = serve(home, [""] * 9, server={"command": "node", "args": ["-e", script]})
    errors = [answer["error"] for answer in served["answers"]]
    # What it wrote may name a folder of the user: it goes to the log, and not to the model.
    assert errors[0].endswith("it ended with code 0; the log of OpenClaw has its last words")
    assert not any("/home/x" in error for error in errors)
    assert "no /home/x" in served["logged"][0]
    assert "is not started again for now: it ended with code 0" in errors[-1]
    assert (home / "started").read_text(encoding="utf-8") == "xxxx"


def test_a_program_that_is_silent_is_given_up(home: Path) -> None:
    stuck = {"command": "node", "args": ["-e", "setInterval(() => 0, 1000)"]}
    served = serve(home, [""], server={**stuck, "startTimeoutMs": 300})
    assert "did not start" in served["answers"][0]["error"]
    # It shakes hands and then says nothing: after two calls a new one is tried.
    script = (
        f"require('fs').appendFileSync('{home}/started', 'x');"
        "process.stdin.once('data', () => console.log("
        "JSON.stringify({jsonrpc: '2.0', id: 1, result: {}})))"
    )
    mute = {"command": "node", "args": ["-e", script]}
    served = serve(home, [""] * 3, server=mute, timeoutMs=1000)
    assert all("did not answer within" in answer["error"] for answer in served["answers"])
    assert (home / "started").read_text(encoding="utf-8") == "xx"


def test_the_section_of_the_prompt_names_only_the_tools_that_are_there(home: Path) -> None:
    assert drive(home)["section"] == []
    section = "\n".join(drive(home, available=["memory_search", "memory_get"])["section"])
    assert "memory_search" in section
    assert "memory_get" in section
    assert "memory_append" not in section


def test_the_flush_before_a_compaction_follows_the_settings(home: Path) -> None:
    late = datetime(2026, 11, 15, 23, 30, tzinfo=UTC).timestamp() * 1000

    def plan(memory_flush: dict[str, Any], **more: Any) -> Any:
        defaults = {"userTimezone": "Asia/Tokyo", "compaction": {"memoryFlush": memory_flush}}
        flush = {"cfg": {"agents": {"defaults": defaults}}, "nowMs": late, **more}
        return drive(home, flush=flush)["plan"]

    assert plan({"enabled": False}) is None
    small = plan({"forceFlushTranscriptBytes": "3mb"}, contextWindowTokens=16_000)
    assert small["relativePath"] == "memory/2026-11-16.md"
    assert small["relativePath"] in small["prompt"]
    assert "NO_REPLY" in small["prompt"]
    assert small["forceFlushTranscriptBytes"] == 3 * 2**20
    assert 0 < small["softThresholdTokens"] + small["reserveTokensFloor"] < 16_000
    large = plan({"softThresholdTokens": 9000}, contextWindowTokens=200_000)
    assert (large["softThresholdTokens"], large["reserveTokensFloor"]) == (9000, 20_000)
