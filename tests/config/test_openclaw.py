"""An existing OpenClaw, read as it is and never written to."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from notewell.config.openclaw import OpenClaw, from_openclaw

EARLIER = """{
  // An OpenClaw of the time Notewell began.
  gateway: { port: 18789, bind: "loopback" },
  channels: { telegram: { botToken: "t0ken" } },
  agents: {
    defaults: {
      workspace: "~/claw",
      model: { primary: "anthropic/claude" },
      memorySearch: {
        provider: "openai",
        remote: { apiKey: "${OPENAI_KEY}", baseUrl: "https://me:pw@api.example.com/v1/" },
        store: { path: "~/.openclaw/memory/{agentId}.sqlite" },
        sync: { watch: true },
        extraPaths: ["~/wiki"],
        chunkSize: 300,
      },
      compaction: { mode: "safeguard", memoryFlush: { softThresholdTokens: 5000 } },
    },
    list: [
      { id: "main", default: true },
      { id: "Work", workspace: "~/work", memorySearch: { extraPaths: ["docs"] } },
      { id: "ops", memorySearch: { enabled: false } },
    ],
  },
  bindings: [
    { agentId: "work", match: { channel: "slack", accountId: "acme" } },
    { agentId: "main", match: { channel: "discord", guildId: "g1", roles: ["r"] } },
  ],
  plugins: { slots: { memory: "memory-core" }, entries: { other: { enabled: true } } },
}
"""
LATER = """{
  env: { vars: { OPENAI_KEY: "from-the-file" } },
  memory: {
    citations: "on",
    search: {
      provider: "openai",
      remote: { apiKey: { source: "env", provider: "default", id: "OPENAI_KEY" } },
      rememberAcrossConversations: true,
      store: { fts: { tokenizer: "trigram" }, cache: { maxEntries: 7 } },
      multimodal: { enabled: true },
      query: { maxResults: 9 },
      extraPaths: ["~/wiki"],
    },
  },
  agents: {
    defaults: { workspace: "~/claw" },
    entries: {
      main: { default: true },
      Work: { workspace: "~/work", memory: { search: { extraPaths: [{ path: "docs" }] } } },
      ops: { memory: { search: { provider: "mistral" } } },
    },
  },
}
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    state = tmp_path / ".openclaw"
    (state / "agents" / "main" / "sessions").mkdir(parents=True)
    return state


def opened(state: Path, text: str, **environment: str) -> OpenClaw:
    (state / "openclaw.json").write_text(text, encoding="utf-8")
    return from_openclaw(environment={"HOME": str(state.parent), **environment})


def messages_of(found: OpenClaw, kind: str) -> dict[str, str]:
    return {one.key: one.message for one in found.findings if one.kind == kind}


def test_each_agent_has_its_folder_its_transcripts_and_its_settings(state: Path) -> None:
    home = state.parent
    for text in (EARLIER, LATER):
        found = opened(state, text, OPENAI_KEY="k")
        assert found.state_dir == state
        assert {id_: one.config.workspace for id_, one in found.agents.items()} == {
            "main": home / "claw",
            "work": home / "work",
            "ops": state / "workspace-ops",
        }
        assert found.agents["work"].transcripts == state / "agents" / "work" / "sessions"
        values = found.agents["work"].config.values
        assert values["memorySearch.provider"] == "openai"
        assert values["memorySearch.extraPaths"] == (("~/wiki", None), ("docs", None))
        assert values["memorySearch.remote.apiKey"].reveal() == "k"
        assert values["memorySearch.store.path"] is None


def test_the_earlier_spelling_is_accounted_for_key_by_key(state: Path) -> None:
    found = opened(state, EARLIER, OPENAI_KEY="k")
    left, taken = messages_of(found, "left"), messages_of(found, "taken")
    assert left["gateway"] == left["channels"] == "not about memory"
    assert left["agents.defaults.model"] == "not about memory"
    assert left["agents.defaults.compaction.mode"] == "not about memory"
    assert left["agents.defaults.memorySearch.store.path"] == (
        "that is OpenClaw's index; Notewell keeps its own"
    )
    assert left["plugins.entries.other"] == "not about memory"
    assert taken["agents.defaults.memorySearch.remote.apiKey"] == "taken: '***'"
    assert "pw" not in taken["agents.defaults.memorySearch.remote.baseUrl"]
    assert taken["agents.defaults.memorySearch.chunking.tokens"] == "taken: 300"
    assert not found.agents["ops"].config.enabled
    assert [binding.agent for binding in found.configuration.bindings] == ["work"]
    assert left["bindings[1].match.roles"] == "not about memory"
    assert left["bindings[1]"] == "not used: one of its conditions was not understood"
    assert not messages_of(found, "error")


def test_a_finding_points_at_the_line_in_openclaws_file(state: Path) -> None:
    found = opened(state, LATER, OPENAI_KEY="k")
    where = {one.key: one.line for one in found.findings}
    assert where["agents.defaults.memorySearch.provider"] == 6
    assert where["agents.list[1].workspace"] == 19
    assert where["memory.citations"] == 4


