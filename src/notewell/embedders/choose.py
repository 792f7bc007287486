"""Chooses among all providers. It decides, and sends no request.

    auto        local, if its model file exists → openai → gemini → voyage, each if it has a
                key → embedded, which needs nothing
    a name      that provider. If it lacks something and there is a fallback: the fallback.
                Otherwise the provider all the same: it reports what it lacks, and keyword search
                answers. `fallback: none` never leads to another provider.

The order of `auto` is `auto_rank` in `registry.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from notewell.embedders.api_keys import KeySources
from notewell.embedders.decision import Chosen, Decision, Step
from notewell.embedders.registry import NONE, REMOTE_PROVIDERS, auto_order
from notewell.embedders.remote_plan import Runtime
from notewell.embedders.settings import BatchSettings
from notewell.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.embedders.settings import EmbedderSettings
    from notewell.ports import Embedder, Lacking

Opener: TypeAlias = "Callable[[EmbedderSettings], Embedder]"


@dataclass(frozen=True, slots=True)
class SelectionContext:
    """What the choice depends on besides the settings."""

    on_this_machine: Mapping[str, Opener]
    """The providers without a server, by name: `embedded`, and `local` if it is installed."""
    keys: KeySources = field(default_factory=KeySources)
    runtime: Runtime = field(default_factory=Runtime)
    batch_dir: Path | None = None
    """Where batch jobs are stored; None: no batch jobs."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A provider that could be used, and what it lacks."""

    provider: str
    embedder: Embedder
    lacks: str | None
    model: str
    key_from: str | None = None
    endpoint: str | None = None


def choose(settings: EmbedderSettings, context: SelectionContext) -> Chosen:
    """Raises `BadSetting` for an unknown name; everything else becomes a decision."""
    _check_names(settings, context)
    if settings.provider == "auto":
        return _auto(settings, context)
    return _named(settings, context)


def _auto(settings: EmbedderSettings, context: SelectionContext) -> Chosen:
    steps: list[Step] = []
    for provider in auto_order():
        if provider not in REMOTE_PROVIDERS and provider not in context.on_this_machine:
            steps.append(Step(provider, "passed over", "not installed"))
            continue
        if provider == "local" and not _has_model_file(settings):
            # `local` would download its default model; nobody asked for that with `auto`.
            steps.append(Step(provider, "passed over", "no model file at local.modelPath"))
            continue
        candidate = _candidate(provider, settings, context)
        # `embedded` is the last one: even if it lacks its weights, the status must report that.
        if candidate.lacks is None or provider == "embedded":
            why = _why(candidate) if candidate.lacks is None else candidate.lacks
            return _chosen(settings, candidate, f"auto: {why}", steps)
        steps.append(Step(provider, "passed over", candidate.lacks))
    raise BadSetting("provider", "auto found no provider; 'embedded' should always be there")


def _named(settings: EmbedderSettings, context: SelectionContext) -> Chosen:
    first = _candidate(settings.provider, settings, context)
    fallback = settings.fallback
    if first.lacks is None:
        return _chosen(settings, first, f"requested: {_why(first)}", [])
    steps = [Step(first.provider, "passed over", first.lacks)]
    if fallback in (NONE, settings.provider):
        return _chosen(settings, first, f"requested, but {first.lacks}", [])
    second = _candidate(fallback, settings, context)
    if second.lacks is None:
        why = f"fallback, because {first.provider}: {first.lacks}"
        return _chosen(settings, second, why, steps)
    steps.append(Step(fallback, "passed over", second.lacks))
    why = f"requested, but {first.lacks}; the fallback {fallback!r} lacks: {second.lacks}"
    # Without the first step: this provider is in use, so it was not passed over.
    return _chosen(settings, first, why, steps[1:])


def _text(lacking: Lacking | None) -> str | None:
    return None if lacking is None else str(lacking)


def _candidate(provider: str, settings: EmbedderSettings, context: SelectionContext) -> _Candidate:
    if provider not in REMOTE_PROVIDERS:
        local = context.on_this_machine[provider](settings)
        return _Candidate(provider, local, _text(local.missing()), local.facts.model)
    # Imported here, so that a model on this machine is chosen without loading the HTTP client.
    from notewell.embedders.batch import with_batch
    from notewell.embedders.remote import open_remote

    # `remote.*` and `dims` describe the requested provider, not its fallback.
    requested = provider == settings.provider or settings.provider == "auto"
    opened = open_remote(
        REMOTE_PROVIDERS[provider],
        settings,
        context.keys,
        context.runtime,
        model=_model_for(provider, settings),
        use_remote_settings=requested,
    )
    batch = settings.remote.batch if requested else BatchSettings()
    embedder = with_batch(opened.embedder, batch, context.batch_dir)
    return _Candidate(
        provider,
        embedder,
        _text(embedder.missing()),
        embedder.model or "not set",
        opened.key_from,
        embedder.endpoint,
    )


def _model_for(provider: str, settings: EmbedderSettings) -> str | None:
    """The model is set for the requested provider; another one uses it only if it has it."""
    if provider == settings.provider or settings.model in REMOTE_PROVIDERS[provider].models:
        return settings.model
    return None


def _chosen(
    settings: EmbedderSettings, candidate: _Candidate, why: str, steps: list[Step]
) -> Chosen:
    decision = Decision(
        requested=settings.provider,
        used=candidate.provider,
        model=candidate.model,
        why=why,
        fallback=settings.fallback,
        steps=(*steps, Step(candidate.provider, "used", why)),
        key_from=candidate.key_from,
        endpoint=candidate.endpoint,
    )
    return Chosen(candidate.embedder, decision)


def _why(candidate: _Candidate) -> str:
    if candidate.key_from:
        return f"a key from {candidate.key_from}"
    return "it needs no key"


def _has_model_file(settings: EmbedderSettings) -> bool:
    path = settings.local.model_path
    return bool(path) and Path(path or "").expanduser().is_file()


def _check_names(settings: EmbedderSettings, context: SelectionContext) -> None:
    # Checked before anything is opened: a typing error must not look like a missing key.
    known = sorted({*REMOTE_PROVIDERS, *context.on_this_machine})
    for setting, name, also in (
        ("provider", settings.provider, "auto"),
        ("fallback", settings.fallback, NONE),
    ):
        if name != also and name not in known:
            choices = ", ".join([also, *known])
            raise BadSetting(setting, f"no provider is called {name!r}; known: {choices}")
