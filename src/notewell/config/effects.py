"""Settings that are valid by themselves and have no effect beside the others.

A user who sets a key expects what the key says, so each of these is a finding of `config check`
that names the key and the next step. A value has no effect if no agent that has it uses it: a
default for all agents may be of use to one of them only.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.config.agents import RULES
from notewell.config.document import ConfigFinding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from notewell.config.agents import ProviderEntry, Value
    from notewell.config.document import FindingKind
    from notewell.config.validate import Layer

Reason = tuple[str, str]
"""A key, and why its value has no effect."""

_SEARCH = "memorySearch"
_LANCE = "plugins.entries.memory-lancedb"
_SESSION_NOTE = "hooks.internal.entries.session-memory"
_FLUSH = "compaction.memoryFlush"
_ON_THIS_MACHINE = ("embedded", "local", "none")
_INPUT_TYPES = ("inputType", "queryInputType", "documentInputType")
_SWITCHES: Mapping[str, tuple[str, ...]] = {
    f"{_SEARCH}.query.hybrid.mmr.enabled": (f"{_SEARCH}.query.hybrid.mmr.lambda",),
    f"{_SEARCH}.query.hybrid.temporalDecay.enabled": (
        f"{_SEARCH}.query.hybrid.temporalDecay.halfLifeDays",
    ),
    f"{_SEARCH}.cache.enabled": (f"{_SEARCH}.cache.maxEntries",),
    f"{_SEARCH}.store.vector.enabled": (f"{_SEARCH}.store.vector.extensionPath",),
    f"{_SEARCH}.remote.batch.enabled": tuple(
        f"{_SEARCH}.remote.batch.{name}"
        for name in ("wait", "concurrency", "pollIntervalMs", "timeoutMinutes")
    ),
    f"{_LANCE}.enabled": tuple(
        f"{_LANCE}.config.{name}"
        for name in ("dbPath", "autoCapture", "autoRecall", "captureMaxChars", "recallMaxChars")
    ),
    f"{_SESSION_NOTE}.enabled": (f"{_SESSION_NOTE}.messages", f"{_SESSION_NOTE}.slugCommand"),
    f"{_FLUSH}.enabled": tuple(
        f"{_FLUSH}.{name}" for name in ("softThresholdTokens", "prompt", "systemPrompt")
    ),
    "memory.qmd.sessions.enabled": (
        "memory.qmd.sessions.retentionDays",
        "memory.qmd.sessions.exportDir",
    ),
}
"""Keys that have an effect only while the switch is on."""


class AgentValues(NamedTuple):
    """What one agent is resolved to."""

    values: Mapping[str, Value]
    workspace: Path | None


def without_effect(
    agents: Sequence[AgentValues], providers: Mapping[str, ProviderEntry], kind: FindingKind
) -> list[ConfigFinding]:
    """The values that no agent uses."""
    findings: dict[tuple[str, int, str], ConfigFinding] = {}
    in_use: set[tuple[str, int, str]] = set()
    for agent in agents:
        reasons = dict(_reasons(agent, providers))
        for key, value in agent.values.items():
            place = (value.file, value.line, key)
            if not value.file:
                continue
            # A switch that is off has the effect that it says: none.
            if key in reasons and value.value is not False:
                findings[place] = ConfigFinding(kind, value.file, value.line, key, reasons[key])
            else:
                in_use.add(place)
    return [finding for place, finding in findings.items() if place not in in_use]


def _reasons(agent: AgentValues, providers: Mapping[str, ProviderEntry]) -> Iterator[Reason]:
    """For keys that the agent does not use; a key without a value in a file does no harm here."""
    plain = {key: value.value for key, value in agent.values.items()}
    yield from _behind_switches(plain)
    yield from _of_sources(plain)
    yield from _of_qmd(plain)
    yield from _of_provider(plain, providers)


def _behind_switches(values: Mapping[str, Any]) -> Iterator[Reason]:
    for switch, keys in _SWITCHES.items():
        if not values[switch]:
            for key in keys:
                yield key, f"not used: {switch} is not true"
    if values[f"{_SEARCH}.store.vector.driver"] == "segments":
        yield (
            f"{_SEARCH}.store.vector.extensionPath",
            "not used: store.vector.driver is 'segments'",
        )


def _of_sources(values: Mapping[str, Any]) -> Iterator[Reason]:
    sources = values[f"{_SEARCH}.sources"]
    if "memory" not in sources:
        message = "not used: add `memory` to `sources`, or remove it"
        yield from ((f"{_SEARCH}.{key}", message) for key in ("extraPaths", "redaction.notes"))
    if values[f"{_SEARCH}.sessions.keep.enabled"] is False:
        message = "not used: sessions.keep.enabled is false"
        for key in ("days", "megabytes", "leaveOut"):
            yield f"{_SEARCH}.sessions.keep.{key}", message
    if "sessions" in sources:
        return
    message = "no effect: add `sessions` to `sources`, or no transcript is searched"
    yield f"{_SEARCH}.experimental.sessionMemory", message
    for key in ("sessions.paths", "sync.sessions.deltaBytes", "sync.sessions.deltaMessages"):
        message = (
            "not used: transcripts are searched only with experimental.sessionMemory and with "
            "`sessions` in `sources`"
        )
        yield f"{_SEARCH}.{key}", message


def _of_qmd(values: Mapping[str, Any]) -> Iterator[Reason]:
    scopes = {
        above: values[f"{above}.default"] is not None or bool(values[f"{above}.rules"])
        for above in ("memory.scope", "memory.qmd.scope")
    }
    if all(scopes.values()):
        message = "not used: memory.scope is set, which holds for every engine; keep one of them"
        yield "memory.qmd.scope.default", message
        yield "memory.qmd.scope.rules", message
    if values["memory.backend"] != "qmd":
        message = "not used: memory.backend is not 'qmd'"
        yield "memory.fallback", message
        # Its scope holds for every engine.
        for key in values:
            if key.startswith("memory.qmd.") and not key.startswith("memory.qmd.scope."):
                yield key, message


# -- the provider --------------------------------------------------------------------------------


def _of_provider(
    values: Mapping[str, Any], providers: Mapping[str, ProviderEntry]
) -> Iterator[Reason]:
    from notewell.embedders import has_batches, has_input_types

    provider, fallback = values[f"{_SEARCH}.provider"], values[f"{_SEARCH}.fallback"]
    named = (provider, fallback)
    yield from _of_fallback(provider, fallback)
    if provider in _ON_THIS_MACHINE:
        yield from _of_local_provider(provider, fallback)
    entry = entry_for(provider, providers)
    api = entry.api if entry else None
    if not has_batches(provider, api):
        message = f"not used: the provider {provider!r} has no batch jobs; remove it"
        yield f"{_SEARCH}.remote.batch.enabled", message
    if not has_input_types(provider, api):
        message = f"not used: the provider {provider!r} has no input types"
        yield from ((f"{_SEARCH}.{key}", message) for key in _INPUT_TYPES)
    if "local" not in named and provider != "auto":
        message = "not used: neither `provider` nor `fallback` is 'local'"
        yield from ((f"{_SEARCH}.local.{key}", message) for key in ("modelPath", "contextSize"))
    if provider != "auto":
        message = f"not used: it is for the provider 'auto', and {provider!r} is named"
        yield f"{_SEARCH}.useEnvironmentKeys", message


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
        yield f"{_SEARCH}.remote.nonBatchConcurrency", message
        yield f"{_SEARCH}.query.embeddingTimeoutSeconds", message
        yield f"{_SEARCH}.sync.embeddingBatchTimeoutSeconds", message


def entry_for(name: str, providers: Mapping[str, ProviderEntry]) -> ProviderEntry | None:
    """The entry of `models.providers` for a provider, by its name or an alias."""
    from notewell.embedders import entry_of, names_of

    return entry_of(providers, names_of(name))


def used_providers(agents: Iterable[Mapping[str, Any]]) -> set[str]:
    """The names below `models.providers` from which some agent would take a key or an address."""
    from notewell.embedders import auto_order, names_of

    used: set[str] = set()
    for values in agents:
        for key in (f"{_SEARCH}.provider", f"{_SEARCH}.fallback"):
            name = values[key]
            for one in auto_order() if name == "auto" else (name,):
                used.update(names_of(one))
    return used


def unused_entries(
    layers: Iterable[Layer], agents: Iterable[Mapping[str, Any]]
) -> list[ConfigFinding]:
    """Entries of `models.providers` that no agent computes vectors with."""
    used = used_providers(agents)
    findings: dict[tuple[str, str], ConfigFinding] = {}
    message = "not used: no agent computes vectors with it; name it as `provider`, or remove it"
    for layer in layers:
        for setting in layer.settings:
            if setting.path[:2] == ("models", "providers") and str(setting.path[2]) not in used:
                key = f"models.providers.{setting.path[2]}"
                finding = ConfigFinding("note", layer.file, setting.line, key, message)
                findings.setdefault((layer.file, key), finding)
    return list(findings.values())


# -- values that cannot do what they say ---------------------------------------------------------


def doubtful(
    agent: AgentValues, providers: Mapping[str, ProviderEntry]
) -> Iterator[ConfigFinding]:
    """Values that are used, but cannot have the effect that they are meant to have."""
    yield from _incomplete_entries(agent.values, providers)
    yield from _foreign_model(agent.values)
    yield from _prefixes_that_never_match(agent.values)
    yield from _exports_among_notes(agent)


def _incomplete_entries(
    values: Mapping[str, Value], named: Mapping[str, ProviderEntry]
) -> Iterator[ConfigFinding]:
    """Entries of the user's own that lack an address or a model: no vector can be computed."""
    from notewell.embedders import PROVIDER_NAMES, ProviderSettings

    for key in (f"{_SEARCH}.provider", f"{_SEARCH}.fallback"):
        value = values[key]
        entry = named.get(value.value)
        if entry is None or value.value in PROVIDER_NAMES:
            continue
        # `remote.baseUrl` and `model` are for the provider, not for its fallback.
        is_first = key == f"{_SEARCH}.provider"
        model = values[f"{_SEARCH}.model"].value if is_first else None
        address = values[f"{_SEARCH}.remote.baseUrl"].value if is_first else None
        lacks = [] if address or entry.base_url else ["baseUrl"]
        lacks += [] if model or ProviderSettings(models=entry.models).model else ["models"]
        for name in lacks:
            message = f"no vectors: models.providers.{value.value}.{name} is not set"
            yield ConfigFinding("note", value.file, value.line, key, message)


