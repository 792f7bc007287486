"""Who is let in: every kind of token at every route, and every name it may be asked under."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi.routing import iter_route_contexts
from tests.http_service.served import COOKIE, HOST, ORIGIN, PORT, Served, serving

from notewell.cli.served_agents import agents_of
from notewell.http_service.auth import SCOPE_KEY, GuardedRoute
from notewell.http_service.tokens import TokenRequest


class Entry(NamedTuple):
    """What a route needs, and a request that it answers well."""

    scope: str
    status: int
    path: str
    body: Any = None


TURNS = {"turns": [{"role": "user", "content": "hello"}]}
WINDOW = {"usedTokens": 1, "contextWindow": 200_000}
QUERY = {"query": "readings"}
NEW_TOKEN = {"name": "ci", "scopes": ["read"]}
NOTE = {"path": "MEMORY.md"}
STREAM = 0
"""It does not end, so whoever is let in is not asked for here."""
ROUTES: dict[tuple[str, str], Entry] = {
    ("POST", "/v1/search"): Entry("read", 200, "/v1/search", QUERY),
    ("GET", "/v1/notes"): Entry("read", 200, "/v1/notes"),
    ("GET", "/v1/notes/{path:path}"): Entry("read", 200, "/v1/notes/MEMORY.md"),
    ("POST", "/v1/append"): Entry("append", 201, "/v1/append", {"text": "A fact."}),
    ("GET", "/v1/bootstrap"): Entry("read", 200, "/v1/bootstrap"),
    ("POST", "/v1/flush"): Entry("append", 200, "/v1/flush", WINDOW),
    ("POST", "/v1/sync"): Entry("append", 200, "/v1/sync", {}),
    ("POST", "/v1/sessions/{id}/turns"): Entry("append", 201, "/v1/sessions/s/turns", TURNS),
    ("GET", "/v1/agents"): Entry("read", 200, "/v1/agents"),
    # 409: the agents of this service are those of its settings; see test_replicas.py.
    ("POST", "/v1/agents"): Entry("admin", 409, "/v1/agents", {"id": "new"}),
    ("DELETE", "/v1/agents/{id}"): Entry("admin", 409, "/v1/agents/new"),
    ("GET", "/v1/status"): Entry("read", 200, "/v1/status"),
    ("GET", "/metrics"): Entry("read", 200, "/metrics"),
    ("GET", "/healthz"): Entry("nothing", 200, "/healthz"),
    ("GET", "/readyz"): Entry("nothing", 200, "/readyz"),
    ("GET", "/"): Entry("nothing", 200, "/"),
    ("GET", "/web/{path:path}"): Entry("nothing", 404, "/web/no-such-file"),
    ("GET", "/open"): Entry("nothing", 403, "/open?code=nonsense"),
    ("POST", "/v1/page/search"): Entry("read", 200, "/v1/page/search", {**QUERY, "a": {}}),
    ("POST", "/v1/page/absent"): Entry("read", 200, "/v1/page/absent", {**QUERY, **NOTE}),
    ("GET", "/v1/page/weights"): Entry("read", 200, "/v1/page/weights"),
    ("GET", "/v1/page/cards"): Entry("read", 200, "/v1/page/cards"),
    ("GET", "/v1/page/folders"): Entry("read", 200, "/v1/page/folders"),
    ("GET", "/v1/page/days"): Entry("read", 200, "/v1/page/days"),
    ("GET", "/v1/page/note/{path:path}"): Entry("read", 200, "/v1/page/note/MEMORY.md"),
    ("POST", "/v1/page/undo/{id}"): Entry("admin", 404, "/v1/page/undo/abcdef12"),
    ("GET", "/v1/page/never"): Entry("read", 200, "/v1/page/never"),
    ("GET", "/v1/page/sessions"): Entry("read", 200, "/v1/page/sessions"),
    ("GET", "/v1/page/session/{id:path}"): Entry("read", 404, "/v1/page/session/none"),
    ("GET", "/v1/page/tokens"): Entry("admin", 200, "/v1/page/tokens"),
    ("POST", "/v1/page/tokens"): Entry("admin", 201, "/v1/page/tokens", NEW_TOKEN),
    ("DELETE", "/v1/page/tokens/{id}"): Entry("admin", 404, "/v1/page/tokens/abcdef12"),
    ("GET", "/v1/page/audit"): Entry("admin", 200, "/v1/page/audit"),
    ("GET", "/v1/page/timeline"): Entry("read", 200, "/v1/page/timeline"),
    ("GET", "/v1/page/me"): Entry("read", 200, "/v1/page/me"),
    ("GET", "/v1/page/health"): Entry("read", 200, "/v1/page/health"),
    ("GET", "/v1/page/events"): Entry("read", STREAM, "/v1/page/events"),
    ("GET", "/v1/page/map"): Entry("read", 202, "/v1/page/map"),
    ("GET", "/v1/page/point"): Entry("read", 200, "/v1/page/point?path=MEMORY.md"),
    ("POST", "/v1/page/near"): Entry("read", 200, "/v1/page/near", QUERY),
}
SCOPES = {
    "read": {"read"},
    "append": {"read", "append"},
    "admin": {"read", "append", "admin"},
    "both": {"read"},
    "other": {"read", "append", "admin"},
}
STRANGERS = ("", "garbage", "revoked", "expired", "page")
"""Without a token, or with one that is none: a browser's is not taken as a bearer's."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def test_every_route_stands_in_the_table_with_the_scope_it_needs(served: Served) -> None:
    app = served.app._app._app
    found = {}
    for route in iter_route_contexts(app.routes):
        if route.path in ("/mcp", "/openapi.json"):
            continue  # Tested by themselves; one is no route of FastAPI's, the other its own.
        assert isinstance(route.route, GuardedRoute)
        for method in route.methods or ():
            found[method, route.path] = route.openapi_extra[SCOPE_KEY]
    assert found == {key: entry.scope for key, entry in ROUTES.items()}


