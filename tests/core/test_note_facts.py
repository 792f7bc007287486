"""What a note says of itself: its tags, its other names, its day."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core import has_tag, read_front_matter, read_note_facts


def front(*lines: str) -> str:
    return "\n".join(("---", *lines, "---", "text"))


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        (["title: A plan"], {"title": ["A plan"]}),
        (["title: 'A: b' "], {"title": ["A: b"]}),
        (["tags: [a, 'b, c', d]"], {"tags": ["a", "b, c", "d"]}),
        (["tags: [a,", "  b,", "c]", "x: y"], {"tags": ["a", "b", "c"], "x": ["y"]}),
        (["tags:", "- a", '  - "b"', "x:"], {"tags": ["a", "b"], "x": []}),
        (["tags: [a] # two", "x: y#z"], {"tags": ["a"], "x": ["y#z"]}),
        (["Größe: 3", "Tags: x"], {"größe": ["3"], "tags": ["x"]}),
        (["- a", "no key", "url:https://x", "1: x"], {}),
        (["tags: [never closed", "title: lost"], {"tags": []}),
        (["tags: []", "title: ''"], {"tags": [], "title": []}),
    ],
)
def test_front_matter_is_keys_with_one_or_more_values(
    lines: list[str], values: dict[str, list[str]]
) -> None:
    assert read_front_matter(front(*lines).split("\n")).values == values


def test_front_matter_that_is_not_closed_is_text() -> None:
    assert read_front_matter(["---", *["a: b"] * 300, "---"]) == ({}, 0)
    assert read_front_matter(["# A", "---", "a: b", "---"]) == ({}, 0)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#a and (#b) [#c], #D/e-f_g\n#ende", {"a", "b", "c", "d/e-f_g", "ende"}),
        ("# heading\n## #in-heading\nx#no C# #12 #2026-goals", {"in-heading", "2026-goals"}),
        ("`#code` and ``` #x ```\n```c\n#include <x>\n```\n#after", {"after"}),
        ("~~~\n#one\n```\n#two\n~~~\n#three", {"three"}),
        ("https://x.y/#frag [a](b.md#part) [[note#part]]", set()),
        (front("tags: one, two three"), {"one", "two", "three"}),
        (front("tags: ['#one', two words]"), {"one", "two words"}),
        (front("tag: one") + " #网络/家里 #café", {"one", "网络/家里", "café"}),
        (front("tags:", "  - a/b/", "  - '#'"), {"a/b"}),
    ],
)
def test_tags_are_those_of_the_front_matter_and_of_the_text(text: str, tags: set[str]) -> None:
    assert read_note_facts(text).tags == tags


def test_a_tag_has_those_below_it() -> None:
    assert has_tag({"network/home"}, "network")
    assert not has_tag({"networking", "my/network"}, "network")


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2026-03-04", date(2026, 3, 4)),
        ("'2026-03-04T10:00:00Z'", date(2026, 3, 4)),
        ("2026/3/4", date(2026, 3, 4)),
        ("2026-02-30", None),
        ("yesterday", None),
        ("2026-03-041", None),
        ("", None),
    ],
)
def test_the_day_of_a_note(written: str, day: date | None) -> None:
    assert read_note_facts(front(f"date: {written}")).day == day


def test_other_names() -> None:
    text = front("aliases: [the box, OPNsense]", "alias: gate")
    assert read_note_facts(text).aliases == ("the box", "OPNsense", "gate")


@given(st.text(st.sampled_from("-#`~[]'\",: \n\tdatetagsliſ/1é語&*!|>{}%@"), max_size=400))
def test_no_text_is_an_error(text: str) -> None:
    for one in (text, f"---\n{text}", front(text), front(f"tags: {text}", f"date: {text}")):
        facts = read_note_facts(one)
        assert all(tag == tag.casefold().strip() and not tag.startswith("#") for tag in facts.tags)


def test_hostile_front_matter_is_read_in_one_pass() -> None:
    """A YAML reader would expand the names, or take minutes for the brackets."""
    bombs = [f"a{at}: &a{at} [*a{at - 1}, *a{at - 1}, *a{at - 1}]" for at in range(1, 150)]
    facts = read_note_facts(front(*bombs, "tags: [" + "[" * 100_000, "x]", "tags: [kept]"))
    assert facts.tags == {"kept"}
    assert len(read_note_facts(" ".join(f"#t{at}" for at in range(50_000))).tags) == 1000
    assert not read_note_facts("#" * 500_000).tags
    assert not read_note_facts("`" * 300_001 + "#x").tags
