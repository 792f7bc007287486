from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from notewell.core import Secret
from notewell.embedders import choose_embedder
from notewell.embedders.api_keys import KeySources
from notewell.embedders.choose import SelectionContext, choose
from notewell.embedders.decision import should_switch
from notewell.embedders.settings import EmbedderSettings, LocalSettings, RemoteSettings
from notewell.errors import (
    BadSetting,
    EmbedderFailed,
    EmbedderMissing,
    EmbedderRefused,
    QuotaExhausted,
)
from notewell.testing import HashEmbedder

KEY = "sk-canary-0123456789"
ALL_KEYS = {"OPENAI_API_KEY": KEY, "GEMINI_API_KEY": KEY, "VOYAGE_API_KEY": KEY}


def around(environment: Mapping[str, str], *, with_local: bool = True) -> SelectionContext:
    makers = {"embedded": lambda _: HashEmbedder(model="built in")}
    if with_local:
        makers["local"] = lambda _: HashEmbedder(model="a file")
    return SelectionContext(makers, KeySources(environment), environment_keys=True)


@pytest.mark.parametrize(
    ("present", "used"),
    [
        (("OPENAI_API_KEY", "GEMINI_API_KEY", "VOYAGE_API_KEY"), "openai"),
        (("GEMINI_API_KEY", "VOYAGE_API_KEY"), "gemini"),
        (("VOYAGE_API_KEY",), "voyage"),
        ((), "embedded"),
    ],
)
def test_auto_takes_the_first_that_has_a_key_and_the_embedded_one_else(
    present: tuple[str, ...], used: str
) -> None:
    decision = choose(EmbedderSettings(), around(dict.fromkeys(present, KEY))).decision
    assert (decision.requested, decision.used) == ("auto", used)
    order = ["local", "openai", "gemini", "voyage", "embedded"]
    assert [step.provider for step in decision.steps] == order[: order.index(used) + 1]
    assert [step.outcome for step in decision.steps[:-1]] == ["passed over"] * (
        len(decision.steps) - 1
    )
    assert not decision.fell_back
    assert KEY not in repr(decision)


def test_auto_takes_a_local_model_whose_file_is_there(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    settings = EmbedderSettings(local=LocalSettings(model_path=str(path)))
    assert choose(settings, around(ALL_KEYS)).decision.used == "openai"
    path.touch()
    assert choose(settings, around(ALL_KEYS)).decision.used == "local"
    assert choose(settings, around(ALL_KEYS, with_local=False)).decision.used == "openai"


def test_auto_passes_over_a_key_that_leads_nowhere_and_says_so() -> None:
    keys = KeySources({"VOYAGE_API_KEY": KEY}, {"openai": Secret("env:GONE")})
    decision = choose(
        EmbedderSettings(),
        SelectionContext({"embedded": lambda _: HashEmbedder()}, keys, environment_keys=True),
    ).decision
    assert decision.used == "voyage"
    (openai,) = (step for step in decision.steps if step.provider == "openai")
    assert "GONE" in openai.why


def test_a_decision_tells_where_the_key_is_from() -> None:
    decision = choose(EmbedderSettings(provider="voyage"), around(ALL_KEYS)).decision
    assert decision.key_from == "the environment (VOYAGE_API_KEY)"
    assert decision.model == "voyage-4-large"
    assert decision.endpoint == "https://api.voyageai.com/v1"


def test_a_named_provider_without_a_key_is_missing_and_nobody_else_is_asked() -> None:
    chosen = choose(EmbedderSettings(provider="openai"), around({"VOYAGE_API_KEY": KEY}))
    assert chosen.decision.used == "openai"
    assert str(chosen.embedder.missing()) == (
        "no key; set OPENAI_API_KEY or remote.apiKey, or choose provider: embedded"
    )
    with pytest.raises(EmbedderMissing, match="set OPENAI_API_KEY"):
        chosen.embedder.embed(["x"], "query")
    assert chosen.embedder.facts.dims == 1536


def test_a_fallback_takes_over_when_something_is_missing_and_is_told() -> None:
    settings = EmbedderSettings(provider="openai", model="mine", fallback="voyage")
    decision = choose(settings, around({"VOYAGE_API_KEY": KEY})).decision
    assert (decision.used, decision.model) == ("voyage", "voyage-4-large")
    assert decision.fell_back
    assert "no key" in decision.why
    assert [step.provider for step in decision.steps] == ["openai", "voyage"]


def test_a_fallback_that_lacks_something_too_leaves_the_provider_that_was_asked_for() -> None:
    settings = EmbedderSettings(provider="openai", fallback="gemini")
    chosen = choose(settings, around({}))
    assert chosen.decision.used == "openai"
    assert "'gemini' lacks" in chosen.decision.why


def test_the_settings_of_one_provider_do_not_go_to_its_fallback() -> None:
    remote = RemoteSettings(base_url="http://127.0.0.1:1/v1", api_key=Secret("env:GONE"))
    settings = EmbedderSettings(
        provider="openai-compatible", model="m", fallback="voyage", dims=77, remote=remote
    )
    decision = choose(settings, around({"VOYAGE_API_KEY": KEY})).decision
    assert decision.used == "voyage"
    assert decision.endpoint == "https://api.voyageai.com/v1"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (EmbedderSettings(provider="openai-compatible"), "remote.baseUrl"),
        (
            EmbedderSettings(
                provider="openai-compatible", remote=RemoteSettings(base_url="http://h/v1")
            ),
            "set model",
        ),
        (
            EmbedderSettings(
                provider="ollama", remote=RemoteSettings(headers={"X": Secret("schlüssel")})
            ),
            "header 'X'",
        ),
    ],
)
def test_what_is_missing_is_told_before_any_call(settings: EmbedderSettings, words: str) -> None:
    assert words in str(choose(settings, around({})).embedder.missing())


