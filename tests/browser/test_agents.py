"""Agents in Access: kept in a database, an admin adds and removes them while the service runs."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.service import Service
from tests.browser.visit import Visit, settled
from tests.postgres_server import PostgresServer

from notewell.postgres.address import VARIABLE


@pytest.fixture
def visit_of_a_database(
    postgres_server: PostgresServer,
    browser: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Visit]:
    # By words alone: no model has to be loaded.
    search = {"store": {"tenant": f"tenant-{uuid.uuid4()}"}, "provider": "none"}
    settings = {"agents": {"defaults": {"memorySearch": search}}}
    (tmp_path / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    monkeypatch.setenv(VARIABLE, postgres_server.login_url("notewell"))
    with Service(tmp_path, "postgres:") as service, Visit(service, browser) as visit:
        yield visit
        visit.check()


def test_an_admin_adds_an_agent_opens_it_and_removes_it(visit_of_a_database: Visit) -> None:
    visit = visit_of_a_database
    page = visit.context().new_page()
    page.goto(visit.service.first_link)
    settled(page)
    visit.open(page, "access")
    agents = page.locator(".access-part", has=page.get_by_role("heading", name="Agents"))
    agents.get_by_label("New agent").fill("Robin")
    agents.get_by_role("button", name="Add the agent").click()
    row = agents.get_by_role("listitem").filter(has_text="robin")
    expect(row).to_be_visible()
    assert served_agents(page) == ["main", "robin"]

    options = page.locator("#agent option")
    expect(options).to_have_text(["main", "robin"])
    row.get_by_role("button", name="Remove robin").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    expect(options).to_have_text(["main"])
    assert served_agents(page) == ["main"]
    audit = page.locator(".access-part").last
    expect(audit).to_contain_text("added an agent")
    expect(audit).to_contain_text("removed an agent")


def served_agents(page: Page) -> list[str]:
    listed: list[str] = page.evaluate("fetch('/v1/agents').then(it => it.json())")["agents"]
    return listed
