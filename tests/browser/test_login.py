"""Who is let in: the link that works once, the cookie it leaves, and who comes without."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.browser.service import Service
from tests.browser.visit import Visit, settled


def test_a_link_works_once(visit: Visit, service: Service) -> None:
    link = service.link()
    first = visit.context().new_page()
    first.goto(link)
    settled(first)
    expect(first.locator("#version")).to_contain_text("Notewell")
    assert "code=" not in first.url
    (cookie,) = first.context.cookies()
    assert cookie["name"] == service.cookie_name
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert first.evaluate("document.cookie") == ""

    second = visit.context().new_page()
    second.goto(link)
    expect(second.get_by_role("heading", name="This browser is not known")).to_be_visible()
    assert second.context.cookies() == []
    visit.forgive(401)


def test_a_stranger_is_told_how_to_get_in_and_nothing_else(visit: Visit) -> None:
    page = visit.context().new_page()
    page.goto(visit.service.url)
    expect(page.get_by_role("heading", name="This browser is not known")).to_be_visible()
    expect(page.locator("#main")).to_contain_text("notewell token link")
    assert "MEMORY.md" not in page.content()
    # Nothing leads to a place where it is not let in.
    expect(page.get_by_role("navigation")).to_be_hidden()
    expect(page.locator("#palette-open")).to_be_hidden()
    visit.forgive(401)


def test_a_revoked_browser_is_out_at_once(visit: Visit, service: Service) -> None:
    page = visit.page("health")
    from notewell.http_service import TokenStore
    from notewell.http_service.tokens import TOKENS_FILE

    book = TokenStore(service.folder / "state" / TOKENS_FILE)
    value = page.context.cookies()[0].get("value", "")
    found = book.find(value, "page")
    assert found
    book.revoke(found.id)
    page.locator('#views a[href="#notes"]').click()
    expect(page.get_by_role("heading", name="This browser is not known")).to_be_visible()
    visit.forgive(401)


def test_the_page_is_sent_with_headers_that_shut_it_in(visit: Visit) -> None:
    page = visit.page()
    answer = page.request.get(visit.service.url)
    policy = answer.headers["content-security-policy"]
    for part in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"):
        assert part in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    data = page.request.get(f"{visit.service.url}/v1/page/me")
    assert data.status == 200
    assert data.headers["cache-control"] == "no-store"
