"""The page stays light: a phone on a slow line loads all of it."""

from __future__ import annotations

from notewell.http_service.ui.static import STYLES, WEB, web_files

MOST_BYTES = 70_000
"""Of all files that the page loads, compressed; headers and the first data add 10 KB."""
LOADED = ("index.html", "page.css", "theme.js", "page.js", "icons.svg", "mark.svg")


def test_all_files_of_the_page_are_small() -> None:
    assert sum(len(web_files()[name].packed) for name in LOADED) < MOST_BYTES


def test_every_style_is_part_of_the_one_that_is_sent() -> None:
    assert {path.name for path in WEB.glob("*.css")} == set(STYLES)
