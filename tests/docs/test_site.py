"""The documentation as a site: every link and anchor leads somewhere, and nothing is fetched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from scripts.docs.site import ROOT, build


class Links(HTMLParser):
    """What a page names, and what can be named in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.anchors.add(attributes.get("id") or "")
        if tag == "a":
            self.links.append(attributes["href"] or "")
        elif target := attributes.get("src") or attributes.get("href"):
            self.loaded.append(target)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


def pages(site: Path) -> Iterator[tuple[Path, Links]]:
    for path in sorted(site.rglob("*.html")):
        yield path, Links(path.read_text(encoding="utf-8"))


def test_every_page_of_the_documentation_is_there_and_in_the_navigation(site: Path) -> None:
    sources = [path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")]
    start = Links((site / "index.html").read_text(encoding="utf-8"))
    assert len(sources) > 30
    for source in sources:
        target = source.with_suffix(".html").as_posix()
        assert (site / target).is_file()
        assert target in start.links


def test_the_pages_are_in_the_order_of_the_readme(site: Path) -> None:
    links = Links((site / "index.html").read_text(encoding="utf-8")).links
    pages = [f"docs/how-to/{name}.html" for name in ("install", "mcp", "hooks", "deploy")]
    places = [links.index(page) for page in pages]
    assert places == sorted(places)


def test_every_link_and_every_anchor_leads_somewhere(site: Path) -> None:
    anchors = {path: links.anchors for path, links in pages(site)}
    broken = []
    for path, links in pages(site):
        for target in (*links.links, *links.loaded):
            if re.match(r"https?:|mailto:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (path.parent / unquote(name)).resolve() if name else path
            is_there = file.is_file() and (not anchor or anchor in anchors.get(file, ()))
            if not is_there:
                broken.append((path.relative_to(site).as_posix(), target))
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path, links in pages(site):
        assert not [one for one in links.loaded if "//" in one], path
    for name in ("site.css", "search.js"):
        assert not re.search(r"https?:|@import|url\(|fetch\(", (site / name).read_text("utf-8"))


def test_the_search_index_names_every_page(site: Path) -> None:
    text = (site / "index.js").read_text(encoding="utf-8")
    rows = json.loads(text.removeprefix("window.pages = ").removesuffix(";\n"))
    named = {row[0].partition("#")[0] for row in rows}
    assert named == {path.relative_to(site).as_posix() for path, _ in pages(site)}
