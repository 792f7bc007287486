"""The animated terminal session shows what the commands print, is small, and can stand still."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from scripts.docs.terminal import PICTURE, picture, run_session

MOST_BYTES = 60_000
CHANGING = re.compile(r"0\.\d\d")
"""The last digits of a score depend on the processor's int8 arithmetic."""


def shown(svg: str) -> list[str]:
    texts = ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [CHANGING.sub("x", one.text or "") for one in texts]


def test_the_picture_shows_what_the_commands_print() -> None:
    assert shown(PICTURE.read_text(encoding="utf-8")) == shown(picture(run_session()))


def test_it_is_small_and_loads_nothing() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    assert not re.search(r"<script|href=|url\(|@import", text)


def test_where_motion_is_not_wanted_everything_is_there_at_once() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    before, _, after = text.partition("@media (prefers-reduced-motion: no-preference)")
    assert "animation" not in before
    assert "animation" in after
    assert "opacity:0" not in before
