"""Search: as one types, with weights of one's own, and a reason for what is not there."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Request, Route, expect
from tests.browser.visit import Visit, settled


def test_hits_come_while_one_types_and_the_newest_question_wins(visit: Visit) -> None:
    page = visit.page()
    asked: list[str] = []

    def note(request: Request) -> bool:
        body = request.post_data_json if request.url.endswith("/v1/page/search") else None
        if body and "mode" not in body:
            asked.append(body["query"])
        return asked[-1:] == ["readings SQLite"]

    with page.expect_request(note):
        page.get_by_label("Search the memory").press_sequentially("readings SQLite", delay=15)
    expect(page.locator(".hits .path").first).to_have_text("MEMORY.md")
    expect(page.locator(".hits mark").first).to_have_text(re.compile("readings|SQLite", re.I))
    expect(page.locator(".parts").first).to_contain_text("Words")
    expect(page.locator("#search-status")).to_contain_text("meaning and words")
    assert asked[-1] == "readings SQLite"
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
    expect(page.get_by_label("Setting B", exact=True).locator("h2").first).to_contain_text(
        "words alone"
    )
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
    expect(page.get_by_role("heading", name="Nothing near")).to_be_visible()
    expect(page.locator(".empty p")).to_have_text(re.compile(r"^[A-Z].*\.$"))
    page.get_by_role("link", name="Show the nearest").click()
    expect(page.locator(".hits > li").first).to_be_visible()


def test_words_answer_before_the_meaning_does(visit: Visit) -> None:
    page = visit.page()
    held: list[Route] = []

    def hold(route: Route) -> None:
        body = route.request.post_data_json or {}
        if body.get("mode") == "keyword":
            route.continue_()
        else:
            held.append(route)

    page.route("**/v1/page/search", hold)
    page.get_by_label("Search the memory").fill("zebra")
    expect(page.locator("#search-status")).to_contain_text("meaning follows")
    expect(page.locator(".hits .path").first).to_have_text("MEMORY.md")
    page.unroute("**/v1/page/search", hold)
    page.get_by_label("Search the memory").press("Enter")
    expect(page.locator("#search-status")).to_contain_text("meaning and words")


def test_words_that_answer_late_do_not_end_the_search_by_meaning(visit: Visit) -> None:
    page = visit.page()
    held: dict[bool, Route] = {}

    def hold(route: Route) -> None:
        held["mode" in (route.request.post_data_json or {})] = route

    page.route("**/v1/page/search", hold)
    with page.expect_request(lambda sent: "mode" not in (sent.post_data_json or {"mode": ""})):
        page.get_by_label("Search the memory").fill("zebra")
    held[True].continue_()
    expect(page.locator("#search-status")).to_contain_text("meaning follows")
    held[False].continue_()
    expect(page.locator("#search-status")).to_contain_text("meaning and words")


HOLD_SEARCHES = """() => {
  const send = window.fetch;
  window.held = [];
  window.fetch = (path, how) => path !== "/v1/page/search" ? send(path, how)
    : new Promise((answer, fail) => held.push({
        ...JSON.parse(how.body), release: () => send(path, how).then(answer, fail) }));
}"""
HELD = """({ query, mode }) => held.find((one) => one.query === query && one.mode === mode)"""
BY_WORDS_EARLIER = {"query": "zebr", "mode": "keyword"}
BY_WORDS = {"query": "zebra", "mode": "keyword"}
BY_MEANING = {"query": "zebra"}


@pytest.mark.parametrize("is_late", [False, True])
def test_words_of_an_earlier_text_do_not_end_the_search_by_meaning(
    visit: Visit, is_late: bool
) -> None:
    """They answer while `zebra` is searched by meaning, or when that was answered already."""
    page = visit.page()
    page.evaluate(HOLD_SEARCHES)

    def release(which: dict[str, str]) -> None:
        page.wait_for_function(HELD, arg=which)
        page.evaluate(f"(which) => ({HELD})(which).release()", which)

    field, status = page.get_by_label("Search the memory"), page.locator("#search-status")
    field.fill("zebr")
    field.fill("zebra")
    if is_late:
        release(BY_MEANING)
        expect(status).to_contain_text("meaning and words")
    else:
        page.wait_for_function(HELD, arg=BY_MEANING)
    release(BY_WORDS_EARLIER)
    release(BY_WORDS)
    if not is_late:
        expect(status).to_contain_text("meaning follows")
        release(BY_MEANING)
    expect(status).to_contain_text("meaning and words")
    expect(page.locator(".hits .path").first).to_have_text("MEMORY.md")


def test_the_parts_of_a_bar_add_up_to_the_score(visit: Visit) -> None:
    page = visit.page("search?q=rye%20loaf%20proof")
    sums = page.evaluate(
        "() => [...document.querySelectorAll('.hit')].map((hit) => ["
        "Number(hit.querySelector('.score').textContent),"
        "[...hit.querySelectorAll('.stack > span')]"
        ".reduce((sum, one) => sum + parseFloat(one.style.inlineSize) / 100, 0)])"
    )
    assert sums
    for score, total in sums:
        assert abs(score - total) < 0.006


def test_a_snippet_is_rendered_and_does_not_repeat_its_title(visit: Visit) -> None:
    page = visit.page("search?q=telescope%20finder%20sheet")
    hit = page.locator(".hit").first
    expect(hit).to_be_visible()
    title = hit.locator("h2 a").inner_text().split(" › ")[-1]
    assert "#" not in hit.locator(".snippet").inner_text()
    assert title not in hit.locator(".snippet :is(h2, h3, h4)").all_inner_texts()


def test_escape_leads_from_a_note_back_to_the_hit(visit: Visit) -> None:
    page = visit.page("search?q=zebra")
    hit = page.locator('.hits a[href^="#notes/MEMORY.md"]')
    hit.focus()
    page.keyboard.press("Enter")
    expect(page.locator("article.note h1")).to_have_text("What lasts")
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"#search\?q=zebra"))
    expect(hit).to_be_focused()


def test_weights_show_what_the_settings_say(visit: Visit) -> None:
    page = visit.page("search?q=inverter")
    page.get_by_role("button", name="Weights").click()
    expect(page.locator('output[for="a-maxResults"]')).to_have_text("6 hits")
    expect(page.locator('output[for="a-halfLifeDays"]')).to_have_text("30 days")
    expect(page.locator('output[for="a-vectorWeight"]')).to_have_text(re.compile("%|alone"))
