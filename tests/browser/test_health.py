"""Health says one true thing at a time: what runs, what is wrong, or what waits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Route, expect
from tests.browser.visit import Visit

TROUBLE = {
    "what": "key",
    "told": "the key is refused",
    "todo": "set another",
    "fixable": False,
    "level": "error",
}


@pytest.mark.parametrize(
    ("change", "title"),
    [
        ({}, "Everything is OK"),
        ({"work": {"running": True, "notesBuilt": 12}}, "Indexing: 12 of"),
        (
            {"work": {"running": True, "vectors": 3, "vectorsWaiting": 9}},
            "Computing vectors: 3 of 12",
        ),
        ({"activity": {"what": "vectors", "done": 4, "total": 9}}, "Computing vectors: 4 of 9"),
        ({"activity": {"what": "notes", "done": 0, "total": 0}}, "Looking for changes"),
        ({"status": {"dirty": 2}}, "2 notes changed"),
        ({"findings": [TROUBLE], "status": {"eligible": 0}}, "No notes yet"),
        ({"findings": [TROUBLE], "status": {"dirty": 2}}, "key"),
        ({"findings": [TROUBLE], "work": {"running": True, "notesBuilt": 1}}, "Indexing: 1 of"),
    ],
)
def test_one_thing_is_said(visit: Visit, change: dict[str, Any], title: str) -> None:
    def answer(route: Route) -> None:
        health = route.fetch().json()
        health["work"] |= {"running": False, "vectorsWaiting": 0} | change.get("work", {})
        health["status"] |= {"dirty": 0} | change.get("status", {})
        health["activity"] = change.get("activity")
        health["findings"] = change.get("findings", [])
        route.fulfill(body=json.dumps(health), content_type="application/json")

    page = visit.context("admin").new_page()
    page.route("**/v1/page/health", answer)
    visit.open(page, "health")
    expect(page.locator(".verdict h2")).to_contain_text(title)
    expect(page.locator(".verdict")).to_have_count(1)
    expect(page.locator(".findings > .finding")).to_have_count(1 if title == "No notes yet" else 0)
    page.unroute_all(behavior="ignoreErrors")
