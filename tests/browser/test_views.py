"""Each view opens and shows what there is, by mouse and by keyboard, large and small."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect
from tests.browser.visit import VIEWS, Visit, settled, theme
from tests.browser.workspace import CANARY, HOSTILE_PATH, SECRET

NARROW = ViewportSize(width=360, height=740)
PAINTED = "() => document.querySelector('canvas.sheet').toDataURL()"
"""What the map shows, to be compared."""
OVER_A_POINT = """() => {
  const canvas = document.querySelector("canvas.sheet");
  const { left, top, width, height } = canvas.getBoundingClientRect();
  for (let y = top; y < top + height; y += 8)
    for (let x = left; x < left + width; x += 8) {
      canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y }));
      if (!document.querySelector(".tip").hidden) return;
    }
}"""
"""The pointer comes to rest over some point."""
SHOWN = {
    "search": "Search your agent's memory",
    "notes": "What lasts",
    "sessions": "Why was the rye loaf dense",
    "timeline": "Everything",
    "map": "in view",
    "health": "SQLite|Index",
    "access": "Browsers",
}
"""Words each view has when it shows its data."""


def test_every_view_opens_by_its_link_and_shows_data(visit: Visit) -> None:
    page = visit.page()
    for view in VIEWS:
        page.locator(f'#views a[href="#{view}"]').click()
        expect(page.locator("#main")).to_contain_text(re.compile(SHOWN[view]))
        settled(page)
        expect(page.locator('#views a[aria-current="page"]')).to_have_attribute("href", f"#{view}")
        assert page.locator("#main .failed").count() == 0


def test_the_keyboard_reaches_every_view_and_walks_through_hits(visit: Visit) -> None:
    page = visit.page()
    page.keyboard.press("Escape")
    for key, view in {
        "n": "notes",
        "c": "sessions",
        "h": "health",
        "t": "timeline",
        "m": "map",
    }.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"#{view}$"))
        settled(page)
    page.keyboard.press("g")
    page.keyboard.press("s")
    settled(page)
    expect(page.get_by_label("Search the memory")).to_be_focused()
    page.keyboard.type("zebra")
    first = page.locator(".hits .hit a").first
    expect(first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Search the memory")).to_have_value("zebra")
    page.keyboard.press("j")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#notes/MEMORY.md"))
    expect(page.locator(".note .is-wanted").first).to_contain_text("readings")
    page.keyboard.press("Escape")
    expect(first).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("n")
    settled(page)
    page.keyboard.press("/")
    expect(page.get_by_label("Filter notes")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_search_that_begins_while_a_note_opens_does_not_take_the_address(visit: Visit) -> None:
    page = visit.page()
    page.get_by_label("Search the memory").fill("zebra")
    expect(page.locator(".hits .hit a").first).to_be_visible()
    page.evaluate(
        """() => {
          location.hash = "#notes/MEMORY.md";
          document.querySelector("#main form").requestSubmit();
        }"""
    )
    expect(page).to_have_url(re.compile("#notes/MEMORY.md"))
    expect(page.locator("#main")).to_contain_text("What lasts")


def test_a_note_closed_before_the_list_arrives_still_gets_the_focus(visit: Visit) -> None:
    page = visit.context("admin", viewport=NARROW).new_page()
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/v1/page/cards**", hold)
    page.goto(f"{visit.service.url}/#notes/MEMORY.md")
    expect(page.locator(".note")).to_contain_text("What lasts")
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("#notes$"))
    assert waiting
    for route in waiting:
        route.continue_()
    expect(page.locator('[data-path="MEMORY.md"]')).to_be_focused()


def test_one_can_skip_to_the_content(visit: Visit) -> None:
    page = visit.page("health")
    page.get_by_role("button", name="Skip to the content").focus()
    expect(page.locator("#skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_never_recalled_lists_titles_and_is_filtered_by_them(visit: Visit) -> None:
    page = visit.page("timeline/never")
    # No question of the other tests finds this note: the model does not read its script.
    page.get_by_label("Filter by title or name").fill("ملاحظة")
    expect(page.locator(".timeline-body .row-link")).to_have_text("ملاحظة")


@pytest.mark.parametrize("width", [640, 320])
def test_at_twice_the_size_nothing_is_cut_off(visit: Visit, width: int) -> None:
    """A window of 1280 or 640 pixels at 200 % has that many of CSS."""
    page = visit.page(viewport={"width": width, "height": 400})
    for view in VIEWS:
        visit.open(page, view)
        assert page.evaluate("document.getElementById('main').scrollWidth") <= width, view
        expect(page.locator("#views a").first).to_be_in_viewport()


def test_with_reduced_motion_nothing_moves(visit: Visit) -> None:
    page = visit.page("health")  # Every page of these tests asks for reduced motion.
    for view in VIEWS:
        visit.open(page, view)
        assert page.evaluate("document.getAnimations().length") == 0, view


def test_light_and_dark_follow_the_system_and_the_switch(visit: Visit) -> None:
    dark = visit.page("search", color_scheme="dark")
    light = visit.page("search", color_scheme="light")
    assert brightness(dark) < 60 < 200 < brightness(light)
    theme(dark, "light")
    assert brightness(dark) > 200
    visit.open(dark, "health")
    dark.reload()
    settled(dark)
    assert brightness(dark) > 200  # It was kept.


def brightness(page: Page) -> float:
    """Of what lies behind the text, 0 to 255, as it is painted."""
    colour: str = page.evaluate(
        "() => { for (const one of [document.body, document.documentElement]) {"
        " const colour = getComputedStyle(one).backgroundColor;"
        " if (!colour.endsWith(', 0)')) return colour; } return 'none'; }"
    )
    canvas = page.evaluate(
        "(colour) => { const it = document.createElement('canvas').getContext('2d');"
        " it.fillStyle = colour; it.fillRect(0, 0, 1, 1);"
        " return [...it.getImageData(0, 0, 1, 1).data]; }",
        colour,
    )
    assert canvas[3] == 255, colour
    return float(sum(canvas[:3]) / 3)


def test_a_narrow_screen_scrolls_down_and_not_sideways(visit: Visit) -> None:
    page = visit.page(viewport=NARROW)
    for view in (
        *VIEWS,
        "notes/MEMORY.md",
        "search?q=zebra",
        "timeline/never",
        "sessions/with-a-key",
    ):
        visit.open(page, view)
        for wide in ("document.scrollingElement", "document.getElementById('main')"):
            assert page.evaluate(f"{wide}.scrollWidth") <= NARROW["width"], view


def test_a_long_path_is_whole_on_a_narrow_screen(visit: Visit) -> None:
    page = visit.page(f"search?q={CANARY}", viewport={"width": 240, "height": 640})
    path = page.locator(".hit .path").first
    expect(path).to_have_text(HOSTILE_PATH)
    lines, left = path.evaluate(
        "(node) => { const range = document.createRange(); range.selectNodeContents(node);"
        " return [[...range.getClientRects()].map((one) => one.left),"
        " node.closest('.hit').getBoundingClientRect().left]; }"
    )
    assert len(lines) > 1
    assert min(lines) >= left


def test_a_transcript_shows_that_something_was_masked_and_not_what(visit: Visit) -> None:
    page = visit.page("sessions")
    page.get_by_role("link", name="Please keep my key").click()
    mask = page.locator(".redacted")
    expect(mask).to_have_count(1)
    expect(page.locator(".talk")).to_contain_text("1 secret masked")
    expect(page.locator(".talk")).to_contain_text("for the solar gateway")
    assert SECRET not in page.content()
    assert SECRET[:24] not in page.content()


def test_the_map_lights_up_what_is_near_to_a_question(visit: Visit) -> None:
    page = visit.page("map")
    expect(page.locator("canvas.sheet")).to_be_visible()
    expect(page.locator("#main .hint").first).to_contain_text("in view")
    before = page.evaluate(PAINTED)
    page.get_by_label("Show what is near a query").fill("bread in a hot oven")
    expect(page.locator("#main .hint").first).to_contain_text("nearest to the query")
    expect(page.locator(".pane .rows a").first).to_be_visible()
    page.wait_for_function(f"(before) => ({PAINTED})() !== before", arg=before)


def test_the_map_names_regions_tells_of_a_point_and_goes_back_in_time(visit: Visit) -> None:
    page = visit.page("map")
    expect(page.locator("#main .hint").first).to_contain_text("in view")
    labels = page.evaluate("fetch('/v1/page/map').then((it) => it.json()).then((it) => it.labels)")
    assert {"garden", "bread"} & {word for one in labels for word in one["text"].split(" · ")}
    page.locator(".pane .rows a").first.focus()
    before = page.evaluate(PAINTED)
    page.get_by_label("Show what was known until").fill("0")
    expect(page.locator(".map-time output")).to_have_text("until Aug 2026")
    page.wait_for_function(f"(before) => ({PAINTED})() !== before", arg=before)
    page.get_by_label("Show what was known until").press("End")
    expect(page.locator(".map-time output")).to_have_text("all time")
    page.keyboard.press("0")
    with page.expect_response("**/v1/page/point**"):
        page.evaluate(OVER_A_POINT)
    expect(page.locator(".tip .tip-text")).to_have_text(re.compile(r"\w{3}"))
