"""The records of `<state>/tokens.json`: what is in one, and when the file is not trusted."""

from __future__ import annotations

import json
import os
import stat
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from notewell.core import BadSessionKey, normal_agent_id, parse_session_key
from notewell.errors import BadRequest, BadSetting, StateNotWritable
from notewell.files import MAX_STATE_BYTES, effective_user
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Scope: TypeAlias = Literal["read", "append", "admin"]
TokenKind: TypeAlias = Literal["bearer", "page"]

MAX_TOKENS = 1000
"""A file with more was not made by this command."""
MAX_NAME_CHARS = 64
ALL_AGENTS = "*"
"""In place of ids: every agent of a server, also one that is added later."""

_IMPLIED_SCOPES: dict[Scope, frozenset[Scope]] = {
    "read": frozenset({"read"}),
    "append": frozenset({"read", "append"}),
    "admin": frozenset({"read", "append", "admin"}),
}


@dataclass(frozen=True, slots=True)
class Token:
    """The stored record of a token, without its secret."""

    id: str
    name: str
    agents: tuple[str, ...]
    """The agents whose memories it opens, or `ALL_AGENTS`. The first is the default."""
    scopes: tuple[Scope, ...]
    created: str
    expires: str | None = None
    last_used: str | None = None
    """The day. More precision would mean a write for every request."""
    kind: TokenKind = "bearer"
    """`page` is a browser's cookie. Neither kind is accepted in place of the other."""
    session_key: str | None = None
    """The conversation it speaks for, if the settings limit who may see what."""

    @property
    def allowed(self) -> frozenset[Scope]:
        """Its scopes and the scopes that these imply."""
        return frozenset().union(*(_IMPLIED_SCOPES[scope] for scope in self.scopes))

    @property
    def is_for_all(self) -> bool:
        return self.agents == (ALL_AGENTS,)

    def opens(self, served: Iterable[str]) -> tuple[str, ...]:
        """Those of the served agents that it is for, the default first."""
        if self.is_for_all:
            return tuple(served)
        # It may name agents that were configured when it was made and are not served now.
        present = frozenset(served)
        return tuple(agent for agent in self.agents if agent in present)

    def is_valid_at(self, now: datetime) -> bool:
        return self.expires is None or datetime.fromisoformat(self.expires) > now


# -- validation, for new records and for those in the file ---------------------------------------


def checked_name(name: str) -> str:
    if not 0 < len(name) <= MAX_NAME_CHARS or not name.isprintable() or not name.strip():
        raise BadRequest(
            f"the name of a token must have 1 to {MAX_NAME_CHARS} printable characters"
        )
    return name


def checked_agents(agents: Iterable[str]) -> tuple[str, ...]:
    """Ids must be exact: a guess could open the memory of another agent."""
    # Without duplicates, in the given order: the first agent is the default.
    ids = tuple(dict.fromkeys(agent.strip().lower() for agent in agents))
    if ids == (ALL_AGENTS,):
        return ids
    if not ids or any(normal_agent_id(id_) != id_ for id_ in ids):
        raise BadRequest(
            f"a token needs at least one agent, given by its id, or {ALL_AGENTS!r} alone for all"
        )
    return ids


def checked_scopes(scopes: Iterable[str]) -> tuple[Scope, ...]:
    names = tuple(dict.fromkeys(scopes))
    if not names or not set(names) <= _IMPLIED_SCOPES.keys():
        valid, given = ", ".join(_IMPLIED_SCOPES), ", ".join(names) or "none"
        raise BadRequest(f"scopes are {valid}, not {given}")
    return cast("tuple[Scope, ...]", names)


def checked_key(key: str | None) -> str | None:
    if key is not None and isinstance(parse_session_key(key), BadSessionKey):
        raise BadRequest(
            f"{key[:80]!r} is not a session key: expected agent:<id>:<channel>:<context>"
        )
    return key


# -- reading the file ----------------------------------------------------------------------------


def stat_of(path: Path) -> tuple[int, ...] | None:
    try:
        stat_result = os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateNotWritable(str(path), error.strerror or str(error)) from error
    # With the inode and ctime: two replacements within one tick of mtime must not look the same.
    return (
        stat_result.st_ino,
        stat_result.st_size,
        stat_result.st_mtime_ns,
        stat_result.st_ctime_ns,
    )


def read_tokens_file(path: Path) -> bytes:
    try:
        # O_NOFOLLOW: a symbolic link could point to a file that another user controls.
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | _NONBLOCK)
    except OSError as error:
        raise BadSetting(str(path), f"cannot be read: {error.strerror}") from error
    try:
        # fstat on the open file, not stat on the path: the path could be swapped in between.
        if reason := _distrust_reason(os.fstat(fd)):
            raise BadSetting(str(path), f"{reason}; fix that, or remove it and make new tokens")
        with os.fdopen(fd, "rb", closefd=False) as opened:
            # One byte more than allowed, so that a file that is too large fails to parse.
            return opened.read(MAX_STATE_BYTES + 1)
    finally:
        os.close(fd)


_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
"""Opening a named pipe would block until it has a writer."""


def _distrust_reason(stat_result: os.stat_result) -> str | None:
    if not stat.S_ISREG(stat_result.st_mode):
        return "it is not a regular file"
    if stat_result.st_uid != effective_user():
        return "it belongs to another user"
    # Readable by others is refused too: a backup or a copy may have widened the mode by mistake.
    if sys.platform != "win32" and stat_result.st_mode & 0o077:
        return "other users may read or write it (chmod 600)"
    return None


def parse_tokens(data: bytes, path: Path) -> dict[str, Token]:
    try:
        records = json.loads(data)["tokens"]
        if len(records) > MAX_TOKENS:
            raise ValueError  # noqa: TRY301 - reported below, like every other malformed file
        return {str(record["digest"]): parse_token(record) for record in records}
    except (ValueError, TypeError, KeyError, RecursionError, BadRequest) as error:
        reason = "it is not in the format of `notewell token`"
        raise BadSetting(str(path), f"{reason}; remove it and make new tokens") from error


def parse_token(record: dict[str, Any]) -> Token:
    """Raises `KeyError`, `TypeError`, `ValueError` or `BadRequest` for a record of no token."""
    expires = record["expires"]
    if expires is not None:
        # Only to validate: a bad date must fail now and not when the token is used.
        datetime.fromisoformat(expires)
    if record["kind"] not in ("bearer", "page"):
        raise ValueError(record["kind"])
    return Token(
        id=str(record["id"]),
        name=checked_name(record["name"]),
        agents=checked_agents(record["agents"]),
        scopes=checked_scopes(record["scopes"]),
        created=str(record["created"]),
        expires=expires,
        last_used=record["last_used"],
        kind=record["kind"],
        session_key=checked_key(record["session_key"]),
    )
