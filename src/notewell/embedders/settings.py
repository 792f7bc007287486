"""The settings of an embedder: plain frozen values. Nothing here reads a file."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from notewell.embedders.registry import own_name
from notewell.errors import BadSetting
from notewell.records import dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from notewell.core import Secret

T = TypeVar("T")

DOCUMENT_TIMEOUT_S = 120.0
"""For one request with all its retries; OpenClaw gives a batch two minutes."""

QUERY_TIMEOUT_KEY = "query.embeddingTimeoutSeconds"
DOCUMENT_TIMEOUT_KEY = "sync.embeddingBatchTimeoutSeconds"
"""The settings of both times, for the message after a time-out."""

CONCURRENCY = 4
"""Requests at once, as in OpenClaw; more would only reach the rate limit sooner."""


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """The providers' own batch jobs, for large first runs; off by default."""

    enabled: bool = False
    wait: bool = True
    """Whether a sync waits until its jobs have ended; else a later one fetches the vectors."""
    concurrency: int = 2
    poll_interval_s: float = 2.0
    """Before the second poll of a job; the pauses grow from there."""
    timeout_minutes: float = 60.0
    """For one job. It is waited for twice, then the job is cancelled."""

    def __post_init__(self) -> None:
        if not 1 <= self.concurrency <= 16:
            raise BadSetting(
                "remote.batch.concurrency", f"expected 1 to 16, not {self.concurrency}"
            )
        if self.poll_interval_s <= 0 or self.timeout_minutes <= 0:
            raise BadSetting("remote.batch", "expected times of more than 0")


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """Where requests go, and their key and headers."""

    base_url: str | None = None
    """None is the provider's own address."""
    api_key: Secret | None = None
    """The key or a reference: `env:NAME`, `${NAME}`, `file:/path`, `keyring:service/user`."""
    headers: Mapping[str, Secret] = field(default_factory=lambda: MappingProxyType({}))
    """Sent with every request. They replace our own headers; names ignore case."""
    concurrency: int = CONCURRENCY
    batch: BatchSettings = BatchSettings()

    def __post_init__(self) -> None:
        if self.base_url is not None:
            _check_url("remote", self.base_url)
        if not 1 <= self.concurrency <= 64:
            raise BadSetting("remote.concurrency", f"expected 1 to 64, not {self.concurrency}")


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """An entry of `models.providers`: how one provider is reached, whoever uses it."""

    base_url: str | None = None
    api_key: Secret | None = None
    """The key or a reference, as in `RemoteSettings`."""
    headers: Mapping[str, Secret] = field(default_factory=lambda: MappingProxyType({}))
    api: str | None = None
    """Its wire format; None: the provider's own, or OpenAI's for a name of the user's."""
    models: tuple[str, ...] = ()
    """The models that the entry lists."""

    def __post_init__(self) -> None:
        if self.base_url is not None:
            _check_url("models.providers", self.base_url)

    @property
    def model(self) -> str | None:
        """The listed model that computes vectors; most entries also list chat models."""
        named = [model for model in self.models if "embed" in model.lower()]
        return next(iter(named or self.models), None) if named or len(self.models) == 1 else None


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """A model file on this machine."""

    model_path: str | None = None
    model_cache_dir: str | None = None
    context_size: int | None = None
    """The window of the model in tokens; None: its own, up to a limit that saves memory."""


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    provider: str = "auto"
    model: str | None = None
    """None is the provider's default."""
    fallback: str = "none"
    """The provider to use when the first one fails; `none` never leads to another one."""
    dims: int | None = None
    """Shorter vectors, if the model supports them; None is the default of the model."""
    input_type: str | None = None
    """`input_type` of every text, for servers that distinguish queries from documents."""
    query_input_type: str | None = None
    document_input_type: str | None = None
    """The same for one kind of text; they win over `input_type`."""
    query_timeout_s: float | None = None
    """For the vector of a query, with all retries; None: by provider. A person waits for it, and
    when it is over, keyword search answers."""
    document_timeout_s: float | None = None
    """For one request with texts of notes, with all retries; None: by provider."""
    remote: RemoteSettings = RemoteSettings()
    mask_secrets: bool = True
    """Mask secrets in every text that is sent to a remote provider."""
    remote_counts: bool = True
    """False: for another provider than the one that `remote.*` was written for."""
    local: LocalSettings = LocalSettings()
    use_environment_keys: bool = False
    """Whether `auto` may use a key that merely lies in the environment, on the command line."""
    pinned: str | None = None
    """The provider that `auto` takes: an installed entry names what its user's shell found."""
    auth_profiles: tuple[Path, ...] = ()
    """Files of an OpenClaw with keys, strongest first; empty: those in our own state folder."""
    auth_order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The profiles of a provider that are used, in this order, unless their file has an order."""
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    """`models.providers`, by name. An entry belongs to that provider alone."""

    def __post_init__(self) -> None:
        if self.dims is not None and not 1 <= self.dims <= 65_536:
            raise BadSetting("dims", f"expected 1 to 65536, not {self.dims}")
        for seconds in (self.query_timeout_s, self.document_timeout_s):
            if seconds is not None and seconds <= 0:
                raise BadSetting("timeouts", "expected more than 0 seconds")

    def entry_of(self, names: Sequence[str]) -> ProviderSettings:
        """The entry of `models.providers` under the first of a provider's names that has one."""
        return entry_of(self.providers, names) or ProviderSettings()

    def without_remote(self) -> EmbedderSettings:
        """For another provider than the one that `remote.*`, `dims` and the input types were
        written for: its key and its address must never reach a second one."""
        return replace(
            self,
            dims=None,
            input_type=None,
            query_input_type=None,
            document_input_type=None,
            remote=RemoteSettings(concurrency=self.remote.concurrency),
            remote_counts=False,
        )

    def with_own_names(self) -> EmbedderSettings:
        """The same with our names of providers, where another spelling means one of them."""
        return replace(self, provider=own_name(self.provider), fallback=own_name(self.fallback))

    def for_fallback(self) -> EmbedderSettings:
        """The same with the fallback as the provider; the model belongs to the first one too."""
        return replace(self.without_remote(), provider=self.fallback, fallback="none", model=None)


def entry_of(entries: Mapping[str, T], names: Sequence[str]) -> T | None:
    """The first entry under one of a provider's names."""
    return next((entries[name] for name in names if name in entries), None)


def _check_url(above: str, url: str) -> None:
    """`status` and errors show the address, so it must not contain a secret."""
    key = f"{above}.baseUrl"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadSetting(key, "expected an address that starts with https:// or http://")
    # Some gateways accept a key here (`https://user:key@host`, `?key=…`); ours belongs elsewhere.
    if parts.username is not None or parts.query or parts.fragment:
        raise BadSetting(key, f"no user, query or fragment here: put a key into {above}.apiKey")
    try:
        _ = parts.port  # Reading it raises for a bad port; `urlsplit` itself does not check.
    except ValueError as error:
        raise BadSetting(key, "the port is not a number from 0 to 65535") from error
