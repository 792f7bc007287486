"""The table of settings, and what is made from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripts.docs.settings_page import settings_page

from notewell.config.checks import Key
from notewell.config.registry import DIALECT, agent_keys, all_keys, json_schema, tree
from notewell.config.resolve import load_configuration
from notewell.config.settings import settings_of

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


def test_the_page_of_settings_is_not_stale() -> None:
    # `python -m scripts.docs.settings_page > docs/reference/settings.md` writes it.
    assert PAGE.read_text(encoding="utf-8") == settings_page()


def test_every_key_of_the_seeds_is_there() -> None:
    search = """enabled provider model fallback sources extraPaths experimental.sessionMemory
        remote.baseUrl remote.apiKey remote.headers remote.batch.enabled remote.batch.wait
        remote.batch.concurrency remote.batch.pollIntervalMs remote.batch.timeoutMinutes
        local.modelPath local.modelCacheDir store.driver store.path store.vector.enabled
        store.vector.extensionPath chunking.tokens chunking.overlap sync.onSessionStart
        sync.onSearch sync.watch sync.watchDebounceMs sync.intervalMinutes
        sync.sessions.deltaBytes sync.sessions.deltaMessages query.maxResults query.minScore
        query.hybrid.enabled query.hybrid.vectorWeight query.hybrid.textWeight
        query.hybrid.candidateMultiplier cache.enabled cache.maxEntries"""
    qmd = """command includeDefaultMemory paths sessions.enabled sessions.retentionDays
        sessions.exportDir update.interval update.debounceMs update.onBoot
        update.waitForBootSync update.embedInterval update.commandTimeoutMs
        update.updateTimeoutMs update.embedTimeoutMs limits.maxResults limits.maxSnippetChars
        limits.maxInjectedChars limits.timeoutMs scope.default"""
    for name in search.split():
        for above in ("agents.defaults", "agents.list[]"):
            assert f"{above}.memorySearch.{name}" in all_keys()
    for name in qmd.split():
        assert f"memory.qmd.{name}" in all_keys()


def test_every_default_passes_its_own_check() -> None:
    for path, key in all_keys().items():
        if key.default not in (None, (), {}) and not isinstance(key.default, tuple):
            checked = key.check(key.default)
            assert not checked.note, path


def test_every_setting_of_an_agent_has_a_value_and_an_origin(tmp_path: Path) -> None:
    agent = load_configuration(tmp_path, environment={"HOME": str(tmp_path)}).agents["main"]
    assert set(agent_keys()) <= set(agent.values)
    assert set(agent.origins) == set(agent.values)


def test_settings_are_frozen_and_compare_by_what_they_say(tmp_path: Path) -> None:
    one, other = (
        load_configuration(tmp_path, environment={"HOME": str(tmp_path)}).agents["main"]
        for _ in range(2)
    )
    assert one == other
    with pytest.raises(AttributeError):
        one.id = "x"  # type: ignore[misc]
    settings = settings_of(one, {})
    assert hash(settings.sync) == hash(settings_of(other, {}).sync)
    # Equal hashes of unequal settings would be legal, but mean that the values are not hashed.
    assert hash(settings.sync) != hash(replace(settings.sync, chunk_tokens=5))
    assert settings.sync != replace(settings.sync, chunk_tokens=5)
    with pytest.raises(AttributeError):
        settings.sync.chunk_tokens = 5  # type: ignore[misc]
    with pytest.raises(AttributeError):
        settings.sync = replace(settings.sync, chunk_tokens=5)  # type: ignore[misc]


def test_every_key_has_one_meaning_that_fits_a_line() -> None:
    for path, key in all_keys().items():
        assert key.meaning, path
        assert "\n" not in key.meaning, path
        assert "|" not in key.meaning, path


def test_the_schema_knows_every_key_and_refuses_others() -> None:
    schema = json_schema()
    assert schema["$schema"] == DIALECT
    described(schema, tree())


def described(schema: dict[str, Any], known: Any) -> None:
    if isinstance(known, Key):
        assert schema["description"] == known.meaning
    elif "[]" in known:
        assert schema["type"] == "array"
        described(schema["items"], known["[]"])
    else:
        others = schema["additionalProperties"]
        assert others is False or "*" in known
        for name, below in known.items():
            described(others if name == "*" else schema["properties"][name], below)
