"""Bearer tokens, browser cookies and login links: `<state>/tokens.json`, mode 600.

    nwt_<32 random bytes>  ──sha256──▶  {"digest", "id", "name", "agents", "scopes", …}

A token is shown once, when it is made, and stored nowhere. The lookup by digest needs no
constant-time comparison: an attacker who could choose the digest would have broken SHA-256.

A running server checks the file before each use, so changes by `notewell token` take effect at
once. A file that other users could have written, or a symbolic link in its place, is not trusted:
then all requests are refused (fail closed).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import stat
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from notewell.core import BadSessionKey, normal_agent_id, parse_session_key
from notewell.errors import BadRequest, BadSetting, StateNotWritable
from notewell.files import MAX_STATE_BYTES, read_json, state_lock, write_json
from notewell.records import asdict, dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Scope: TypeAlias = Literal["read", "append", "admin"]
TokenKind: TypeAlias = Literal["bearer", "page"]

TOKENS_FILE = "tokens.json"
OWNER_FILE = "owner.token"
OWNER_NAME = "owner"
PREFIX = "nwt_"
TOKEN_BYTES = 32
MAX_TOKENS = 1000
"""A file with more was not made by this command."""
MAX_BROWSERS = 16
"""Browsers that are logged in at the same time. One more logs the oldest out."""
BROWSER_DAYS = 30
MAX_NAME_CHARS = 64
MAX_DAYS = 3650
LINKS_FILE = "links.json"
LINK_TTL_S = 600
MAX_LINKS = 16
"""Unused links. A new one replaces the oldest."""
CODE_BYTES = 24

_IMPLIED_SCOPES: dict[Scope, frozenset[Scope]] = {
    "read": frozenset({"read"}),
    "append": frozenset({"read", "append"}),
    "admin": frozenset({"read", "append", "admin"}),
}
_SPAN = re.compile(r"(\d{1,4})([dwy])")
_DAYS = {"d": 1, "w": 7, "y": 365}


@dataclass(frozen=True, slots=True)
class Token:
    """The stored record of a token, without its secret."""

    id: str
    name: str
    agents: tuple[str, ...]
    """The agents whose memories it opens. The first is the default of a request."""
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

    def is_valid_at(self, now: datetime) -> bool:
        return self.expires is None or datetime.fromisoformat(self.expires) > now


class TokenRequest(NamedTuple):
    """The properties of a new token."""

    name: str
    agents: tuple[str, ...]
    scopes: tuple[Scope, ...] = ("read",)
    expires_days: int | None = None
    kind: TokenKind = "bearer"
    session_key: str | None = None


def _now() -> datetime:
    return datetime.now(UTC)


class TokenStore:
    """Safe for several threads and processes."""

    def __init__(self, path: Path, now: Callable[[], datetime] = _now) -> None:
        self._path = path
        self._now = now
        self._lock = threading.Lock()
        self._stat: tuple[int, ...] | None = None
        self._tokens: dict[str, Token] = {}
        """By digest, as of the file that had `_stat`."""

    @property
    def path(self) -> Path:
        return self._path

    # -- lookup ----------------------------------------------------------------------------------

    def find(self, token: str, kind: TokenKind = "bearer") -> Token | None:
        """The record of a token that exists, has this kind, and has not expired."""
        record = self._current().get(digest_of(token))
        if record is None or record.kind != kind or not record.is_valid_at(self._now()):
            return None
        return record

    def is_valid(self, token_id: str) -> bool:
        """Whether an authenticated token is still valid; for long-running requests."""
        now = self._now()
        tokens = self._current().values()
        return any(token.id == token_id and token.is_valid_at(now) for token in tokens)

    def tokens(self) -> list[Token]:
        """All tokens, the oldest first, expired ones included."""
        return sorted(self._current().values(), key=lambda token: (token.created, token.id))

    def check(self) -> None:
        """Raises `BadSetting` for a file that cannot be trusted."""
        self._current()

    def _current(self) -> dict[str, Token]:
        with self._lock:
            current = _stat(self._path)
            if current is None:
                self._stat, self._tokens = None, {}
            elif current != self._stat:
                # First empty: if the new file cannot be read, the old tokens must not stay valid.
                self._tokens = {}
                self._tokens = _parse(_read(self._path), self._path)
                self._stat = current
            return self._tokens

    # -- changes ---------------------------------------------------------------------------------

    def create(self, request: TokenRequest) -> tuple[Token, str]:
        """The record and the secret. The secret cannot be shown again."""
        # The prefix lets people and secret scanners recognize a leaked token.
        secret = f"{PREFIX}{secrets.token_urlsafe(TOKEN_BYTES)}"
        created, days = self._now(), request.expires_days
        expires = None if days is None else created + timedelta(days=days)
        token = Token(
            # The id appears in logs and lists; it is independent of the secret.
            id=secrets.token_hex(4),
            name=_checked_name(request.name),
            agents=_checked_agents(request.agents),
            scopes=_checked_scopes(request.scopes),
            created=_iso_time(created),
            expires=_iso_time(expires) if expires else None,
            kind=request.kind,
            session_key=_checked_key(request.session_key),
        )
        with state_lock(self._path):
            # Read inside the lock: another process may have written since the last check.
            tokens = _without_oldest_browser(self._current(), request.kind)
            if len(tokens) >= MAX_TOKENS:
                raise BadRequest(f"there are {MAX_TOKENS} tokens: revoke some first")
            self._write({**tokens, digest_of(secret): token})
        return token, secret

    def revoke(self, token_id: str) -> Token:
        """Raises `BadRequest` if there is no such token."""
        with state_lock(self._path):
            tokens = self._current()
            revoked = next((token for token in tokens.values() if token.id == token_id), None)
            if revoked is None:
                raise BadRequest(f"there is no token {token_id[:40]!r}: `notewell token list`")
            self._write(
                {digest: token for digest, token in tokens.items() if token is not revoked}
            )
        return revoked

    def record_use(self, token_id: str) -> None:
        """Stores the day of use; writes at most once a day."""
        today = self._now().date().isoformat()
        with state_lock(self._path):
            tokens = self._current()
            changed = {
                digest: replace(token, last_used=today) if token.id == token_id else token
                for digest, token in tokens.items()
            }
            # Two requests of the same day write once.
            if changed != tokens:
                self._write(changed)

    def was_used_today(self, token: Token) -> bool:
        return token.last_used == self._now().date().isoformat()

    def _write(self, tokens: dict[str, Token]) -> None:
        records = [{"digest": digest, **asdict(token)} for digest, token in tokens.items()]
        write_json(self._path, {"version": 1, "tokens": records})


def digest_of(token: str) -> str:
    # A header may contain any bytes; an encoding error would be a 500 in place of a 401.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def parse_lifetime_days(span: str) -> int:
    """`90d`, `12w` or `1y` in days."""
    match = _SPAN.fullmatch(span.strip().lower())
    days = int(match[1]) * _DAYS[match[2]] if match else 0
    if not 0 < days <= MAX_DAYS:
        raise BadRequest(f"expected a lifetime like 90d, 12w or 1y, up to ten years, not {span!r}")
    return days


def _without_oldest_browser(tokens: dict[str, Token], kind: TokenKind) -> dict[str, Token]:
    """Makes room for one more browser; other kinds of tokens are never removed."""
    if kind != "page":
        return dict(tokens)
    browsers = sorted(
        (token.created, digest) for digest, token in tokens.items() if token.kind == "page"
    )
    surplus = {digest for _, digest in browsers[: max(0, len(browsers) - MAX_BROWSERS + 1)]}
    return {digest: token for digest, token in tokens.items() if digest not in surplus}


# -- validation, for new records and for those in the file ---------------------------------------


def _checked_name(name: str) -> str:
    if not 0 < len(name) <= MAX_NAME_CHARS or not name.isprintable() or not name.strip():
        raise BadRequest(
            f"the name of a token must have 1 to {MAX_NAME_CHARS} printable characters"
        )
    return name


def _checked_agents(agents: Iterable[str]) -> tuple[str, ...]:
    """Ids must be exact: a guess could open the memory of another agent."""
    # Without duplicates, in the given order: the first agent is the default.
    ids = tuple(dict.fromkeys(agent.strip().lower() for agent in agents))
    if not ids or any(normal_agent_id(id_) != id_ for id_ in ids):
        raise BadRequest("a token needs at least one agent, given by its id")
    return ids


def _checked_scopes(scopes: Iterable[str]) -> tuple[Scope, ...]:
    names = tuple(dict.fromkeys(scopes))
    if not names or not set(names) <= _IMPLIED_SCOPES.keys():
        valid, given = ", ".join(_IMPLIED_SCOPES), ", ".join(names) or "none"
        raise BadRequest(f"scopes are {valid}, not {given}")
    return cast("tuple[Scope, ...]", names)


def _checked_key(key: str | None) -> str | None:
    if key is not None and isinstance(parse_session_key(key), BadSessionKey):
        raise BadRequest(
            f"{key[:80]!r} is not a session key: expected agent:<id>:<channel>:<context>"
        )
    return key


def _iso_time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


# -- reading the file ----------------------------------------------------------------------------


def _stat(path: Path) -> tuple[int, ...] | None:
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


def _read(path: Path) -> bytes:
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
    if os.name == "posix" and stat_result.st_uid != os.geteuid():
        return "it belongs to another user"
    # Readable by others is refused too: a backup or a copy may have widened the mode by mistake.
    if os.name == "posix" and stat_result.st_mode & 0o077:
        return "other users may read or write it (chmod 600)"
    return None


def _parse(data: bytes, path: Path) -> dict[str, Token]:
    try:
        records = json.loads(data)["tokens"]
        if len(records) > MAX_TOKENS:
            raise ValueError  # noqa: TRY301 - reported below, like every other malformed file
        return {str(record["digest"]): _token(record) for record in records}
    except (ValueError, TypeError, KeyError, RecursionError, BadRequest) as error:
        reason = "it is not in the format of `notewell token`"
        raise BadSetting(str(path), f"{reason}; remove it and make new tokens") from error


def _token(record: dict[str, Any]) -> Token:
    expires = record["expires"]
    if expires is not None:
        # Only to validate: a bad date must fail now and not when the token is used.
        datetime.fromisoformat(expires)
    if record["kind"] not in ("bearer", "page"):
        raise ValueError(record["kind"])
    return Token(
        id=str(record["id"]),
        name=_checked_name(record["name"]),
        agents=_checked_agents(record["agents"]),
        scopes=_checked_scopes(record["scopes"]),
        created=str(record["created"]),
        expires=expires,
        last_used=record["last_used"],
        kind=record["kind"],
        session_key=_checked_key(record["session_key"]),
    )


# -- login links ---------------------------------------------------------------------------------


class LoginLinks:
    """One-time links that log a browser in: `http://127.0.0.1:7374/open?code=…`.

    A link is valid for ten minutes and for one use. `<state>/links.json` stores a digest of its
    code. `notewell token link` and a running server share this file, so the command can make a
    link for the server. A user who can write to this file can read the notes anyway.
    """

    def __init__(self, path: Path, time_s: Callable[[], float] = time.time) -> None:
        self._path = path
        self._time_s = time_s

    def make(self) -> str:
        """A new code."""
        code = secrets.token_urlsafe(CODE_BYTES)
        with state_lock(self._path):
            # Expired links are dropped here, so the file never grows.
            by_expiry = sorted(self._valid().items(), key=lambda link: link[1])
            newest = dict(by_expiry[-(MAX_LINKS - 1) :])
            write_json(self._path, {**newest, digest_of(code): self._time_s() + LINK_TTL_S})
        return code

    def redeem(self, code: str) -> bool:
        """Whether the code was valid. It is not valid afterwards."""
        with state_lock(self._path):
            links = self._valid()
            # Read, remove and write under one lock: two browsers with the same code cannot both
            # win.
            expiry = links.pop(digest_of(code), None)
            if expiry is not None:
                write_json(self._path, links)
        return expiry is not None

    def _valid(self) -> dict[str, float]:
        now = self._time_s()
        links: dict[str, Any] = read_json(self._path)
        return {
            digest: expiry
            for digest, expiry in links.items()
            # The upper bound rejects links from a time when the clock was wrong.
            if isinstance(expiry, int | float) and now < expiry <= now + LINK_TTL_S
        }
