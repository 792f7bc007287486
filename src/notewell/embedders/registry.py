"""The one list of providers. A new provider is one line here and one file in `providers/`.

Everything else derives from this list: the names that the configuration accepts, the environment
variables that may hold a key, the order of `auto`, and the loader of each wire format.

Invariant: importing this module imports no provider. `notewell search` reads the list at every
start, and the configuration reads it to check a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from notewell.records import NamedTuple, dataclass

if TYPE_CHECKING:
    from notewell.embedders.providers.provider import Provider


@dataclass(frozen=True, slots=True)
class RegisteredProvider:
    """What must be known about a provider before its module is imported."""

    name: str
    """The value of the setting `provider`."""
    wire_format: str | None = None
    """`module:VARIABLE` of its `Provider`, below `providers/`; None: it runs on this machine."""
    key_variables: tuple[str, ...] = ()
    """Environment variables that may hold its key, in the order in which they are read."""
    auto_rank: int | None = None
    """Its place in the order of `provider: auto`, lowest first; None: `auto` never takes it."""
    aliases: tuple[str, ...] = ()
    """Other names for it below `models.providers` and in auth profiles."""
    input_types: bool = False
    """Whether a request says what kind of text it has, so that `inputType` has an effect."""
    batches: bool = False
    """Whether it has batch jobs, so that `remote.batch` has an effect."""

    def load(self) -> Provider:
        """Import the provider's module; raises `KeyError` for one that has no wire format."""
        from importlib import import_module

        if self.wire_format is None:
            raise KeyError(self.name)
        module, _, variable = self.wire_format.partition(":")
        provider: Provider = getattr(
            import_module(f"notewell.embedders.providers.{module}"), variable
        )
        return provider


NONE = "none"
"""No embedder, as `provider` or as `fallback`: keyword search alone answers."""

PROVIDERS = (
    RegisteredProvider("embedded", auto_rank=90),
    RegisteredProvider(
        "openai", "openai:OPENAI", ("OPENAI_API_KEY",), 20, input_types=True, batches=True
    ),
    RegisteredProvider(
        "gemini",
        "gemini:GEMINI",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        30,
        aliases=("google",),
        input_types=True,
        batches=True,
    ),
    RegisteredProvider(
        "voyage", "voyage:VOYAGE", ("VOYAGE_API_KEY",), 40, input_types=True, batches=True
    ),
    RegisteredProvider("local", auto_rank=10),
    # `auto` does not take the next two: a server on this machine may be there for another
    # purpose, and an OpenAI-compatible server has neither a default address nor a default model.
    RegisteredProvider("ollama", "ollama:OLLAMA", ("OLLAMA_API_KEY",)),
    RegisteredProvider("openai-compatible", "openai:OPENAI_COMPATIBLE", input_types=True),
    RegisteredProvider(NONE),
)

PROVIDER_NAMES = ("auto", *(entry.name for entry in PROVIDERS))
"""What the setting `provider` accepts besides an entry of `models.providers`."""

_BY_NAME = {entry.name: entry for entry in PROVIDERS}


def auto_order() -> tuple[str, ...]:
    """The providers that `auto` tries, first to last."""
    ranked = [(entry.auto_rank, entry.name) for entry in PROVIDERS if entry.auto_rank is not None]
    return tuple(name for _, name in sorted(ranked))


class AmbientKey(NamedTuple):
    """A key in the environment that no setting names."""

    provider: str
    variable: str


def ambient_keys(environment: Mapping[str, str]) -> tuple[AmbientKey, ...]:
    """The keys of providers that `auto` tries, one for each, in its order."""
    keys = []
    for provider in auto_order():
        variables = (name for name in key_variables(provider) if environment.get(name, "").strip())
        keys += [AmbientKey(provider, variable) for variable in list(variables)[:1]]
    return tuple(keys)


def key_variables(provider: str) -> tuple[str, ...]:
    entry = _BY_NAME.get(provider)
    return entry.key_variables if entry else ()


def names_of(provider: str) -> tuple[str, ...]:
    """The name of a provider and its aliases."""
    entry = _BY_NAME.get(provider)
    return (provider, *entry.aliases) if entry else (provider,)


# -- entries of `models.providers` ---------------------------------------------------------------

_APIS = {
    "openai": "openai-compatible",
    "openai-compatible": "openai-compatible",
    "openai-completions": "openai-compatible",
    "openai-responses": "openai-compatible",
    "gemini": "gemini",
    "google-generative-ai": "gemini",
    "voyage": "voyage",
    "ollama": "ollama",
}
"""Values of `models.providers.<name>.api`, and the provider whose wire format each one means.
OpenClaw's values name chat APIs; a server that has one of these has its embeddings beside it."""

KNOWN_APIS = tuple(_APIS)


def entry_problem(name: str, api: str | None) -> str | None:
    """Why an entry of `models.providers` cannot compute vectors; None if it can.

    The configuration and the choice of an embedder both ask here, so they cannot disagree.
    """
    if api is None or api in _APIS:
        return None
    known = ", ".join(KNOWN_APIS)
    return f"models.providers.{name}.api is {api!r}, which has no vectors; known: {known}"


def has_input_types(name: str, api: str | None) -> bool:
    """Whether `inputType` has an effect for a provider, ours or an entry of `models.providers`."""
    return name == "auto" or _wire_format(name, api).input_types


def has_batches(name: str, api: str | None) -> bool:
    """Whether `remote.batch` has an effect for a provider, ours or one of `models.providers`."""
    return name == "auto" or _wire_format(name, api).batches


def _wire_format(name: str, api: str | None) -> RegisteredProvider:
    own = "openai-compatible" if name == "openai" else name
    # `api` may only repeat what the provider has anyway; see `provider_of`.
    if name in _BY_NAME and (api is None or _APIS.get(api) == own):
        return _BY_NAME[name]
    return _BY_NAME[_APIS.get(api or "", "openai-compatible")]


def provider_of(name: str, api: str | None) -> Provider:
    """The wire format of a provider, ours or an entry of `models.providers`."""
    own = "openai-compatible" if name == "openai" else name
    if name in REMOTE_PROVIDERS and (api is None or _APIS[api] == own):
        return REMOTE_PROVIDERS[name]
    from notewell.records import replace

    # A name of the user's has no public address and no default model: nothing may be guessed.
    wire_format = REMOTE_PROVIDERS[_APIS[api] if api else "openai-compatible"]
    return replace(wire_format, name=name, default_url=None, default_model=None, needs_key=False)


def own_name(name: str) -> str:
    """The name of a provider of ours that is meant: any case, or an alias (`google` is `gemini`).
    Every other name is returned as it is: it can only be one of the user's."""
    known = {alias: entry.name for entry in PROVIDERS for alias in (entry.name, *entry.aliases)}
    return {**known, "auto": "auto"}.get(name.lower(), name)


class _RemoteProviders(Mapping[str, "Provider"]):
    """A lookup imports one provider; `in`, `len` and iteration import none."""

    def __init__(self, entries: tuple[RegisteredProvider, ...]) -> None:
        self._entries = {entry.name: entry for entry in entries if entry.wire_format}

    def __getitem__(self, name: str) -> Provider:
        return self._entries[name].load()

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


REMOTE_PROVIDERS: Mapping[str, Provider] = _RemoteProviders(PROVIDERS)
"""Every provider that is called over HTTP, by its name in the configuration."""
