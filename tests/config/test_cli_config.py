"""`notewell config`, as it is typed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from notewell.cli import config

USER = """\
agents:
  defaults:
    memorySearch:
      provider: openai
      remote: {apiKey: s3cret, baseUrl: "https://me:pw@api.example.com", headers: {X-Key: h1dden}}
  list:
    - id: main
    - id: work
      workspace: ~/work
bindings:
  - agentId: work
    match: {channel: slack, peer: {kind: dm, id: u7}}
models: {providers: {voyage: {apiKey: v0yage}}}
"""


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NOTEWELL_CONFIG", str(tmp_path / "mine.yaml"))
    monkeypatch.delenv("OPENCLAW_STATE_DIR", raising=False)
    (tmp_path / "mine.yaml").write_text(USER, encoding="utf-8")

    def typed(*words: str) -> tuple[int, str]:
        parser = argparse.ArgumentParser()
        config.add_options(parser)
        workspace = [] if "-w" in words else ["-w", str(tmp_path)]
        code = config.run(parser.parse_args([*words, *workspace]))
        return code, capsys.readouterr().out

    return typed


def test_show_names_values_and_who_said_them(run: Any, tmp_path: Path) -> None:
    code, out = run("show", "--origin")
    assert code == 0
    lines = [" ".join(line.split()) for line in out.split("\n")]
    assert f'memorySearch.provider = "openai" # {tmp_path}/mine.yaml:4' in lines
    assert "memorySearch.query.maxResults = 6 # default" in lines
    assert "agent main" in lines
    assert "agent work" in lines
    assert any(line.startswith("bindings[0] = ") for line in lines)


def test_no_secret_is_shown(run: Any) -> None:
    for words in (("show",), ("show", "--origin"), ("show", "--json"), ("check", "--json")):
        _, out = run(*words)
        for secret in ("s3cret", "pw", "h1dden", "v0yage"):
            assert secret not in out
    assert '"***"' in run("show")[1]


def test_show_as_json_can_be_one_agent(run: Any) -> None:
    payload = json.loads(run("show", "--json", "--agent", "work")[1])
    (agent,) = payload["agents"]
    assert (agent["id"], agent["enabled"]) == ("work", True)
    assert agent["settings"]["memorySearch.provider"] == "openai"
    assert agent["origins"]["memorySearch.provider"].endswith("mine.yaml:4")
    assert payload["bindings"] == [
        {"agent": "work", "channel": "slack", "peer": {"kind": "direct", "id": "u7"}}
    ]


def test_check_lists_all_problems_and_fails(run: Any, tmp_path: Path) -> None:
    code, out = run("check")
    assert code == 2
    assert "remote.baseUrl: no user, query or fragment here" in out
    good = USER.replace("me:pw@", "")
    (tmp_path / "mine.yaml").write_text(good, encoding="utf-8")
    (tmp_path / "work").mkdir()
    code, out = run("check")
    assert (code, out.startswith("note: "), out.count("\n")) == (0, True, 1)
    bad = tmp_path / "notewell.json"
    bad.write_text(
        '{"agent": {},\n"memory": {"backend": "qmd"},\n'
        '"agents": {"defaults": {"memorySearch": {"query": {"maxResults": "x"}}}}}',
        encoding="utf-8",
    )
    code, out = run("check", str(bad))
    assert code == 2
    assert out.split("\n")[:-1] == [
        f"error: {bad}:1: agent: no such setting; did you mean 'agents'?",
        f"refused: {bad}:2: memory.backend: a workspace's file may come from a stranger, so "
        "it can set only ranking, chunks, paths inside the workspace and `enabled: false`: put it "
        "into your own file (the engine that answers)",
        f"error: {bad}:3: agents.defaults.memorySearch.query.maxResults: expected a whole number "
        "from 1 to 200, not 'x'",
    ]
    assert run("check")[0] == 2
    code, out = run("check", str(bad), "--as", "user", "--json")
    payload = json.loads(out)
    errors = [one for one in payload["findings"] if one["kind"] == "error"]
    assert (code, payload["ok"], len(errors)) == (2, False, 2)


def test_schema_prints_a_json_schema(run: Any) -> None:
    code, out = run("schema")
    assert code == 0
    assert json.loads(out)["title"] == "Notewell settings"


def test_without_an_openclaw_nothing_was_found(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    config.add_options(parser)
    assert config.run(parser.parse_args(["openclaw"])) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"no OpenClaw was found: there is no folder '{tmp_path}/.openclaw'" in shown.err
    assert run("openclaw", "--json")[0] == 3
    code, out = run("openclaw", str(tmp_path / "gone.json"))
    assert (code, "gone.json" in out) == (2, True)


def test_openclaw_shows_what_it_would_bring(run: Any, tmp_path: Path) -> None:
    state = tmp_path / ".openclaw"
    state.mkdir()
    file = state / "openclaw.json"
    file.write_text("{gateway: {},\nmemory: {search: {provider: 'openai'}}}", encoding="utf-8")
    code, out = run("openclaw")
    assert code == 0
    assert f"OpenClaw in {state}, configured by {file}" in out
    assert (
        f"agent main: notes in {state}/workspace, sessions in {state}/agents/main/sessions" in out
    )
    assert f"taken: {file}:2: agents.defaults.memorySearch.provider: taken: 'openai'" in out
    assert f"left: {file}:1: gateway: not about memory" in out
    payload = json.loads(run("openclaw", str(file), "--json")[1])
    assert payload["agents"][0]["workspace"] == f"{state}/workspace"
    assert run("check", str(file))[0] == 0


EVERY_ORIGIN = """\
agents:
  defaults:
    memorySearch:
      extraPaths: [~/wiki]
  list:
    - id: main
      memorySearch:
        extraPaths:
          - docs
