"""Pages become titles, headings and text that a reader would see."""

from __future__ import annotations

import pytest
from model.documents import Section, clean, paragraphs, parse, whole_lines

PAGE = """---
title: "Pods"
weight: 10
---
What {{< glossary_tooltip text="Pods" term_id="pod" >}} are.

## Run one {#run-one}

```shell title="x"
# not a heading
kubectl run <name>
```

Read [more](/docs/more).

### Why?
"""


def test_a_page_is_its_title_and_its_sections() -> None:
    page = parse("pods.md", PAGE)
    assert page.title == "Pods"
    assert page.sections == (
        Section("", 0, "What Pods are."),
        Section(
            "Run one",
            2,
            "```shell\n# not a heading\nkubectl run <name>\n```\n\nRead more.",
        ),
        Section("Why?", 3, ""),
    )


def test_a_page_without_front_matter_is_called_by_its_first_heading() -> None:
    assert parse("a.md", "# 计算属性 {#computed}\n\ntext\n").title == "计算属性"


@pytest.mark.parametrize(
    ("marked", "read"),
    [
        ('Calls {{domxref("Window.open", "open()")}} once.', "Calls open() once."),
        ('{{APIRef("DOM")}}The {{HTMLElement("a")}} tag', "The a tag"),
        ("{{Non-standard_header}}Text", "Text"),
        ('## {{% heading "whatsnext" %}}', "## What's next"),
        ("a <b>bold</b> word, `<i>` stays", "a bold word, `<i>` stays"),
        ("see ![logo](x.png) [the page](http://a/b_(c)) and [that][1]", "see  the page and that"),
        ("Heading {/*heading*/}", "Heading"),
        ("a &lt;length&gt;", "a <length>"),
        ("one\n<!--\nhidden\n-->\n\n\n\ntwo", "one\n\ntwo"),
        (":::tip\nText\n:::", "Text"),
        ("one\n[1]: http://a/\ntwo", "one\n\ntwo"),
    ],
)
def test_marks_of_page_generators_are_removed(marked: str, read: str) -> None:
    assert clean(marked) == read


def test_paragraphs_and_items_are_lines_of_their_own() -> None:
    text = "一段文字，\n下一行。\n\n- one\n  goes on\n- two\n\n```\ncode\n```\nlast\nline"
    assert paragraphs(text) == ["一段文字，下一行。", "- one goes on", "- two", "last line"]


def test_a_long_text_ends_with_a_whole_line_if_there_is_one() -> None:
    assert whole_lines("aaaa\nbbbb\ncccc", 10) == "aaaa\nbbbb"
    assert whole_lines("aaaa\nbbbb", 100) == "aaaa\nbbbb"
    assert whole_lines("a" * 20, 10) == "a" * 10
