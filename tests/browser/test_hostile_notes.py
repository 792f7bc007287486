"""A note may hold anything; in the page it is text and nothing else."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from tests.browser.visit import Visit, settled
from tests.browser.workspace import CANARY, HOSTILE, HOSTILE_PATH


def nothing_ran(page: Page) -> None:
    assert page.evaluate("window.hacked") is None
    made = "#main script, #main iframe, #main style, #main form[action], #main svg[onload]"
    assert page.locator(made).count() == 0
    assert page.locator("#main img").count() == 0
    assert page.locator('#main a:not([href^="#"])').count() == 0
    assert page.evaluate(
        "[...document.querySelectorAll('*')].every(one =>"
        " [...one.attributes].every(it => !it.name.startsWith('on') && it.name !== 'style'"
        " || it.name === 'style' && one.style.cssText === it.value))"
    )


def test_hits_of_a_hostile_note_are_text_with_the_right_words_marked(visit: Visit) -> None:
    page = visit.page(f"search?q={CANARY}")
    expect(page.locator(".hits .path").first).to_have_text(HOSTILE_PATH)
    expect(page.locator(".hits .snippet").first).to_contain_text("<script>")
    marks = page.locator(".hits > li").first.locator("mark").all_text_contents()
    assert marks
    # An emoji before it moves nothing; the sign that ends the turning counts as a letter.
    assert {one.strip("\u202c") for one in marks} == {CANARY}
    nothing_ran(page)


def test_a_hostile_note_is_shown_line_by_line_as_it_is(visit: Visit) -> None:
    page = visit.page("notes")
    page.get_by_label("Filter notes").fill("onerror")
    expect(page.locator(".memo")).to_have_count(1)
    page.locator(".memo a").click()
    # The title of the card has no markup; the rendered note shows its own as text.
    expect(page.locator("article.note h1")).to_contain_text(CANARY)
    expect(page.locator(".md")).to_contain_text("<script>window.hacked = 3</script>")
    expect(page.locator(".md")).to_contain_text('<a href="javascript:window.hacked = 6">')
    nothing_ran(page)
    page.keyboard.press("v")
    settled(page)
    shown = page.locator(".lines .text").all_text_contents()
    written = [line or "\u200b" for line in HOSTILE.splitlines()]
    assert [one.replace("\x1b", "") for one in shown] == [
        one.replace("\x1b", "") for one in written
    ]
    nothing_ran(page)


def test_text_that_turns_around_stays_in_its_own_line(visit: Visit) -> None:
    """The right-to-left override must not reach into what the page says around it."""
    page = visit.page(f"search?q={CANARY}%20left")
    expect(page.locator(".hits .snippet").first).to_be_visible()
    for selector in (".hits .snippet", ".hits .path", ".hits h2 a"):
        one = page.locator(selector).first
        kept = one.evaluate("node => getComputedStyle(node).unicodeBidi")
        assert kept in ("isolate", "plaintext"), selector
    nothing_ran(page)


def test_a_hostile_transcript_is_text(visit: Visit) -> None:
    page = visit.page("sessions")
    page.get_by_role("link", name="What is bold").click()
    expect(page.locator(".turns")).to_contain_text("<script>window.hacked = 11</script>")
    nothing_ran(page)


def test_a_hostile_address_is_text(visit: Visit) -> None:
    page = visit.page("search?q=%3Cimg%20src%3Dx%20onerror%3D%22window.hacked%3D20%22%3E")
    settled(page)
    expect(page.get_by_label("Search the memory")).to_have_value(
        '<img src=x onerror="window.hacked=20">'
    )
    visit.open(page, "notes/%3Cscript%3Ewindow.hacked%3D21%3C%2Fscript%3E")
    expect(page.locator("#main .failed")).to_be_visible()
    visit.open(page, "sessions/..%2F..%2Ftokens.json")
    expect(page.locator("#main .failed")).to_be_visible()
    nothing_ran(page)
    visit.forgive(404)
