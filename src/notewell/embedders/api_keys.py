"""Finds the API key of a provider. The places, in this order:

    remote.apiKey                  the setting of this embedder
    models.providers.<p>.apiKey    the setting for everything of that provider
    auth profiles                  a JSON file of keys that the agent's host keeps
    the environment                OPENAI_API_KEY, GEMINI_API_KEY, VOYAGE_API_KEY, …

Each may contain the key or a reference to it: `env:NAME`, `${NAME}`, `file:/path`,
`keyring:service/user`. The first place that names a key decides. A broken reference is an error
and is not skipped: the next place would supply another key than the user meant.

The last two places count for a provider's own address only. A key from the environment must not
be sent to an address that somebody put into `baseUrl`.

A key comes with the name of its place. The place can be shown; the key cannot.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from notewell.core import Secret
from notewell.embedders.registry import key_variables, names_of
from notewell.errors import EmbedderMissing

MAX_KEY_BYTES = 16 * 1024
"""No key is longer; a larger file is not a key file."""

MAX_PROFILES_BYTES = 1024 * 1024

_VARIABLE = re.compile(r"\$\{(\w+)\}|env:(\w+)")

ReadKeyring: TypeAlias = Callable[[str, str], "str | None"]


@dataclass(frozen=True, slots=True)
class FoundKey:
    secret: Secret
    where: str
    """For people: `the environment (OPENAI_API_KEY)`."""


class NamedKey(NamedTuple):
    """A key or a reference to one, as a place contains it."""

    value: Secret
    where: str


def read_keyring(service: str, user: str) -> str | None:
    """Read the system's keyring with the package `keyring`, which is not a dependency of ours."""
    try:
        keyring = importlib.import_module("keyring")
    except ImportError as error:
        raise LookupError("the package 'keyring' is not installed") from error
    try:
        password = keyring.get_password(service, user)
    except keyring.errors.KeyringError as error:
        raise LookupError(f"the keyring cannot be read ({type(error).__name__})") from error
    return password if isinstance(password, str) else None


