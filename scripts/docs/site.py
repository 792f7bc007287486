"""The documentation as a static site: plain HTML that works from a file, with no external request.

python -m scripts.docs.site [FOLDER]        (the default is build/site)

README.md, docs/**/*.md, and the pages that they link to ── one HTML page each, same folders
pictures and other files that a page links to            ── copied
site.css, search.js                                      ── next to this script; the search
                                                            reads an index that is a script, too
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
ASSETS = Path(__file__).parent / "site_files"
WEB = ROOT / "src" / "notewell" / "http_service" / "web"
START = "README.md"
GROUPS = (
    ("Start", ("README.md", "docs/tutorial.md", "docs/for/run-agents.md", "docs/for/")),
    ("How to", ("docs/how-to/",)),
    ("Reference", ("docs/reference/", "docs/limits.md", "docs/glossary.md")),
    ("Quality", ("docs/compare.md", "docs/ranking.md", "docs/guarantees.md")),
    ("Project", ("docs/", "")),
)
"""Titles of the navigation, and the pages below them: names, or folders. A page is in the first
group that fits."""
MAX_WORDS_CHARS = 600
"""Of a section, in the search index: enough to find it by its first paragraphs."""
TEXT_COLUMNS = 6
"""A table with more of them is one of figures, which does not fit beside the navigation."""

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


class Section(NamedTuple):
    anchor: str
    title: str
    text: str


class SitePage(NamedTuple):
    source: str
    """The path of the Markdown file in the repository."""
    title: str
    tokens: Sequence[Token]
    sections: tuple[Section, ...]

    @property
    def target(self) -> str:
        return "index.html" if self.source == START else f"{self.source.removesuffix('.md')}.html"


def build(folder: Path, root: Path = ROOT) -> dict[str, SitePage]:
    """Writes the site and returns its pages by their source."""
    pages = collect(root)
    names = {source: page.target for source, page in pages.items()}
    for page in pages.values():
        text = _document(page, pages, _rendered(page, names, root))
        target = folder / page.target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        for name in _linked_files(page, names, root):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, folder / name)
    (folder / "site.css").write_text(_styles(), encoding="utf-8")
    shutil.copyfile(ASSETS / "search.js", folder / "search.js")
    (folder / "index.js").write_text(_search_index(pages.values()), encoding="utf-8")
    return pages


def _styles() -> str:
    colours, _, _ = (WEB / "base.css").read_text(encoding="utf-8").partition("}\n")
    return f"{colours}}}\n{(ASSETS / 'site.css').read_text(encoding='utf-8')}"


# -- pages ---------------------------------------------------------------------------------------


def collect(root: Path) -> dict[str, SitePage]:
    """The README, everything below docs, and the Markdown files that these link to."""
    docs = (path.relative_to(root).as_posix() for path in sorted((root / "docs").rglob("*.md")))
    sources = [START, *sorted(docs, key=_order_in(root / START))]
    pages: dict[str, SitePage] = {}
    for source in sources:  # It grows while it is walked through.
        pages[source] = page = _page(source, (root / source).read_text(encoding="utf-8"))
        for target in _targets(page):
            name = _resolved(source, target)
            if name.endswith(".md") and name not in sources and (root / name).is_file():
                sources.append(name)
    return pages


def _order_in(readme: Path) -> Callable[[str], int]:
    """The place of a page in the list at the end of README; what is not named there is last."""
    tokens = _parser.parse(readme.read_text(encoding="utf-8"))
    named = [_resolved(START, target) for target in _targets(SitePage(START, "", tokens, ()))]
    places = {name: place for place, name in enumerate(named)}
    return lambda source: places.get(source, len(named))


def _page(source: str, text: str) -> SitePage:
    tokens = _parser.parse(text)
    _mark_wide_tables(tokens)
    sections = tuple(_sections(tokens))
    title = sections[0].title if sections else source
    return SitePage(source, title, tokens, sections)


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    """Gives each heading its anchor, as GitHub does, so that links work in both places."""
    known: dict[str, int] = {}
    title, anchor, words = "", "", list[str]()
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            if title:
                yield Section(anchor, title, " ".join(words)[:MAX_WORDS_CHARS])
            title, words = _plain(tokens[place + 1]), []
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            count = known[slug] = known.get(slug, -1) + 1
            anchor = f"{slug}-{count}" if count else slug
            token.attrSet("id", anchor)
        elif token.type == "inline" and tokens[place - 1].type != "heading_open":
            words.append(_plain(token))
    if title:
        yield Section(anchor, title, " ".join(words)[:MAX_WORDS_CHARS])


def _mark_wide_tables(tokens: Sequence[Token]) -> None:
    """They may take the space beside the text, where a screen has it."""
    for place, token in enumerate(tokens):
        if token.type == "table_open":
            columns = 0
            for inside in tokens[place:]:
                columns += inside.type == "th_open"
                if inside.type == "thead_close":
                    break
            if columns > TEXT_COLUMNS:
                token.attrSet("class", "wide")


def _plain(inline: Token) -> str:
    parts = (token.content or " " for token in inline.children or ())
    return " ".join("".join(parts).split())


def _inline(page: SitePage) -> Iterator[Token]:
    for token in page.tokens:
        yield from token.children or ()


def _targets(page: SitePage) -> Iterator[str]:
    for token in _inline(page):
        target = str(token.attrGet("href") or token.attrGet("src") or "")
        if target and not _SCHEME.match(target):
            yield target


def _resolved(source: str, target: str) -> str:
    """The path in the repository to which a link leads."""
    path = unquote(target.partition("#")[0])
    if not path:
        return source
    return os.path.normpath(PurePosixPath(source).parent / path).replace(os.sep, "/")


def _linked_files(page: SitePage, names: dict[str, str], root: Path) -> set[str]:
    linked = {_resolved(page.source, target) for target in _targets(page)}
    return {name for name in linked if name not in names and (root / name).is_file()}


# -- HTML ----------------------------------------------------------------------------------------


def _rendered(page: SitePage, names: dict[str, str], root: Path) -> str:
    for token in _inline(page):
        for attribute in ("href", "src"):
            target = str(token.attrGet(attribute) or "")
            if target and not _SCHEME.match(target):
                token.attrSet(attribute, _address(page, target, names, root))
    return str(_parser.renderer.render(page.tokens, _parser.options, {}))


def _address(page: SitePage, target: str, names: dict[str, str], root: Path) -> str:
    name, anchor = _resolved(page.source, target), target.partition("#")[2]
    if (root / name).is_dir():
        # A folder of the repository has no page: the page that speaks of it is as near as we get.
        return "#"
    way = _way(page.target, names.get(name, name))
    return f"{way}#{anchor}" if anchor else way


def _way(source: str, target: str) -> str:
    """The relative address: a site that is opened as a file has no root."""
    return os.path.relpath(target, PurePosixPath(source).parent).replace(os.sep, "/")


def _document(page: SitePage, pages: dict[str, SitePage], content: str) -> str:
    up = _way(page.target, "index.html").removesuffix("index.html")
    title = html.escape(page.title)
    name = title if page.title == "Notewell" else f"{title} · Notewell"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{name}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="{up}site.css">
<script src="{up}index.js" defer></script>
<script src="{up}search.js" defer></script>
</head>
<body data-up="{up}">
<a class="skip" href="#content">Skip to the content</a>
<aside>
<a class="brand" href="{up}index.html">Notewell</a>
<div class="search">
<input type="search" id="search" placeholder="Search the pages" aria-label="Search the pages">
<ol id="hits" hidden></ol>
</div>
<details class="menu" open><summary>Pages</summary><nav aria-label="Pages">
{_navigation(page, pages)}
</nav></details>
</aside>
<main id="content">
{content}</main>
</body>
</html>
"""


