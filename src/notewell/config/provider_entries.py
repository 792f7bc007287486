"""`models.providers` and `auth.order`: how providers are reached, and which of it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.config.document import ConfigFinding
from notewell.config.validate import did_you_mean, dotted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.config.agents import Value
    from notewell.config.document import FindingKind
    from notewell.config.validate import KeyPath, Layer
    from notewell.core import Secret

_SEARCH = "memorySearch"
ON_THIS_MACHINE = ("embedded", "local", "none")
"""Providers that send no requests."""


class ProviderEntry(NamedTuple):
    """An entry of `models.providers`."""

    base_url: str | None = None
    api_key: Secret | None = None
    headers: Mapping[str, Secret] | None = None
    api: str | None = None
    models: tuple[str, ...] = ()


PROVIDER_FIELDS = {
    "baseUrl": "base_url",
    "apiKey": "api_key",
    "headers": "headers",
    "api": "api",
    "models": "models",
}
"""The field of `ProviderEntry` for each key of an entry."""


def providers_of(layers: Iterable[Layer]) -> tuple[dict[str, ProviderEntry], dict[str, str]]:
    """`models.providers`, and who set each of its values."""
    providers: dict[str, ProviderEntry] = {}
    origins = {}
    for layer in layers:
        for setting in layer.settings:
            if setting.path[:2] == ("models", "providers"):
                name, field = str(setting.path[2]), PROVIDER_FIELDS.get(str(setting.path[3]))
                # An entry counts even if we use none of its keys: `provider` may name it.
                provider = providers.setdefault(name, ProviderEntry())
                if field:
                    providers[name] = provider._replace(**{field: setting.value})
                    origins[dotted(setting.path)] = f"{layer.file}:{setting.line}"
    return providers, origins


def entry_for(name: str, providers: Mapping[str, ProviderEntry]) -> ProviderEntry | None:
    """The entry of `models.providers` for a provider, by its name or an alias."""
    from notewell.embedders import entry_of, names_of

    return entry_of(providers, names_of(name))


def unknown_providers(
    values: dict[str, Value], named: Mapping[str, ProviderEntry], *, openclaw: bool
) -> list[ConfigFinding]:
    """Providers that are neither ours nor usable entries of `models.providers`.

    OpenClaw has more providers than we do; its file is used with the default instead.
    """
    from notewell.embedders import PROVIDER_NAMES, entry_problem, own_name

    findings = []
    for key in ("memorySearch.provider", "memorySearch.fallback"):
        provider = values[key]
        name = own_name(provider.value)
        values[key] = provider._replace(value=name)
        entry = entry_for(name, named)
        message = None
        if entry:
            message = entry_problem(name, entry.api)
        elif key.endswith("fallback") and name == "auto":
            # Refused by the chooser too: a second choice must not depend on what lies around.
            message = "'auto' is no fallback: name a provider, or 'none'"
        elif name not in PROVIDER_NAMES:
            hint = did_you_mean(name, PROVIDER_NAMES)
            # Only a hint that is a question ends a sentence by itself.
            hint += " " if hint.endswith("?") else ". "
            own = f"Describe one of your own in models.providers.{name}"
            message = f"{name!r} is not a provider{hint}{own}"
        if message:
            if openclaw:
                message = f"Notewell has no provider {name!r}; the default holds"
                values[key] = provider._replace(value="none" if "fallback" in key else "auto")
            kind: FindingKind = "left" if openclaw else "error"
            findings.append(ConfigFinding(kind, provider.file, provider.line, key, message))
    return findings


# -- what nobody uses ----------------------------------------------------------------------------


def unused_entries(
    layers: Iterable[Layer], agents: Sequence[Mapping[str, Any]]
) -> list[ConfigFinding]:
    """What the files say about providers in vain; one finding for an entry as a whole."""
    providers = providers_of(layers)[0]
    findings: dict[tuple[str, str], ConfigFinding] = {}
    for layer in layers:
        for setting in layer.settings:
            message = why_unused(setting.path, agents, providers)
            if message:
                key = dotted(setting.path)
                if message == _NO_AGENT:
                    key = dotted(setting.path[:3])
                    message = f"{message}; name it as `provider`, or remove it"
                finding = ConfigFinding("note", layer.file, setting.line, key, message)
                findings.setdefault((layer.file, key), finding)
    return list(findings.values())


def why_unused(
    path: KeyPath, agents: Sequence[Mapping[str, Any]], providers: Mapping[str, ProviderEntry]
) -> str | None:
    """Why a setting about a provider has no effect; None for every other setting."""
    if path[:2] not in (("models", "providers"), ("auth", "order")):
        return None
    name = str(path[2])
    users = [agent for agent in agents if name in _names(agent, "provider")]
    if any(name in _names(agent, "fallback") for agent in agents):
        return None
    if not users:
        return _NO_AGENT
    if path[0] == "auth":
        return None
    reasons = [_stronger(str(path[3]), name, agent, providers[name]) for agent in users]
    return reasons[0] if all(reasons) else None


_NO_AGENT = "not used: no agent computes vectors with it"
_WINS = {"baseUrl": "remote.baseUrl", "apiKey": "remote.apiKey", "models": "model"}


def _names(agent: Mapping[str, Any], key: str) -> set[str]:
    """The entries from which an agent would take a key or an address."""
    from notewell.embedders import auto_order, names_of

    name = agent[f"{_SEARCH}.{key}"]
    own = auto_order() if name == "auto" else (name,)
    # A provider that sends no requests has no use for an entry.
    return {one for each in own if each not in ON_THIS_MACHINE for one in names_of(each)}


def _stronger(field: str, name: str, agent: Mapping[str, Any], entry: ProviderEntry) -> str | None:
    """Why one agent that uses the entry does not use this field of it."""
    from notewell.embedders import PROVIDER_NAMES, own_name

    own = own_name(name)
    # With `auto`, `remote` is OpenAI's.
    has_remote = agent[f"{_SEARCH}.provider"] != "auto" or own == "openai"
    key = _WINS.get(field)
    if key and has_remote and agent[f"{_SEARCH}.{key}"] is not None:
        return f"not used: {_SEARCH}.{key} wins over it"
    address = agent[f"{_SEARCH}.remote.baseUrl"]
    is_elsewhere = has_remote and address and entry.base_url and address != entry.base_url
    if field in ("apiKey", "headers") and is_elsewhere:
        return f"not used: {_SEARCH}.remote.baseUrl is another address than that of this entry"
    has_default = own in PROVIDER_NAMES and own != "openai-compatible" and entry.api is None
    if field == "models" and has_default:
        return f"not used: the provider {own!r} has a model of its own; set {_SEARCH}.model"
    return None
