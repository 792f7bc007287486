"""Files with mistakes: each of them is reported, with its place and the next step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.config.document import Document, Located
from notewell.config.resolve import check_file, load_configuration
from notewell.config.validate import check_document
from notewell.errors import BadSetting

TEN_YAML = """\
agents:
  defaults:
    workspce: ~/notes
    memorySearch:
      provider: opanai
      maxResults: 5
      query:
        minScore: high
      sources: memory
      chunking: 400
      remote:
        baseUrl: api.example.com
  list:
    - id: Work
      default: true
    - id: work
bindings:
  - agentId: nobody
memory:
  citations: sometimes
"""
TEN = [
    "3: agents.defaults.workspce: no such setting; did you mean 'agents.defaults.workspace'?",
    "5: memorySearch.provider: 'opanai' is not a provider; did you mean 'openai'? "
    "Describe one of your own in models.providers.opanai",
    "6: agents.defaults.memorySearch.maxResults: no such setting; "
    "did you mean 'agents.defaults.memorySearch.query.maxResults'?",
    "8: agents.defaults.memorySearch.query.minScore: expected a number from 0 to 1, not 'high'",
    "9: agents.defaults.memorySearch.sources: "
    "expected a list of 'memory' and 'sessions', not 'memory'",
    "10: agents.defaults.memorySearch.chunking: expected an object { … }, not 400",
    "12: agents.defaults.memorySearch.remote.baseUrl: "
    "expected an http or https address, not 'api.example.com'",
    "16: agents.list[1].id: the entry in line 14 has the id 'work' already",
    "18: bindings[0]: there is no agent 'nobody': agents are work",
    "20: memory.citations: expected 'auto' or 'on' or 'off', not 'sometimes'",
]
TEN_JSON5 = """\
{
  agents: { defaults: {
    workspce: "~/notes",
    memorySearch: {
      provider: "opanai",
      maxResults: 5,
      query: {
        minScore: "high" },
      sources: "memory",
      chunking: 400,
      remote: {
        baseUrl: "api.example.com" } } },
  list: [
    { id: "Work",
      default: true },
    { id: "work" }] },
  bindings: [
    { agentId: "nobody" } ],
  memory: {
    citations: "sometimes" },
}
"""


@pytest.mark.parametrize(("name", "text"), [("c.yaml", TEN_YAML), ("c.json5", TEN_JSON5)])
def test_ten_mistakes_in_a_file_are_ten_messages(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    findings = check_file(path, "user", {"HOME": str(tmp_path)})
    assert [str(finding) for finding in findings] == [f"{path}:{message}" for message in TEN]
    assert {finding.kind for finding in findings} == {"error"}


def test_loading_names_the_first_and_how_to_see_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(TEN_YAML, encoding="utf-8")
    with pytest.raises(BadSetting) as caught:
        load_configuration(environment={"HOME": str(tmp_path), "NOTEWELL_CONFIG": str(path)})
    assert str(caught.value) == (
        "setting 'agents.defaults.workspce': no such setting; did you mean "
        f"'agents.defaults.workspace'? ({path}:3) (and 9 more: `notewell config check`)"
    )
    assert caught.value.exit_code == 2


def messages(tmp_path: Path, content: object) -> list[str]:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    findings = check_file(path, "user", {"HOME": str(tmp_path)})
    return [f"{one.kind}: {one.key}: {one.message}" for one in findings]


def search(**content: object) -> dict[str, object]:
    return {"agents": {"defaults": {"memorySearch": content}}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"memory": {"search": {}}}, "error: memory.search: no such setting; Notewell calls it "
         "'agents.defaults.memorySearch'"),
        ({"agents": {"entries": {}}}, "error: agents.entries: no such setting; Notewell calls "
         "it 'agents.list'"),
        ({"gateway": {"port": 1}}, "error: gateway: no such setting"),
        ({"Memory": {}}, "error: Memory: no such setting; did you mean 'memory'?"),
        (search(vectorWeight=1), "error: agents.defaults.memorySearch.vectorWeight: no such "
         "setting; did you mean 'agents.defaults.memorySearch.query.hybrid.vectorWeight'?"),
        ({"agents": {"list": {}}}, "error: agents.list: expected a list [ … ], not {}"),
        ({"agents": {"list": [{"workspace": "~"}]}}, "error: agents.list[0].id: an agent needs "
         "an id"),
        ({"agents": {"list": [{"id": "**"}]}}, "error: agents.list[0].id: '**' is not a valid "
         "agent id"),
        ({"agents": {"list": [{"id": "a", "default": True}, {"id": "b", "default": True}]}},
         "error: agents.list: 'b' and 'a' are both the default: only one can be"),
        ({"plugins": {"slots": {"memory": "mem0"}}}, "error: plugins.slots.memory: expected "
         "'memory-core' or 'notewell' or 'memory-lancedb' or 'none', not 'mem0'"),
        ({"agents": {"list": [{"id": "a", "humanDelay": 3}]}}, "note: agents.list[0].humanDelay: "
         "not used by Notewell: part of OpenClaw's profile of an agent"),
        (search(enabled="yes"), "error: agents.defaults.memorySearch.enabled: expected true or "
         "false, not 'yes'"),
        (search(enabled=1), "error: agents.defaults.memorySearch.enabled: expected true or "
         "false, not 1"),
        (search(sources=["memory", "web"]), "error: agents.defaults.memorySearch.sources: "
         "expected 'memory' or 'sessions' in the list, not 'web'"),
        (search(extraPaths=["a", 5]), "error: agents.defaults.memorySearch.extraPaths: expected "
         "a path or {path, pattern}, not 5"),
        (search(extraPaths=[{"path": "a", "glob": "*"}]), "error: agents.defaults.memorySearch."
         "extraPaths: expected a path or {path, pattern}, not {'path': 'a', 'glob': '*'}"),
        (search(extraPaths=[""]), "error: agents.defaults.memorySearch.extraPaths: expected a "
         "path, not ''"),
        (search(model=""), "error: agents.defaults.memorySearch.model: expected a text, not an "
         "empty one"),
        (search(remote={"apiKey": 123456}), "error: agents.defaults.memorySearch.remote.apiKey: "
         "expected a text, or ${NAME} for a variable of the environment"),
        (search(model="${NO_SUCH_NAME}"), "error: agents.defaults.memorySearch."
         "model: the environment has no NO_SUCH_NAME: set it, or write the value here"),
        (search(remote={"headers": {"a b": "x"}}), "error: agents.defaults.memorySearch.remote."
         "headers: 'a b' is not a valid header name"),
        (search(remote={"headers": {"X": "a\nb"}}), "error: agents.defaults.memorySearch.remote."
         "headers: expected a text on one line for 'X'"),
        (search(query={"hybrid": {"vectorWeight": 0, "textWeight": 0}}), "error: memorySearch."
         "query.hybrid: vectorWeight and textWeight cannot both be 0"),
        ({"memory": {"qmd": {"update": {"interval": "soon"}}}}, "error: memory.qmd.update."
         "interval: expected a duration such as '30s', '5m' or '1h', not 'soon'"),
        ({"bindings": [{"match": {"channel": "slack"}}]}, "error: bindings[0]: a binding needs "
         "an agentId"),
        ({"bindings": [{"agentId": "main", "match": {"peer": {"id": "7"}}}]}, "error: "
         "bindings[0]: a peer has a kind (direct, group or channel) and an id"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_in_full(tmp_path: Path, content: object, message: str) -> None:
    assert message in messages(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (search(query={"maxResults": 500}), "note: agents.defaults.memorySearch.query.maxResults:"
         " 500 is taken as 200 (a whole number from 1 to 200)"),
        (search(query={"minScore": 7}), "note: agents.defaults.memorySearch.query.minScore: "
         "7 is taken as 1.0 (a number from 0 to 1)"),
        (search(query={"maxResults": 6.9}), "note: agents.defaults.memorySearch.query.maxResults:"
         " 6.9 is taken as 6 (a whole number from 1 to 200)"),
        (search(chunking={"tokens": 100, "overlap": 200}), "note: memorySearch.chunking.overlap: "
         "200 is taken as 99: less than a chunk"),
        (search(sources=[]), "note: agents.defaults.memorySearch.sources: an empty list is taken "
         "as [memory]"),
        (search(remote={"baseUrl": "http://gpu.example.com"}), "note: agents.defaults."
         "memorySearch.remote.baseUrl: without https others can read it"),
        ({"memory": {"scope": {"default": "allow", "rules": [{"match": {"chatType": "group"}}]}}},
         "note: memory.scope.rules[0]: the rule has no `action`, so it denies"),
    ],
)  # fmt: skip
def test_a_value_that_is_not_taken_as_it_stands_is_noted(
    tmp_path: Path, content: object, message: str
) -> None:
    assert messages(tmp_path, content) == [message]


WORDS = """agents defaults list memorySearch memory qmd query hybrid remote bindings match peer id
    models providers x [] * paths scope rules extraPaths sources headers apiKey"""
NAMES = st.sampled_from(WORDS.split())
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=15,
)


def located(value: object) -> Located:
    if isinstance(value, dict):
        return Located({key: located(inner) for key, inner in value.items()}, 1)
    if isinstance(value, list):
        return Located([located(inner) for inner in value], 1)
    return Located(value, 1)  # type: ignore[arg-type]


@given(st.dictionaries(NAMES, TREES, max_size=4))
def test_no_tree_breaks_the_check(content: dict[str, object]) -> None:
    for owner in ("user", "workspace", "openclaw"):
        layer = check_document(Document("f", located(content)), owner, {})
        assert all(finding.message for finding in layer.findings)
