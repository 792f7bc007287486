"""The page stays light: a phone on a slow line loads all of it."""

from __future__ import annotations

import gzip

from notewell.http_service.ui.static import STYLES, WEB, web_files

MOST_BYTES = 90_000
"""Of all scripts, styles and icons, compressed; headers and the first data bring it to 120 KB."""


def test_all_files_of_the_page_are_small() -> None:
    files = {name: file for name, file in web_files().items() if name not in STYLES}
    assert sum(len(gzip.compress(file.data)) for file in files.values()) < MOST_BYTES


def test_every_style_is_part_of_the_one_that_is_sent() -> None:
    assert {path.name for path in WEB.glob("*.css")} == set(STYLES)