models:
  providers:
    mylab:
      baseUrl: http://127.0.0.1:9/v1
      apiKey: s3cret
memory:
  scope:
    rules:
      - action: allow
        match: {chatType: direct}
      - action: deny
"""


def test_show_names_every_line_that_a_value_comes_from(run: Any, tmp_path: Path) -> None:
    own = tmp_path / "mine.yaml"
    own.write_text(EVERY_ORIGIN, encoding="utf-8")
    inner = tmp_path / "notewell.json"
    inner.write_text(
        '{"agents": {"defaults": {"memorySearch": {\n"extraPaths": ["inner"]}}}}', encoding="utf-8"
    )
    lines = [" ".join(line.split()) for line in run("show", "--origin")[1].split("\n")]
    origins = dict(line.split(" # ") for line in lines if " # " in line)
    by_key = {text.split(" = ")[0]: origin for text, origin in origins.items()}
    # A list that several places add to has all of them; a list of rules has its first line.
    assert by_key["memorySearch.extraPaths"] == f"{own}:4, {inner}:2, {own}:8"
    assert by_key["memory.scope.rules"] == f"{own}:18"
    assert by_key["models.providers.mylab.baseUrl"] == f"{own}:13"
    assert by_key["models.providers.mylab.apiKey"] == f"{own}:14"
    assert "models.providers.mylab.headers" not in by_key
    assert json.loads(run("show", "--json")[1])["providers"]["mylab"]["apiKey"] == "***"


def test_openclaw_takes_only_what_has_an_effect(run: Any, tmp_path: Path) -> None:
    state = tmp_path / ".openclaw"
    state.mkdir()
    (state / "openclaw.json").write_text(
        """{
        agents: {defaults: {memorySearch: {provider: "mistral", fallback: "gemini"}}},
        models: {providers: {anthropic: {apiKey: "a"}, google: {apiKey: "g"}}},
        memory: {qmd: {command: "qmd2", scope: {default: "allow"}}},
        plugins: {entries: {"memory-lancedb": {config: {autoRecall: true, embedding: {}}}}},
        bindings: [{agentId: "main", match: {channel: "slack", roles: []}},
                   {agentId: "main", match: {channel: "discord"}}]}""",
        encoding="utf-8",
    )
    findings = json.loads(run("openclaw", "--json")[1])["findings"]
    taken = {one["key"] for one in findings if one["kind"] == "taken"}
    left = {one["key"]: one["message"] for one in findings if one["kind"] == "left"}
    assert taken == {
        "agents.defaults.memorySearch.fallback",
        "models.providers.google.apiKey",
        "memory.qmd.scope.default",
        "bindings[1].agentId",
        "bindings[1].match.channel",
    }
    lance = "plugins.entries.memory-lancedb"
    assert left["memorySearch.provider"].startswith("Notewell has no provider 'mistral'")
    assert left["models.providers.anthropic.apiKey"] == (
        "not used: no agent computes vectors with it"
    )
    assert left["memory.qmd.command"] == "not used: memory.backend is not 'qmd'"
    assert left[f"{lance}.config.autoRecall"] == f"not used: {lance}.enabled is not true"
    assert left[f"{lance}.config.embedding"].startswith("not used: entries use the embedder")
    assert left["bindings[0].agentId"] == "not used: bindings[0] is not"


def test_a_fallback_that_cannot_be_chosen_is_a_problem(run: Any, tmp_path: Path) -> None:
    """`index` would refuse it; `check` must not be content before."""
    text = USER.replace("provider: openai", "provider: openai\n      fallback: auto")
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    code, out = run("check")
    assert code == 2
    assert "memorySearch.fallback: 'auto' is no fallback" in out


def test_a_workspace_that_is_gone_is_noted_wherever_the_user_is(run: Any, tmp_path: Path) -> None:
    """The folder in which `check` is typed takes the place of the agent's, but not of its name."""
    mine = tmp_path / "mine.yaml"
    mine.write_text("agents: {defaults: {workspace: ~/gone}}\n", encoding="utf-8")
    for agent in ((), ("--agent", "main")):
        assert "there is no folder '~/gone'" in run("check", *agent)[1]
    assert f'workspace = "{tmp_path}" # the command line' in " ".join(
        run("show", "--origin")[1].split()
    )
    (tmp_path / "gone").mkdir()
    assert run("check") == (0, "no problems found\n")