def test_a_custom_address_needs_no_key() -> None:
    remote = RemoteSettings(base_url="http://127.0.0.1:1/v1")
    chosen = choose(EmbedderSettings(provider="openai", remote=remote), around(ALL_KEYS))
    assert chosen.embedder.missing() is None
    assert chosen.decision.key_from is None


@pytest.mark.parametrize(
    "settings", [EmbedderSettings(provider="opanai"), EmbedderSettings(fallback="opanai")]
)
def test_a_name_that_nobody_has_is_refused(settings: EmbedderSettings) -> None:
    with pytest.raises(BadSetting, match=r"known: (auto|none), embedded, gemini"):
        choose(settings, around({}))


def test_a_length_that_the_model_does_not_have_is_refused() -> None:
    good = EmbedderSettings(provider="voyage", dims=512)
    assert choose(good, around(ALL_KEYS)).embedder.facts.dims == 512
    with pytest.raises(BadSetting, match="cannot give 500"):
        choose(replace(good, dims=500), around(ALL_KEYS))


def test_a_model_is_taken_by_the_provider_that_has_it() -> None:
    settings = EmbedderSettings(model="voyage-4-lite")
    assert choose(settings, around(ALL_KEYS)).decision.model == "text-embedding-3-small"
    assert choose(settings, around({"VOYAGE_API_KEY": KEY})).decision.model == "voyage-4-lite"


def test_the_door_of_the_room_puts_the_parts_together(tmp_path: Path) -> None:
    for settings in (None, EmbedderSettings()):
        chosen = choose_embedder(settings, tmp_path, {})
        assert chosen.decision.used == "embedded"
        assert chosen.decision.why == "auto: it needs no key"
        assert chosen.embedder.facts.dims == 384
    # The advice does not name a variable, because it would not count.
    steps = choose_embedder(EmbedderSettings(), tmp_path, {}).decision.steps
    assert (
        "set models.providers.openai.apiKey"
        in {step.provider: step.why for step in steps}["openai"]
    )
    environment = {"OPENAI_API_KEY": KEY}
    assert choose_embedder(None, tmp_path, environment).decision.used == "embedded"
    consent = EmbedderSettings(use_environment_keys=True)
    assert choose_embedder(consent, tmp_path, environment).decision.used == "embedded"
    chosen = choose_embedder(consent, tmp_path, environment, started_by_user=True)
    assert chosen.decision.used == "openai"


def test_an_embedded_model_is_chosen_by_its_name(tmp_path: Path) -> None:
    settings = EmbedderSettings(provider="embedded", model="use-multilingual-v3")
    chosen = choose_embedder(settings, tmp_path, {})
    assert chosen.embedder.facts.dims == 512
    assert "notewell model pull use-multilingual-v3" in str(chosen.embedder.missing())
    with pytest.raises(BadSetting, match="no embedded model"):
        choose_embedder(EmbedderSettings(provider="embedded", model="other"), tmp_path, {})


def test_auto_goes_on_without_a_model_whose_provider_has_no_key(tmp_path: Path) -> None:
    settings = EmbedderSettings(model="text-embedding-3-large")
    # The key decided until now; the settings still name its model.
    chosen = choose_embedder(settings, tmp_path, {"OPENAI_API_KEY": KEY}, started_by_user=True)
    assert chosen.decision.used == "embedded"
    assert chosen.embedder.facts.dims == 384
    assert "'text-embedding-3-large' is not used" in chosen.decision.why


# -- afterwards ----------------------------------------------------------------------------------


def test_a_provider_that_will_go_on_refusing_is_left_for_the_fallback_with_a_rebuild() -> None:
    settings = EmbedderSettings(provider="openai", fallback="embedded")
    decision = choose(settings, around(ALL_KEYS)).decision
    quota = QuotaExhausted("openai", "used up", "pay")
    assert should_switch(decision, quota, failures_in_a_row=1)


def test_one_bad_moment_is_no_reason_to_embed_everything_anew() -> None:
    settings = EmbedderSettings(provider="openai", fallback="embedded")
    decision = choose(settings, around(ALL_KEYS)).decision
    busy = EmbedderFailed("openai", "busy", http_status=503)
    assert not should_switch(decision, busy, 1)
    assert should_switch(decision, busy, 2)


@pytest.mark.parametrize("fallback", ["none", "openai"])
def test_without_another_provider_nothing_is_switched(fallback: str) -> None:
    settings = EmbedderSettings(provider="openai", fallback=fallback)
    decision = choose(settings, around(ALL_KEYS)).decision
    refused = EmbedderRefused("openai", "bad key", "set another")
    assert not should_switch(decision, refused, 99)
