"""The documentation in a browser, opened as files: its search, and tables that are wide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from scripts.docs.site import build
from tests.browser.visit import WAIT_MS

PHONE, DESKTOP = (390, 844), (1280, 900)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


@pytest.fixture(params=[DESKTOP, PHONE], ids=["desktop", "phone"])
def page(request: pytest.FixtureRequest, browser: Browser, site: Path) -> Iterator[Page]:
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((site / "index.html").as_uri())
    yield page
    assert errors == []
    context.close()


def test_a_search_finds_sections_with_some_of_its_words_and_enter_opens_the_first(
    page: Page,
) -> None:
    page.fill("#search", "backup vault nobodywrotethis")
    first = page.locator("#hits a").first
    expect(first).to_contain_text("ault")
    page.fill("#search", "narrow a search")
    expect(first).to_contain_text("Narrow a search")
    page.press("#search", "Enter")
    page.wait_for_url("**/docs/how-to/vaults.html#narrow-a-search")


def test_words_that_no_page_has_are_said_to_be_nowhere(page: Page) -> None:
    page.fill("#search", "nobodywrotethis")
    expect(page.locator("#hits")).to_have_text("Nothing found")


def test_no_page_is_wider_than_the_screen_and_wide_tables_scroll(page: Page, site: Path) -> None:
    page.goto((site / "docs" / "compare.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    table = page.locator("table").first
    expect(table).to_have_class("wide")
    reach = "one => [one.scrollWidth <= one.clientWidth, getComputedStyle(one).overflowX]"
    fits, overflow = table.evaluate(reach)
    is_desktop = page.viewport_size == {"width": DESKTOP[0], "height": DESKTOP[1]}
    assert fits == is_desktop
    assert overflow == "auto"
