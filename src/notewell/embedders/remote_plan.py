"""What is decided about a remote embedder before it is made: address, model, dims, key, headers.

    EmbedderSettings + KeySources ──plan_remote──▶ RemotePlan ──▶ RemoteEmbedder

Everything that can be known without a request is decided here. Something that is missing becomes
a value (`Lacking`), so that an incomplete configuration can still be shown in the status.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from notewell.embedders.providers.provider import Endpoint
from notewell.embedders.registry import REMOTE_PROVIDERS, key_variables, names_of
from notewell.embedders.retrying import COOLDOWN_S, Clock, RetryPolicy
from notewell.embedders.settings import DOCUMENT_TIMEOUT_S, ProviderSettings
from notewell.errors import BadSetting, EmbedderMissing
from notewell.files import make_private, replace_file
from notewell.ports import Lacking
from notewell.records import dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from notewell.core import Secret
    from notewell.embedders.api_keys import AddressOrigin, FoundKey, KeySources
    from notewell.embedders.providers.provider import Model, Provider
    from notewell.embedders.settings import EmbedderSettings, RemoteSettings

HTTP_PACKAGE = "httpx2"


class SettingNames(NamedTuple):
    """What the user changes, for messages."""

    address: str
    """`remote.baseUrl`, or that of the provider's entry in `models.providers`."""
    key: str
    """Where the key comes from; without a key, where it can be set."""


@dataclass(frozen=True, slots=True)
class RemotePlan:
    provider: Provider
    endpoint: Endpoint
    headers: Mapping[str, Secret]
    lacking: Lacking | None
    """None: complete. Otherwise `embed` raises `EmbedderMissing` with it and sends nothing."""
    concurrency: int
    query_timeout_s: float
    document_timeout_s: float
    names: SettingNames
    mask_secrets: bool = True
    """Whether texts are sent without their secrets."""
    broken_key: Lacking | None = None
    """A setting refers to a key, and there is none; it is also what the provider lacks."""

    @property
    def model(self) -> Model | None:
        return self.provider.models.get(self.endpoint.model.removeprefix("models/"))

    @property
    def endpoint_key(self) -> str:
        """Identifies provider, address and model, so that vectors of different servers are never
        mixed. It is stored in the index, so it contains names of headers and none of their
        values."""
        header_names = sorted(name.lower() for name in self.headers)
        parts = [self.provider.name, self.endpoint.base_url, self.endpoint.model, *header_names]
        # Vectors of another input type are other vectors, so that the cache must not mix them.
        parts += filter(None, (self.endpoint.query_input_type, self.endpoint.document_input_type))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _random() -> float:
    import random

    return random.random()  # noqa: S311 - spreads retries; nothing depends on its quality


class DimsCache:
    """How long the vectors of models outside our tables are, in a small JSON file.

    A wrong guess would build an index that no vector fits, so the model is asked once and the
    answer is kept. The file is optional: if it cannot be read or written, the model is asked
    again. Several processes may write it; the last one wins, and all of them know the same.
    """

    FILE_NAME = "dims.json"
    MAX_ENTRIES = 1000

    def __init__(self, folder: Path | None) -> None:
        """`folder` None keeps nothing."""
        self._path = folder / self.FILE_NAME if folder is not None else None

    def get(self, key: str) -> int | None:
        dims = self._read().get(key, 0)
        # The file may have been edited: `true` is an `int` too, and must not become one dimension.
        return dims if type(dims) is int and dims > 0 else None

    def put(self, key: str, dims: int | None) -> None:
        """Remember the length; None forgets it."""
        entries = self._read()
        if entries.get(key) == dims:
            return
        # Inserted again at the end: the oldest are dropped first.
        entries.pop(key, None)
        if dims is not None:
            entries[key] = dims
        with suppress(OSError):
            self._write(dict(list(entries.items())[-self.MAX_ENTRIES :]))

    def _read(self) -> dict[str, int]:
        if self._path is None:
            return {}
        try:
            entries = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return entries if isinstance(entries, dict) else {}

    def _write(self, entries: dict[str, int]) -> None:
        if self._path is None:
            return
        make_private(self._path.parent)
        # Not durable: a lost file costs one request.
        replace_file(self._path, json.dumps(entries, indent=1).encode(), durable=False)


@dataclass(frozen=True, slots=True)
class Runtime:
    """Clock, sleep, randomness and storage as arguments, so that tests can replace them."""

    clock: Clock = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = _random
    dims_cache: DimsCache = field(default_factory=lambda: DimsCache(None))
    cooldown_s: float = COOLDOWN_S
    retry: RetryPolicy = field(default_factory=RetryPolicy)


