"""Access: an admin makes and revokes tokens; nobody else sees them."""

from __future__ import annotations

import re

from playwright.sync_api import expect
from tests.browser.visit import Visit


def test_an_admin_makes_a_token_sees_it_once_and_revokes_it(visit: Visit) -> None:
    page = visit.page("access")
    page.get_by_label("Name").fill("a robot")
    page.get_by_role("button", name="Make a token").click()
    dialog = page.get_by_role("dialog", name="The token a robot")
    secret = dialog.locator("code").first.inner_text()
    status, me = visit.service.ask("GET", "/v1/page/me", secret)
    assert (status, me["scopes"]) == (200, ["read"])
    dialog.get_by_role("button", name="Done").click()
    row = page.locator(".token-row", has_text="a robot")
    expect(row).to_contain_text("read")
    assert secret not in page.content()
    row.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)
    assert visit.service.ask("GET", "/v1/page/me", secret)[0] == 401
    expect(page.locator(".access-part").last).to_contain_text("revoked a token a robot")


def test_a_reader_has_no_such_view(visit: Visit) -> None:
    page = visit.page("notes", "read")
    expect(page.locator('#views a[data-view="access"]')).to_be_hidden()
    visit.open(page, "access")
    expect(page.get_by_role("heading", name="For admins")).to_be_visible()


def test_a_stranger_pastes_a_link_and_is_in(visit: Visit) -> None:
    page = visit.context().new_page()
    page.goto(visit.service.url)
    page.get_by_label("Link or code").fill("wrong-code-wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("already used")
    page.get_by_label("Link or code").fill(visit.service.link())
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#version")).to_contain_text("Notewell")
    expect(page).to_have_url(re.compile(r"/(#search)?$"))
    visit.forgive(401)
