"""axe-core finds nothing serious in any view, light or dark, on a desktop and a phone.

It comes from npm when the checks are set up (NOTEWELL_TEST_NODE_MODULES), and is run through the
debugger, which the page's policy does not bind; the page itself stays under its policy.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import ViewportSize
from tests.browser.visit import VIEWS, Visit, settled, theme

MODULES = os.environ.get("NOTEWELL_TEST_NODE_MODULES", "")
AXE = Path(MODULES) / "axe-core" / "axe.min.js"
DESKTOP, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)
GRAVE = ("serious", "critical")
PLACES = (
    *VIEWS,
    "search?q=rye&compare=1",
    "notes/MEMORY.md",
    "sessions/with-a-key",
    "timeline/never",
)

pytestmark = pytest.mark.skipif(
    not (MODULES and AXE.is_file()), reason="axe-core is not there: ./check fetches it"
)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("wanted", ["light", "dark"])
def test_every_view_can_be_used_by_everybody(
    visit: Visit, wanted: Literal["light", "dark"], viewport: ViewportSize
) -> None:
    page = visit.page(viewport=viewport)
    theme(page, wanted)
    found = []
    for place in PLACES:
        visit.open(page, place)
        settled(page)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        for one in page.evaluate("axe.run().then(told => told.violations)"):
            targets = [node["target"] for node in one["nodes"]][:3]
            if one["impact"] in GRAVE:
                found.append((place, one["id"], one["help"], targets))
    assert found == []
