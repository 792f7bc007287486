"""Settings that have no effect beside the others: `config check` names each of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from notewell.config import check_file, from_openclaw
from notewell.embedders import PROVIDERS, embedded_models, open_embedded

LANCE = "plugins.entries.memory-lancedb"
ALLOW = {"default": "allow"}


def search(**content: object) -> dict[str, Any]:
    return {"agents": {"defaults": {"memorySearch": content}}}


def remote(provider: str, **content: object) -> dict[str, Any]:
    return search(provider=provider, remote=content)


def lance(**content: object) -> dict[str, Any]:
    return {"plugins": {"entries": {"memory-lancedb": content}}}


def rule(**match: str) -> dict[str, Any]:
    return {"memory": {"scope": {"rules": [{"action": "allow", "match": match}]}}}


def mylab(entry: dict[str, Any], **content: object) -> dict[str, Any]:
    return {"models": {"providers": {"mylab": entry}}} | search(**content)


def qmd(**content: object) -> dict[str, Any]:
    return {"memory": {"backend": "qmd", "qmd": content}}


def notes(tmp_path: Path, content: object) -> dict[str, str]:
    """The findings on a machine that has a key for every provider, and the program QMD."""
    path = tmp_path / "c.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    program = tmp_path / "bin" / "qmd"
    program.parent.mkdir(exist_ok=True)
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    keys = {f"{name}_API_KEY": "k" for name in ("OPENAI", "GEMINI", "VOYAGE")}
    environment = {"HOME": str(tmp_path), "PATH": str(program.parent), **keys}
    environment["NOTEWELL_STATE_DIR"] = str(tmp_path / "state")
    findings = check_file(path, "user", environment)
    return {f"{one.kind} {one.key.removeprefix('memorySearch.')}": one.message for one in findings}


WITHOUT_EFFECT = [
    (search(provider="embedded", outputDimensionality=256), "outputDimensionality",
     "the provider 'embedded' runs on this machine"),
    (remote("embedded", baseUrl="https://a.example.com"), "remote.baseUrl", "'embedded' runs on"),
    (remote("embedded", apiKey="k"), "remote.apiKey", "name another provider"),
    (remote("embedded", headers={"X": "y"}), "remote.headers", "name another provider"),
    (remote("embedded", nonBatchConcurrency=2), "remote.nonBatchConcurrency", "runs on this"),
    (remote("none", baseUrl="https://a.example.com"), "remote.baseUrl", "computes no vectors"),
    (search(provider="none", model="m"), "model", "computes no vectors"),
    (search(provider="openai", fallback="embedded", local={"modelPath": "/a.gguf"}),
     "local.modelPath", "is 'local'"),
    (remote("ollama", batch={"enabled": True}), "remote.batch.enabled", "has no batch jobs"),
    (remote("embedded", batch={"enabled": True}), "remote.batch.enabled", "has no batch jobs"),
    (remote("openai", batch={"concurrency": 3}), "remote.batch.concurrency",
     "memorySearch.remote.batch.enabled is not true"),
    (search(provider="ollama", inputType="x"), "inputType", "has no input types"),
    (search(provider="openai", useEnvironmentKeys=True), "useEnvironmentKeys", "'auto'"),
    (search(provider="openai", fallback="openai"), "fallback", "the same as the provider"),
    (search(provider="none", fallback="openai"), "fallback", "name a provider"),
    (search(experimental={"sessionMemory": True}), "experimental.sessionMemory",
     "add `sessions` to `sources`"),
    (search(sessions={"paths": ["~/x"]}), "sessions.paths", "experimental.sessionMemory"),
    (search(sources=["sessions"], experimental={"sessionMemory": True}, extraPaths=["docs"]),
     "extraPaths", "add `memory` to `sources`"),
    (search(query={"hybrid": {"mmr": {"lambda": 0.5}}}), "query.hybrid.mmr.lambda",
     "mmr.enabled is not true"),
    (search(cache={"enabled": False, "maxEntries": 5}), "cache.maxEntries", "cache.enabled"),
    (search(store={"vector": {"driver": "segments", "extensionPath": "v"}}),
     "store.vector.extensionPath", "'segments'"),
    (lance(config={"autoRecall": True}), f"{LANCE}.config.autoRecall", f"{LANCE}.enabled is not"),
    (lance(config={"autoCapture": True}), f"{LANCE}.config.autoCapture", f"{LANCE}.enabled is"),
    ({"memory": {"qmd": {"command": "q"}}}, "memory.qmd.command", "memory.backend is not 'qmd'"),
    ({"memory": {"fallback": "none"}}, "memory.fallback", "memory.backend is not 'qmd'"),
    ({"memory": {"scope": ALLOW, "qmd": {"scope": ALLOW}}}, "memory.qmd.scope.default",
     "memory.scope is set"),
    ({"memory": {"scope": ALLOW, "qmd": {"scope": {"rules": [{"action": "deny"}]}}}},
     "memory.qmd.scope.rules", "keep one of them"),
    (rule(keyPrefix="agent:main:slack:"), "memory.scope.rules[0].match.keyPrefix",
     "use rawKeyPrefix"),
    ({"models": {"providers": {"mylab": {"apiKey": "k"}}}}, "models.providers.mylab",
     "no agent computes vectors with it"),
    (mylab({"baseUrl": "https://a.example.com"}, provider="openai", fallback="mylab"), "fallback",
     "no vectors: models.providers.mylab.models is not set"),
    (mylab({"models": ["embed-1"]}, provider="openai", fallback="mylab"), "fallback",
     "no vectors: models.providers.mylab.baseUrl is not set"),
    # `auto` uses one provider, and these are for another.
    (search(inputType="x"), "inputType", "`auto` uses 'embedded' here"),
    (search(queryInputType="x"), "queryInputType", "`auto` uses 'embedded' here"),
    (search(documentInputType="x"), "documentInputType", "name the provider that it is for"),
    (search(outputDimensionality=256), "outputDimensionality", "this is for OpenAI"),
    (search(local={"contextSize": 512}), "local.contextSize", "name the provider 'local'"),
    (search(local={"modelPath": "hf:a/b/c.gguf"}), "local.modelPath", "the path of a model file"),
    (search(model="text-embedding-3-large"), "model", "with the model 'notewell-embed"),
    (search(remote={"headers": {"X": "y"}}), "remote.headers", "`auto` uses 'embedded' here"),
    (search(remote={"batch": {"enabled": True}}), "remote.batch.enabled", "this is for OpenAI"),
    (search(remote={"nonBatchConcurrency": 2}), "remote.nonBatchConcurrency", "`auto` uses"),
    (search(query={"embeddingTimeoutSeconds": 2}), "query.embeddingTimeoutSeconds", "'embedded'"),
    (search(remote={"apiKey": "k"}, model="mine"), "model", "'text-embedding-3-small'"),
    # Keys that another key makes idle.
    (search(provider="voyage", inputType="a", queryInputType="b", documentInputType="c"),
     "inputType", "win over it"),
    (search(query={"hybrid": {"enabled": False, "vectorWeight": 0.5}}),
     "query.hybrid.vectorWeight", "hybrid.enabled is not true"),
    (search(query={"preset": "seed", "minScore": 0.1, "hybrid": {"fusion": "rrf"}}),
     "query.preset", "win over the preset"),
    (search(provider="none", query={"cacheEntries": 5}), "query.cacheEntries", "no vectors"),
    (search(provider="none", query={"hybrid": {"textWeight": 0.5}}), "query.hybrid.textWeight",
     "no vectors"),
    (search(provider="none", cache={"maxEntries": 5}), "cache.maxEntries", "no vectors"),
    (search(provider="none", query={"hybrid": {"enabled": False}}), "query.hybrid.enabled",
     "keywords answer"),
    (search(store={"vector": {"enabled": False, "driver": "sqlite-vec"}}), "store.vector.driver",
     "store.vector.enabled is not true"),
    (search(sessions={"keep": {"enabled": False, "days": 3}}), "sessions.keep.days",
     "sessions.keep.enabled is false"),
    (search(sessions={"keep": {"leaveOut": ["secret"]}}), "sessions.keep.leaveOut",
     "write an absolute path"),
    (search(local={"modelCacheDir": "models"}), "local.modelCacheDir", "write an absolute path"),
    (search(sessions={"keep": {"leaveOut": [{"path": "/x", "pattern": "*.md"}]}}),
     "agents.defaults.memorySearch.sessions.keep.leaveOut", "`pattern` is not used"),
    ({"agents": {"defaults": {"compaction": {
        "reserveTokensFloor": 9, "memoryFlush": {"enabled": False}}}}},
     "compaction.reserveTokensFloor", "memoryFlush.enabled is not true"),
    ({"hooks": {"internal": {"enabled": False, "entries": {"session-memory": {"messages": 5}}}}},
     "hooks.internal.entries.session-memory.messages", "hooks.internal.enabled is not true"),
    (lance(enabled=True, config={"captureMaxChars": 200}), f"{LANCE}.config.captureMaxChars",
     "autoCapture is not true"),
    (lance(enabled=True, config={"recallMaxChars": 200}), f"{LANCE}.config.recallMaxChars",
     "autoRecall is not true"),
    ({"plugins": {"slots": {"memory": "memory-lancedb"}}}, "plugins.slots.memory",
     f"entries need {LANCE}.enabled"),
    (qmd(rerank=True), "memory.qmd.rerank", "which does not rerank"),
    (qmd(update={"embedInterval": "1h"}), "memory.qmd.update.embedInterval", "uses no vectors"),
    (qmd(update={"onBoot": False, "waitForBootSync": True}), "memory.qmd.update.waitForBootSync",
     "onBoot is not true"),
    (qmd(includeDefaultMemory=False), "memory.qmd.includeDefaultMemory", "nothing to search"),
    ({"memory": {"backend": "qmd", "fallback": "none"}} | search(chunking={"tokens": 100}),
     "chunking.tokens", "QMD alone searches"),
    ({"memory": {"backend": "qmd", "fallback": "none"}} | search(provider="embedded"),
     "provider", "QMD alone searches"),
    ({"memory": {"scope": {"default": "deny", "rules": [{"action": "allow"}]}}},
     "memory.scope.default", "rules[0] matches every conversation"),
    ({"memory": {"scope": {"rules": [
        {"action": "allow", "match": {"channel": "slack"}},
        {"action": "deny", "match": {"channel": "slack", "chatType": "group"}}]}}},
     "memory.scope.rules[1]", "never reached: rules[0]"),
    ({"bindings": [{"agentId": "main", "match": {"channel": "slack"}},
                   {"agentId": "main", "match": {"channel": "slack"}}]},
     "bindings[1]", "an earlier binding matches the same messages"),
    ({"auth": {"order": {"anthropic": ["a:b"]}}}, "auth.order.anthropic", "no agent computes"),
    ({"models": {"providers": {"embedded": {"apiKey": "k"}}}}, "models.providers.embedded",
     "no agent computes vectors with it"),
    ({"models": {"providers": {"openai": {"models": ["text-embedding-3-large"]}}}}
     | search(provider="openai"), "models.providers.openai.models", "set memorySearch.model"),
    ({"models": {"providers": {"openai": {"apiKey": "a"}}}} | remote("openai", apiKey="b"),
     "models.providers.openai.apiKey", "memorySearch.remote.apiKey wins over it"),
    ({"models": {"providers": {"mylab": {"baseUrl": "https://a.example.com", "models": ["m"]}}}}
     | search(provider="mylab", model="n"), "models.providers.mylab.models",
     "memorySearch.model wins over it"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "key", "message"), WITHOUT_EFFECT)
def test_a_setting_without_effect_is_noted(
    tmp_path: Path, content: object, key: str, message: str
) -> None:
    (found,) = notes(tmp_path, content).items()
    assert found[0] == f"note {key}"
    assert message in found[1]


@pytest.mark.parametrize(
    "content",
    [
        {},
        remote("openai", baseUrl="https://a.example.com", batch={"enabled": True, "wait": False}),
        remote("ollama", baseUrl="http://localhost:1", batch={"enabled": False}),
        search(provider="embedded", model="snowflake-arctic-embed-s"),
        search(provider="auto", fallback="embedded", useEnvironmentKeys=True),
        search(sources=["memory", "sessions"], experimental={"sessionMemory": True}),
        search(query={"hybrid": {"mmr": {"enabled": True, "lambda": 0.5}}}),
        search(query={"hybrid": {"vectorWeight": 0.5}}),
        search(remote={"apiKey": "k"}, inputType="x", outputDimensionality=256),
        search(useEnvironmentKeys=True, inputType="x", model="text-embedding-3-large"),
        search(fallback="voyage", query={"embeddingTimeoutSeconds": 2}),
        search(query={"preset": "seed", "hybrid": {"fusion": "rrf"}}),
        qmd(searchMode="query", rerank=False, update={"embedInterval": "1h"}),
        qmd() | search(chunking={"tokens": 100}, provider="embedded"),
        {"memory": {"scope": {"default": "deny", "rules": [
            {"action": "deny", "match": {"channel": "slack", "chatType": "group"}},
            {"action": "allow", "match": {"channel": "slack"}}]}}},
        {"auth": {"order": {"google": ["a:b"]}}} | search(provider="gemini"),
        {"models": {"providers": {"openai": {"apiKey": "a"}}}}
        | remote("voyage", apiKey="b") | search(provider="voyage", fallback="openai"),
        lance(enabled=True, config={"autoRecall": True, "autoCapture": True}),
        lance(config={"autoRecall": False}),
        {"memory": {"backend": "qmd", "fallback": "none", "qmd": {"command": "qmd"}}},
        {"memory": {"qmd": {"scope": ALLOW}}},
        rule(keyPrefix="slack:channel:", rawKeyPrefix="agent:main:"),
        mylab({"baseUrl": "https://a.example.com", "models": ["m"]}, provider="mylab"),
        mylab({"api": "voyage", "baseUrl": "https://a.example.com", "models": ["m"]},
              provider="mylab", remote={"batch": {"enabled": True}}, inputType="x"),
    ],
)  # fmt: skip
def test_a_setting_that_is_used_is_not(tmp_path: Path, content: object) -> None:
    assert notes(tmp_path, content) == {}


def test_a_default_that_one_agent_uses_has_an_effect(tmp_path: Path) -> None:
    content = search(provider="openai", remote={"batch": {"enabled": True}})
    ollama = {"id": "work", "memorySearch": {"provider": "ollama"}}
    content["agents"]["list"] = [{"id": "main"}, ollama]
    assert notes(tmp_path, content) == {}
    content["agents"]["list"] = [ollama]
    assert list(notes(tmp_path, content)) == ["note remote.batch.enabled"]


def test_a_model_that_is_not_embedded_is_an_error(tmp_path: Path) -> None:
    found = notes(tmp_path, search(provider="embedded", model="text-embedding-3-small"))
    assert list(found) == ["error model"]
    assert "known: notewell-embed, use-multilingual-v3" in found["error model"]
    for name in embedded_models():
        assert open_embedded(None, name).facts.provider == "embedded"


def test_transcripts_are_not_exported_among_the_notes(tmp_path: Path) -> None:
    def content(folder: str, **more: object) -> dict[str, Any]:
        sessions = {"enabled": True, "exportDir": folder}
        agents = {"list": [{"id": "main", "workspace": str(tmp_path / "w"), **more}]}
        return {"agents": agents, "memory": {"backend": "qmd", "qmd": {"sessions": sessions}}}

    (tmp_path / "w" / "docs").mkdir(parents=True)
    (message,) = notes(tmp_path, content("memory/talks")).values()
    assert "groups see notes" in message
    extra = {"memorySearch": {"extraPaths": ["docs"]}}
    assert list(notes(tmp_path, content("docs/talks", **extra))) == [
        "note memory.qmd.sessions.exportDir"
    ]
    assert notes(tmp_path, content(str(tmp_path / "exports"))) == {}


def machine(tmp_path: Path, content: object, **environment: str) -> dict[str, str]:
    """The findings on a machine that has nothing."""
    path = tmp_path / "c.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    place = {"HOME": str(tmp_path), "NOTEWELL_STATE_DIR": str(tmp_path / "state"), "PATH": ""}
    return {
        one.key.removeprefix("memorySearch."): one.message
        for one in check_file(path, "user", {**place, **environment})
    }


def agent_in(folder: Path, **content: object) -> dict[str, Any]:
    return {"agents": {"list": [{"id": "main", "workspace": str(folder), **content}]}}


def test_what_is_not_on_this_machine_is_noted(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert machine(tmp_path, agent_in(gone)) == {
        "workspace": f"there is no folder {str(gone)!r}: create it, or correct the path"
    }
    paths = {
        "extraPaths": ["docs"],
        "sources": ["memory", "sessions"],
        "sessions": {"paths": [str(gone)]},
        "experimental": {"sessionMemory": True},
    }
    assert machine(tmp_path, agent_in(tmp_path, memorySearch=paths)) == {
        "extraPaths": "there is no 'docs': correct the path",
        "sessions.paths": f"there is no {str(gone)!r}: correct the path",
    }
    (tmp_path / "docs").mkdir()
    gone.mkdir()
    assert machine(tmp_path, agent_in(tmp_path, memorySearch=paths)) == {}
    library = str(tmp_path / "vec0.so")
    found = machine(tmp_path, search(store={"vector": {"extensionPath": library}}))
    assert found == {
        "store.vector.extensionPath": f"there is no file {library!r}: 'segments' stores the "
        "vectors instead"
    }
    note = {"hooks": {"internal": {"entries": {"session-memory": {"slugCommand": ["namer"]}}}}}
    assert machine(tmp_path, note | qmd(command="qmd9")) == {
        "hooks.internal.entries.session-memory.slugCommand":
            "there is no program 'namer': install it",
        "memory.qmd.command": "there is no program 'qmd9': install it",
    }  # fmt: skip


def test_a_provider_without_a_key_here_is_noted(tmp_path: Path) -> None:
    found = machine(tmp_path, search(provider="openai", fallback="voyage"))
    assert found["provider"].startswith("no vectors from it here: no key; set OPENAI_API_KEY")
    assert found["fallback"].startswith("no vectors from it here: no key; set VOYAGE_API_KEY")
    keys = {"OPENAI_API_KEY": "k", "VOYAGE_API_KEY": "k"}
    assert machine(tmp_path, search(provider="openai", fallback="voyage"), **keys) == {}
    local = search(provider="local", local={"modelPath": str(tmp_path / "gone.gguf")})
    assert list(machine(tmp_path, local)) == ["provider"]


def test_agents_that_share_a_folder_are_noted(tmp_path: Path) -> None:
    agents = [{"id": id_, "workspace": str(tmp_path)} for id_ in ("main", "work")]
    assert machine(tmp_path, {"agents": {"list": agents}}) == {
        "workspace": "'main' and 'work' have this folder: they share all notes"
    }


def test_an_address_that_no_command_accepts_is_an_error(tmp_path: Path) -> None:
    found = notes(tmp_path, remote("openai", baseUrl="https://me:pw@a.example.com"))
    assert list(found) == ["error remote.baseUrl"]
    assert "pw" not in found["error remote.baseUrl"]


def test_the_list_of_providers_says_which_have_batch_jobs() -> None:
    for provider in PROVIDERS:
        if provider.wire_format:
            assert provider.batches is (provider.load().batch is not None), provider.name


def test_what_openclaw_sets_in_vain_is_left(tmp_path: Path) -> None:
    file = tmp_path / "openclaw.json"
    content = remote("ollama", batch={"enabled": True}) | {"memory": {"scope": ALLOW}}
    content["memory"]["qmd"] = {"scope": {"rules": [{"action": "deny"}, {"action": "allow"}]}}
    file.write_text(json.dumps(content, indent=1), encoding="utf-8")
    found = {(one.kind, one.key) for one in from_openclaw(file, {"HOME": str(tmp_path)}).findings}
    assert ("left", "memorySearch.remote.batch.enabled") in found
    assert ("left", "memory.qmd.scope.rules") in found
    assert {key for kind, key in found if kind == "taken"} == {
        "agents.defaults.memorySearch.provider",
        "memory.scope.default",
    }


def test_a_note_is_shown_and_does_not_fail(tmp_path: Path) -> None:
    content = search(provider="none", fallback="openai")
    (tmp_path / "own.json").write_text(json.dumps(content), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "notewell", "config", "check", "-w", str(tmp_path)],
        env={**os.environ, "HOME": str(tmp_path), "NOTEWELL_CONFIG": str(tmp_path / "own.json")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0
    assert "own.json:1: memorySearch.fallback: not used: the provider is 'none'" in done.stdout
