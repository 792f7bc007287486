"""Chooses among all providers. It decides, and sends no request.

    auto        the pinned provider, if an installed entry names one. Else:
                local, if its model file exists → openai → gemini → voyage, each if it has a
                key → embedded, which needs nothing. A key that merely lies in the environment
                does not count unless the user said so: hosts set such variables for themselves.
    a name      that provider. If it lacks something and there is a fallback: the fallback.
                Otherwise the provider all the same: it reports what it lacks, and keyword search
                answers. `fallback: none` never leads to another provider.

The order of `auto` is `auto_rank` in `registry.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from notewell.embedders.api_keys import KeySources
from notewell.embedders.decision import Chosen, Decision, Step
from notewell.embedders.registry import (
    NONE,
    REMOTE_PROVIDERS,
    ambient_keys,
    auto_order,
    entry_problem,
    names_of,
    provider_of,
)
from notewell.embedders.remote_plan import Runtime
from notewell.errors import BadSetting
from notewell.records import dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.embedders.api_keys import FoundKey
    from notewell.embedders.settings import EmbedderSettings
    from notewell.ports import Embedder, Lacking

AUTO_REMOTE = "openai"
"""The provider that `remote.*` describes if the settings name none."""

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
    environment_keys: bool = False
    """Whether `auto` may use a key in the environment that no setting names."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A provider that could be used, and what it lacks."""

    provider: str
    embedder: Embedder
    lacks: str | None
    model: str
    key: FoundKey | None = None
    endpoint: str | None = None
    broken_key: str | None = None
    """A setting that refers to a key, where there is none."""


def choose(settings: EmbedderSettings, context: SelectionContext) -> Chosen:
    """Raises `BadSetting` for an unknown name; everything else becomes a decision."""
    settings = settings.with_own_names()
    _check_names(settings, context)
    if settings.provider == "auto":
        return _auto(settings, context)
    return _named(settings, context)


def _pinned(settings: EmbedderSettings, provider: str, context: SelectionContext) -> Chosen:
    """A provider that lacks its key here is not replaced: it reports what it lacks, and keyword
    search answers. The decision stays one of `auto`, so it does not replace an index."""
    candidate = _candidate(provider, _auto_settings(provider, settings), context)
    why = f"but {candidate.lacks}" if candidate.lacks else _why(candidate)
    return _chosen(settings, candidate, f"auto: the installed entry names it, {why}", [])


def _auto(settings: EmbedderSettings, context: SelectionContext) -> Chosen:
    if settings.pinned:
        return _pinned(settings, settings.pinned, context)
    steps: list[Step] = []
    broken_keys: list[str] = []
    if not context.environment_keys:
        context = replace(context, keys=replace(context.keys, ambient=False))
    for provider in auto_order():
        if provider not in REMOTE_PROVIDERS and provider not in context.on_this_machine:
            steps.append(Step(provider, "passed over", "not installed"))
            continue
        if provider == "local" and not _has_model_file(settings):
            # `local` would download its default model; nobody asked for that with `auto`.
            steps.append(Step(provider, "passed over", "no model file at local.modelPath"))
            continue
        if problem := _entry_problem(provider, settings):
            steps.append(Step(provider, "passed over", problem))
            continue
        candidate, other_model = _auto_candidate(provider, settings, context)
        # `embedded` is the last one: even if it lacks its weights, the status must report that.
        lacks = candidate.lacks or _not_for_auto(candidate, settings)
        if lacks is None or provider == "embedded":
            why = (_why(candidate) if candidate.lacks is None else candidate.lacks) + other_model
            chosen = _chosen(settings, candidate, f"auto: {why}", steps)
            decision = replace(chosen.decision, broken_keys=tuple(broken_keys))
            return replace(chosen, decision=_with_unused_keys(decision, context.keys))
        if candidate.broken_key:
            broken_keys.append(f"{provider} is not used: {candidate.broken_key}")
        steps.append(Step(provider, "passed over", lacks))
    raise BadSetting("provider", "auto found no provider; 'embedded' should always be there")


def _with_unused_keys(decision: Decision, keys: KeySources) -> Decision:
    unused = () if keys.ambient else ambient_keys(keys.environment)
    # A provider in use has a key from elsewhere, so there is nothing to say about its variable.
    others = (key for key in unused if key.provider != decision.used)
    return replace(decision, unused_keys=tuple(others))


