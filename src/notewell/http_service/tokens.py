"""Who is known: `<state>/tokens.json`, for its owner alone.

    rct_<32 random bytes>  ──sha256──▶  {"digest", "id", "name", "agents", "scopes", …}

A token itself is shown once, when it is made, and kept nowhere. Looking one up by its digest tells
an onlooker nothing: who could steer the digest would have broken sha256.

A running server looks at the file before each use: what `notewell token` changes holds at once.
A file that others could have written, or a link in its place, is not believed: nobody is let in.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import stat
import threading
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from notewell.core import BadSessionKey, normal_agent_id, parse_session_key
from notewell.errors import BadRequest, BadSetting, StateNotWritable
from notewell.files import MAX_STATE_BYTES, state_lock, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Scope: TypeAlias = Literal["read", "append", "admin"]
Kind: TypeAlias = Literal["bearer", "page"]

NAME = "tokens.json"
OWNER_FILE = "owner.token"
OWNER = "owner"
PREFIX = "rct_"
TOKEN_BYTES = 32
MAX_TOKENS = 1000
"""A file with more was not made by hand."""
MAX_PAGES = 16
"""Browsers that are let in at once; the oldest has to open a new link."""
PAGE_DAYS = 30
MAX_NAME_CHARS = 64
MAX_DAYS = 3650

_INCLUDED: dict[Scope, frozenset[Scope]] = {
    "read": frozenset({"read"}),
    "append": frozenset({"read", "append"}),
    "admin": frozenset({"read", "append", "admin"}),
}
_SPAN = re.compile(r"(\d{1,4})([dwy])")
_DAYS = {"d": 1, "w": 7, "y": 365}


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token; not the token."""

    id: str
    name: str
    agents: tuple[str, ...]
    """Whose memories it opens; the first unless the request names another."""
    scopes: tuple[Scope, ...]
    created: str
    expires: str | None = None
    last_used: str | None = None
    """The day: enough to see what nobody uses any more."""
    kind: Kind = "bearer"
    """`page` is a browser's cookie: of no use as a bearer token, nor the other way round."""
    session_key: str | None = None
    """The conversation it speaks for, where the settings say who may see what."""

    @property
    def allowed(self) -> frozenset[Scope]:
        """Its scopes and what they include."""
        return frozenset().union(*(_INCLUDED[scope] for scope in self.scopes))

    def holds_at(self, now: datetime) -> bool:
        return self.expires is None or datetime.fromisoformat(self.expires) > now


class Wish(NamedTuple):
    """What a new token is to be."""

    name: str
    agents: tuple[str, ...]
    scopes: tuple[Scope, ...] = ("read",)
    expires_days: int | None = None
    kind: Kind = "bearer"
    session_key: str | None = None


def _now() -> datetime:
    return datetime.now(UTC)


class TokenBook:
    """From as many threads and processes as you like."""

    def __init__(self, path: Path, now: Callable[[], datetime] = _now) -> None:
        self._path = path
        self._now = now
        self._lock = threading.Lock()
        self._seen: tuple[int, ...] | None = None
        self._known: dict[str, Token] = {}
        """By digest, as the file was when it was last looked at."""

    @property
    def path(self) -> Path:
        return self._path

    # -- asking ----------------------------------------------------------------------------------

    def find(self, token: str, kind: Kind = "bearer") -> Token | None:
        """The token, if it is known, of this kind, and not over."""
        found = self._current().get(digest_of(token))
        if found is None or found.kind != kind or not found.holds_at(self._now()):
            return None
        return found

    def holds(self, token_id: str) -> bool:
        """Whether a token that was let in is still good: for what goes on for long."""
        now = self._now()
        return any(one.id == token_id and one.holds_at(now) for one in self._current().values())

    def tokens(self) -> list[Token]:
        """All, the oldest first, those that are over included."""
        return sorted(self._current().values(), key=lambda one: (one.created, one.id))

    def check(self) -> None:
        """Raises `BadSetting` for a file that cannot be believed."""
        self._current()

    def _current(self) -> dict[str, Token]:
        with self._lock:
            found = _stat(self._path)
            if found is None:
                self._seen, self._known = None, {}
            elif found != self._seen:
                self._known = {}  # Nobody is let in by a file that turns out unreadable.
                self._known = _parsed(_read(self._path), self._path)
                self._seen = found
            return self._known

    # -- changing --------------------------------------------------------------------------------

    def create(self, wish: Wish) -> tuple[Token, str]:
        """The token's entry and the token itself, which nobody will see again."""
        secret = f"{PREFIX}{secrets.token_urlsafe(TOKEN_BYTES)}"
        created = self._now()
        until = None if wish.expires_days is None else created + timedelta(days=wish.expires_days)
        token = Token(
            id=secrets.token_hex(4),
            name=_checked_name(wish.name),
            agents=_checked_agents(wish.agents),
            scopes=_checked_scopes(wish.scopes),
            created=_written(created),
            expires=_written(until) if until else None,
            kind=wish.kind,
            session_key=_checked_key(wish.session_key),
        )
        with state_lock(self._path):
            known = self._current()
            kept = _with_room(known, wish.kind)
            if len(kept) >= MAX_TOKENS:
                raise BadRequest(f"there are {MAX_TOKENS} tokens: revoke some first")
            self._write({**kept, digest_of(secret): token})
        return token, secret

    def revoke(self, token_id: str) -> Token:
        """Raises `BadRequest` if there is no such token."""
        with state_lock(self._path):
            known = self._current()
            found = next((one for one in known.values() if one.id == token_id), None)
            if found is None:
                raise BadRequest(f"there is no token {token_id[:40]!r}: `notewell token list`")
            self._write({digest: one for digest, one in known.items() if one is not found})
        return found

    def used(self, token_id: str) -> None:
        """Notes the day, once a day."""
        today = self._now().date().isoformat()
        with state_lock(self._path):
            known = self._current()
            changed = {
                digest: replace(one, last_used=today) if one.id == token_id else one
                for digest, one in known.items()
            }
            if changed != known:
                self._write(changed)

    def was_used_today(self, token: Token) -> bool:
        return token.last_used == self._now().date().isoformat()

    def _write(self, known: dict[str, Token]) -> None:
        told = [{"digest": digest, **asdict(token)} for digest, token in known.items()]
        write_json(self._path, {"version": 1, "tokens": told})


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def days_of(span: str) -> int:
    """`90d`, `12w` or `1y` in days."""
    found = _SPAN.fullmatch(span.strip().lower())
    days = int(found[1]) * _DAYS[found[2]] if found else 0
    if not 0 < days <= MAX_DAYS:
        raise BadRequest(f"how long must be like 90d, 12w or 1y, up to ten years, not {span!r}")
    return days


