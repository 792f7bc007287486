"""OpenClaw's `auth-profiles.json`: the keys of an agent's providers. Read, never written.

    {"profiles": {"openai:default": {"type": "api_key", "provider": "openai", "key": "…"}},
     "order": {"openai": ["openai:default"]},
     "usageStats": {"openai:default": {"lastUsed": 1762300000000, "cooldownUntil": 0}}}

An agent also has the profiles of the main agent; its own file wins. Among the profiles of a
provider, OpenClaw's order holds: exactly those of `order`, in that order; else exactly those of
`auth.order` in the settings; else all of them, tokens before keys, the one that was not used for
the longest time first. Profiles in a cool-down come last, expired tokens never.

`key` may be a reference, and `keyRef: {"source": "env", "id": "NAME"}` is one too. OpenClaw's
other secret stores are not read. A file without `profiles` is taken as the profiles themselves.
"""

from __future__ import annotations

import json
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from notewell.errors import EmbedderMissing
from notewell.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

MAX_PROFILES_BYTES = 1024 * 1024

_FIELDS = {"token": ("token", "tokenRef"), "api_key": ("key", "keyRef")}
"""The fields of each type, in OpenClaw's order of types. Only keys and tokens count: a login
(`oauth`) is for conversations, it does not pay for vectors."""


@dataclass(frozen=True, slots=True)
class AuthProfile:
    """A profile that has a key for a provider."""

    name: str
    key: str = field(repr=False)
    """The key or a reference to it."""
    file: Path


def profiles_of(
    provider: str,
    names: Sequence[str],
    files: Sequence[Path],
    now_s: Callable[[], float],
    configured: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Iterator[AuthProfile]:
    """The usable profiles of a provider, the one to use first.

    `names` are the provider's name and its aliases, `files` are strongest first, `configured` is
    the order in the settings, for providers that have none in the files.

    Raises `EmbedderMissing` for a file that cannot be read, and on reaching a profile whose key is
    in another secret store: one after a usable profile is no error.
    """
    store = _Store()
    for file in reversed(files):
        store = store.with_file(file, _read(provider, file))
    candidates = [
        _Candidate(name, profile, store.usage.get(name))
        for name, profile in store.profiles.items()
        if isinstance(profile, dict) and _text(profile.get("provider")).lower() in names
    ]
    order = _order_of(store.order, names) or _order_of(configured, names)
    for candidate in _in_order(candidates, order, now_s() * 1000):
        if key := candidate.key(provider):
            yield AuthProfile(candidate.name, key, store.files[candidate.name])


@dataclass(frozen=True, slots=True)
class _Store:
    """The content of several files, merged entry by entry."""

    profiles: Mapping[str, Any] = field(default_factory=dict)
    order: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)

    def with_file(self, file: Path, content: dict[str, Any]) -> _Store:
        profiles = _object(content.get("profiles", content))
        return _Store(
            {**self.profiles, **profiles},
            {**self.order, **_object(content.get("order"))},
            {**self.usage, **_object(content.get("usageStats"))},
            {**self.files, **dict.fromkeys(profiles, file)},
        )


def _order_of(order: Mapping[str, Any], names: Sequence[str]) -> list[str] | None:
    """The explicit order of a provider; None if there is none."""
    for provider, entries in order.items():
        if provider.lower() in names and isinstance(entries, list | tuple) and entries:
            return [entry for entry in entries if isinstance(entry, str)]
    return None


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    profile: dict[str, Any]
    usage: object

    @property
    def type(self) -> str:
        # OpenClaw also accepts the spellings of its configuration file: `mode`, `apiKey`.
        return _text(self.profile.get("type") or self.profile.get("mode"))

    @property
    def last_used_ms(self) -> float:
        return _number(_object(self.usage).get("lastUsed"))

    @property
    def rests_until_ms(self) -> float:
        usage = _object(self.usage)
        return max(_number(usage.get("cooldownUntil")), _number(usage.get("disabledUntil")))

    def is_expired(self, now_ms: float) -> bool:
        expires = _number(self.profile.get("expires"))
        return self.type == "token" and 0 < expires <= now_ms

    def key(self, provider: str) -> str | None:
        """The key or a reference; None if the profile has none."""
        plain, reference = _FIELDS[self.type]
        value = _text(self.profile.get(plain) or self.profile.get("apiKey"))
        source = self.profile.get(reference)
        if value or not isinstance(source, dict):
            return value or None
        if source.get("source") == "env":
            return f"env:{source.get('id')}"
        # Not skipped: the next place would supply another key than OpenClaw uses.
        raise EmbedderMissing(
            provider,
            f"the auth profile {self.name!r} refers to a secret store of OpenClaw's "
            f"({_text(source.get('source')) or 'unknown'}), which is not read",
            f"set models.providers.{provider}.apiKey",
        )


def _in_order(
    candidates: Sequence[_Candidate], order: Sequence[str] | None, now_ms: float
) -> list[_Candidate]:
    usable = [one for one in candidates if one.type in _FIELDS and not one.is_expired(now_ms)]
    if order is not None:
        # An explicit order is exact: a profile that it does not name is not used.
        listed = [one for one in usable if one.name in order]
        usable = sorted(listed, key=lambda one: order.index(one.name))
    else:
        types = list(_FIELDS)
        usable.sort(key=lambda one: (types.index(one.type), one.last_used_ms))
    # The sort is stable, so that profiles outside a cool-down keep their order.
    return sorted(usable, key=lambda one: one.rests_until_ms if one.rests_until_ms > now_ms else 0)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _number(value: object) -> float:
    # `true` is an `int` in Python, and no time in a file.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and isinstance(value, int | float) else 0.0


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _read(provider: str, path: Path) -> dict[str, Any]:
    """A missing file contains no profiles; an unreadable one is an error."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_PROFILES_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _unreadable(provider, path, error.strerror or type(error).__name__) from error
    content = None
    # The exception quotes the file, and the file contains keys.
    with suppress(ValueError, RecursionError):
        content = json.loads(data) if len(data) <= MAX_PROFILES_BYTES else None
    if not isinstance(content, dict):
        raise _unreadable(provider, path, "not a small JSON object")
    return content


def _unreadable(provider: str, path: Path, why: str) -> EmbedderMissing:
    return EmbedderMissing(
        provider, f"the auth profiles {path} cannot be read ({why})", "repair or remove the file"
    )
