"""The files of the page, read as text: what its policy forbids, they must not need."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from notewell.http_service.ui.static import WEB, web_files

SCRIPTS = sorted(WEB.glob("*.js"))
STYLES = sorted(WEB.glob("*.css"))
VIEWS = {"search", "notes", "timeline", "sessions", "map", "health", "access"}
KINDS = {".html", ".css", ".js", ".svg"}
MOST_BYTES = 300_000
"""Of all files together: a page of one's own machine still has to be there at once."""

PARSES_HTML = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc|\beval\("
    r"|new Function|createContextualFragment|setHTML|cssText|setAttribute\(\s*[\"']style"
)
ELSEWHERE = re.compile(r"https?://(?!www\.w3\.org/2000/svg)|[\"'(]//\w")


class Tags(HTMLParser):
    """Every start tag with its attributes, and what stands inside script and style."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inline = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.inline += data.strip()


@pytest.fixture(scope="module")
def tags() -> Tags:
    parser = Tags()
    parser.feed((WEB / "index.html").read_text(encoding="utf-8"))
    return parser


def test_there_are_only_files_that_the_service_gives_out() -> None:
    assert SCRIPTS
    assert STYLES
    assert {path.suffix for path in WEB.rglob("*") if path.is_file()} == KINDS


def test_the_page_is_small() -> None:
    assert sum(path.stat().st_size for path in WEB.rglob("*") if path.is_file()) < MOST_BYTES


def test_the_page_has_no_script_and_no_style_of_its_own(tags: Tags) -> None:
    assert tags.inline == ""
    for tag, attributes in tags.found:
        assert tag != "style"
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]


def test_every_file_that_the_page_names_is_there(tags: Tags) -> None:
    named = [
        value
        for _, attributes in tags.found
        for name in ("src", "href")
        if (value := attributes.get(name)) and not value.startswith("#")
    ]
    assert named
    for value in named:
        assert value.startswith("/web/")
        assert value.removeprefix("/web/") in web_files()


def test_every_style_sheet_is_used(tags: Tags) -> None:
    named = [
        (attributes["href"] or "").removeprefix("/web/")
        for tag, attributes in tags.found
        if tag == "link" and attributes.get("rel") == "stylesheet"
    ]
    sent = b"".join(web_files()[name].data for name in named)
    assert [path.name for path in STYLES if sent.count(path.read_bytes()) != 1] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_elements_from_text(path: Path) -> None:
    found = PARSES_HTML.findall(path.read_text(encoding="utf-8"))
    assert found == []


@pytest.mark.parametrize("path", [*SCRIPTS, *STYLES], ids=lambda path: path.name)
def test_nothing_is_fetched_from_elsewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not ELSEWHERE.search(text)
    assert "@import" not in text
    assert "url(" not in text


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_every_import_is_of_a_file_and_a_name_that_are_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for names, target in re.findall(r"import \{([^}]*)\} from \"\./([\w.]+)\"", text):
        exported = (WEB / target).read_text(encoding="utf-8")
        for name in filter(None, (one.strip() for one in names.split(","))):
            assert re.search(rf"export (async )?(function|const|class) {name}\b", exported), name


def test_every_script_is_part_of_the_one_that_is_sent() -> None:
    sent = web_files()["page.js"].data.decode()
    missing = [path.name for path in SCRIPTS if f"const {path.stem}_js = " not in sent]
    assert missing == ["theme.js"]  # It runs before the first paint.


def test_every_drawing_that_is_asked_for_is_there() -> None:
    drawn = set(re.findall(r'<symbol id="(\w+)"', (WEB / "icons.svg").read_text("utf-8")))
    asked = set()
    for path in SCRIPTS:
        asked |= set(re.findall(r'icon\("(\w+)"\)', path.read_text(encoding="utf-8")))
    assert asked
    assert asked <= drawn


def test_drawings_hold_no_script() -> None:
    for path in WEB.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert "<script" not in text
        assert not re.search(r"\son\w+=|href=", text)


def test_each_view_of_the_address_has_a_link_and_a_file() -> None:
    main = (WEB / "main.js").read_text(encoding="utf-8")
    assert {path.stem.removeprefix("view_") for path in WEB.glob("view_*.js")} == VIEWS
    for view in VIEWS:
        assert re.search(rf"^  {view}: \[", main, re.MULTILINE)
