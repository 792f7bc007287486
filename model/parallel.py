"""English and Chinese lines that say the same.

Pages of documentation are aligned section by section and then paragraph by paragraph; where the
numbers differ, nothing is guessed. The lines stay in the order of their document, because
neighbours are later joined to long texts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.documents import HAN, clean, paragraphs, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from model.documents import Document, Section
    from model.sources import File

MAX_CHARS = 700
MAX_CHARS_ZH = 350
_MARKS = re.compile(r"^(?:\s|#+\s|>|[*+\-|:]\s|\d+[.)]\s)+")
_CODE = re.compile(r"`([^`]+)`")
_COMMENTED = re.compile(r"<!--\s*\n(.*?)\n\s*-->\n(.*?)(?=\n<!--|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Parallel:
    en: str
    zh: str
    source: str
    document: str
    """Only lines of one document are neighbours."""


def aligned(english: Document, chinese: Document, source: str) -> Iterator[Parallel]:
    """Title, headings and paragraphs of a page and its translation."""
    document = f"{source}:{chinese.path}"
    yield from _line(english.title, chinese.title, source, document)
    for ours, theirs in _aligned_sections(english, chinese):
        yield from _line(ours.heading, theirs.heading, source, document)
        left, right = paragraphs(ours.text), paragraphs(theirs.text)
        if len(left) == len(right):
            for en, zh in zip(left, right, strict=True):
                yield from _line(en, zh, source, document)


def _aligned_sections(english: Document, chinese: Document) -> list[tuple[Section, Section]]:
    """All sections if their levels agree; else the ones before the first difference of count."""
    left, right = english.sections, chinese.sections
    if [section.level for section in left] == [section.level for section in right]:
        return list(zip(left, right, strict=True))
    # A translation of an older page: what stands before the first heading is still the same.
    return list(zip(left[:1], right[:1], strict=False))


def _line(en: str, zh: str, source: str, document: str) -> Iterator[Parallel]:
    en, zh = _MARKS.sub("", en).strip(), _MARKS.sub("", zh).strip()
    if is_translation(en, zh):
        yield Parallel(en[:MAX_CHARS], zh[:MAX_CHARS_ZH], source, document)


def is_translation(en: str, zh: str) -> bool:
    """Whether two lines can be the same: their lengths agree, and so does the code in them."""
    han, words = len(HAN.findall(zh)), len(en.split())
    if han < 4 or words < 2 or HAN.search(en) or han <= len(zh) * 0.25:
        return False
    if en.endswith("|"):  # A row of a table says little in one line.
        return False
    if not 0.5 < han / words < 6:
        return False
    left, right = set(_CODE.findall(en)), set(_CODE.findall(zh))
    return not left or not right or bool(left & right)


def pages(
    english: Mapping[str, File], chinese: Iterable[tuple[str, File]], source: str
) -> Iterator[Parallel]:
    """`chinese` are the translations, each with the path of its English page."""
    for path, translation in chinese:
        original = english.get(path)
        if original is not None:
            yield from aligned(
                parse(original.path, original.text),
                parse(translation.path, translation.text),
                source,
            )


def commented(files: Iterable[File], source: str) -> Iterator[Parallel]:
    """Pages of Kubernetes: each English block stands in a comment before its translation."""
    for file in files:
        document = f"{source}:{file.path}"
        for en, zh in _COMMENTED.findall(file.text):
            if re.match(r"\s*(title|reviewers|content_type|layout):", en):
                continue
            left, right = paragraphs(clean(en)), paragraphs(clean(zh))
            if len(left) == len(right):
                for pair in zip(left, right, strict=True):
                    yield from _line(*pair, source, document)


def tatoeba(text: str, source: str) -> Iterator[Parallel]:
    """Sentences of everyday life, the shortest first: neighbours begin alike."""
    for line in text.split("\n"):
        parts = line.split("\t")
        if len(parts) >= 2 and HAN.search(parts[1]):
            yield Parallel(parts[0], parts[1], source, source)


def news(
    english: str, chinese: str, documents: str, source: str, locale: str
) -> Iterator[Parallel]:
    """Sentences of NTREX: line n of three files is one sentence and the name of its article."""
    lines = zip(english.split("\n"), chinese.split("\n"), documents.split("\n"), strict=False)
    for en, zh, document in lines:
        if en.strip() and zh.strip():
            name = f"{source}:{locale}:{document.strip()}"
            yield Parallel(en.strip(), zh.strip(), source, name)


def unique(lines: Iterable[Parallel]) -> list[Parallel]:
    """The first of those with the same Chinese."""
    found: dict[str, Parallel] = {}
    for line in lines:
        found.setdefault(line.zh, line)
    return list(found.values())