def _with_room(known: dict[str, Token], kind: Kind) -> dict[str, Token]:
    """Without the oldest browser, where one more would be too many."""
    pages = sorted((one.created, digest) for digest, one in known.items() if one.kind == "page")
    over = pages[: max(0, len(pages) - MAX_PAGES + 1)] if kind == "page" else []
    gone = {digest for _, digest in over}
    return {digest: one for digest, one in known.items() if digest not in gone}


# -- what is written -----------------------------------------------------------------------------


def _checked_name(name: str) -> str:
    if not 0 < len(name) <= MAX_NAME_CHARS or not name.isprintable() or not name.strip():
        raise BadRequest(f"a token's name has 1 to {MAX_NAME_CHARS} printable characters")
    return name


def _checked_agents(agents: Iterable[str]) -> tuple[str, ...]:
    """As they are written: to guess which was meant would open another's memory."""
    ids = tuple(dict.fromkeys(agent.strip().lower() for agent in agents))
    if not ids or any(normal_agent_id(id_) != id_ for id_ in ids):
        raise BadRequest("a token is for at least one agent, each by its id")
    return ids


def _checked_scopes(scopes: Iterable[str]) -> tuple[Scope, ...]:
    told = tuple(dict.fromkeys(scopes))
    if not told or not set(told) <= _INCLUDED.keys():
        raise BadRequest(f"scopes are {', '.join(_INCLUDED)}, not {', '.join(told) or 'none'}")
    return cast("tuple[Scope, ...]", told)


def _checked_key(key: str | None) -> str | None:
    if key is not None and isinstance(parse_session_key(key), BadSessionKey):
        raise BadRequest(f"{key[:80]!r} is no session key: agent:<id>:<channel>:<context>")
    return key


def _written(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


# -- what is read --------------------------------------------------------------------------------


def _stat(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateNotWritable(str(path), error.strerror or str(error)) from error
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _read(path: Path) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | _NONBLOCK)
    except OSError as error:
        raise BadSetting(str(path), f"cannot be read: {error.strerror}") from error
    try:
        if why := _why_not_ours(os.fstat(fd)):
            raise BadSetting(str(path), f"{why}; mend that, or remove it and make new tokens")
        with os.fdopen(fd, "rb", closefd=False) as opened:
            return opened.read(MAX_STATE_BYTES + 1)
    finally:
        os.close(fd)


_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
"""A named pipe would wait for its writer."""


def _why_not_ours(found: os.stat_result) -> str | None:
    if not stat.S_ISREG(found.st_mode):
        return "it is not a regular file"
    if os.name == "posix" and found.st_uid != os.geteuid():
        return "it belongs to another user"
    if os.name == "posix" and found.st_mode & 0o077:
        return "others may read or write it (chmod 600)"
    return None


def _parsed(data: bytes, path: Path) -> dict[str, Token]:
    try:
        told = json.loads(data)["tokens"]
        if len(told) > MAX_TOKENS:
            raise ValueError  # noqa: TRY301 - told below, as everything that is not ours
        return {str(one["digest"]): _token(one) for one in told}
    except (ValueError, TypeError, KeyError, RecursionError, BadRequest) as error:
        why = "it does not hold tokens as `notewell token` writes them"
        raise BadSetting(str(path), f"{why}; remove it and make new ones") from error


def _token(told: dict[str, Any]) -> Token:
    expires = told["expires"]
    if expires is not None:
        datetime.fromisoformat(expires)
    if told["kind"] not in ("bearer", "page"):
        raise ValueError(told["kind"])
    return Token(
        id=str(told["id"]),
        name=_checked_name(told["name"]),
        agents=_checked_agents(told["agents"]),
        scopes=_checked_scopes(told["scopes"]),
        created=str(told["created"]),
        expires=expires,
        last_used=told["last_used"],
        kind=told["kind"],
        session_key=_checked_key(told["session_key"]),
    )
