"""A query and the passage that answers it: headings and sections, docstrings and functions.

A heading is the nearest thing to a query that documentation holds. It is varied as people type
(with the title, as a question, in lower case), and most passages stand below their headings, as
chunks of a note do in the index.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.documents import HAN, whole_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

    from model.documents import Document, Section
    from model.sources import File

PASSAGE_CHARS = 800
PASSAGE_CHARS_ZH = 420
"""Chinese says the same in about half the characters."""
QUERY_CHARS = 160
QUERY_CHARS_ZH = 80
MIN_SECTION_CHARS = 120
MIN_SECTION_HAN = 60
SHARE_BELOW_HEADINGS = 0.6

# Headings of which a page has the same as every other one: a query only together with the title.
COMMON_HEADINGS = frozenset({
    "syntax", "examples", "example", "value", "values", "parameters", "return value", "exceptions",
    "description", "html", "css", "javascript", "result", "formal syntax", "formal definition",
    "what's next", "what’s next", "before you begin", "objectives", "clean up", "accessibility",
    "notes", "attributes", "usage notes", "usage", "caveats", "reference", "troubleshooting",
    "constructor", "static methods", "instance methods", "instance properties", "events",
    "properties", "methods", "event type", "event properties", "security", "permissions", "recap",
    "overview", "introduction", "basic usage", "配置", "语法", "語法", "示例", "例子", "参数",
    "返回值", "描述", "值", "异常", "备注", "属性", "方法", "实例属性", "实例方法", "构造函数",
    "用法", "概述", "简介", "说明", "结果", "接下来", "准备开始", "参考", "摘要", "事件类型",
    "范例", "使用",
})  # fmt: skip
# Sections that hold links and tables only.
EMPTY_HEADINGS = frozenset({
    "specifications", "browser compatibility", "see also", "what's next", "what’s next",
    "参见", "规范", "浏览器兼容性", "另请参阅", "接下来", "参阅", "相关链接", "規範",
    "瀏覽器相容性", "参考资料", "浏览器兼容", "延伸阅读", "相关内容",
})  # fmt: skip

# The name of an API is nothing to do: `how to performanceEventTiming` is asked by nobody.
_TASK = re.compile(r"(?!how|what|why|when)[a-z]+ [a-z]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pair:
    query: str
    passage: str
    source: str
    negative: str = ""
    """A passage near by (of the same page or meeting) that is not the answer; or none."""


def heading_pairs(documents: Iterable[Document], source: str, random: Random) -> Iterator[Pair]:
    """English headings with their sections, in the order of the pages."""
    for document in documents:
        sections = [section for section in document.sections if _is_worth_asking(section)]
        for section in sections:
            query = _query(document.title, section.heading, random)
            if len(query) < 6:
                continue
            shown = random.random() < SHARE_BELOW_HEADINGS
            others = _siblings(section, sections)
            other = random.choice(others) if others else None
            yield Pair(
                query[:QUERY_CHARS],
                _passage(document.title, section, shown=shown, limit=PASSAGE_CHARS),
                source,
                _passage(document.title, other, shown=shown, limit=PASSAGE_CHARS) if other else "",
            )


def _is_worth_asking(section: Section) -> bool:
    return len(section.text) >= MIN_SECTION_CHARS and section.heading.lower() not in EMPTY_HEADINGS


def _siblings(section: Section, sections: list[Section]) -> list[Section]:
    """Other sections that a specific heading does not ask for; a common heading has none."""
    if not section.heading or section.heading.lower() in COMMON_HEADINGS:
        return []
    return [other for other in sections if other.heading and other.heading != section.heading]


def _query(title: str, heading: str, random: Random) -> str:
    words = heading or title
    if heading and title and (heading.lower() in COMMON_HEADINGS or random.random() < 0.5):
        words = f"{title} {heading}"
    words = words.replace("`", "").replace("**", "")
    if not words:
        return ""
    form = random.random()
    if form < 0.2 and _TASK.match(words):
        return f"how to {words[0].lower()}{words[1:]}"
    if 0.2 <= form < 0.3:
        return f"what is {words}"
    return words.lower() if 0.3 <= form < 0.5 else words


def _passage(title: str, section: Section, *, shown: bool, limit: int) -> str:
    text = whole_lines(section.text, limit)
    if not shown or not title:
        return text
    below = f" › ## {section.heading}" if section.heading and section.heading != title else ""
    return f"# {title}{below}\n\n{text}"


def heading_pairs_zh(documents: Iterable[Document], source: str, random: Random) -> Iterator[Pair]:
    for document in documents:
        sections = [
            section
            for section in document.sections
            if _is_worth_asking(section) and len(HAN.findall(section.text)) >= MIN_SECTION_HAN
        ]
        for section in sections:
            query = _query_zh(document.title, section.heading, random)
            # A query without any Chinese is often the name of an API: some of them are enough.
            if len(query) < 2 or (not HAN.search(query) and random.random() < 0.7):
                continue
            shown = random.random() < SHARE_BELOW_HEADINGS
            others = _siblings(section, sections)
            other = random.choice(others) if others else None
            limit = PASSAGE_CHARS_ZH
            yield Pair(
                query[:QUERY_CHARS_ZH],
                _passage(document.title, section, shown=shown, limit=limit),
                source,
                _passage(document.title, other, shown=shown, limit=limit) if other else "",
            )


def _query_zh(title: str, heading: str, random: Random) -> str:
    words = heading or title
    together = heading in COMMON_HEADINGS or len(heading) < 4 or random.random() < 0.5
    if heading and title and heading != title and together:
        words = f"{title} {heading}"
    words = words.replace("`", "").replace("**", "")
    form = random.random()
    if words.endswith(("？", "?")) or words.startswith(("如何", "什么", "怎")):
        return words
    if form < 0.12:
        return f"如何{words}"
    if form < 0.2:
        return f"什么是{words}？"
    return f"{words}是什么" if form < 0.25 else words


def code_pairs(files: Iterable[File], source: str, random: Random) -> Iterator[Pair]:
    """The first sentence of a docstring with its function, mostly without the docstring."""
    for function in functions(files):
        sentence = _first_sentence(function.docstring)
        if not 12 < len(sentence) < 140 or len(sentence.split()) < 3:
            continue
        code = function.without_docstring if random.random() < 0.7 else function.code
        yield Pair(_query_of_code(sentence, random), whole_lines(code, PASSAGE_CHARS), source)


@dataclass(frozen=True, slots=True)
class Function:
    path: str
    docstring: str
    code: str
    without_docstring: str


def functions(files: Iterable[File]) -> Iterator[Function]:
    """Functions with a docstring and a body, outside tests."""
    for file in files:
        if re.search(r"(^|/)tests?/|(^|/)(conftest|setup|test_\w+)\.py$", file.path):
            continue
        try:
            tree = ast.parse(file.text)
        except SyntaxError:
            continue
        lines = file.text.split("\n")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                docstring = ast.get_docstring(node)
                if docstring and len(node.body) > 1:
                    yield _function(file.path, node, docstring, lines)


def _function(path: str, node: ast.FunctionDef, docstring: str, lines: list[str]) -> Function:
    indent = node.col_offset
    body = [line[indent:] for line in lines[node.lineno - 1 : node.end_lineno]]
    first = node.body[0]
    start, end = first.lineno - node.lineno, (first.end_lineno or first.lineno) - node.lineno + 1
    return Function(path, docstring, "\n".join(body), "\n".join(body[:start] + body[end:]))


def _first_sentence(docstring: str) -> str:
    first = re.split(r"\.\s|\n\n|\n(?=:|Param|-|>>>)", docstring)[0]
    return re.sub(r"[`*:]", "", first.replace("\n", " ")).strip().rstrip(".")


def _query_of_code(sentence: str, random: Random) -> str:
    form = random.random()
    if form < 0.35:
        return f"python {sentence.lower()}"
    if form < 0.5:
        return f"{sentence.lower()} python"
    if form < 0.65:
        return f"how to {sentence[0].lower()}{sentence[1:]} in python"
    return sentence
