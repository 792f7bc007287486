"""Markdown pages of documentation as titles, headings and clean text.

Cleaning removes what the page generators of the sources add (macros, shortcodes, tags, anchors)
and leaves fenced code alone: a memory holds code too, with its tags.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

HAN = re.compile(r"[\u4e00-\u9fff]")
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_HEADING = re.compile(r"(#{1,5})\s+(.+?)\s*#*\s*")
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_TITLE = re.compile(r"^title:\s*(.+)$", re.MULTILINE)

# A shortcode of Hugo keeps its words: {{< glossary_tooltip text="Pods" term_id="pod" >}}
_SHORTCODE = re.compile(r"\{\{[<%]\s*/?\s*(\S*)(.*?)[%>]\}\}", re.DOTALL)
_SHORTCODE_WORDS = re.compile(r'(?:text|term_id)="([^"]*)"')
_SHORTCODE_HEADING = re.compile(r'"(\w+)"')
# A macro of MDN keeps its last argument: {{domxref("Window.open", "open()")}}
_MACRO = re.compile(r"\{\{\s*([\w-]+)\s*(?:\((.*?)\))?\s*\}\}")
_LINKING_MACRO = re.compile(
    r"(dom|css|js)xref|webextapiref|glossary|(html|svg|mathml)element|svgattr|csp"
    r"|http(header|status|method)"
)
_ARGUMENT = re.compile(r"[\"']([^\"']*)[\"']")
_REMOVED = re.compile(
    r"(`[^`\n]+`)"  # code inside a line is kept, with its tags
    r"|<!--.*?-->"  # comments
    r"|\{/\*.*?\*/\}|\{#[\w.:-]+\}"  # anchors of MDX and VitePress
    r"|!\[[^\]\n]*\]\([^)\n]*\)"  # pictures
    r"|^:::[^\n]*$"  # containers of VitePress
    r"|^\[[^\]\n]+\]: [^\n]*$"  # addresses of links
    r"|^\s*>?\s*\[!\w+\]\s*$"  # kinds of callouts
    r"|</?[A-Za-z][^<>\n]*>",
    re.DOTALL | re.MULTILINE,
)
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()\s]*(?:\([^()]*\))?[^()]*\)|\[[^\]]*\])")
_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*\n")
_HUGO_HEADINGS = {
    "prerequisites": "Before you begin",
    "whatsnext": "What's next",
    "objectives": "Objectives",
    "cleanup": "Clean up",
}


@dataclass(frozen=True, slots=True)
class Section:
    heading: str
    """Empty for what stands before the first heading."""
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    path: str
    title: str
    sections: tuple[Section, ...]


def parse(path: str, text: str) -> Document:
    front_matter = _FRONT_MATTER.match(text)
    title = ""
    if front_matter:
        named = _TITLE.search(front_matter[1])
        title = clean(named[1].strip().strip("\"'")) if named else ""
        text = text[front_matter.end() :]
    sections = _sections(text)
    if not title:
        title = next((section.heading for section in sections if section.level == 1), "")
    return Document(path, title, sections)


def _sections(text: str) -> tuple[Section, ...]:
    """The text cut at its headings; a line that starts with # inside a fence is code."""
    parts: list[tuple[str, int, list[str]]] = [("", 0, [])]
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        heading = None if fence or mark else _HEADING.fullmatch(line)
        if heading:
            parts.append((clean(heading[2]), len(heading[1]), []))
        else:
            parts[-1][2].append(line)
    return tuple(Section(head, level, clean("\n".join(lines))) for head, level, lines in parts)


def clean(text: str) -> str:
    """Without the marks of the page generator; fenced code stays as it is."""
    pieces = [piece if code else _clean_prose(piece) for code, piece in _split_at_fences(text)]
    return _BLANK_LINES.sub("\n\n", "\n".join(pieces)).strip()


def without_code(text: str) -> str:
    return "\n".join(piece for code, piece in _split_at_fences(text) if not code)


def _split_at_fences(text: str) -> list[tuple[bool, str]]:
    """(is code, lines) in order; an open fence reaches to the end."""
    pieces: list[tuple[bool, list[str]]] = [(False, [])]
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            pieces[-1][1].append(line)
            if mark and mark[1].startswith(fence):
                fence = ""
                pieces.append((False, []))
        elif mark:
            fence = mark[1]
            # Only the language: what follows it is for the page generator.
            pieces.append((True, [re.sub(r"(\s*[`~]+\s*[\w+-]*).*", r"\1", line)]))
        else:
            pieces[-1][1].append(line)
    return [(code, "\n".join(lines)) for code, lines in pieces if lines]


def _clean_prose(text: str) -> str:
    text = _SHORTCODE.sub(_words_of_shortcode, text)
    text = _MACRO.sub(_words_of_macro, text)
    text = _REMOVED.sub(lambda match: match[1] or "", text)
    return html.unescape(_LINK.sub(r"\1", text))


def _words_of_shortcode(match: re.Match[str]) -> str:
    if match[1] == "heading":
        name = _SHORTCODE_HEADING.search(match[2])
        return _HUGO_HEADINGS.get(name[1], "") if name else ""
    if match[1] != "glossary_tooltip":
        return ""
    words = _SHORTCODE_WORDS.search(match[2])
    return words[1] if words else ""


def _words_of_macro(match: re.Match[str]) -> str:
    if not _LINKING_MACRO.fullmatch(match[1].lower()):
        return ""
    arguments: list[str] = [words for words in _ARGUMENT.findall(match[2] or "") if words]
    if not arguments:
        return ""
    # The third argument is an anchor, the second is what the reader sees.
    return arguments[1] if len(arguments) > 1 else arguments[0]


def paragraphs(text: str) -> list[str]:
    """Paragraphs and items of lists, each in one line, without code."""
    found: list[list[str]] = [[]]
    for line in without_code(text).split("\n"):
        if not line.strip():
            found.append([])
        elif re.match(r"\s*([-*+]|\d+[.)]|\|)\s", line):
            found.append([line.strip()])
        else:
            found[-1].append(line.strip())
    return [_unwrapped(lines) for lines in found if lines]


def _unwrapped(lines: list[str]) -> str:
    """One line; Chinese is joined without a blank."""
    joined = " ".join(lines)
    return re.sub(r"(?<=[\u4e00-\u9fff，。；：、！？（）]) (?=[\u4e00-\u9fff（])", "", joined)


def whole_lines(text: str, limit: int) -> str:
    """The first lines that fit; one line that is too long is cut."""
    if len(text) <= limit:
        return text
    end = text.rfind("\n", 0, limit + 1)
    return (text[:end] if end >= limit // 2 else text[:limit]).rstrip()
