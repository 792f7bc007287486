"""What others do shows by itself: clients, agents, and what the person takes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.sync_api import expect
from tests.browser.service import Service
from tests.browser.visit import Visit, settled
from tests.surfaces.tool_text import cited, text_of


def test_health_follows_an_append_of_another_client(visit: Visit) -> None:
    page = visit.page("health")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    page.evaluate("window.sameDocument = true")
    before = page.locator(".cards").inner_text()
    visit.service.append("The barometer fell by four.")
    page.wait_for_function(
        "(before) => document.querySelector('.cards').innerText !== before", arg=before
    )
    assert page.evaluate("window.sameDocument")


def test_an_agent_appends_and_the_person_sees_it_without_a_reload(
    visit: Visit, service: Service
) -> None:
    path = service.append("Something first, so that today has a note.")
    page = visit.page(f"notes/{path}")
    page.evaluate("window.sameDocument = true")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    in_a_thread(call_append, service, "The agent saw an okapi.")
    expect(page.locator(".md")).to_contain_text("The agent saw an okapi.")
    assert page.evaluate("window.sameDocument")
    page.locator('#views a[href="#search"]').click()
    page.get_by_label("Search the memory").fill("okapi")
    expect(page.locator(".hits .snippet").first).to_contain_text("The agent saw an okapi.")
    page.locator('#views a[href="#recalls"]').click()
    in_a_thread(call_search, service, "where is the okapi")
    expect(page.locator(".recalls")).to_contain_text("where is the okapi")


def test_a_focused_row_keeps_the_focus_when_the_list_is_drawn_again(visit: Visit) -> None:
    page = visit.page("notes")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    row = page.locator('[data-path="MEMORY.md"]')
    row.focus()
    row.evaluate("(node) => { window.oldRow = node; }")
    visit.service.append("A row stays where it is.")
    page.wait_for_function("() => !window.oldRow.isConnected")
    expect(row).to_be_focused()


async def call_append(client: Client, text: str) -> None:
    saved = await client.call_tool("memory_append", {"text": text})
    assert text_of(saved).startswith("Saved: ")


async def call_search(client: Client, query: str) -> None:
    found = await client.call_tool("memory_search", {"query": query})
    assert cited(text_of(found))


def in_a_thread(
    call: Callable[[Client, str], Awaitable[None]], service: Service, text: str
) -> None:
    """An MCP client over HTTP. Playwright has the event loop of this thread to itself."""
    token = service.token("an agent", "append")

    async def connected() -> None:
        headers = {"Authorization": f"Bearer {token}"}
        with anyio.fail_after(60):
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http_client,
                Client(
                    streamable_http_client(f"{service.url}/mcp", http_client=http_client)
                ) as client,
            ):
                await call(client, text)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, connected).result(90)


def test_the_owner_takes_an_entry_back_and_a_reader_cannot(visit: Visit) -> None:
    text = "An entry that will not stay."
    path = visit.service.append(text)
    reader = visit.page(f"notes/{path}", "read")
    expect(reader.locator(".history li").first).to_be_visible()
    expect(reader.locator("#read-only")).to_be_visible()
    expect(reader.get_by_role("button", name="Undo")).to_have_count(0)

    owner = visit.page(f"notes/{path}")
    expect(owner.locator(".md")).to_contain_text(text)
    owner.get_by_role("button", name="Undo").first.click()
    expect(owner.get_by_role("dialog")).to_contain_text(path)
    owner.get_by_role("button", name="Cancel").click()
    expect(owner.locator(".md")).to_contain_text(text)
    owner.get_by_role("button", name="Undo").first.click()
    owner.get_by_role("dialog").get_by_role("button", name="Undo").click()
    expect(owner.locator("article.note")).not_to_contain_text(text)
    settled(owner)
    note = visit.service.folder / "workspace" / path
    assert not note.exists() or text not in note.read_text(encoding="utf-8")
