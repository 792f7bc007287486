"""A real service, a real browser, and pages that note everything that went wrong in them.

Chromium comes from `scripts/browser.sh`; without it, or without Playwright, nothing here runs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

pytest.importorskip("playwright", reason="the browser tests need the package playwright")
from playwright.sync_api import Browser, sync_playwright
from tests.browser.service import Service
from tests.browser.visit import Visit
from tests.browser.workspace import make_workspace

CHROMIUM = os.environ.get("NOTEWELL_TEST_CHROMIUM") or shutil.which("chromium")


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("browser")
    make_workspace(folder)
    with Service(folder) as running:
        owner = running.token("the tests", "admin")
        status, told = running.ask("POST", "/v1/sync?wait=60", owner, {})
        assert status == 200, told
        yield running
    assert "Traceback" not in running.log


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For one file of tests: while it is open, no test elsewhere could run an event loop."""
    if CHROMIUM is None:
        pytest.skip("the browser tests need Chromium: scripts/browser.sh says how")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(service: Service, browser: Browser) -> Iterator[Visit]:
    """Opens pages of the service; at the end none of them may have had anything to complain of."""
    with Visit(service, browser) as visiting:
        yield visiting
        visiting.check()