def _navigation(page: SitePage, pages: dict[str, SitePage]) -> str:
    parts = []
    for title, members in grouped(pages):
        links = "\n".join(_link(page, one) for one in members)
        parts.append(f"<h2>{title}</h2>\n<ul>\n{links}\n</ul>")
    return "\n".join(parts)


def _link(page: SitePage, to: SitePage) -> str:
    here = ' aria-current="page"' if to.source == page.source else ""
    return f'<li><a href="{_way(page.target, to.target)}"{here}>{html.escape(to.title)}</a></li>'


def grouped(pages: dict[str, SitePage]) -> list[tuple[str, list[SitePage]]]:
    left = dict(pages)
    groups = []
    for title, patterns in GROUPS:
        names = [
            source
            for pattern in patterns
            for source in left
            if source == pattern or (pattern[-1:] in ("", "/") and source.startswith(pattern))
        ]
        members = [left.pop(name) for name in dict.fromkeys(names)]
        if members:
            groups.append((title, members))
    return groups


def _search_index(pages: Iterable[SitePage]) -> str:
    rows = [
        [
            page.target + (f"#{section.anchor}" if place else ""),
            page.title,
            section.title,
            section.text,
        ]
        for page in pages
        for place, section in enumerate(page.sections)
    ]
    return f"window.pages = {json.dumps(rows, ensure_ascii=False)};\n"


if __name__ == "__main__":
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    made = build(output)
    sys.stdout.write(f"{len(made)} pages: {output / 'index.html'}\n")
