"""Every example of configuration in the original's pages loads as it stands, under our rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from notewell.config.layers import read_layer
from notewell.config.resolve import (
    AgentConfig,
    ConfigScope,
    Configuration,
    check_file,
    read_configuration,
)

AGENTS = """
agents:
  defaults:
    model: anthropic/claude-opus-4
  list:
    - id: main
      default: true                    # when no binding matches
      workspace: ~/openclaw
    - id: work
      name: "Work Assistant"
      workspace: ~/work-projects
      tools:
        deny: [exec]
      memorySearch:
        extraPaths: [~/docs/work]
    - id: support
      memorySearch:
        sources: ["memory", "sessions"]
        extraPaths: [~/docs/support-kb]
"""
BINDINGS = """
bindings:
  - agentId: work
    match:
      channel: slack
      accountId: company-workspace
  - agentId: support
    match:
      channel: telegram
      peer:
        kind: group
        id: support-channel
  - agentId: main
"""
SOURCES = """
agents:
  defaults:
    memorySearch:
      sources: ["memory"]
  list:
    - id: research-agent
      memorySearch:
        sources: ["memory", "sessions"]
"""
EXTRA_PATHS = """
agents:
  list:
    - id: team-agent
      memorySearch:
        extraPaths:
          - ~/docs/team-wiki
          - ~/docs/api-reference
    - id: personal-agent
      memorySearch:
        extraPaths:
          - ~/notes/private
"""
MULTI_AGENT = """
agents:
  defaults:
    memorySearch:
      provider: openai
      sources: ["memory"]
      extraPaths:
        - ~/docs/shared
  list:
    - id: support-agent
      memorySearch:
        sources: ["memory", "sessions"]
        extraPaths:
          - ~/docs/support-kb
    - id: dev-agent
      memorySearch:
        provider: local
        extraPaths:
          - ~/code/internal-docs
    - id: public-agent
      memorySearch:
        extraPaths: []
"""
CONSUMER = """
agents:
  defaults:
    memorySearch:
      enabled: true
"""
POWER = """
agents:
  defaults:
    memorySearch:
      provider: local
      extraPaths:
        - ~/docs/team-wiki
      query:
        hybrid:
          vectorWeight: 0.5
          textWeight: 0.5
"""
ENTERPRISE = """
memory:
  backend: qmd
  qmd:
    update:
      interval: "5m"
      onBoot: true
    sessions:
      enabled: true
      retentionDays: 30
"""
FLUSH = """
{
  agents: {
    defaults: {
      compaction: {
        reserveTokensFloor: 20000,
        memoryFlush: {
          enabled: true,
          softThresholdTokens: 4000,
          systemPrompt: "Nearly full. Keep what lasts.",
          prompt: "Write it to memory/YYYY-MM-DD.md; reply NO_REPLY if there is nothing.",
        },
      },
    },
  },
}
"""
QMD = """
memory: {
  backend: "qmd",
  citations: "auto",
  qmd: {
    includeDefaultMemory: true,
    update: { interval: "5m", debounceMs: 15000 },
    limits: { maxResults: 6, timeoutMs: 4000 },
    scope: {
      default: "deny",
      rules: [{ action: "allow", match: { chatType: "direct" } }]
    },
    paths: [
      { name: "docs", path: "~/notes", pattern: "**/*.md" }
    ]
  }
}
"""


def below(inner: str) -> str:
    """The original's pages print these without the outermost braces."""
    return f"agents: {{\n  defaults: {{\n    memorySearch: {{\n{inner}\n    }}\n  }}\n}}\n"


PATHS = below('extraPaths: ["../team-docs", "/srv/shared-notes/overview.md"]')
GEMINI = below(
    'provider: "gemini", model: "gemini-embedding-001", remote: { apiKey: "YOUR_GEMINI_API_KEY" }'
)
ENDPOINT = below("""
  provider: "openai",
  model: "text-embedding-3-small",
  remote: {
    baseUrl: "https://api.example.com/v1/",
    apiKey: "YOUR_OPENAI_COMPAT_API_KEY",
    headers: { "X-Organization": "org-id", "X-Project": "project-id" }
  }""")
BATCH = below("""
  provider: "openai", model: "text-embedding-3-small", fallback: "openai",
  remote: { batch: { enabled: true, concurrency: 2 } },
  sync: { watch: true }""")
HYBRID = below("""
  query: { hybrid: {
    enabled: true, vectorWeight: 0.7, textWeight: 0.3, candidateMultiplier: 4 } }""")
CACHE = below("cache: { enabled: true, maxEntries: 50000 }")
SESSIONS = below('experimental: { sessionMemory: true },\n sources: ["memory", "sessions"]')
DELTAS = below("""
  sync: { sessions: {
    deltaBytes: 100000,   // ~100 KB
    deltaMessages: 50     // JSONL lines
  } }""")
VECTOR = below('store: { vector: { enabled: true, extensionPath: "/path/to/sqlite-vec" } }')

