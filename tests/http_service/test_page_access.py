"""Tokens and the audit log, as an admin manages them in the page."""

from __future__ import annotations

import pytest
from tests.http_service.served import Served

from notewell.http_service.tokens import TokenRequest

NEW = {"name": "ci", "agents": ["main"], "scopes": ["append"], "days": 30}


def test_an_admin_makes_a_token_that_works_until_it_is_revoked(served: Served) -> None:
    made = served.ask("POST", "/v1/page/tokens", "admin", json=NEW)
    assert made.status_code == 201
    token, secret = made.json()["token"], made.json()["secret"]
    assert (token["name"], token["scopes"], token["own"]) == ("ci", ["append"], False)
    as_made = {"headers": {"Authorization": f"Bearer {secret}"}}
    assert served.ask("GET", "/v1/page/me", "", **as_made).status_code == 200

    listed = served.ask("GET", "/v1/page/tokens", "admin")
    assert token["id"] in [one["id"] for one in listed.json()["tokens"]]
    assert secret not in listed.text

    revoked = served.ask("DELETE", f"/v1/page/tokens/{token['id']}", "admin")
    assert revoked.status_code == 200
    assert served.ask("GET", "/v1/page/me", "", **as_made).status_code == 401
    assert [line["what"] for line in served.audit()] == ["token made", "token revoked"]
    lines = served.ask("GET", "/v1/page/audit", "admin").json()["lines"]
    assert [(one["what"], one["called"]) for one in lines] == [
        ("token revoked", "ci"),
        ("token made", "ci"),
    ]


def test_an_admin_of_one_agent_reaches_no_other(served: Served) -> None:
    refused = served.ask("POST", "/v1/page/tokens", "admin", json={**NEW, "agents": ["work"]})
    assert refused.status_code == 403
    everything = served.ask("POST", "/v1/page/tokens", "admin", json={**NEW, "agents": ["*"]})
    assert everything.status_code == 403
    other, _ = served.book.create(TokenRequest("work's", ("work",), ("read",)))
    both, _ = served.book.create(TokenRequest("both's", ("main", "work"), ("read",)))
    listed = served.ask("GET", "/v1/page/tokens", "admin").json()
    assert {other.id, both.id}.isdisjoint(one["id"] for one in listed["tokens"])
    assert listed["agents"] == ["main"]
    assert served.ask("DELETE", f"/v1/page/tokens/{other.id}", "admin").status_code == 404
    assert served.book.is_valid(other.id)


def test_the_audit_log_of_another_agent_is_not_shown(served: Served) -> None:
    served.agents.memory("work")
    _, secret = served.book.create(TokenRequest("work's", ("work",), ("append",)))
    headers = {"Authorization": f"Bearer {secret}"}
    written = served.ask("POST", "/v1/append", "", headers=headers, json={"text": "Ours."})
    assert written.status_code == 201
    assert [line["agent"] for line in served.audit()] == ["work"]
    assert served.ask("GET", "/v1/page/audit", "admin").json() == {"lines": []}


@pytest.mark.parametrize("wrong", [{"name": ""}, {"scopes": []}, {"scopes": ["x"]}, {"days": 0}])
def test_a_bad_name_or_scope_is_refused(served: Served, wrong: dict[str, object]) -> None:
    answer = served.ask("POST", "/v1/page/tokens", "admin", json={**NEW, **wrong})
    assert answer.status_code == 422