def _not_for_auto(candidate: _Candidate, settings: EmbedderSettings) -> str | None:
    """An address in `models.providers` may be there for conversations. Without a key for it,
    nothing says that notes may go there."""
    is_remote = candidate.endpoint is not None
    if is_remote and candidate.key is None and settings.remote.base_url is None:
        return "no key, and only models.providers names its address"
    return None


def _auto_candidate(
    provider: str, settings: EmbedderSettings, context: SelectionContext
) -> tuple[_Candidate, str]:
    """The candidate; and if it does not have the model of the settings, a remark about that."""
    own = _auto_settings(provider, settings)
    try:
        return _candidate(provider, own, context), ""
    except BadSetting as error:
        # The model may be one of a provider that has no key now; search must go on.
        if provider != "embedded" or error.setting != "model":
            raise
        remark = f"; {settings.model!r} is not used: the provider has no such model"
        return _candidate(provider, replace(own, model=None), context), remark


def _auto_settings(provider: str, settings: EmbedderSettings) -> EmbedderSettings:
    """With `auto`, `remote.*` was written for OpenAI, as in OpenClaw; no other provider may get
    that key or that address."""
    return settings if provider == AUTO_REMOTE else settings.without_remote()


def _named(settings: EmbedderSettings, context: SelectionContext) -> Chosen:
    first = _candidate(settings.provider, settings, context)
    fallback = settings.fallback
    if first.lacks is None:
        return _chosen(settings, first, f"requested: {_why(first)}", [])
    steps = [Step(first.provider, "passed over", first.lacks)]
    if fallback in (NONE, settings.provider):
        return _chosen(settings, first, f"requested, but {first.lacks}", [])
    second = _candidate(fallback, settings.for_fallback(), context)
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
    if provider in context.on_this_machine:
        local = context.on_this_machine[provider](settings)
        return _Candidate(provider, local, _text(local.missing()), local.facts.model)
    # Imported here, so that a model on this machine is chosen without loading the HTTP client.
    from notewell.embedders.batch import with_batch
    from notewell.embedders.remote import open_remote

    entry = settings.entry_of(names_of(provider))
    wire_format = provider_of(provider, entry.api)
    model = settings.model
    if provider != settings.provider and model not in wire_format.models:
        model = None  # `auto`: the model is used by the provider that has it.
    if wire_format.default_model is None:
        model = model or entry.model
    opened = open_remote(
        wire_format, settings, context.keys, context.runtime, model=model, entry=entry
    )
    embedder = with_batch(opened.embedder, settings.remote.batch, context.batch_dir)
    return _Candidate(
        provider,
        embedder,
        _text(embedder.missing()),
        embedder.model or "not set",
        opened.key,
        embedder.endpoint,
        _text(opened.embedder.plan.broken_key),
    )


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
        key_from=candidate.key.where if candidate.key else None,
        exposed_file=candidate.key.exposed_file if candidate.key else None,
        endpoint=candidate.endpoint,
    )
    return Chosen(candidate.embedder, decision)


def _why(candidate: _Candidate) -> str:
    if candidate.key:
        return f"a key from {candidate.key.where}"
    return "it needs no key"


def _has_model_file(settings: EmbedderSettings) -> bool:
    path = settings.local.model_path
    return bool(path) and Path(path or "").expanduser().is_file()


def _check_names(settings: EmbedderSettings, context: SelectionContext) -> None:
    # Checked before anything is opened: a typing error must not look like a missing key.
    known = sorted({*REMOTE_PROVIDERS, *context.on_this_machine, *settings.providers})
    for setting, name, also in (
        ("provider", settings.provider, "auto"),
        ("fallback", settings.fallback, NONE),
        ("--embedder", settings.pinned or "auto", "auto"),
    ):
        if name != also and name not in known:
            choices = ", ".join([also, *known])
            own = f"describe one of your own in models.providers.{name}"
            raise BadSetting(setting, f"no provider is called {name!r}; known: {choices}; {own}")
        if problem := _entry_problem(name, settings):
            raise BadSetting(setting, problem)


def _entry_problem(name: str, settings: EmbedderSettings) -> str | None:
    return entry_problem(name, settings.entry_of(names_of(name)).api)
