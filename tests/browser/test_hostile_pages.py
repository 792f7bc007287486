"""Another page in the same browser tries to read or to write the memory, in every way it has.

Browsers call two ports of one name the same site, and send a `SameSite=Strict` cookie between
them. So the attack comes twice: from another name, whose requests carry no cookie, and from
another port of our own name, whose requests do.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from playwright.sync_api import Page, expect
from tests.browser.service import Service
from tests.browser.visit import Visit, settled

WORD = "trespasser"
"""What the other page tries to write."""
PATHS = ("/v1/page/cards", "/v1/page/me", "/v1/notes/MEMORY.md", "/v1/status", "/metrics", "/")

FETCHES = """async ([url, paths, word]) => {
  const told = [];
  const attempt = async (path, how) => {
    try {
      const answer = await fetch(url + path, { ...how });
      told.push([path, answer.type, answer.status, (await answer.text()).length]);
    } catch { told.push([path, "failed", 0, 0]); }
  };
  for (const path of paths)
    for (const mode of ["cors", "no-cors"])
      await attempt(path, { mode, credentials: "include" });
  const body = JSON.stringify({ text: word });
  for (const type of ["text/plain", "application/json", "application/x-www-form-urlencoded"])
    for (const mode of ["cors", "no-cors"])
      await attempt("/v1/append", { method: "POST", mode, credentials: "include", body,
                                    headers: { "Content-Type": type } });
  for (const path of ["/v1/sync", "/v1/sessions/x/turns", "/v1/page/search", "/mcp"])
    await attempt(path, { method: "POST", mode: "no-cors", credentials: "include", body });
  return told;
}"""

ELEMENTS = """async ([url]) => {
  const told = {};
  const loaded = (name, node, attribute, path) => new Promise((resolve) => {
    node.addEventListener("load", () => { told[name] = "loaded"; resolve(); });
    node.addEventListener("error", () => { told[name] = "refused"; resolve(); });
    node[attribute] = url + path;
    document.body.append(node);
  });
  const make = (name) => document.createElement(name);
  await loaded("img", make("img"), "src", "/web/mark.svg");
  await loaded("script", make("script"), "src", "/v1/page/me");
  await loaded("page script", make("script"), "src", "/web/theme.js");
  const sheet = make("link");
  sheet.rel = "stylesheet";
  await loaded("style", sheet, "href", "/v1/page/me");
  return told;
}"""

SOCKETS = """async ([url]) => {
  const ended = (source, events) => new Promise((resolve) => {
    for (const name of events) source.addEventListener(name, () => resolve(name));
  });
  const socket = new WebSocket(url.replace("http", "ws") + "/v1/page/events");
  const events = new EventSource(url + "/v1/page/events", { withCredentials: true });
  const told = await Promise.all([socket, events].map((one) => ended(one, ["open", "error"])));
  events.close();
  return told;
}"""


class _Evil(BaseHTTPRequestHandler):
    cookies: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.cookies.append(self.headers.get("Cookie", ""))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><link rel=icon href=data:,>")

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


@pytest.fixture(scope="module")
def evil_port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Evil) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture(params=["another name", "another port"])
def evil(request: pytest.FixtureRequest, evil_port: int, visit: Visit) -> Page:
    """A page elsewhere, in the browser of the owner, who was let in before."""
    context = visit.context("admin", watched=False)  # What it complains of is as it should be.
    page = context.new_page()
    name = "localhost" if request.param == "another name" else "127.0.0.1"
    page.goto(f"http://{name}:{evil_port}/")
    return page


def written(service: Service) -> bool:
    notes = (service.folder / "workspace").rglob("*.md")
    return any(WORD in note.read_text(encoding="utf-8") for note in notes)


def test_fetch_reads_nothing_and_writes_nothing(evil: Page, service: Service) -> None:
    told = evil.evaluate(FETCHES, [service.url, list(PATHS), WORD])
    assert len(told) == 2 * len(PATHS) + 6 + 4
    for path, kind, status, length in told:
        assert (status, length) == (0, 0), (path, kind)  # Failed, or opaque: not a byte.
    assert not written(service)


def test_elements_load_nothing(evil: Page, service: Service) -> None:
    told = evil.evaluate(ELEMENTS, [service.url])
    assert set(told.values()) == {"refused"}, told
    assert evil.evaluate("window.notewellTheme") is None


def test_a_frame_stays_empty(evil: Page, service: Service) -> None:
    evil.evaluate(
        "async (url) => { const frame = document.createElement('iframe'); frame.src = url;"
        " const loaded = new Promise(resolve => frame.addEventListener('load', resolve));"
        " document.body.append(frame); await loaded; }",
        service.url,
    )
    (frame,) = evil.frames[1:]
    assert frame.locator("#main").count() == 0
    assert "Notewell" not in frame.content()


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_form_writes_nothing(evil: Page, service: Service, kind: str) -> None:
    body = json.dumps({"text": WORD})
    with evil.expect_navigation() as sent:
        evil.evaluate(
            "([url, kind, body]) => { const form = document.createElement('form');"
            " form.method = 'post'; form.action = url; form.enctype = kind;"
            " const field = document.createElement('input');"
            " field.name = body.slice(0, -1) + ',\"x\":\"'; field.value = '\"}';"
            " form.append(field); document.body.append(form); form.submit(); }",
            [f"{service.url}/v1/append", kind, body],
        )
    assert sent.value.status in (401, 403)
    assert not written(service)


def test_sockets_and_events_do_not_open(evil: Page, service: Service) -> None:
    assert evil.evaluate(SOCKETS, [service.url]) == ["error", "error"]


def test_a_window_that_was_opened_cannot_be_looked_into(evil: Page, service: Service) -> None:
    with evil.context.expect_page() as opened:
        evil.evaluate("(url) => { window.other = window.open(url); }", service.url)
    settled(opened.value)
    told = evil.evaluate(
        "() => { try { return [window.other.closed, window.other.document?.title ?? null]; }"
        " catch (error) { return [true, error.name]; } }"
    )
    assert told[0] is True  # Cut off: `window.open` gave nothing that leads anywhere.
    assert opened.value.evaluate("window.opener") is None


def test_another_name_is_sent_no_cookie(visit: Visit, evil_port: int) -> None:
    """Another port of our own name is: cookies know no ports. See docs/how-to/deploy.md."""
    page = visit.context("admin").new_page()
    _Evil.cookies.clear()
    page.goto(f"http://localhost:{evil_port}/")
    assert _Evil.cookies == [""]


def test_a_name_that_was_pointed_here_is_not_answered(visit: Visit, service: Service) -> None:
    """DNS rebinding: the page's own name leads to us, so that to the browser we are that page."""
    port = service.url.rpartition(":")[2]
    page = visit.context("admin").new_page()
    answer = page.goto(f"http://rebound.localhost:{port}/v1/page/me")  # Leads to this machine.
    assert answer
    assert answer.status == 421
    expect(page.locator("body")).not_to_contain_text("scopes")
    visit.forgive(421)