YAML = {
    "agents": AGENTS,
    "bindings": BINDINGS,
    "sources": SOURCES,
    "extra paths": EXTRA_PATHS,
    "multi agent": MULTI_AGENT,
    "consumer": CONSUMER,
    "power user": POWER,
    "enterprise": ENTERPRISE,
}
JSON5 = {
    "flush": FLUSH,
    "qmd": QMD,
    "paths": PATHS,
    "gemini": GEMINI,
    "endpoint": ENDPOINT,
    "batch": BATCH,
    "hybrid": HYBRID,
    "cache": CACHE,
    "sessions": SESSIONS,
    "deltas": DELTAS,
    "vector": VECTOR,
}
EVERY = [(name, text, ".yaml") for name, text in YAML.items()]
EVERY += [(name, text, ".json5") for name, text in JSON5.items()]


def loaded(tmp_path: Path, text: str, suffix: str = ".json5") -> Configuration:
    path = tmp_path / f"config{suffix}"
    path.write_text(text, encoding="utf-8")
    env = {"HOME": str(tmp_path)}
    return read_configuration(ConfigScope(), env, read_layer(path, "user", env))


def main_of(configuration: Configuration) -> AgentConfig:
    return configuration.agents["main"]


@pytest.mark.parametrize(("name", "text", "suffix"), EVERY, ids=[one[0] for one in EVERY])
def test_the_example_has_no_errors(tmp_path: Path, name: str, text: str, suffix: str) -> None:
    path = tmp_path / f"config{suffix}"
    path.write_text(text, encoding="utf-8")
    findings = check_file(path, "user", {"HOME": str(tmp_path)})
    assert [finding for finding in findings if finding.kind != "note"] == [], name


def test_agents_are_profiles_with_folders_of_their_own(tmp_path: Path) -> None:
    configuration = loaded(tmp_path, AGENTS, ".yaml")
    assert list(configuration.agents) == ["main", "work", "support"]
    assert configuration.default_agent == "main"
    assert main_of(configuration).workspace == tmp_path / "openclaw"
    assert configuration.agents["work"].workspace == tmp_path / "work-projects"
    assert configuration.agents["support"].workspace is None
    work = configuration.agents["work"].values
    assert work["memorySearch.extraPaths"] == (("~/docs/work", None),)


def test_the_agents_of_the_large_example_see_what_its_page_says(tmp_path: Path) -> None:
    agents = loaded(tmp_path, MULTI_AGENT, ".yaml").agents
    seen = {
        id_: [path for path, _ in one.values["memorySearch.extraPaths"]]
        for id_, one in agents.items()
    }
    assert seen == {
        "support-agent": ["~/docs/shared", "~/docs/support-kb"],
        "dev-agent": ["~/docs/shared", "~/code/internal-docs"],
        "public-agent": [],
    }
    providers = {id_: agent.values["memorySearch.provider"] for id_, agent in agents.items()}
    assert providers == {"support-agent": "openai", "dev-agent": "local", "public-agent": "openai"}


def test_sessions_are_searched_only_where_both_keys_ask_for_it(tmp_path: Path) -> None:
    asked = loaded(tmp_path, SESSIONS)
    assert main_of(asked).values["memorySearch.sources"] == ("memory", "sessions")
    half = loaded(tmp_path, SOURCES, ".yaml")
    assert half.agents["research-agent"].values["memorySearch.sources"] == ("memory",)
    (note,) = half.findings
    assert (note.kind, note.line) == ("note", 9)
    assert "experimental.sessionMemory" in note.message


def test_the_qmd_example_comes_out_whole(tmp_path: Path) -> None:
    values = main_of(loaded(tmp_path, QMD)).values
    qmd: dict[str, Any] = {
        key.removeprefix("memory.qmd."): value
        for key, value in values.items()
        if key.startswith("memory.qmd.")
    }
    assert values["memory.backend"] == "qmd"
    assert qmd["update.interval"] == 300.0
    assert qmd["scope.rules"] == ({"action": "allow", "match.chatType": "direct"},)
    assert qmd["paths"] == (("~/notes", "**/*.md", "docs"),)
    assert qmd["limits.maxInjectedChars"] == 4000


def test_the_other_examples_say_what_they_mean(tmp_path: Path) -> None:
    endpoint = main_of(loaded(tmp_path, ENDPOINT)).values
    assert endpoint["memorySearch.remote.baseUrl"] == "https://api.example.com/v1"
    assert endpoint["memorySearch.remote.apiKey"].reveal() == "YOUR_OPENAI_COMPAT_API_KEY"
    assert [*endpoint["memorySearch.remote.headers"]] == ["X-Organization", "X-Project"]
    hybrid = main_of(loaded(tmp_path, HYBRID)).values
    assert hybrid["memorySearch.query.hybrid.vectorWeight"] == 0.7
    assert hybrid["memorySearch.query.hybrid.textWeight"] == 0.3
    flush = main_of(loaded(tmp_path, FLUSH)).values
    assert "NO_REPLY" in flush["compaction.memoryFlush.prompt"]
    deltas = main_of(loaded(tmp_path, DELTAS)).values
    assert deltas["memorySearch.sync.sessions.deltaBytes"] == 100_000
    assert deltas["memorySearch.sync.sessions.deltaMessages"] == 50
    assert main_of(loaded(tmp_path, BATCH)).values["memorySearch.remote.batch.enabled"]
