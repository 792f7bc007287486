"""From settings to a remote embedder: the address, the model, the dims, the key, the headers.

Decides everything that can be known without a call, and puts what is missing into words.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from notewell.embedders.gemini import GEMINI
from notewell.embedders.keys import ENVIRONMENT
from notewell.embedders.ollama import OLLAMA
from notewell.embedders.openai import OPENAI, OPENAI_COMPATIBLE
from notewell.embedders.provider import Target
from notewell.embedders.remote import RemoteEmbedder, RemotePlan, Runtime
from notewell.embedders.settings import RemoteSettings
from notewell.embedders.voyage import VOYAGE
from notewell.errors import BadSetting, EmbedderMissing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.core import Secret
    from notewell.embedders.keys import FoundKey, KeySources
    from notewell.embedders.provider import Provider
    from notewell.embedders.settings import EmbedderSettings

REMOTE: Mapping[str, Provider] = MappingProxyType(
    {one.name: one for one in (OPENAI, GEMINI, VOYAGE, OPENAI_COMPATIBLE, OLLAMA)}
)
"""Every provider at the other end of a wire, by its name in the configuration."""

HTTP_PACKAGE = "httpx2"


@dataclass(frozen=True, slots=True)
class Opened:
    embedder: RemoteEmbedder
    key_from: str | None


def open_remote(
    provider: Provider,
    settings: EmbedderSettings,
    keys: KeySources,
    runtime: Runtime,
    *,
    model: str | None = None,
    meant: bool = True,
) -> Opened:
    """`meant` False: the remote settings are another provider's, so none of them is used here."""
    remote = settings.remote if meant else _timing_of(settings.remote)
    target = _target(provider, remote, model, settings.dims if meant else None)
    found, problem = _find_key(provider, remote, keys, target)
    headers = {**(provider.auth(found.secret) if found else {}), **remote.headers}
    plan = RemotePlan(
        provider=provider,
        target=target,
        headers=headers,
        lacks=problem or _lacks(provider, target, headers, found),
        concurrency=remote.concurrency,
        query_timeout_s=remote.query_timeout_s,
        document_timeout_s=remote.document_timeout_s,
    )
    return Opened(RemoteEmbedder(plan, runtime), found.where if found else None)


def _timing_of(remote: RemoteSettings) -> RemoteSettings:
    return RemoteSettings(
        concurrency=remote.concurrency,
        query_timeout_s=remote.query_timeout_s,
        document_timeout_s=remote.document_timeout_s,
    )


def _target(
    provider: Provider, remote: RemoteSettings, model: str | None, dims: int | None
) -> Target:
    base_url = (remote.base_url or provider.default_url or "").rstrip("/")
    name = model or provider.default_model or ""
    known = provider.models.get(name.removeprefix("models/"))
    if dims is not None and known is not None:
        if dims != known.dims and dims not in known.other_dims:
            raise BadSetting("dims", f"{name} has {known.dims} dimensions and none of {dims}")
        dims = None if dims == known.dims else dims
    return Target(base_url, name, dims, own_address=base_url == provider.default_url)


def _find_key(
    provider: Provider, remote: RemoteSettings, keys: KeySources, target: Target
) -> tuple[FoundKey | None, str | None]:
    try:
        found = keys.find(provider.name, remote.api_key, own_address=target.own_address)
    except EmbedderMissing as missing:
        return None, f"{missing.problem}; {missing.action}"
    return found, None


def _lacks(
    provider: Provider, target: Target, headers: Mapping[str, Secret], found: FoundKey | None
) -> str | None:
    if not target.base_url:
        return "no address is set; set remote.baseUrl to the server's, up to and with /v1"
    if not target.model:
        return "no model is set; set model to a name the server knows"
    if provider.needs_key and target.own_address and found is None:
        names = " or ".join(ENVIRONMENT.get(provider.name, ()))
        return f"no key; set {names} or remote.apiKey, or choose provider: embedded"
    for name, value in headers.items():
        if not value.reveal().isascii() or not value.reveal().isprintable():
            return f"the header {name!r} has characters that cannot be sent; write it in ASCII"
    if importlib.util.find_spec(HTTP_PACKAGE) is None:
        return f"the package {HTTP_PACKAGE!r} is not installed; run `pip install {HTTP_PACKAGE}`"
    return None
