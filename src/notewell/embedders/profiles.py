"""Keys out of an auth-profiles file, as agents' hosts keep them. It is read, never written.

    {"profiles": {"openai:default": {"type": "api_key", "provider": "openai", "key": "…"}},
     "order": {"openai": ["openai:default"]}}

`key` may be a reference as in `keys.py`; `keyRef: {"source": "env", "id": "NAME"}` is one too.
Only keys and tokens count: a login (`oauth`) is for conversations and does not pay for vectors.
A file without `profiles` is taken for the profiles themselves.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from notewell.core import Secret
from notewell.errors import EmbedderMissing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MAX_FILE_BYTES = 1024 * 1024

_FIELDS = {"api_key": ("key", "keyRef"), "token": ("token", "tokenRef")}


def profile_key(provider: str, names: Sequence[str], path: Path) -> tuple[Secret, str] | None:
    """The first usable profile of a provider, and the place to tell the user."""
    told = _read(provider, path)
    profiles = told.get("profiles", told)
    if not isinstance(profiles, dict):
        return None
    for name in _in_order(profiles, told.get("order"), names):
        value = _value(profiles[name], names)
        if value:
            return Secret(value), f"the auth profile {name!r}"
    return None


def _in_order(profiles: dict[str, Any], order: object, names: Sequence[str]) -> list[str]:
    """Those the file puts first, then the rest as they stand."""
    first: list[str] = []
    for name in names:
        wanted = order.get(name) if isinstance(order, dict) else None
        if isinstance(wanted, list):
            first += [one for one in wanted if isinstance(one, str) and one in profiles]
    return list(dict.fromkeys([*first, *profiles]))


def _value(profile: object, names: Sequence[str]) -> str | None:
    if not isinstance(profile, dict) or profile.get("provider") not in names:
        return None
    plain, reference = _FIELDS.get(str(profile.get("type")), (None, None))
    if plain is None:
        return None
    value, source = profile.get(plain), profile.get(reference)
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(source, dict) and source.get("source") in ("env", "file"):
        return f"{source['source']}:{source.get('id')}"
    return None


def _read(provider: str, path: Path) -> dict[str, Any]:
    """An absent file holds no profiles; one that cannot be read is told."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _unreadable(provider, path, error.strerror or type(error).__name__) from error
    try:
        told = json.loads(content) if len(content) <= MAX_FILE_BYTES else None
    except (ValueError, RecursionError):
        told = None  # The error would quote the file, and the file holds keys.
    if not isinstance(told, dict):
        raise _unreadable(provider, path, "not a small JSON object")
    return told


def _unreadable(provider: str, path: Path, why: str) -> EmbedderMissing:
    return EmbedderMissing(
        provider, f"the auth profiles {path} cannot be read ({why})", "mend or remove the file"
    )