def test_every_kind_of_token_at_every_route(served: Served) -> None:
    for (method, _), entry in ROUTES.items():
        options = {} if entry.body is None else {"json": entry.body}
        for kind in (*STRANGERS, *SCOPES, "nobody's"):
            expected = _expected(entry, kind)
            if expected == {STREAM}:
                continue
            answer = served.ask(method, entry.path, kind, **options)
            assert answer.status_code in expected, (kind, method, entry.path, answer.text)
            if answer.status_code == 401:
                assert answer.headers["www-authenticate"] == "Bearer"
            if answer.status_code >= 400:
                _is_problem(answer)


def _expected(entry: Entry, kind: str) -> set[int]:
    if entry.scope == "nothing":
        return {entry.status}
    if kind in STRANGERS:
        return {401}
    if kind not in SCOPES or entry.scope not in SCOPES[kind]:
        return {403}
    # The same entry again stands there already, and what was being made is ready.
    return {entry.status, 200} if entry.status in (201, 202) else {entry.status}


def _is_problem(answer: Any) -> None:
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert set(told) >= {"type", "title", "status", "detail", "action", "instance"}
    assert told["status"] == answer.status_code
    assert told["type"].startswith("urn:notewell:problem:")


def test_a_method_that_a_route_has_not_got(served: Served) -> None:
    for entry in ROUTES.values():
        known = {method for (method, _), one in ROUTES.items() if one.path == entry.path}
        for method in set(METHODS) - known:
            answer = served.ask(method, entry.path, "admin")
            assert answer.status_code == 405, (method, entry.path)
            without = served.ask(method, entry.path, "")
            assert without.status_code == (405 if entry.scope == "nothing" else 401)


@pytest.mark.parametrize(
    "path",
    ["/v1/search/", "/v1", "/admin", "/docs", "/redoc", "/v1/page/../search", "//v1/search"],
)
def test_what_is_not_there_is_not_told_to_strangers(served: Served, path: str) -> None:
    assert served.ask("GET", path, "").status_code == 401
    assert served.ask("GET", path, "admin").status_code in (404, 405, 307)


def test_an_agent_is_picked_among_the_tokens_own(served: Served) -> None:
    def found(token: str, agent: str | None, **options: Any) -> Any:
        headers = {"Notewell-Agent": agent} if agent else {}
        return served.ask("GET", "/v1/notes/MEMORY.md", token, headers=headers, **options)

    assert "main agent" in found("both", None).json()["text"]
    assert "work agent" in found("both", "work").json()["text"]
    assert "work agent" in found("both", "WORK").json()["text"]
    assert "work agent" in found("both", None, params={"agent": "work"}).json()["text"]
    assert "work agent" in found("other", None).json()["text"]
    for token, agent in (("read", "work"), ("other", "main"), ("both", "elsewhere"), ("both", "")):
        answer = found(token, agent or "../main")
        assert answer.status_code == 403
        # It is told which agents the token has, and not which others there are.
        assert (agent or "../main") not in answer.text
    assert found("read", None, params={"agent": "work"}).status_code == 403
    # The header wins over the query, and two of them are one too many.
    assert found("both", "main", params={"agent": "work"}).status_code == 200
    assert found("both", None, params=[("agent", "main"), ("agent", "work")]).status_code == 403


