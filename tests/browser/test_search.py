"""Search: as one types, with weights of one's own, and a reason for what is not there."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Request, expect
from tests.browser.visit import Visit, settled


def test_hits_come_while_one_types_and_the_newest_question_wins(visit: Visit) -> None:
    page = visit.page()
    asked: list[str] = []

    def note(request: Request) -> bool:
        if request.url.endswith("/v1/page/search"):
            asked.append((request.post_data_json or {})["query"])
        return asked[-1:] == ["readings SQLite"]

    with page.expect_request(note):
        page.get_by_label("Search the memory").press_sequentially("readings SQLite", delay=15)
    expect(page.locator(".hits .path").first).to_have_text("MEMORY.md")
    expect(page.locator(".hits mark").first).to_have_text(re.compile("readings|SQLite", re.I))
    expect(page.locator(".parts").first).to_contain_text("Words")
    assert asked[-1] == "readings SQLite"
    assert len(asked) < len("readings SQLite")  # Not every letter is a question.
    expect(page).to_have_url(re.compile(r"#search\?q=readings"))


def test_the_address_of_a_search_leads_back_to_it(visit: Visit) -> None:
    page = visit.page("search?q=telescope%20mount&a.maxResults=2")
    expect(page.locator(".hits > li")).to_have_count(2)
    expect(page.get_by_label("Maximum number of hits", exact=True)).to_have_value("2")


def test_weights_change_the_order(visit: Visit) -> None:
    """By words the one note with `zebra` is first, by meaning those about bread are."""
    page = visit.page(
        "search?q=baking%20sourdough%20with%20a%20crisp%20crust%20zebra&a.minScore=0"
    )
    slide(page, "a-vectorWeight", "0")
    words = paths(page)
    slide(page, "a-vectorWeight", "1")
    meaning = paths(page)
    assert words[0] == "MEMORY.md"
    assert meaning != words


def slide(page: Page, name: str, to: str) -> None:
    """Moves a slider and waits for the answer that it brings."""
    with page.expect_response("**/v1/page/search"):
        page.locator(f"#{name}").fill(to)
    settled(page)


def paths(page: Page) -> list[str]:
    expect(page.locator(".hits > li").first).to_be_visible()
    return page.locator(".hits .path").all_text_contents()


def test_two_settings_stand_side_by_side(visit: Visit) -> None:
    page = visit.page("search?q=inverter")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".beside ol.hits")).to_have_count(2)
    slide(page, "b-maxResults", "1")
    expect(page.get_by_label("Hits of setting B").locator("> li")).to_have_count(1)


def test_a_note_that_is_not_among_the_hits_has_a_reason(visit: Visit) -> None:
    page = visit.page("search?q=zebra")
    page.get_by_label("Why is this note not a hit?").fill("memory/2026-08-25.md")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(".absent-status p")).to_have_text(re.compile(r"\w{3}.*\w{3}"))
    page.get_by_label("Why is this note not a hit?").fill("memory/nowhere.md")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(".absent-status")).to_contain_text("memory/nowhere.md")
    visit.forgive(404)


def test_a_question_without_an_answer_says_why(visit: Visit) -> None:
    page = visit.page("search?q=xyzzyplugh")
    expect(page.get_by_role("heading", name="No hits")).to_be_visible()
    expect(page.locator(".empty p")).to_have_text(re.compile(r"\w{3}"))
