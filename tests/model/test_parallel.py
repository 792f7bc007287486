"""Lines are called translations only where the structure of both pages says so."""

from __future__ import annotations

import pytest
from model.documents import parse
from model.parallel import (
    Parallel,
    aligned,
    commented,
    is_translation,
    news,
    pages,
    tatoeba,
    unique,
)
from model.sources import File

ENGLISH = """---
title: Working with containers
---
A container holds one program.

## Restart the container

- First stop the container.
- Then start it again.
"""
CHINESE = """---
title: 使用容器工作
---
一个容器包含一个程序。

## 重新启动容器

- 首先停止这个容器。
- 然后再次启动它。
"""


def test_titles_headings_paragraphs_and_items_are_aligned_in_order() -> None:
    found = list(aligned(parse("en.md", ENGLISH), parse("zh.md", CHINESE), "docs"))
    assert [(line.en, line.zh) for line in found] == [
        ("Working with containers", "使用容器工作"),
        ("A container holds one program.", "一个容器包含一个程序。"),
        ("Restart the container", "重新启动容器"),
        ("First stop the container.", "首先停止这个容器。"),
        ("Then start it again.", "然后再次启动它。"),
    ]
    assert {line.document for line in found} == {"docs:zh.md"}


def test_nothing_is_guessed_where_the_pages_differ() -> None:
    newer = ENGLISH.replace("- Then", "- Wait a while.\n- Then")
    found = list(aligned(parse("en.md", newer), parse("zh.md", CHINESE), "docs"))
    assert [line.en for line in found][-1] == "Restart the container"
    newer = ENGLISH + "\n## A new section\n"
    found = list(aligned(parse("en.md", newer), parse("zh.md", CHINESE), "docs"))
    assert [line.en for line in found][-1] == "A container holds one program."


def test_a_page_is_aligned_with_the_page_that_it_translates() -> None:
    english = {"a.md": File("a.md", ENGLISH)}
    translations = [("a.md", File("zh/a.md", CHINESE)), ("b.md", File("zh/b.md", CHINESE))]
    assert {line.document for line in pages(english, translations, "docs")} == {"docs:zh/a.md"}


@pytest.mark.parametrize(
    ("en", "zh"),
    [
        ("Restart the container", "重启"),
        ("Restart", "重新启动容器"),
        ("Restart the container 容器 now", "重新启动容器"),
        ("Restart it", "这是一个很长的句子，它所说的远远多于左边的两个单词。"),
        ("Call `open()` to open the window", "调用 `close()` 来关闭窗口"),
        ("Restart the container now |", "现在重新启动容器 |"),
        ("Use the name my_long_name_of_a_thing", "名称 my_long_name_of_a_thing_that_is_code"),
    ],
)
def test_lines_that_cannot_say_the_same_are_left_out(en: str, zh: str) -> None:
    assert not is_translation(en, zh)


def test_english_blocks_in_comments_are_aligned_with_what_follows() -> None:
    page = """---
title: 容器
---
<!--
reviewers:
- somebody
-->

<!-- overview -->

<!--
A container holds one
program.
-->
一个容器包含
一个程序。

<!--
## Restart the container
-->
## 重新启动容器   {#restart}
"""
    assert [(line.en, line.zh) for line in commented([File("a.md", page)], "k")] == [
        ("A container holds one program.", "一个容器包含一个程序。"),
        ("Restart the container", "重新启动容器"),
    ]


def test_sentences_keep_their_order_and_their_article() -> None:
    assert list(tatoeba("Hi.\t嗨。\tsource\nno tab\n", "t")) == [Parallel("Hi.", "嗨。", "t", "t")]
    assert list(news("One.\nTwo.\n", "一。\n二。\n", "bbc.1\nbbc.2\n", "n", "CN")) == [
        Parallel("One.", "一。", "n", "n:CN:bbc.1"),
        Parallel("Two.", "二。", "n", "n:CN:bbc.2"),
    ]


def test_the_first_of_the_same_chinese_stays() -> None:
    first, second, third = (
        Parallel(en, zh, "t", "t") for en, zh in [("a", "1"), ("b", "1"), ("c", "2")]
    )
    assert unique([first, second, third]) == [first, third]
