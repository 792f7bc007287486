"""The book of tokens: what it keeps, whom it believes, and that two may write in it at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.http_service.served import Served

from notewell.cli import main
from notewell.errors import BadRequest, BadSetting
from notewell.http_service.token_file import Scope
from notewell.http_service.tokens import (
    BROWSER_DAYS,
    MAX_BROWSERS,
    TOKENS_FILE,
    TokenRequest,
    TokenStore,
    digest_of,
    parse_lifetime_days,
)

READ = TokenRequest("laptop", ("main",), ("read",))


def test_a_token_is_found_again_and_kept_only_as_its_digest(tmp_path: Path) -> None:
    book = TokenStore(tmp_path / TOKENS_FILE)
    token, secret = book.create(READ)
    assert secret.startswith("nwt_")
    assert len(secret) >= 4 + 43  # 32 bytes
    assert book.find(secret) == token
    text = (tmp_path / TOKENS_FILE).read_text(encoding="utf-8")
    assert secret not in text
    assert digest_of(secret) in text
    assert (tmp_path / TOKENS_FILE).stat().st_mode & 0o777 == 0o600
    for wrong in ("", secret[:-1], secret + "x", secret.upper(), digest_of(secret)):
        assert book.find(wrong) is None


def test_what_others_write_is_seen_before_the_next_use(tmp_path: Path) -> None:
    mine, theirs = TokenStore(tmp_path / TOKENS_FILE), TokenStore(tmp_path / TOKENS_FILE)
    token, secret = theirs.create(READ)
    assert mine.find(secret) is not None
    theirs.revoke(token.id)
    assert mine.find(secret) is None
    _, again = theirs.create(READ)
    assert mine.find(again) is not None
    (tmp_path / TOKENS_FILE).unlink()
    assert mine.find(again) is None


def test_a_token_ends_when_it_is_over(tmp_path: Path) -> None:
    now = [datetime(2026, 11, 15, 12, tzinfo=UTC)]
    book = TokenStore(tmp_path / TOKENS_FILE, lambda: now[0])
    token, secret = book.create(READ._replace(expires_days=90))
    now[0] += timedelta(days=90) - timedelta(seconds=1)
    assert book.find(secret) is not None
    assert book.is_valid(token.id)
    now[0] += timedelta(seconds=1)
    assert book.find(secret) is None
    assert not book.is_valid(token.id)
    assert [one.id for one in book.tokens()] == [token.id]


def test_the_day_of_the_last_use_is_noted_once(tmp_path: Path) -> None:
    now = [datetime(2026, 11, 15, 12, tzinfo=UTC)]
    book = TokenStore(tmp_path / TOKENS_FILE, lambda: now[0])
    token, secret = book.create(READ)
    book.record_use(token.id)
    before = (tmp_path / TOKENS_FILE).stat().st_mtime_ns
    found = book.find(secret)
    assert found is not None
    assert found.last_used == "2026-11-15"
    assert book.was_used_today(found)
    book.record_use(token.id)
    assert (tmp_path / TOKENS_FILE).stat().st_mtime_ns == before
    now[0] += timedelta(days=1)
    assert not book.was_used_today(found)


def test_the_server_notes_the_use(served: Served) -> None:
    assert served.ask("GET", "/v1/status", "read").status_code == 200
    used = {one.name for one in served.book.tokens() if one.last_used}
    assert used == {"read"}


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [
        (("read",), {"read"}),
        (("append",), {"read", "append"}),
        (("admin",), {"read", "append", "admin"}),
        (("read", "append"), {"read", "append"}),
    ],
)
def test_scopes_include_the_lesser_ones(
    tmp_path: Path, scopes: tuple[Scope, ...], allowed: set[str]
) -> None:
    token, _ = TokenStore(tmp_path / TOKENS_FILE).create(READ._replace(scopes=scopes))
    assert token.allowed == allowed


@pytest.mark.parametrize(
    "wish",
    [
        READ._replace(name=""),
        READ._replace(name="x" * 65),
        READ._replace(name="a\nb"),
        READ._replace(agents=()),
        READ._replace(agents=("../main",)),
        READ._replace(scopes=()),
        READ._replace(scopes=("write",)),  # type: ignore[arg-type]
        READ._replace(session_key="nonsense"),
    ],
)
def test_what_cannot_be_a_token_is_refused(tmp_path: Path, wish: TokenRequest) -> None:
    book = TokenStore(tmp_path / TOKENS_FILE)
    with pytest.raises(BadRequest):
        book.create(wish)
    assert book.tokens() == []


def test_browsers_are_few_and_the_oldest_goes(tmp_path: Path) -> None:
    now = [datetime(2026, 11, 15, 12, tzinfo=UTC)]
    book = TokenStore(tmp_path / TOKENS_FILE, lambda: now[0])
    _, bearer = book.create(READ)
    cookies = []
    for _ in range(MAX_BROWSERS + 1):
        now[0] += timedelta(minutes=1)
        cookies.append(
            book.create(TokenRequest("page", ("main",), ("admin",), BROWSER_DAYS, "page"))[1]
        )
    assert book.find(cookies[0], "page") is None
    assert all(book.find(one, "page") for one in cookies[1:])
    assert book.find(bearer) is not None
    assert book.find(cookies[-1]) is None


# -- whom it believes ----------------------------------------------------------------------------


def _book_with(path: Path) -> tuple[TokenStore, str]:
    book = TokenStore(path)
    return book, book.create(READ)[1]


def test_a_link_in_place_of_the_book_lets_nobody_in(tmp_path: Path) -> None:
    _, secret = _book_with(tmp_path / "elsewhere" / TOKENS_FILE)
    (tmp_path / TOKENS_FILE).symlink_to(tmp_path / "elsewhere" / TOKENS_FILE)
    book = TokenStore(tmp_path / TOKENS_FILE)
    with pytest.raises(BadSetting):
        book.find(secret)
    with pytest.raises(BadSetting):
        book.create(READ)  # Nor is it written through.


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o604, 0o606])
def test_a_book_that_others_may_open_lets_nobody_in(tmp_path: Path, mode: int) -> None:
    book, secret = _book_with(tmp_path / TOKENS_FILE)
    (tmp_path / TOKENS_FILE).chmod(mode)
    with pytest.raises(BadSetting, match="chmod 600"):
        book.find(secret)
    (tmp_path / TOKENS_FILE).chmod(0o600)
    assert book.find(secret) is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_book_of_somebody_else_lets_nobody_in(tmp_path: Path) -> None:
    book, secret = _book_with(tmp_path / TOKENS_FILE)
    os.chown(tmp_path / TOKENS_FILE, 65534, 65534)
    with pytest.raises(BadSetting, match="another user"):
        book.find(secret)


def test_a_pipe_or_a_folder_in_its_place_is_no_book(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir(mode=0o700)
    for name in ("pipe", "folder"):
        with pytest.raises(BadSetting):
            TokenStore(tmp_path / name).check()


GOOD: dict[str, Any] = {
    "digest": "0" * 64,
    "id": "a",
    "name": "n",
    "agents": ["main"],
    "scopes": ["read"],
    "created": "2026-11-15T00:00:00+00:00",
    "expires": None,
    "last_used": None,
    "kind": "bearer",
    "session_key": None,
}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"tokens": 1}',
        '{"tokens": [1]}',
        "[" * 100_000,
        json.dumps({"tokens": [{**GOOD, "scopes": ["root"]}]}),
        json.dumps({"tokens": [{**GOOD, "kind": "master"}]}),
        json.dumps({"tokens": [{**GOOD, "expires": "never"}]}),
        json.dumps({"tokens": [{**GOOD, "agents": []}]}),
        json.dumps({"tokens": [{key: GOOD[key] for key in GOOD if key != "expires"}]}),
    ],
)
def test_a_torn_or_strange_book_lets_nobody_in(tmp_path: Path, text: str) -> None:
    book, secret = _book_with(tmp_path / TOKENS_FILE)
    assert book.find(secret) is not None
    (tmp_path / TOKENS_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(BadSetting, match="remove it"):
        book.find(secret)
    with pytest.raises(BadSetting):
        book.find(secret)  # And not the second time either.


def test_a_running_server_closes_when_its_book_cannot_be_believed(served: Served) -> None:
    assert served.ask("GET", "/v1/status").status_code == 200
    served.book.path.chmod(0o644)
    assert served.ask("GET", "/v1/status").status_code == 401
    assert served.ask("GET", "/healthz", "").status_code == 200
    served.book.path.chmod(0o600)
    assert served.ask("GET", "/v1/status").status_code == 200


# -- several at once -----------------------------------------------------------------------------


def test_nothing_is_lost_when_many_write_at_once(tmp_path: Path) -> None:
    def one(number: int) -> str:
        book = TokenStore(tmp_path / TOKENS_FILE)
        token, secret = book.create(READ._replace(name=f"n{number}"))
        if number % 3 == 0:
            book.revoke(token.id)
        return secret

    with ThreadPoolExecutor(8) as pool:
        secrets = list(pool.map(one, range(24)))
    book = TokenStore(tmp_path / TOKENS_FILE)
    assert [book.find(secret) is None for secret in secrets] == [n % 3 == 0 for n in range(24)]


# -- the command ---------------------------------------------------------------------------------


def _told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main([*words, "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_create_list_and_revoke(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ("--state-dir", str(tmp_path))
    made = _told(
        capsys, "token", "create", "ci", "--agent", "main,work", "--scope", "read,append", *place
    )
    assert made["agents"] == ["main", "work"]
    assert made["scopes"] == ["read", "append"]
    assert made["expires"] is None
    assert TokenStore(tmp_path / TOKENS_FILE).find(made["token"]) is not None
    listed = _told(capsys, "token", "list", *place)
    assert [one["id"] for one in listed["tokens"]] == [made["id"]]
    assert made["token"] not in json.dumps(listed)
    assert _told(capsys, "token", "revoke", made["id"], *place)["revoked"] == made["id"]
    assert _told(capsys, "token", "list", *place)["tokens"] == []
    assert main(["token", "revoke", made["id"], *place]) == 2


def test_a_token_alone_goes_to_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["token", "create", "ci", "--expires", "90d", "--state-dir", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert TokenStore(tmp_path / TOKENS_FILE).find(told.out.strip()) is not None
    assert told.out.strip() not in told.err
    assert main(["token", "list", "--state-dir", str(tmp_path)]) == 0
    assert "never used" in capsys.readouterr().out


def test_a_link_needs_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "link", "--state-dir", str(tmp_path)]) == 2
    assert "notewell serve" in capsys.readouterr().err


@given(st.text(max_size=8))
def test_how_long_is_understood_or_refused(span: str) -> None:
    try:
        days = parse_lifetime_days(span)
    except BadRequest:
        return
    assert 0 < days <= 3650


def test_how_long_in_days() -> None:
    assert [parse_lifetime_days(span) for span in ("90d", "2w", "1Y")] == [90, 14, 365]


def test_the_command_starts_without_the_servers_packages(tmp_path: Path) -> None:
    program = (
        "import sys; from notewell.cli import main; "
        f"main(['token', 'list', '--state-dir', {str(tmp_path)!r}]); "
        "print([name for name in ('fastapi', 'uvicorn', 'mcp') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip().endswith("[]")
