"""Everything that stands in the sources, before anything is chosen or made from it: `read`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from model import conversations, dictionary, parallel, sources
from model.documents import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from model.conversations import Dialogue, Meeting
    from model.dictionary import Entry
    from model.documents import Document
    from model.parallel import Parallel
    from model.sources import File, Repository


@dataclass(frozen=True, slots=True)
class Readings:
    english: dict[str, list[Document]]
    chinese: dict[str, list[Document]]
    parallel: list[Parallel]
    code: list[File]
    meetings: list[Meeting]
    dialogues: list[Dialogue]
    orders: list[Dialogue]
    articles: list[str]
    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class Pages:
    english: list[File]
    chinese: list[tuple[str, File]]
    """Each with the path of the English page that it translates."""


def read(folder: Path) -> Readings:
    pages = _pages(folder)
    spoken = Random("conversations")
    return Readings(
        english={
            name: [parse(file.path, file.text) for file in each.english]
            for name, each in pages.items()
        },
        chinese={
            name: [parse(file.path, file.text) for _, file in each.chinese]
            for name, each in pages.items()
        },
        parallel=parallel.unique([*_aligned(pages), *_sentences(folder)]),
        code=[file for each in sources.CODE for file in sources.files(folder, each)],
        meetings=list(conversations.meetings(sources.files(folder, sources.QMSUM))),
        dialogues=list(
            conversations.schema_guided(sources.files(folder, sources.SCHEMA_GUIDED), spoken)
        ),
        orders=list(conversations.taskmaster(sources.files(folder, sources.TASKMASTER), spoken)),
        articles=[file.text for file in sources.files(folder, sources.WIKITEXT)],
        entries=dictionary.entries(sources.member(folder, sources.CC_CEDICT)),
    )


def _pages(folder: Path) -> dict[str, Pages]:
    def files(repository: Repository) -> list[File]:
        return list(sources.files(folder, repository))

    kubernetes = files(sources.KUBERNETES)
    guide = files(sources.OPEN_SOURCE_GUIDE)
    return {
        "mdn": Pages(
            files(sources.MDN),
            _moved(files(sources.MDN_TRANSLATED), r"files/zh-(cn|tw)/", "files/en-us/"),
        ),
        "kubernetes": Pages(
            [file for file in kubernetes if file.path.startswith("content/en/")],
            _moved(kubernetes, "content/zh-cn/", "content/en/"),
        ),
        "react": Pages(files(sources.REACT), _moved(files(sources.REACT_TRANSLATED), "", "")),
        "vue": Pages(files(sources.VUE), _moved(files(sources.VUE_TRANSLATED), "", "")),
        "guide": Pages(
            [file for file in guide if file.path.count("/") == 1],
            _moved(guide, r"_articles/zh-han(s|t)/", "_articles/"),
        ),
    }


def _moved(files: Iterable[File], start: str, original: str) -> list[tuple[str, File]]:
    """The files whose path starts so, each with the path of the page that it translates."""
    return [
        (original + file.path[match.end() :], file)
        for file in files
        if (match := re.match(start, file.path))
    ]


def _aligned(pages: dict[str, Pages]) -> Iterator[Parallel]:
    for name, each in pages.items():
        if name == "kubernetes":
            # Its translations quote the English text that they translate, block by block.
            yield from parallel.commented((file for _, file in each.chinese), name)
        else:
            english = {file.path: file for file in each.english}
            yield from parallel.pages(english, each.chinese, name)


def _sentences(folder: Path) -> list[Parallel]:
    """Everyday sentences and news."""
    texts = {file.path: file.text for file in sources.files(folder, sources.NTREX)}
    english = texts["NTREX-128/newstest2019-src.eng.txt"]
    found = [
        line
        for file in sources.files(folder, sources.TATOEBA)
        for line in parallel.tatoeba(file.text, "tatoeba")
    ]
    for locale in ("CN", "TW"):
        chinese = texts[f"NTREX-128/newstest2019-ref.zho-{locale}.txt"]
        found += parallel.news(english, chinese, texts["DOCUMENT_IDS.tsv"], "ntrex", locale)
    return found
