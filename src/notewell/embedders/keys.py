"""Where a provider's key is found, looked for in this order:

    remote.apiKey                  the setting of this embedder
    models.providers.<p>.apiKey    the setting for everything of that provider
    auth profiles                  a JSON file of keys that an agent's host keeps
    the environment                OPENAI_API_KEY, GEMINI_API_KEY, VOYAGE_API_KEY, …

Each may hold the key or say where it is: `env:NAME`, `${NAME}`, `file:/path`,
`keyring:service/user`. The first place that names a key decides; a reference that leads nowhere is
told, not passed over, because the key meant there is not the one that would be found next.

The last two are for a provider's own address only. A key that lies around in the environment must
not travel to whatever address somebody put into `baseUrl`.

What is found comes with the place it was found in. That can be shown; the key cannot.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from notewell.core import Secret
from notewell.embedders.profiles import profile_key
from notewell.errors import EmbedderMissing

ENVIRONMENT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "openai": ("OPENAI_API_KEY",),
        "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "voyage": ("VOYAGE_API_KEY",),
        "ollama": ("OLLAMA_API_KEY",),
    }
)

ALSO_CALLED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"gemini": ("gemini", "google"), "openai-compatible": ("openai-compatible",)}
)
"""The names a provider goes by under `models.providers` and in auth profiles."""

MAX_KEY_BYTES = 16 * 1024
"""No key is longer; a file that is, is another file."""

_VARIABLE = re.compile(r"\$\{(\w+)\}|env:(\w+)")

ReadKeyring: TypeAlias = Callable[[str, str], "str | None"]


@dataclass(frozen=True, slots=True)
class FoundKey:
    secret: Secret
    where: str
    """For people: `the environment (OPENAI_API_KEY)`."""


def read_keyring(service: str, user: str) -> str | None:
    """From the system's keyring, through the package of that name, which is not ours to bring."""
    try:
        keyring = importlib.import_module("keyring")
    except ImportError as error:
        raise LookupError("the package 'keyring' is not installed") from error
    try:
        found = keyring.get_password(service, user)
    except keyring.errors.KeyringError as error:
        raise LookupError(f"the keyring cannot be read ({type(error).__name__})") from error
    return found if isinstance(found, str) else None


@dataclass(frozen=True, slots=True)
class KeySources:
    """Everything a key may come from, as plain values."""

    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    providers: Mapping[str, Secret] = field(default_factory=dict)
    """`models.providers.<name>.apiKey` by name."""
    auth_profiles: Path | None = None
    keyring: ReadKeyring = read_keyring

    def find(
        self, provider: str, configured: Secret | None, *, own_address: bool = True
    ) -> FoundKey | None:
        """None where no place names a key; raises `EmbedderMissing` for one that leads nowhere."""
        for value, where in self._named(provider, configured, own_address=own_address):
            text, place = self._followed(provider, value.reveal().strip(), where)
            if text:
                return FoundKey(_sendable(provider, text, place), place)
        return None

    def _named(
        self, provider: str, configured: Secret | None, *, own_address: bool
    ) -> list[tuple[Secret, str]]:
        names = ALSO_CALLED.get(provider, (provider,))
        named: list[tuple[Secret, str]] = []
        if configured is not None:
            named.append((configured, "remote.apiKey"))
        named += [
            (self.providers[name], f"models.providers.{name}.apiKey")
            for name in names
            if name in self.providers
        ]
        if own_address:
            named += self._profile(provider, names)
            named += [
                (Secret(self.environment[name]), f"the environment ({name})")
                for name in ENVIRONMENT.get(provider, ())
                if self.environment.get(name, "").strip()
            ]
        return named

    def _profile(self, provider: str, names: tuple[str, ...]) -> list[tuple[Secret, str]]:
        if self.auth_profiles is None:
            return []
        found = profile_key(provider, names, self.auth_profiles)
        return [found] if found else []

    def _followed(self, provider: str, text: str, where: str) -> tuple[str, str]:
        """The key that `text` is or refers to, and the place it came from in the end."""
        if match := _VARIABLE.fullmatch(text):
            name = match[1] or match[2]
            place, found = f"the environment ({name})", self.environment.get(name)
        elif text.startswith("file:"):
            path = Path(text.removeprefix("file:").removeprefix("//")).expanduser()
            place, found = f"the file {path}", _read_key_file(provider, path)
        elif text.startswith("keyring:"):
            place, found = self._from_keyring(provider, text.removeprefix("keyring:"))
        else:
            return text, where
        if not found or not found.strip():
            raise EmbedderMissing(
                provider, f"{where} names {place}, and no key is there", "put one there"
            )
        return found.strip(), place

    def _from_keyring(self, provider: str, reference: str) -> tuple[str, str | None]:
        service, _, user = reference.rpartition("/")
        place = f"the keyring ({service}/{user})"
        try:
            return place, self.keyring(service, user)
        except LookupError as error:
            raise EmbedderMissing(
                provider, f"{place}: {error}", "install it, or keep the key in a file"
            ) from error


def _read_key_file(provider: str, path: Path) -> str:
    """The first line of a small text file."""
    try:
        if not path.is_file():  # A pipe of that name must not make us wait.
            raise FileNotFoundError(2, "no such file")
        with path.open("rb") as file:
            text = file.read(MAX_KEY_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a text"
        raise EmbedderMissing(
            provider, f"the key file {path} cannot be read ({why})", "put the key there"
        ) from None
    return text.strip().partition("\n")[0]


def _sendable(provider: str, text: str, place: str) -> Secret:
    """What is no single printable line was pasted wrong; it would fail late and strangely."""
    if not text.isascii() or not text.isprintable() or len(text) > MAX_KEY_BYTES:
        raise EmbedderMissing(
            provider,
            f"the key from {place} has characters that no key has",
            "copy it again, as one line",
        )
    return Secret(text)