def plan_remote(
    provider: Provider,
    settings: EmbedderSettings,
    keys: KeySources,
    *,
    model: str | None = None,
    entry: ProviderSettings | None = None,
) -> tuple[RemotePlan, FoundKey | None]:
    """The plan, and its key with the place where it was found.

    `settings.remote` must have been written for this provider; `entry` is its own entry of
    `models.providers`, which is weaker.
    """
    remote, entry = settings.remote, entry or ProviderSettings()
    if remote.base_url and entry.base_url and remote.base_url != entry.base_url:
        # The key and the headers of the entry were written for the address of the entry.
        entry, keys = ProviderSettings(), replace(keys, providers={})
    address = remote.base_url or entry.base_url or provider.default_url or ""
    endpoint = replace(
        _endpoint(provider, address, model, settings.dims),
        query_input_type=settings.query_input_type or settings.input_type,
        document_input_type=settings.document_input_type or settings.input_type,
    )
    origin: AddressOrigin = "entry"
    if endpoint.own_address or remote.base_url:
        origin = "provider" if endpoint.own_address else "remote"
    key, lacking = _find_key(provider, remote, keys, origin)
    names = _setting_names(provider, settings, endpoint, key, ambient=keys.ambient)
    # The user's own headers come last, so they can replace ours.
    own = provider.auth(key.secret) if key else {}
    headers = _merged(own, entry.headers, remote.headers)
    plan = RemotePlan(
        provider=provider,
        endpoint=endpoint,
        headers=headers,
        lacking=lacking or _lacking(provider, endpoint, headers, names, settings, key),
        concurrency=remote.concurrency,
        query_timeout_s=settings.query_timeout_s or provider.query_timeout_s,
        document_timeout_s=settings.document_timeout_s or DOCUMENT_TIMEOUT_S,
        names=names,
        mask_secrets=settings.mask_secrets,
        broken_key=lacking,
    )
    return plan, key


def _merged(*layers: Mapping[str, Secret]) -> dict[str, Secret]:
    """Headers of several layers; the last one wins, and names ignore case."""
    merged: dict[str, tuple[str, Secret]] = {}
    for layer in layers:
        merged.update({name.lower(): (name, value) for name, value in layer.items()})
    return dict(merged.values())


def _endpoint(provider: Provider, address: str, model: str | None, dims: int | None) -> Endpoint:
    # Without the last slash, so that `…/v1/` and `…/v1` are the same endpoint in the index.
    base_url = address.rstrip("/")
    name = model or provider.default_model or ""
    published = provider.models.get(name.removeprefix("models/"))
    if dims is not None and published is not None:
        if dims != published.dims and dims not in published.other_dims:
            problem = f"{name} cannot give {dims} dimensions; its default is {published.dims}"
            raise BadSetting("dims", problem)
        # The default length is not sent: text-embedding-ada-002 refuses the field altogether.
        dims = None if dims == published.dims else dims
    return Endpoint(base_url, name, dims, own_address=base_url == provider.default_url)


def _find_key(
    provider: Provider, remote: RemoteSettings, keys: KeySources, origin: AddressOrigin
) -> tuple[FoundKey | None, Lacking | None]:
    try:
        key = keys.find(provider.name, remote.api_key, address=origin)
    except EmbedderMissing as missing:
        return None, Lacking(missing.problem, missing.action)
    return key, None


def _setting_names(
    provider: Provider,
    settings: EmbedderSettings,
    endpoint: Endpoint,
    key: FoundKey | None,
    *,
    ambient: bool,
) -> SettingNames:
    entries = [name for name in names_of(provider.name) if name in settings.providers]
    entry = f"models.providers.{next(iter(entries), provider.name)}"
    above = entry
    if settings.remote.base_url or (
        settings.remote_counts
        and provider.name in REMOTE_PROVIDERS
        and not settings.entry_of(entries).base_url
    ):
        above = "remote"
    places = [f"{above}.apiKey"]
    if endpoint.own_address:
        # With `auto` a variable would not count.
        places = [*key_variables(provider.name), *places] if ambient else [f"{entry}.apiKey"]
    return SettingNames(f"{above}.baseUrl", key.setting if key else " or ".join(places))


def _lacking(
    provider: Provider,
    endpoint: Endpoint,
    headers: Mapping[str, Secret],
    names: SettingNames,
    settings: EmbedderSettings,
    key: FoundKey | None,
) -> Lacking | None:
    if not endpoint.base_url:
        action = f"set {names.address} to the server's, including /v1"
        return Lacking("no address is set", action)
    if not endpoint.model:
        return Lacking("no model is set", "set model to a name that the server knows")
    # A server at another address may need no key; if it does, its 401 says so.
    if provider.needs_key and endpoint.own_address and key is None:
        is_fallback = not settings.remote_counts and settings.provider != "auto"
        choice = "fallback" if is_fallback else "provider"
        return Lacking("no key", f"set {names.key}, or choose {choice}: embedded")
    # The HTTP library would raise an error that contains the value, which is a key.
    for name, value in headers.items():
        if not value.reveal().isascii() or not value.reveal().isprintable():
            problem = f"the header {name!r} has characters that cannot be sent"
            return Lacking(problem, "write it in ASCII")
    # It is a dependency, but an installation with `--no-deps` lacks it.
    if importlib.util.find_spec(HTTP_PACKAGE) is None:
        problem = f"the package {HTTP_PACKAGE!r} is not installed"
        return Lacking(problem, f"run `pip install {HTTP_PACKAGE}`")
    return None