def test_the_later_spelling_is_accounted_for_key_by_key(state: Path) -> None:
    found = opened(state, LATER)
    left, taken = messages_of(found, "left"), messages_of(found, "taken")
    above = "agents.defaults.memorySearch"
    assert left[f"{above}.multimodal"] == "Notewell indexes Markdown only"
    assert left[f"{above}.store.fts"] == "Notewell segments every script itself"
    assert left[f"{above}.rememberAcrossConversations"] == "Notewell has no such setting"
    assert left["memorySearch.provider"] == "Notewell has no provider 'mistral'; the default holds"
    assert taken[f"{above}.cache.maxEntries"] == "taken: 7"
    assert taken["memory.citations"] == "taken: 'on'"
    values = found.agents["main"].config.values
    assert values["memorySearch.query.maxResults"] == 9
    assert values["memorySearch.remote.apiKey"].reveal() == "from-the-file"
    assert found.agents["ops"].config.values["memorySearch.provider"] == "auto"


def test_secrets_that_cannot_be_had_and_wrong_values_are_left_and_nothing_raises(
    state: Path,
) -> None:
    found = opened(
        state,
        '{memory: {search: {remote: {apiKey: {source: "exec", id: "x"}, baseUrl: "${NOT_SET}"},'
        ' query: {maxResults: "many"}}}, agents: 5, bindings: "x"}',
    )
    left = messages_of(found, "left")
    assert "expected a text" in left["agents.defaults.memorySearch.remote.apiKey"]
    assert "no NOT_SET" in left["agents.defaults.memorySearch.remote.baseUrl"]
    assert left["agents.defaults.memorySearch.query.maxResults"].endswith("the default holds")
    assert found.agents["main"].config.values["memorySearch.query.maxResults"] == 6


def test_a_file_that_is_none_is_an_error_and_the_folders_are_still_found(state: Path) -> None:
    found = opened(state, "{ broken")
    assert [one.kind for one in found.findings] == ["error"]
    assert found.agents["main"].config.workspace == state / "workspace"


def test_without_a_file_there_is_main_in_its_usual_place(state: Path) -> None:
    found = from_openclaw(environment={"HOME": str(state.parent)})
    assert found.config_file is None
    main = found.agents["main"]
    assert main.config.workspace == state / "workspace"
    assert main.config.origins["workspace"] == "OpenClaw's default"


def test_the_environment_and_older_names_say_where_it_is(tmp_path: Path) -> None:
    older = tmp_path / ".moltbot"
    older.mkdir()
    (older / "moltbot.json").write_text("{}", encoding="utf-8")
    assert from_openclaw(environment={"HOME": str(tmp_path)}).config_file == older / "moltbot.json"
    other = tmp_path / "other"
    other.mkdir()
    config = tmp_path / "mine.json"
    config.write_text("{}", encoding="utf-8")
    env = {"HOME": "/nowhere", "OPENCLAW_STATE_DIR": str(other)}
    found = from_openclaw(environment={**env, "OPENCLAW_CONFIG_PATH": str(config)})
    assert (found.state_dir, found.config_file) == (other, config)
    found = from_openclaw(environment={"HOME": "/nowhere", "OPENCLAW_HOME": str(tmp_path)})
    assert found.state_dir == older
    assert from_openclaw(config, {"HOME": "/nowhere"}).state_dir == tmp_path
    assert from_openclaw(older, {"HOME": "/nowhere"}).config_file == older / "moltbot.json"


def test_the_yaml_of_the_original_pages_is_read_too(state: Path) -> None:
    text = "agents:\n  list:\n    - id: main\n      memorySearch: {sources: [memory]}\n"
    (state / "config.yaml").write_text(text, encoding="utf-8")
    found = from_openclaw(environment={"HOME": str(state.parent)})
    assert found.agents["main"].config.origins["memorySearch.sources"].endswith("config.yaml:4")


def test_sessions_of_later_versions_are_in_a_database(state: Path) -> None:
    work = state / "agents" / "work"
    (work / "agent").mkdir(parents=True)
    assert opened(state, LATER).agents["work"].session_folders() == (
        (work / "sessions", "openclaw"),
    )
    (work / "agent" / "openclaw-agent.sqlite").touch()
    stored = (work / "agent", "openclaw-agent")
    assert opened(state, LATER).agents["work"].session_folders() == (stored,)
    (work / "sessions").mkdir()
    folders = opened(state, LATER).agents["work"].session_folders()
    assert folders == ((work / "sessions", "openclaw"), stored)


def test_nothing_of_openclaws_is_written_to(state: Path) -> None:
    (state / "openclaw.json").write_text(EARLIER, encoding="utf-8")
    before = fingerprint(state)
    from_openclaw(environment={"HOME": str(state.parent), "OPENAI_KEY": "k"})
    assert fingerprint(state) == before


def fingerprint(folder: Path) -> list[tuple[str, int, str]]:
    return [
        (
            str(path),
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(folder.rglob("*"))
    ]
