"""Pages of the service in a browser that notes what they complain of."""

from __future__ import annotations

from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect
from tests.browser.service import Service

from notewell.http_service import Scope

VIEWS = ("search", "notes", "timeline", "sessions", "map", "health", "access")
WAIT_MS = 60_000
"""Bounds a wait for something that comes by itself; a busy machine is not to fail a test."""

NOTE_VIOLATIONS = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


class Visit:
    """A browser that was let in; every page of it is watched."""

    def __init__(self, service: Service, browser: Browser) -> None:
        self.service = service
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self._watched: list[BrowserContext] = []
        self.complaints: list[str] = []
        self._forgiven: tuple[str, ...] = ()

    def __enter__(self) -> Visit:
        expect.set_options(timeout=WAIT_MS)
        return self

    def __exit__(self, *_: object) -> None:
        for context in self._contexts:
            context.close()

    def context(self, *scopes: Scope, watched: bool = True, **options: Any) -> BrowserContext:
        """Another browser of its own, let in with these scopes; with none, not let in."""
        context = self._browser.new_context(reduced_motion="reduce", **options)
        context.set_default_timeout(WAIT_MS)
        context.add_init_script(NOTE_VIOLATIONS)
        if watched:
            context.on("console", self._heard)
            context.on("weberror", lambda error: self.complaints.append(str(error.error)))
            self._watched.append(context)
        if scopes:
            secret = self.service.cookie(*scopes)
            name, url = self.service.cookie_name, self.service.url
            context.add_cookies([{"name": name, "value": secret, "url": url}])
        self._contexts.append(context)
        return context

    def page(self, view: str = "search", *scopes: Scope, **options: Any) -> Page:
        """A page with one view open, by its owner unless scopes are named."""
        context = self.context(*(scopes or ("admin",)), **options)
        page = context.new_page()
        self.open(page, view)
        return page

    def open(self, page: Page, view: str) -> None:
        page.goto(f"{self.service.url}/#{view}")
        settled(page)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text} ({message.location})")

    def forgive(self, status: int) -> None:
        """Browsers tell of every refusal in their console; one that was meant is none of ours."""
        self._forgiven += (f"the server responded with a status of {status}",)

    def check(self) -> None:
        for context in self._watched:
            for page in context.pages:
                if not page.is_closed():
                    self.complaints += page.evaluate("window.violations ?? []")
        left = [one for one in self.complaints if not any(it in one for it in self._forgiven)]
        assert not left, left


def settled(page: Page) -> None:
    """Drawn, and nothing is being asked for any more."""
    expect(page.locator("#main :is(h1, h2):visible").first).to_be_visible()
    expect(page.locator('#main [aria-busy="true"]')).to_have_count(0)
    expect(page.locator("#main .loading")).to_have_count(0)


def theme(page: Page, wanted: Literal["light", "dark"]) -> None:
    """Through the page's own switch."""
    button = page.locator("#theme")
    for _ in range(3):
        if page.evaluate("document.documentElement.dataset.theme") == wanted:
            return
        button.click()
    raise AssertionError("the switch does not come to that theme")
