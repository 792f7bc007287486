"""Finds the API key of a provider. The places, in this order:

    remote.apiKey                  the setting of this embedder
    models.providers.<p>.apiKey    the setting for everything of that provider
    auth profiles                  OpenClaw's file of keys, in its state folder or in ours
    the environment                OPENAI_API_KEY, GEMINI_API_KEY, VOYAGE_API_KEY, …

Each may contain the key or a reference to it: `env:NAME`, `${NAME}`, `file:/path`,
`keyring:service/user`. The first place that names a key decides. A broken reference is an error
and is not skipped: the next place would supply another key than the user meant.

A key from the environment counts for a provider's own address only: it must not be sent to an
address that somebody put into `baseUrl`. An auth profile also counts for the address of the
provider's entry in `models.providers`, since both describe that provider.

A key comes with the name of its place. The place can be shown; the key cannot.
"""

from __future__ import annotations

import importlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from notewell.core import Secret
from notewell.embedders.auth_profiles import profiles_of
from notewell.embedders.registry import key_variables, names_of
from notewell.errors import EmbedderMissing
from notewell.records import dataclass, field

MAX_KEY_BYTES = 16 * 1024
"""No key is longer; a larger file is not a key file."""

_VARIABLE = re.compile(r"\$\{(\w+)\}|env:(\w+)")
_UNSET_PART = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)\}")
"""The settings replace these where they can: one that is left is not in the environment."""

AddressOrigin: TypeAlias = Literal["provider", "entry", "remote"]
"""Whose address a request goes to: the provider's own one, that of its entry in
`models.providers`, or `remote.baseUrl`."""

ReadKeyring: TypeAlias = Callable[[str, str], "str | None"]


@dataclass(frozen=True, slots=True)
class FoundKey:
    secret: Secret
    where: str
    """For people: `the environment (OPENAI_API_KEY)`."""
    exposed_file: Path | None = None
    """The file of the key, if other users of this machine can read it."""
    setting: str = ""
    """Where the user can change it: a setting, a variable or a profile; never a file name."""


class NamedKey(NamedTuple):
    """A key or a reference to one, as a place contains it."""

    value: Secret
    where: str
    file: Path | None = None


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
    auth_profiles: tuple[Path, ...] = ()
    """Files of OpenClaw's format, strongest first."""
    auth_order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """`auth.order` by provider; an order in the files wins."""
    ambient: bool = True
    """Whether a provider's own variable counts although no setting names it. References to a
    variable (`env:NAME`) are followed in any case."""
    keyring: ReadKeyring = read_keyring
    now_s: Callable[[], float] = time.time

    def find(
        self,
        provider: str,
        configured: Secret | None,
        *,
        address: AddressOrigin = "provider",
    ) -> FoundKey | None:
        """None if no place names a key; raises `EmbedderMissing` for a broken reference."""
        for named in self._named(provider, configured, address):
            text, place = self._resolve(provider, named.value.reveal().strip(), named.where)
            if text:
                secret = _checked(provider, text, place)
                return FoundKey(secret, place, _exposed(named.file), named.where)
        return None

    def _named(
        self, provider: str, configured: Secret | None, address: AddressOrigin
    ) -> Iterator[NamedKey]:
        """A generator: a weaker place is read only if no stronger one has a key, so that its
        faults do not matter."""
        names = names_of(provider)
        if configured is not None:
            yield NamedKey(configured, "remote.apiKey")
        for name in names:
            if name in self.providers:
                yield NamedKey(self.providers[name], f"models.providers.{name}.apiKey")
        if address != "remote":
            for profile in profiles_of(
                provider, names, self.auth_profiles, self.now_s, self.auth_order
            ):
                place = f"the auth profile {profile.name!r}"
                yield NamedKey(Secret(profile.key), place, profile.file)
        if address == "provider" and self.ambient:
            for name in key_variables(provider):
                if self.environment.get(name, "").strip():
                    yield NamedKey(Secret(self.environment[name]), f"the environment ({name})")

    def _resolve(self, provider: str, text: str, where: str) -> tuple[str, str]:
        """The key itself, and the place where it is; `text` is a key or a reference."""
        if match := _VARIABLE.fullmatch(text):
            name = match[1] or match[2]
            place, key = f"the environment ({name})", self.environment.get(name)
        elif names := _UNSET_PART.findall(text):
            place, key = f"the environment ({', '.join(names)})", None
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


def _exposed(path: Path | None) -> Path | None:
    """The file, if its group or others may read it. Windows has no such bits."""
    if path is None or os.name == "nt":
        return None
    others = stat.S_IRGRP | stat.S_IROTH
    return path if path.stat().st_mode & others else None


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
