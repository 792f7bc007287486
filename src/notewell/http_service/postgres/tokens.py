"""Tokens and login links of the services of one tenant, in tables that all replicas read.

Nothing is kept in the process: each request asks the database, so a token that was revoked
through one replica is refused by every other one at its next request.
"""

from __future__ import annotations

import json
import secrets
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from notewell.errors import BadRequest, BadSetting
from notewell.http_service.token_file import parse_token
from notewell.http_service.tokens import (
    CODE_BYTES,
    LINK_TTL_S,
    digest_of,
    new_token,
    no_such_token,
)
from notewell.postgres import Scope
from notewell.records import asdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.http_service.token_file import Token, TokenKind
    from notewell.http_service.tokens import TokenRequest
    from notewell.postgres import Database

MAX_TOKENS = 100_000
"""Of one tenant: ten for each of ten thousand agents."""
MAX_BROWSERS = 1000
"""Logged in at the same time. One more logs the oldest out."""


def _now() -> datetime:
    return datetime.now(UTC)


class PostgresTokens:
    """See `Tokens`."""

    waits = True

    def __init__(
        self, database: Database, tenant: str, now: Callable[[], datetime] = _now
    ) -> None:
        self._database = database
        self._scope = Scope.service(tenant)
        self._now = now

    # -- lookup ----------------------------------------------------------------------------------

    def find(self, token: str, kind: TokenKind = "bearer") -> Token | None:
        found = self._select("AND digest = %s AND kind = %s", digest_of(token), kind)
        return found[0] if found and found[0].is_valid_at(self._now()) else None

    def is_valid(self, token_id: str) -> bool:
        found = self._select("AND id = %s", token_id)
        return bool(found) and found[0].is_valid_at(self._now())

    def tokens(self) -> list[Token]:
        return self._select("ORDER BY created_at, id")

    def check(self) -> None:
        self._select("LIMIT 1")

    def _select(self, condition: str, *values: str) -> list[Token]:
        with self._database.reading(self._scope) as transaction:
            rows = transaction.rows(
                f"SELECT record FROM notewell.tokens WHERE tenant = %s {condition}",  # noqa: S608
                (self._scope.tenant, *values),
            )
        return [self._token(record) for (record,) in rows]

    def _token(self, record: dict[str, Any]) -> Token:
        try:
            return parse_token(record)
        except (ValueError, TypeError, KeyError, BadRequest) as error:
            place = f"tokens in {self._database.address}"
            raise BadSetting(place, "a record is not in the format of `notewell token`") from error

    # -- changes ---------------------------------------------------------------------------------

    def create(self, request: TokenRequest) -> tuple[Token, str]:
        token, secret = new_token(request, self._now())
        tenant = self._scope.tenant
        with self._database.writing(self._scope) as transaction:
            if request.kind == "page":
                transaction.execute(
                    "DELETE FROM notewell.tokens WHERE tenant = %s AND digest IN (SELECT digest "
                    "FROM notewell.tokens WHERE tenant = %s AND kind = 'page' "
                    "ORDER BY created_at DESC OFFSET %s)",
                    (tenant, tenant, MAX_BROWSERS - 1),
                )
            count = transaction.rows(
                "SELECT count(*) FROM notewell.tokens WHERE tenant = %s", (tenant,)
            )
            if count[0][0] >= MAX_TOKENS:
                raise BadRequest(f"there are {MAX_TOKENS} tokens: revoke some first")
            transaction.execute(
                "INSERT INTO notewell.tokens (tenant, digest, id, kind, record) "
                "VALUES (%s, %s, %s, %s, %s)",
                (tenant, digest_of(secret), token.id, token.kind, json.dumps(asdict(token))),
            )
        return token, secret

    def revoke(self, token_id: str) -> Token:
        with self._database.writing(self._scope) as transaction:
            rows = transaction.rows(
                "DELETE FROM notewell.tokens WHERE tenant = %s AND id = %s RETURNING record",
                (self._scope.tenant, token_id.replace("\0", "")),
            )
        if not rows:
            raise no_such_token(token_id)
        return self._token(rows[0][0])

    def record_use(self, token_id: str) -> None:
        today = self._today()
        with self._database.writing(self._scope) as transaction:
            transaction.execute(
                "UPDATE notewell.tokens SET record = record || %s WHERE tenant = %s AND id = %s "
                "AND record->>'last_used' IS DISTINCT FROM %s",
                (json.dumps({"last_used": today}), self._scope.tenant, token_id, today),
            )

    def was_used_today(self, token: Token) -> bool:
        return token.last_used == self._today()

    def _today(self) -> str:
        return self._now().date().isoformat()


class PostgresLinks:
    """See `Links`. A link that was made anywhere is valid at every replica."""

    def __init__(
        self, database: Database, tenant: str, time_s: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._scope = Scope.service(tenant)
        self._time_s = time_s

    def make(self) -> str:
        code, now = secrets.token_urlsafe(CODE_BYTES), self._time_s()
        tenant = self._scope.tenant
        with self._database.writing(self._scope) as transaction:
            transaction.execute(
                "DELETE FROM notewell.login_links WHERE tenant = %s AND expires_s <= %s",
                (tenant, now),
            )
            transaction.execute(
                "INSERT INTO notewell.login_links (tenant, digest, expires_s) VALUES (%s, %s, %s)",
                (tenant, digest_of(code), now + LINK_TTL_S),
            )
        return code

    def redeem(self, code: str) -> bool:
        # One statement: of two browsers with the same code, one deletes the row.
        now = self._time_s()
        with self._database.writing(self._scope) as transaction:
            rows = transaction.rows(
                "DELETE FROM notewell.login_links WHERE tenant = %s AND digest = %s "
                "RETURNING expires_s",
                (self._scope.tenant, digest_of(code)),
            )
        # The upper bound rejects links from a time when a clock was wrong.
        return bool(rows) and now < rows[0][0] <= now + LINK_TTL_S
