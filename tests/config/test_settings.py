"""What a workspace's file may say, and what is said about a bad one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st

from notewell import (
    EmbedderSettings,
    NotesSettings,
    QmdSettings,
    SearchSettings,
    Settings,
    StoreSettings,
    SyncSettings,
)
from notewell.config import default_state_dir, load_settings, write_workspace_file
from notewell.config.layers import MAX_FILE_BYTES
from notewell.core import ConversationScope, ScopeRule
from notewell.entries import EntriesSettings
from notewell.errors import BadSetting
from notewell.notes import ExtraPath
from notewell.qmd import ExtraFolder


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[..., Settings]:
    """The settings that this file of the user's own makes."""

    def load(data: bytes | None = None, **memory_search: object) -> Settings:
        if data is None:
            whole = {"agents": {"defaults": {"memorySearch": memory_search}}}
            data = json.dumps(whole).encode()
        own = tmp_path / "own.json"
        own.write_bytes(data)
        return load_settings(tmp_path, environment={"NOTEWELL_CONFIG": str(own)})

    return load


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(tmp_path) == Settings()


def test_every_key_reaches_its_setting(loaded: Callable[..., Settings]) -> None:
    settings = loaded(
        extraPaths=["docs", {"path": "~/wiki", "pattern": "**/*.md"}],
        provider="ollama",
        model="all-minilm",
        chunking={"tokens": 200, "overlap": 10},
        query={
            "maxResults": 3,
            "minScore": 0.5,
            "hybrid": {
                "candidateMultiplier": 8,
                "fusion": "rrf",
                "mmr": {"enabled": True, "lambda": 0.6},
                "temporalDecay": {"enabled": False},
            },
        },
        store={"vector": {"driver": "sqlite-vec"}},
    )
    assert settings.embedder is not None
    assert (settings.embedder.provider, settings.embedder.model) == ("ollama", "all-minilm")
    assert replace(settings, embedder=None) == Settings(
        notes=NotesSettings(extra_paths=(ExtraPath("docs"), ExtraPath("~/wiki", "**/*.md"))),
        sync=SyncSettings(chunk_tokens=200, chunk_overlap=10),
        search=SearchSettings(
            max_results=3,
            min_score=0.5,
            fusion="rrf",
            candidate_multiplier=8,
            mmr_lambda=0.6,
            half_life_days=None,
        ),
        store=StoreSettings(vector_driver="sqlite-vec"),
    )


def test_the_defaults_of_the_table_are_those_of_the_packages(
    loaded: Callable[..., Settings],
) -> None:
    assert loaded() == Settings(embedder=EmbedderSettings())
    everything_on = {
        "memory": {"backend": "qmd"},
        "plugins": {"entries": {"memory-lancedb": {"enabled": True}}},
    }
    settings = as_the_users_own(everything_on)
    assert settings.qmd == QmdSettings()
    assert settings.entries == EntriesSettings()


def test_times_come_in_seconds_and_scopes_as_one_value() -> None:
    settings = as_the_users_own(
        {
            "memory": {
                "backend": "qmd",
                "qmd": {
                    "paths": [{"path": "~/notes", "pattern": "*.md", "name": "docs"}, "/x"],
                    "limits": {"timeoutMs": 1500},
                    "update": {"debounceMs": 250, "interval": "2m"},
                    "scope": {"rules": [{"action": "allow", "match": {"chatType": "group"}},
                                        {"match": {"channel": "x"}}]},
                },
            }
        }
    )  # fmt: skip
    assert settings.qmd == QmdSettings(
        paths=(ExtraFolder("~/notes", "*.md", "docs"), ExtraFolder("/x")),
        timeout_s=1.5,
        debounce_s=0.25,
        interval_s=120.0,
    )
    rules = (ScopeRule("allow", chat_type="group"), ScopeRule("deny", channel="x"))
    assert settings.scope == ConversationScope("deny", rules)


def test_the_scope_of_the_memory_counts_before_that_of_qmd_and_for_every_engine() -> None:
    groups = {"rules": [{"action": "allow", "match": {"chatType": "group"}}]}
    allowed = ConversationScope("deny", (ScopeRule("allow", chat_type="group"),))
    assert as_the_users_own({"memory": {"curated": "shared"}}).scope is None
    assert as_the_users_own({"memory": {"qmd": {"scope": groups}}}).scope == allowed
    everybody = {"scope": {"default": "allow"}, "qmd": {"scope": groups}}
    assert as_the_users_own({"memory": everybody}).scope == ConversationScope("allow", ())
    # `deny` by itself means what it means in OpenClaw: direct conversations only.
    alone = {"scope": {"default": "deny"}}
    assert as_the_users_own({"memory": alone}).scope == ConversationScope()


def as_the_users_own(content: dict[str, object]) -> Settings:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "config.json"
        file.write_text(json.dumps(content), encoding="utf-8")
        environment = {"HOME": folder, "NOTEWELL_CONFIG": str(file)}
        return load_settings(Path(folder), environment=environment)