@dataclass(frozen=True, slots=True)
class KeySources:
    """Every place that may contain a key, as plain values."""

    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    providers: Mapping[str, Secret] = field(default_factory=dict)
    """`models.providers.<name>.apiKey` by name."""
    auth_profiles: Path | None = None
    ambient: bool = True
    """Whether a provider's own variable counts although no setting names it. References to a
    variable (`env:NAME`) are followed in any case."""
    keyring: ReadKeyring = read_keyring

    def find(
        self, provider: str, configured: Secret | None, *, own_address: bool = True
    ) -> FoundKey | None:
        """None if no place names a key; raises `EmbedderMissing` for a broken reference."""
        for named in self._named(provider, configured, own_address=own_address):
            text, place = self._resolve(provider, named.value.reveal().strip(), named.where)
            if text:
                return FoundKey(_checked(provider, text, place), place)
        return None

    def _named(
        self, provider: str, configured: Secret | None, *, own_address: bool
    ) -> list[NamedKey]:
        names = names_of(provider)
        keys: list[NamedKey] = []
        if configured is not None:
            keys.append(NamedKey(configured, "remote.apiKey"))
        keys += [
            NamedKey(self.providers[name], f"models.providers.{name}.apiKey")
            for name in names
            if name in self.providers
        ]
        if own_address:
            keys += self._from_profiles(provider, names)
        if own_address and self.ambient:
            keys += [
                NamedKey(Secret(self.environment[name]), f"the environment ({name})")
                for name in key_variables(provider)
                if self.environment.get(name, "").strip()
            ]
        return keys

    def _from_profiles(self, provider: str, names: Sequence[str]) -> list[NamedKey]:
        if self.auth_profiles is None:
            return []
        key = profile_key(provider, names, self.auth_profiles)
        return [key] if key else []

    def _resolve(self, provider: str, text: str, where: str) -> tuple[str, str]:
        """The key itself, and the place where it is; `text` is a key or a reference."""
        if match := _VARIABLE.fullmatch(text):
            name = match[1] or match[2]
            place, key = f"the environment ({name})", self.environment.get(name)
        elif text.startswith("file:"):
            path = Path(text.removeprefix("file:").removeprefix("//")).expanduser()
            place, key = f"the file {path}", _read_key_file(provider, path)
        elif text.startswith("keyring:"):
            place, key = self._from_keyring(provider, text.removeprefix("keyring:"))
        else:
            return text, where
        if not key or not key.strip():
            raise EmbedderMissing(
                provider, f"{where} names {place}, and no key is there", "put one there"
            )
        return key.strip(), place

    def _from_keyring(self, provider: str, reference: str) -> tuple[str, str | None]:
        # A service name may contain slashes, a user name does not.
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
        if not path.is_file():  # Opening a named pipe would block until somebody writes to it.
            raise FileNotFoundError(2, "no such file")
        with path.open("rb") as file:
            text = file.read(MAX_KEY_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a text"
        # `from None`: a UnicodeDecodeError holds the content of the file, which is a key.
        raise EmbedderMissing(
            provider, f"the key file {path} cannot be read ({why})", "put the key there"
        ) from None
    return text.strip().partition("\n")[0]


def _checked(provider: str, text: str, place: str) -> Secret:
    """A key is one printable line. Anything else was pasted wrong, and would fail later with a
    misleading error."""
    if not text.isascii() or not text.isprintable() or len(text) > MAX_KEY_BYTES:
        raise EmbedderMissing(
            provider,
            f"the key from {place} has characters that no key has",
            "copy it again, as one line",
        )
    return Secret(text)


# -- auth profiles: read, never written ----------------------------------------------------------
#
#     {"profiles": {"openai:default": {"type": "api_key", "provider": "openai", "key": "…"}},
#      "order": {"openai": ["openai:default"]}}
#
# `key` may be a reference, and `keyRef: {"source": "env", "id": "NAME"}` is one too. A file
# without `profiles` is taken as the profiles themselves.

_PROFILE_FIELDS = {"api_key": ("key", "keyRef"), "token": ("token", "tokenRef")}
"""Only keys and tokens count: a login (`oauth`) is for conversations, it does not pay for
vectors."""


def profile_key(provider: str, names: Sequence[str], path: Path) -> NamedKey | None:
    """The first usable profile of a provider."""
    content = _read_profiles(provider, path)
    profiles = content.get("profiles", content)
    if not isinstance(profiles, dict):
        return None
    for name in _in_order(profiles, content.get("order"), names):
        value = _profile_value(profiles[name], names)
        if value:
            return NamedKey(Secret(value), f"the auth profile {name!r}")
    return None


def _in_order(profiles: dict[str, Any], order: object, names: Sequence[str]) -> list[str]:
    """Those that the file's `order` names, then the others in the order of the file."""
    first: list[str] = []
    for name in names:
        preferred = order.get(name) if isinstance(order, dict) else None
        if isinstance(preferred, list):
            first += [entry for entry in preferred if isinstance(entry, str) and entry in profiles]
    return list(dict.fromkeys([*first, *profiles]))


def _profile_value(profile: object, names: Sequence[str]) -> str | None:
    if not isinstance(profile, dict) or profile.get("provider") not in names:
        return None
    plain, reference = _PROFILE_FIELDS.get(str(profile.get("type")), (None, None))
    if plain is None:
        return None
    value, source = profile.get(plain), profile.get(reference)
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(source, dict) and source.get("source") in ("env", "file"):
        return f"{source['source']}:{source.get('id')}"
    return None


def _read_profiles(provider: str, path: Path) -> dict[str, Any]:
    """A missing file contains no profiles; an unreadable one is an error."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_PROFILES_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _unreadable(provider, path, error.strerror or type(error).__name__) from error
    try:
        content = json.loads(data) if len(data) <= MAX_PROFILES_BYTES else None
    except (ValueError, RecursionError):
        content = None  # The exception quotes the file, and the file contains keys.
    if not isinstance(content, dict):
        raise _unreadable(provider, path, "not a small JSON object")
    return content


def _unreadable(provider: str, path: Path, why: str) -> EmbedderMissing:
    return EmbedderMissing(
        provider, f"the auth profiles {path} cannot be read ({why})", "repair or remove the file"
    )