def _foreign_model(values: Mapping[str, Value]) -> Iterator[ConfigFinding]:
    from notewell.embedders import embedded_models

    model = values[f"{_SEARCH}.model"]
    if values[f"{_SEARCH}.provider"].value == "embedded" and model.value is not None:
        known = embedded_models()
        if model.value not in known:
            message = f"no embedded model is called {model.value!r}; known: {', '.join(known)}"
            yield ConfigFinding("error", model.file, model.line, f"{_SEARCH}.model", message)


def _prefixes_that_never_match(values: Mapping[str, Value]) -> Iterator[ConfigFinding]:
    for path in RULES:
        rules = values[path]
        for number, rule in enumerate(rules.value):
            if str(rule.get("match.keyPrefix", "")).lower().startswith("agent:"):
                key = f"{path}[{number}].match.keyPrefix"
                message = (
                    "never matches: it is compared with the key after its `agent:<id>:`; write "
                    "the rest of it, or use rawKeyPrefix"
                )
                yield ConfigFinding("note", rules.file, rules.line, key, message)


def _exports_among_notes(agent: AgentValues) -> Iterator[ConfigFinding]:
    """Exported transcripts are private, but a file in a folder of notes is a note."""
    folder = agent.values["memory.qmd.sessions.exportDir"]
    if folder.value is None or agent.workspace is None:
        return
    root = agent.workspace
    extra = (entry[0] for entry in agent.values[f"{_SEARCH}.extraPaths"].value)
    exports = _normal(root, folder.value)
    if any(exports.is_relative_to(_normal(root, path)) for path in ("memory", *extra)):
        message = (
            "the exported transcripts become notes there, and groups see notes: choose a folder "
            "outside the notes"
        )
        key = "memory.qmd.sessions.exportDir"
        yield ConfigFinding("note", folder.file, folder.line, key, message)


def _normal(root: Path, path: str) -> Path:
    return Path(os.path.normpath(root / Path(path).expanduser()))
