"""Settings of the embedder that have no effect beside the provider that is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from notewell.config.paths import default_state_dir
from notewell.config.provider_entries import ON_THIS_MACHINE, entry_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from notewell.config.provider_entries import ProviderEntry
    from notewell.config.resolve import AgentConfig

Reason: TypeAlias = "tuple[str, str]"
"""A key, and why its value has no effect."""

_SEARCH = "memorySearch"
_INPUT_TYPES = ("inputType", "queryInputType", "documentInputType")
_FOR_OPENAI = (
    *("remote.baseUrl", "remote.apiKey", "remote.headers", "remote.batch.enabled"),
    *("outputDimensionality", *_INPUT_TYPES),
)
"""With `auto` these are OpenAI's, as in OpenClaw: no other provider may get that key."""
_OF_REQUESTS = (
    "remote.nonBatchConcurrency",
    "query.embeddingTimeoutSeconds",
    "sync.embeddingBatchTimeoutSeconds",
)
"""For whatever provider is asked over the network; a fallback has them, too."""


class EmbedderChoice(NamedTuple):
    """The provider that computes vectors on this machine, with its keys and files."""

    provider: str
    model: str
    lacks: str | None
    """Why it computes none."""
    fallback_lacks: str | None = None
    """The same of the fallback, if one is set that is not in use already."""


def choice_of(
    agent: AgentConfig, providers: Mapping[str, ProviderEntry], environment: Mapping[str, str]
) -> EmbedderChoice:
    """What a command would use here; sends nothing. Raises `BadSetting`, as that command would."""
    from notewell.config.settings import settings_of
    from notewell.embedders import choose_embedder, profile_files

    settings = settings_of(agent, providers).embedder
    state = default_state_dir(environment)
    place = (state / "models", environment)
    profiles = profile_files(state, agent.id)
    fallback_lacks = None
    first = choose_embedder(settings, *place, auth_profiles=profiles, started_by_user=True)
    if settings and settings.fallback not in ("none", settings.provider, first.decision.used):
        second = choose_embedder(settings.for_fallback(), *place, auth_profiles=profiles)
        fallback_lacks = second.embedder.missing()
    lacks = first.embedder.missing() if first.decision.used != "none" else None
    return EmbedderChoice(
        first.decision.used,
        first.decision.model,
        str(lacks) if lacks else None,
        str(fallback_lacks) if fallback_lacks else None,
    )


def of_embedder(
    values: Mapping[str, Any],
    providers: Mapping[str, ProviderEntry],
    choice: EmbedderChoice | None,
) -> Iterator[Reason]:
    provider, fallback = values[f"{_SEARCH}.provider"], values[f"{_SEARCH}.fallback"]
    if all(values[f"{_SEARCH}.{key}"] is not None for key in _INPUT_TYPES):
        message = "not used: queryInputType and documentInputType are both set, and win over it"
        yield f"{_SEARCH}.inputType", message
    yield from _of_fallback(provider, fallback)
    if provider == "auto":
        if choice is not None:
            yield from _of_auto(values, choice)
        return
    if provider in ON_THIS_MACHINE:
        yield from _of_local_provider(provider, fallback)
    entry = entry_for(provider, providers)
    yield from _of_requests(provider, entry.api if entry else None)
    if "local" not in (provider, fallback):
        message = "not used: neither `provider` nor `fallback` is 'local'"
        yield from ((f"{_SEARCH}.local.{key}", message) for key in ("modelPath", "contextSize"))
    message = f"not used: it is for the provider 'auto', and {provider!r} is named"
    yield f"{_SEARCH}.useEnvironmentKeys", message


def _of_requests(provider: str, api: str | None) -> Iterator[Reason]:
    """Of a provider that lacks something that others have."""
    from notewell.embedders import has_batches, has_input_types

    if not has_batches(provider, api):
        message = f"not used: the provider {provider!r} has no batch jobs; remove it"
        yield f"{_SEARCH}.remote.batch.enabled", message
    if not has_input_types(provider, api):
        message = f"not used: the provider {provider!r} has no input types"
        yield from ((f"{_SEARCH}.{key}", message) for key in _INPUT_TYPES)


def _of_auto(values: Mapping[str, Any], choice: EmbedderChoice) -> Iterator[Reason]:
    """`auto` uses one provider, and each key is for one, so most are for another."""
    used, fallback = choice.provider, values[f"{_SEARCH}.fallback"]
    uses = f"not used: `auto` uses {used!r} here"
    if used != "openai":
        message = f"{uses}, and with `auto` this is for OpenAI; name the provider that it is for"
        yield from ((f"{_SEARCH}.{key}", message) for key in _FOR_OPENAI)
    if used in ON_THIS_MACHINE and used != "local" and fallback in ("none", *ON_THIS_MACHINE):
        yield from ((f"{_SEARCH}.{key}", uses) for key in _OF_REQUESTS)
    if "local" not in (used, fallback):
        message = f"{uses}; name the provider 'local'"
        yield f"{_SEARCH}.local.contextSize", message
        yield f"{_SEARCH}.local.modelPath", f"{message}, or the path of a model file"
    model = values[f"{_SEARCH}.model"]
    if model is not None and not _has_model(choice, model):
        message = f"{uses}, with the model {choice.model!r}; name the provider of {model!r}"
        yield f"{_SEARCH}.model", message


def _has_model(choice: EmbedderChoice, model: str) -> bool:
    from notewell.embedders import embedded_models

    return model == choice.model or (choice.provider == "embedded" and model in embedded_models())


def _of_fallback(provider: str, fallback: str) -> Iterator[Reason]:
    if fallback == "none":
        return
    if provider == "none":
        message = "not used: the provider is 'none', which never fails; name a provider"
        yield f"{_SEARCH}.fallback", message
    elif provider == fallback:
        message = "not used: it is the same as the provider; name another one, or 'none'"
        yield f"{_SEARCH}.fallback", message


def _of_local_provider(provider: str, fallback: str) -> Iterator[Reason]:
    """Of a provider that sends no requests."""
    does = "computes no vectors" if provider == "none" else "runs on this machine"
    message = f"not used: the provider {provider!r} {does}; remove it, or name another provider"
    for key in ("remote.baseUrl", "remote.apiKey", "remote.headers", "outputDimensionality"):
        yield f"{_SEARCH}.{key}", message
    if provider == "local":
        yield f"{_SEARCH}.model", "not used: local.modelPath names the model of 'local'"
        return
    if provider == "none":
        yield f"{_SEARCH}.model", message
    # A fallback keeps these.
    if fallback in ("none", provider):
        yield from ((f"{_SEARCH}.{key}", message) for key in _OF_REQUESTS)
