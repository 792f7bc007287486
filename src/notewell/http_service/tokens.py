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
import re
import secrets
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.errors import BadRequest
from notewell.files import read_json, state_lock, write_json
from notewell.http_service.token_file import (
    MAX_TOKENS,
    Scope,
    Token,
    TokenKind,
    checked_agents,
    checked_key,
    checked_name,
    checked_scopes,
    parse_tokens,
    read_tokens_file,
    stat_of,
)
from notewell.records import asdict, replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOKENS_FILE = "tokens.json"
OWNER_FILE = "owner.token"
OWNER_NAME = "owner"
PREFIX = "nwt_"
TOKEN_BYTES = 32
MAX_BROWSERS = 16
"""Browsers that are logged in at the same time. One more logs the oldest out."""
BROWSER_DAYS = 30
MAX_DAYS = 3650
LINKS_FILE = "links.json"
LINK_TTL_S = 600
MAX_LINKS = 16
"""Unused links. A new one replaces the oldest."""
CODE_BYTES = 24

_SPAN = re.compile(r"(\d{1,4})([dwy])")
_DAYS = {"d": 1, "w": 7, "y": 365}


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
    """See `Tokens`. Safe for several threads and processes."""

    waits = False

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
            current = stat_of(self._path)
            if current is None:
                self._stat, self._tokens = None, {}
            elif current != self._stat:
                # First empty: if the new file cannot be read, the old tokens must not stay valid.
                self._tokens = {}
                self._tokens = parse_tokens(read_tokens_file(self._path), self._path)
                self._stat = current
            return self._tokens

    # -- changes ---------------------------------------------------------------------------------

    def create(self, request: TokenRequest) -> tuple[Token, str]:
        """The record and the secret. The secret cannot be shown again."""
        token, secret = new_token(request, self._now())
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
                raise no_such_token(token_id)
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


def new_token(request: TokenRequest, created: datetime) -> tuple[Token, str]:
    """The record and the secret. Raises `BadRequest`."""
    # The prefix lets people and secret scanners recognize a leaked token.
    secret = f"{PREFIX}{secrets.token_urlsafe(TOKEN_BYTES)}"
    days = request.expires_days
    expires = None if days is None else created + timedelta(days=days)
    token = Token(
        # The id appears in logs and lists; it is independent of the secret.
        id=secrets.token_hex(4),
        name=checked_name(request.name),
        agents=checked_agents(request.agents),
        scopes=checked_scopes(request.scopes),
        created=_iso_time(created),
        expires=_iso_time(expires) if expires else None,
        kind=request.kind,
        session_key=checked_key(request.session_key),
    )
    return token, secret


def no_such_token(token_id: str) -> BadRequest:
    return BadRequest(f"there is no token {token_id[:40]!r}: `notewell token list`")


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


def _iso_time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


# -- login links ---------------------------------------------------------------------------------


class LoginLinks:
    """See `Links`: `http://127.0.0.1:7374/open?code=…`.

    `<state>/links.json` stores a digest of its code. `notewell token link` and a running server
    share this file, so the command can make a link for the server. A user who can write to this
    file can read the notes anyway.
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