@pytest.mark.parametrize(
    ("switch", "when_off"),
    [
        ({"memorySearch": {"cache": {"enabled": False}}}, ("store", "cache_entries", 0)),
        ({"memorySearch": {"sources": ["memory", "sessions"],
                           "experimental": {"sessionMemory": True}}},
         ("sessions", "enabled", True)),
    ],
)  # fmt: skip
def test_a_switch_decides_a_field(
    switch: dict[str, object], when_off: tuple[str, str, object]
) -> None:
    settings = as_the_users_own({"agents": {"defaults": switch}})
    group, name, value = when_off
    assert getattr(getattr(settings, group), name) == value


@pytest.mark.parametrize("entry", [{"enabled": False}, {"messages": 3}])
def test_session_notes_have_as_many_messages_as_the_hook_says(entry: dict[str, object]) -> None:
    hooks = {"internal": {"entries": {"session-memory": entry}}}
    messages = as_the_users_own({"hooks": hooks}).capture.session_messages
    assert messages == entry.get("messages", 0)


@pytest.mark.parametrize(
    ("weights", "share"),
    [
        ({"vectorWeight": 0.7, "textWeight": 0.3}, 0.7),
        ({"vectorWeight": 1, "textWeight": 1}, 0.5),
        ({"textWeight": 0.25}, 0.75),
        ({"vectorWeight": 0.25}, 0.25),
        ({"vectorWeight": 0}, 0),
        ({"vectorWeight": 2.0, "textWeight": 1.0}, 2 / 3),
        ({"vectorWeight": 3}, 1),
        ({"textWeight": 3}, 0),
        ({}, None),
    ],
)
def test_the_two_weights_are_shares_of_one(
    loaded: Callable[..., Settings], weights: dict[str, float], share: float | None
) -> None:
    assert loaded(query={"hybrid": weights}).search.vector_weight == share


def test_the_preset_of_the_seeds_is_their_formula_unless_more_is_said(
    loaded: Callable[..., Settings],
) -> None:
    settings = loaded(query={"preset": "seed"}).search
    assert (settings.fusion, settings.min_score, settings.vector_weight) == ("seed", 0.35, None)
    settings = loaded(
        query={"preset": "seed", "minScore": 0.1, "hybrid": {"fusion": "rrf"}}
    ).search
    assert (settings.fusion, settings.min_score) == ("rrf", 0.1)


def test_no_provider_means_words_alone(loaded: Callable[..., Settings]) -> None:
    assert loaded(provider="none").search.keyword_only


def test_a_bad_value_is_named_with_its_file_and_line(loaded: Callable[..., Settings]) -> None:
    with pytest.raises(BadSetting) as refused:
        loaded(b'{"agents": {"defaults": {"memorySearch": {\n"extraPath": ["x"]}}}}')
    assert "extraPaths" in str(refused.value)
    assert "own.json:2" in str(refused.value)


@pytest.mark.parametrize("data", [b"{", b"[1]", b"3", b'{"agents": 3}', b"\xff", b"[" * 100_000])
def test_a_file_that_is_not_ours_to_understand_is_refused(
    loaded: Callable[..., Settings], data: bytes
) -> None:
    with pytest.raises(BadSetting):
        loaded(data)


@given(st.binary(max_size=200))
@settings_of_hypothesis(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_settings_or_refused(loaded: Callable[..., Settings], data: bytes) -> None:
    with suppress(BadSetting):
        loaded(data)


def test_a_pipe_in_place_of_the_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "notewell.json")
    assert load_settings(tmp_path).workspace_errors == 1
    with pytest.raises(BadSetting, match="not a regular file"):
        own_file(tmp_path / "notewell.json")


def test_a_file_that_is_too_large_or_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notewell.json").write_bytes(b" " * (MAX_FILE_BYTES + 1))
    assert load_settings(tmp_path).workspace_errors == 1
    with pytest.raises(BadSetting, match="larger than"):
        own_file(tmp_path / "notewell.json")
    (tmp_path / "notewell.json").unlink()
    (tmp_path / "notewell.json").mkdir()
    assert load_settings(tmp_path).workspace_errors == 1
    with pytest.raises(BadSetting, match="directory"):
        own_file(tmp_path / "notewell.json")


def own_file(path: Path) -> Settings:
    """The settings with the file as the user's own, for a workspace without one."""
    return load_settings(path.parent / "empty", environment={"NOTEWELL_CONFIG": str(path)})


def test_what_is_written_is_what_is_read_and_never_overwrites(tmp_path: Path) -> None:
    write_workspace_file(tmp_path, [".", "docs"])
    assert load_settings(tmp_path).notes.extra_paths == (ExtraPath("."), ExtraPath("docs"))
    with pytest.raises(FileExistsError):
        write_workspace_file(tmp_path, ["other"])


def test_the_state_has_a_place_of_its_own() -> None:
    assert default_state_dir({"NOTEWELL_STATE_DIR": "/x"}) == Path("/x")
    assert default_state_dir({"XDG_STATE_HOME": "/s"}) == Path("/s/notewell")
    assert default_state_dir({}) == Path.home() / ".local" / "state" / "notewell"