def test_bindings_decide_the_agent_of_a_conversation(tmp_path: Path) -> None:
    def route(session_key: str) -> str | None:
        return "work" if ":slack:" in session_key else None

    def read(key: str, *agents: str, **headers: str) -> Any:
        request = TokenRequest("talk", agents, ("read",), session_key=key)
        served.tokens["talk"] = served.book.create(request)[1]
        return served.ask("GET", "/v1/notes/MEMORY.md", "talk", headers=headers)

    slack, telegram = "agent:main:slack:dm:ada", "agent:main:telegram:dm:ada"
    with serving(tmp_path, route=route) as served:
        assert "work agent" in read(slack, "main", "work").json()["text"]
        assert "main agent" in read(telegram, "main", "work").json()["text"]
        # A client that routes by itself names the agent; a token gives no more than its agents.
        named = read(slack, "main", "work", **{"Notewell-Agent": "main"})
        assert "main agent" in named.json()["text"]
        refused = read(slack, "main")
        assert refused.status_code == 403
        assert "belongs to an agent that the token does not have" in refused.json()["detail"]


def test_the_conversation_of_an_unknown_agent_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = [{"id": id_, "workspace": str(tmp_path / id_)} for id_ in ("main", "work")]
    settings = tmp_path / "own.json"
    settings.write_text(json.dumps({"agents": {"list": listed}}), encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_CONFIG", str(settings))
    nothing = argparse.Namespace(workspace=None, agent=None, openclaw=False)
    with serving(tmp_path, route=agents_of(nothing)[0].route) as served:
        for agent, status in (("work", 200), ("main", 200), ("nobody", 403)):
            key = f"agent:{agent}:telegram:dm:x"
            request = TokenRequest("talk", ("main", "work"), ("read",), session_key=key)
            served.tokens["talk"] = served.book.create(request)[1]
            answer = served.ask("GET", "/v1/notes/MEMORY.md", "talk")
            assert answer.status_code == status
            assert (f"{agent} agent" in answer.text) is (status == 200)


@pytest.mark.parametrize(
    "shown",
    [
        "Bearer",
        "Bearer ",
        "Basic {0}",
        "Bearer  {0}",
        "{0}",
        "Bearer {0}x",
        "Bearer {0} x",
        "bearer",
    ],
)
def test_a_token_that_is_shown_wrongly(served: Served, shown: str) -> None:
    header = {"Authorization": shown.format(served.tokens["admin"])}
    assert served.ask("GET", "/v1/status", "", headers=header).status_code == 401


def test_two_tokens_at_once_are_none(served: Served) -> None:
    shown = [("Authorization", f"Bearer {served.tokens[kind]}") for kind in ("admin", "read")]

    async def asked() -> Any:
        return await served.client.get("/v1/status", headers=shown)

    assert served.portal.call(asked).status_code == 401


# -- names ---------------------------------------------------------------------------------------

FOREIGN_HOSTS = (
    "evil.example",
    f"evil.example:{PORT}",
    f"127.0.0.1.evil.example:{PORT}",
    f"localhost.evil.example:{PORT}",
    "127.0.0.1",
    f"127.0.0.1:{PORT + 1}",
    f"127.0.0.2:{PORT}",
    f"0.0.0.0:{PORT}",
    f"[::ffff:127.0.0.1]:{PORT}",
    f"{HOST}@evil.example",
    f"{HOST}.",
    "",
)


@pytest.mark.parametrize(
    "path", ["/v1/status", "/", "/healthz", "/openapi.json", "/mcp", "/nothing"]
)
def test_a_page_that_has_its_own_name_point_here_gets_nothing(served: Served, path: str) -> None:
    for host in FOREIGN_HOSTS:
        answer = served.ask("GET", path, "admin", headers={"Host": host})
        assert answer.status_code == 421, host
        _is_problem(answer)
    for host in (f"localhost:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"):
        answer = served.ask("GET", path, "admin", headers={"Host": host})
        assert answer.status_code != 421, host


@pytest.mark.parametrize(
    "path", ["/v1/status", "/", "/healthz", "/openapi.json", "/mcp", "/nothing"]
)
def test_another_sites_page_gets_nothing_with_any_method(served: Served, path: str) -> None:
    foreign = ("http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1", "file://", "")
    for method in ("GET", "POST", "OPTIONS", "DELETE"):
        for origin in foreign:
            answer = served.ask(method, path, "admin", headers={"Origin": origin})
            assert answer.status_code == 403, (method, origin)
            assert not [name for name in answer.headers if name.startswith("access-control")]
    assert served.ask("GET", "/v1/status", headers={"Origin": ORIGIN}).status_code == 200


def test_the_order_of_the_guards(served: Served) -> None:
    wrong = {"Host": "evil.example", "Origin": "http://evil.example"}
    huge = {"content": b"x" * 2_000_000}
    assert served.ask("POST", "/v1/append", "", headers=wrong, **huge).status_code == 421
    wrong.pop("Host")
    assert served.ask("POST", "/v1/append", "", headers=wrong, **huge).status_code == 403
    assert served.ask("POST", "/v1/append", "", **huge).status_code == 401
    assert served.ask("POST", "/v1/append", "read", **huge).status_code == 403
    assert served.ask("POST", "/v1/append", "append", **huge).status_code == 413


# -- the page's cookie ---------------------------------------------------------------------------


def test_a_cookie_reads_and_writes_only_for_our_own_page(served: Served) -> None:
    cookie = {"Cookie": f"{COOKIE}={served.tokens['page']}"}

    def asked(method: str, **headers: str) -> int:
        sent = {**cookie, **{name.replace("_", "-"): value for name, value in headers.items()}}
        body = {"json": {"text": "By the page."}} if method == "POST" else {}
        path = "/v1/append" if method == "POST" else "/v1/status"
        return served.ask(method, path, "", headers=sent, **body).status_code

    assert asked("GET") == 200
    assert asked("GET", Sec_Fetch_Site="same-origin") == 200
    # Another port of this machine is the same site: its pages send our cookie along.
    assert asked("GET", Sec_Fetch_Site="same-site") == 403
    assert asked("GET", Sec_Fetch_Site="cross-site") == 403
    assert asked("POST") == 403
    assert asked("POST", Sec_Fetch_Site="none") == 403
    assert asked("POST", Origin=f"http://127.0.0.1:{PORT + 1}") == 403
    assert asked("POST", Origin=ORIGIN, Sec_Fetch_Site="cross-site") == 403
    assert asked("POST", Sec_Fetch_Site="same-origin") == 201
    assert asked("POST", Origin=ORIGIN) == 200


def test_a_bearer_token_is_no_cookie_and_a_bad_header_is_not_helped_out(served: Served) -> None:
    as_cookie = {"Cookie": f"{COOKIE}={served.tokens['admin']}"}
    assert served.ask("GET", "/v1/status", "", headers=as_cookie).status_code == 401
    good = {"Cookie": f"{COOKIE}={served.tokens['page']}"}
    both = {**good, "Authorization": "Bearer nonsense"}
    assert served.ask("GET", "/v1/status", "", headers=both).status_code == 401
    for broken in ("notewell", "notewell=", "=", "notewell=\x7f", "a=b; notewell=x" * 50):
        answer = served.ask("GET", "/v1/status", "", headers={"Cookie": broken})
        assert answer.status_code == 401


def test_a_link_opens_the_page_once(served: Served) -> None:
    from notewell.http_service.tokens import LINKS_FILE, LoginLinks

    code = LoginLinks(served.state / LINKS_FILE).make()
    answer = served.ask("GET", f"/open?code={code}", "")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert part in cookie
    assert "Secure" not in cookie
    assert served.ask("GET", f"/open?code={code}", "").status_code == 403
    value = cookie.split(";")[0]
    assert served.ask("GET", "/v1/status", "", headers={"Cookie": value}).status_code == 200
    assert value.split("=")[1] not in (served.state / "tokens.json").read_text(encoding="utf-8")


def test_a_link_is_over_after_ten_minutes(tmp_path: Path) -> None:
    from notewell.http_service.tokens import LINK_TTL_S, LoginLinks

    now = [1000.0]
    links = LoginLinks(tmp_path / "links.json", lambda: now[0])
    first, second = links.make(), links.make()
    now[0] += LINK_TTL_S - 1
    assert links.redeem(first)
    assert not links.redeem(first)
    now[0] += 2
    assert not links.redeem(second)


def test_behind_a_proxy_the_cookie_wants_tls(tmp_path: Path) -> None:
    from notewell.http_service.auth import AllowedHosts

    names = AllowedHosts.of(PORT, ["memory.example"])
    assert "https://memory.example" in names.origins
    assert "http://memory.example" not in names.origins
    assert names.secure == {"memory.example"}


def test_every_answer_has_the_headers_that_keep_it_here(served: Served) -> None:
    for path, token in (("/v1/status", "read"), ("/", ""), ("/v1/status", ""), ("/none", "read")):
        headers = served.ask("GET", path, token).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["content-security-policy"].startswith(
            "default-src 'none'; script-src 'self'"
        )
        assert "unsafe" not in headers["content-security-policy"]
    assert served.ask("GET", "/v1/status").headers["cache-control"] == "no-store"


def test_folders_of_the_machine_are_told_to_an_admin_only(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        for path in ("/v1/status", "/v1/notes/nothing.md"):
            answer = served.ask("GET", path, "append")
            assert str(tmp_path) not in answer.text
        assert str(tmp_path) in served.ask("GET", "/v1/status", "admin").text
