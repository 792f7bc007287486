"""The timeline of the page: what was captured, recalled and changed, and by whom."""

from __future__ import annotations

import os
from typing import Any

import pytest
from tests.http_service.served import Served

JANUARY_S = 1_767_225_600


def told(served: Served, query: str = "", token: str = "admin") -> list[dict[str, Any]]:
    answer = served.ask("GET", f"/v1/page/timeline?{query}", token)
    assert answer.status_code == 200, answer.text
    events: list[dict[str, Any]] = answer.json()["events"]
    return events


def test_what_was_captured_and_recalled_names_who_did_it(served: Served) -> None:
    file = served.workspaces["main"] / "MEMORY.md"
    os.utime(file, (JANUARY_S, JANUARY_S))
    added = served.ask("POST", "/v1/append", "append", json={"text": "The **heron** is back."})
    assert added.status_code == 201
    served.agents.memory("main").sync()
    served.search("heron")
    recalled, captured, changed = told(served)
    assert (recalled["kind"], recalled["query"]) == ("recalled", "heron")
    assert (recalled["who"], recalled["by"]) == ("http", "read")
    assert recalled["hits"][0]["path"] == captured["path"]
    assert (captured["kind"], captured["who"], captured["by"]) == ("captured", "http", "append")
    assert (captured["text"], captured["canUndo"]) == ("The heron is back.", True)
    assert (changed["kind"], changed["path"]) == ("changed", "MEMORY.md")
    # Only an admin sees who wrote, and what others asked.
    assert "by" not in told(served, "kind=captured", "append")[0]
    assert told(served, "kind=recalled", "append") == []

    undone = served.ask("POST", f"/v1/page/undo/{captured['id']}", "admin", json={})
    assert undone.status_code == 200
    (captured,) = told(served, "kind=captured")
    assert (captured["undone"], captured["canUndo"], "text" in captured) == (True, False, False)


def test_one_kind_and_what_was_before(served: Served) -> None:
    served.agents.memory("main").sync()
    served.search("first")
    served.search("second")
    second, first = told(served, "kind=recalled", "read")
    assert (second["query"], first["query"]) == ("second", "first")
    before = second["at"].replace("+", "%2B")
    assert [one["query"] for one in told(served, f"kind=recalled&before={before}")] == ["first"]
    assert [one["kind"] for one in told(served, "kind=changed")] == ["changed"]


@pytest.mark.parametrize("moment", ["yesterday", "2026-03-01", "1"])
def test_a_moment_that_nobody_gave_is_refused(served: Served, moment: str) -> None:
    assert served.ask("GET", f"/v1/page/timeline?before={moment}").status_code == 422
