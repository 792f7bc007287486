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


def notes(tmp_path: Path, content: object) -> dict[str, str]:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    findings = check_file(path, "user", {"HOME": str(tmp_path)})
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
    (search(provider="local", model="m"), "model", "local.modelPath names the model"),
    (search(provider="openai", local={"modelPath": "a.gguf"}), "local.modelPath", "is 'local'"),
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
        search(provider="embedded", model="use-multilingual-v3"),
        search(provider="embedded", model="snowflake-arctic-embed-s"),
        search(provider="openai", fallback="local", local={"modelPath": "a.gguf"}),
        search(provider="auto", fallback="embedded", useEnvironmentKeys=True),
        search(sources=["memory", "sessions"], experimental={"sessionMemory": True}),
        search(query={"hybrid": {"mmr": {"enabled": True, "lambda": 0.5}}}),
        lance(enabled=True, config={"autoRecall": True, "autoCapture": True}),
        lance(config={"autoRecall": False}),
        {"memory": {"backend": "qmd", "fallback": "none", "qmd": {"command": "q"}}},
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
    assert "known: arctic-embed-s, use-multilingual-v3" in found["error model"]
    for name in embedded_models():
        assert open_embedded(None, name).facts.provider == "embedded"


def test_transcripts_are_not_exported_among_the_notes(tmp_path: Path) -> None:
    def content(folder: str, **more: object) -> dict[str, Any]:
        sessions = {"enabled": True, "exportDir": folder}
        agents = {"list": [{"id": "main", "workspace": str(tmp_path / "w"), **more}]}
        return {"agents": agents, "memory": {"backend": "qmd", "qmd": {"sessions": sessions}}}

    (message,) = notes(tmp_path, content("memory/talks")).values()
    assert "groups see notes" in message
    extra = {"memorySearch": {"extraPaths": ["docs"]}}
    assert list(notes(tmp_path, content("docs/talks", **extra))) == [
        "note memory.qmd.sessions.exportDir"
    ]
    assert notes(tmp_path, content(str(tmp_path / "exports"))) == {}


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
