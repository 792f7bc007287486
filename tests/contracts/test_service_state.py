"""What every place does that keeps the tokens, login links and repeated requests of a service."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from tests.postgres_server import PostgresServer

from notewell.errors import BadRequest
from notewell.http_service.idempotency import (
    FOLDER,
    Completed,
    IdempotencyStore,
    IdempotentRequest,
    Pending,
)
from notewell.http_service.ports import IdempotencyKeys, Links, Tokens
from notewell.http_service.postgres.idempotency import PostgresIdempotency
from notewell.http_service.postgres.tokens import PostgresLinks, PostgresTokens
from notewell.http_service.problems import Problem
from notewell.http_service.tokens import (
    LINK_TTL_S,
    LINKS_FILE,
    TOKENS_FILE,
    LoginLinks,
    TokenRequest,
    TokenStore,
)
from notewell.postgres import Database, Scope

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
READ = TokenRequest("laptop", ("main",), ("read",))
REQUEST = IdempotentRequest("token", "main", "append", "key-1", "digest")
ANSWER = Completed(201, {"path": "memory/x.md", "added": True, "lines": [1, 2]})


class Kept(NamedTuple):
    """Each call opens another one, as another process would."""

    tokens: Callable[[Callable[[], datetime]], Tokens]
    links: Callable[[Callable[[], float]], Links]
    requests: Callable[[Callable[[], datetime]], IdempotencyKeys]


@pytest.fixture(params=["files", "postgres"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    if request.param == "files":
        return Kept(
            lambda now: TokenStore(tmp_path / TOKENS_FILE, now),
            lambda time_s: LoginLinks(tmp_path / LINKS_FILE, time_s),
            lambda now: IdempotencyStore(tmp_path / FOLDER, now),
        )
    database: Database = request.getfixturevalue("postgres")
    tenant = f"tenant-{uuid.uuid4()}"
    return Kept(
        lambda now: PostgresTokens(database, tenant, now),
        lambda time_s: PostgresLinks(database, tenant, time_s),
        lambda now: PostgresIdempotency(database, tenant, now),
    )


# -- tokens --------------------------------------------------------------------------------------


def test_a_token_is_found_by_its_secret_alone(kept: Kept) -> None:
    tokens = kept.tokens(lambda: NOW)
    made, secret = tokens.create(
        TokenRequest("ci \u00e9", ("main", "work"), ("append",), 90, session_key="agent:main:x:y")
    )
    assert tokens.find(secret) == made
    assert tokens.tokens() == [made]
    for wrong in ("", secret[:-1], f"{secret}x", "nwt_\0\udcff"):
        assert tokens.find(wrong) is None
    assert tokens.find(secret, "page") is None
    tokens.check()


def test_another_process_sees_at_once_what_was_made_and_revoked(kept: Kept) -> None:
    mine, theirs = kept.tokens(lambda: NOW), kept.tokens(lambda: NOW)
    made, secret = theirs.create(READ)
    assert mine.find(secret) == made
    assert mine.is_valid(made.id)
    assert theirs.revoke(made.id) == made
    assert mine.find(secret) is None
    assert not mine.is_valid(made.id)
    with pytest.raises(BadRequest, match="no token"):
        mine.revoke(made.id)


def test_a_token_expires(kept: Kept) -> None:
    now = [NOW]
    tokens = kept.tokens(lambda: now[0])
    made, secret = tokens.create(READ._replace(expires_days=1))
    now[0] += timedelta(days=1)
    assert tokens.find(secret) is None
    assert not tokens.is_valid(made.id)
    assert [token.id for token in tokens.tokens()] == [made.id]


def test_the_day_of_use_is_recorded(kept: Kept) -> None:
    tokens = kept.tokens(lambda: NOW)
    made, secret = tokens.create(READ)
    assert not tokens.was_used_today(made)
    tokens.record_use(made.id)
    used = tokens.find(secret)
    assert used is not None
    assert (used.last_used, tokens.was_used_today(used)) == ("2026-11-15", True)


def test_a_bad_request_makes_no_token(kept: Kept) -> None:
    tokens = kept.tokens(lambda: NOW)
    for bad in (
        READ._replace(name=""),
        READ._replace(agents=("../x",)),
        READ._replace(scopes=("root",)),  # type: ignore[arg-type]
    ):
        with pytest.raises(BadRequest):
            tokens.create(bad)
    assert tokens.tokens() == []


# -- login links ---------------------------------------------------------------------------------


def test_of_two_browsers_with_one_link_one_gets_in(kept: Kept) -> None:
    code = kept.links(lambda: 100.0).make()
    with ThreadPoolExecutor(4) as pool:
        won = list(pool.map(lambda _: kept.links(lambda: 101.0).redeem(code), range(4)))
    assert sorted(won) == [False, False, False, True]


def test_a_link_is_valid_for_ten_minutes(kept: Kept) -> None:
    code = kept.links(lambda: 100.0).make()
    assert not kept.links(lambda: 100.0 + LINK_TTL_S).redeem(code)
    assert not kept.links(lambda: 100.0).redeem("another")


# -- repeated requests ---------------------------------------------------------------------------


def test_a_repeated_request_gets_the_first_response(kept: Kept) -> None:
    requests = kept.requests(lambda: NOW)
    state = requests.begin(REQUEST)
    assert state == Pending(NOW)
    requests.complete(REQUEST, state, ANSWER)
    later = kept.requests(lambda: NOW + timedelta(hours=23))
    again = later.begin(REQUEST)
    assert again == ANSWER
    assert list(again.body) == list(ANSWER.body)
    another = IdempotentRequest("token", "main", "append", "key-1", "another body")
    with pytest.raises(Problem, match="another body"):
        later.begin(another)


def test_after_a_day_the_key_is_new(kept: Kept) -> None:
    requests = kept.requests(lambda: NOW)
    requests.begin(REQUEST)
    requests.complete(REQUEST, Pending(NOW), ANSWER)
    tomorrow = NOW + timedelta(hours=25)
    later = kept.requests(lambda: tomorrow)
    assert later.begin(REQUEST) == Pending(tomorrow)
    later.discard(REQUEST)


def test_a_write_that_failed_leaves_nothing(kept: Kept) -> None:
    requests = kept.requests(lambda: NOW)
    requests.begin(REQUEST)
    requests.discard(REQUEST)
    later = NOW + timedelta(hours=1)
    requests = kept.requests(lambda: later)
    assert requests.begin(REQUEST) == Pending(later)
    requests.discard(REQUEST)


def test_one_of_many_threads_executes_a_request(kept: Kept) -> None:
    requests, began = kept.requests(lambda: NOW), threading.Barrier(4, timeout=60)
    executed: list[int] = []

    def ask(number: int) -> int:
        began.wait()
        try:
            state = requests.begin(REQUEST)
        except Problem as problem:
            return problem.status
        if isinstance(state, Pending):
            executed.append(number)
            requests.complete(REQUEST, state, ANSWER)
        return ANSWER.status

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(4)))
    assert len(executed) == 1
    assert set(answers) <= {201, 409}


def test_a_key_with_spaces_is_refused(kept: Kept) -> None:
    with pytest.raises(Problem, match="Idempotency-Key"):
        kept.requests(lambda: NOW).begin(IdempotentRequest("t", "main", "append", "a b", "d"))


# -- in the database alone -----------------------------------------------------------------------


def test_the_same_request_at_two_replicas_is_executed_once(
    postgres_server: PostgresServer,
) -> None:
    """With files, each machine has its own."""
    one, other = (postgres_server.as_login("notewell") for _ in range(2))
    tenant = f"tenant-{uuid.uuid4()}"
    first = PostgresIdempotency(one, tenant, lambda: NOW)
    second = PostgresIdempotency(other, tenant, lambda: NOW + timedelta(seconds=9))
    state = first.begin(REQUEST)
    assert isinstance(state, Pending)
    with pytest.raises(Problem) as refused:
        second.begin(REQUEST)
    assert (refused.value.status, refused.value.kind) == (409, "under-way")
    one.close()  # The replica dies: its connection ends, and with it the lock.
    first._running[REQUEST.name].transaction._connection.close()
    with psycopg.connect(postgres_server.owner_url("notewell")) as owner:
        # Waits until the server has noticed.
        owner.execute("SELECT 1 FROM notewell.idempotency WHERE tenant = %s FOR UPDATE", (tenant,))
    assert second.begin(REQUEST) == Pending(NOW)
    second.complete(REQUEST, Pending(NOW), ANSWER)
    assert second.begin(REQUEST) == ANSWER
    other.close()


def test_no_transaction_of_an_agent_or_another_tenant_sees_tokens(
    postgres: Database, postgres_server: PostgresServer
) -> None:
    tenant = f"tenant-{uuid.uuid4()}"
    PostgresTokens(postgres, tenant).create(READ)
    PostgresLinks(postgres, tenant).make()
    for scope in (Scope(tenant, "main"), Scope.service("another"), Scope("another", "main")):
        with postgres.writing(scope) as transaction:
            for table in ("tokens", "login_links"):
                assert transaction.rows(f"SELECT * FROM notewell.{table}") == []
                assert transaction.execute(f"DELETE FROM notewell.{table}") == 0
    # Without a tenant, nothing: not even for the owner of the tables.
    with psycopg.connect(postgres_server.owner_url("notewell")) as owner:
        owner.execute("SET ROLE notewell_app")
        for table in ("tokens", "login_links", "idempotency"):
            assert owner.execute(f"SELECT * FROM notewell.{table}".encode()).fetchall() == []
