"""Notes: the list of what is remembered, one note beside it, rendered or as its lines."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from tests.browser.visit import Visit, settled
from tests.browser.workspace import FROM_RIGHT_PATH, LEVAIN

LEVAIN_PATH = "memory/recipes/levain.md"


def test_the_list_shows_headings_text_and_dates_with_the_curated_note_on_top(visit: Visit) -> None:
    page = visit.page("notes")
    cards = page.locator(".memo")
    expect(cards.first).to_contain_text("What lasts")
    expect(cards.first).to_contain_text("We store the readings in SQLite.")
    dated = cards.filter(has=page.locator('[data-path="memory/2026-09-28.md"]'))
    expect(dated).to_contain_text(re.compile("Sep.* 28|28 Sep"))
    # Beside the list the first note is open.
    expect(page.locator("article.note h1")).to_have_text("What lasts")


def test_the_note_of_a_day_is_listed_by_its_sections_and_headed_by_its_day(visit: Visit) -> None:
    page = visit.page("notes/memory/2026-09-28.md")
    expect(page.locator("article.note h1")).to_contain_text(
        re.compile("September 28|28 September")
    )
    headings = page.locator(".md :is(h2, h3)")
    card = page.locator('[data-path="memory/2026-09-28.md"]')
    expect(card).to_have_text(" · ".join(headings.all_inner_texts()))


def test_a_list_that_is_read_from_the_right_has_its_marks_there(visit: Visit) -> None:
    page = visit.page(f"notes/{FROM_RIGHT_PATH}")
    expect(page.locator(".md ul")).to_have_attribute("dir", "rtl")
    expect(page.locator(".md ul li")).to_have_count(2)


@pytest.mark.parametrize("width", [360, 1280])
def test_an_empty_memory_says_what_to_do(visit: Visit, width: int) -> None:
    page = visit.context("admin", viewport={"width": width, "height": 740}).new_page()
    page.route("**/v1/page/cards?**", lambda route: route.fulfill(json={"cards": [], "total": 0}))
    visit.open(page, "notes")
    expect(page.get_by_role("heading", name="No notes yet")).to_be_visible()


def test_front_matter_is_read_as_title_tags_and_summary(visit: Visit) -> None:
    page = visit.page("notes?filter=levain")
    card = page.locator(".memo")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("Levain, step by step")
    expect(card).to_contain_text("Feed it twice a day.")
    expect(card.locator(".badge")).to_have_text(["bread", "kitchen"])


def test_a_tag_leads_to_the_notes_that_have_it(visit: Visit) -> None:
    page = visit.page("notes?filter=levain")
    page.locator(".memo .badge", has_text="bread").click()
    expect(page.locator("#query")).to_have_value("tag:bread")
    expect(page.locator(".hits a[data-row]")).to_have_count(1)
    expect(page.locator(".hits")).to_contain_text("levain")


def test_j_and_k_move_through_list_and_note_at_once(visit: Visit) -> None:
    page = visit.page("notes")
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator(".memo a").nth(1)
    expect(second).to_be_focused()
    expect(second).to_have_attribute("aria-current", "true")
    path = second.get_attribute("data-path")
    assert path
    expect(page.locator("article.note .where .path")).to_have_text(path)
    page.keyboard.press("k")
    expect(page.locator("article.note h1")).to_have_text("What lasts")
    expect(page).to_have_url(re.compile("#notes/MEMORY.md"))


def test_a_note_is_rendered_and_its_source_is_one_key_away(visit: Visit) -> None:
    page = visit.page(f"notes/{LEVAIN_PATH}")
    note = page.locator(".md")
    expect(page.locator("article.note h1")).to_have_text("Levain, step by step")
    expect(note.locator("ol > li")).to_have_count(2)
    expect(note.locator("strong")).to_have_text("50 g")
    expect(note.locator("td").last).to_have_text("4 cm")
    expect(note.locator("blockquote")).to_have_text("It smells of apples.")
    expect(note.locator("pre")).to_contain_text("# <b>not bold</b>")
    expect(note.locator(".task")).to_have_count(2)
    # A link to a note works; any other address is only named.
    expect(note.get_by_role("link")).to_have_count(1)
    expect(note.locator(".md-address")).to_have_attribute("title", "https://example.com/levain")
    page.keyboard.press("v")
    expect(page.locator(".lines .line").first).to_contain_text("---")
    assert page.locator(".lines .line").count() == len(LEVAIN.splitlines())
    page.keyboard.press("v")
    note.get_by_role("link", name="doubles").click()
    expect(page).to_have_url(re.compile("#notes/memory/reference/bread-02.md"))
    expect(page.locator("article.note h1")).to_contain_text("Bread")


def test_folders_narrow_the_list(visit: Visit) -> None:
    page = visit.page("notes")
    page.keyboard.press("f")
    page.get_by_role("navigation", name="Folders").get_by_role("link", name="recipes").click()
    expect(page.locator(".memo")).to_have_count(1)
    expect(page.locator(".chosen")).to_contain_text("memory/recipes/")
    page.get_by_role("link", name="show all notes").click()
    expect(page.locator(".memo").nth(20)).to_be_attached()


def test_a_long_list_grows_as_one_scrolls(visit: Visit) -> None:
    page = visit.page("notes")
    assert page.locator(".memo").count() == 60
    page.locator(".memo").last.scroll_into_view_if_needed()
    expect(page.locator(".memo").nth(60)).to_be_attached()


def test_one_adds_a_note_and_sees_it(visit: Visit) -> None:
    page = visit.page("notes")
    page.keyboard.press("a")
    dialog = page.get_by_role("dialog", name="Add a note")
    dialog.get_by_label("Text").fill("The **heron** is back.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".md .is-wanted strong", has_text="heron")).to_be_visible()
    expect(dialog).to_have_count(0)
    page.keyboard.press("a")
    dialog.get_by_label("Text").fill("The **ibis** lasts.")
    expect(dialog.get_by_label("Heading")).to_be_hidden()
    dialog.get_by_label("Where").select_option("section")
    dialog.get_by_label("Heading").fill("Birds")
    page.keyboard.press("Control+Enter")
    expect(page.locator("article.note .where .path")).to_have_text("MEMORY.md")
    expect(page.locator(".md .is-wanted strong", has_text="ibis")).to_be_visible()
    reader = visit.page("notes", "read")
    expect(reader.get_by_role("button", name="Add")).to_have_count(0)


def test_everything_is_reached_from_one_field(visit: Visit) -> None:
    page = visit.page()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Go to or do")
    field.fill("levain")
    option = page.get_by_role("option", name="Levain, step by step")
    expect(option).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"#notes/{LEVAIN_PATH}"))
    settled(page)
    page.keyboard.press("Control+k")
    field.fill("theme dark")
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("Control+k")
    field.fill("map")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#map$"))
