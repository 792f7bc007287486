"""What a list shows of a note."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.http_service.ui.note_card import (
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    NoteCard,
    note_card,
)


@pytest.mark.parametrize(
    ("text", "title", "words"),
    [
        (
            "# Plan\n\nWe ship on **Friday**, see [it](x.md).\n",
            "Plan",
            "We ship on Friday, see it.",
        ),
        ("- one\n- [x] two\n", "one", "two"),
        ("", "note", ""),
        ("# `a`\n\n```sh\nls -l\n```\n", "a", "ls -l"),
        ("# A\n\n```sh\nls\n```\nText <!-- @http -->\n", "A", "Text"),
        ("# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "A", "a b 1 2"),
        ("> quoted\n\n## Later\n", "Later", "quoted"),
        ("## Plan ##\n\n# Later\n", "Plan", ""),
        ("# C#\n\n![a](b.png) [c](d_(e).md) [[f|g]]\n", "C#", "a c f"),
        (
            "# \n\n# A\n\nIn *one_two* or _three_four_ <!-- a <b> -->\n",
            "A",
            "In one_two or three_four",
        ),
        ("snake_case_name and 2 * 3 * 4\n", "snake_case_name and 2 * 3 * 4", ""),
        ("# A\n\n_begun here\nand ended_ there\n", "A", "begun here and ended there"),
    ],
)
def test_title_and_text_without_markup(text: str, title: str, words: str) -> None:
    card = note_card("memory/note.md", text)
    assert (card.title, card.text) == (title, words)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (
            "# 2026-10-02\n\n## Garden\n- Water.\n\n## Router\n- Slow.\n\n## Garden\n",
            "Garden · Router",
        ),
        ("# 2026-10-02\n\nThe tap leaks.\n", "The tap leaks."),
        ("# 2026-10-02\n\n## 13:56 Ada and Nina\n\n## 22:01\n", "Ada and Nina"),
        ("# 2026-10-02\n\n## 08:53\n\nThe tap leaks.\n", "The tap leaks."),
        ("# 2026-10-02\n", "2026-10-02"),
        ("# 2026-10-03\n\n## Garden\n", "2026-10-03"),
    ],
)
def test_the_note_of_a_day_is_known_by_its_sections(text: str, title: str) -> None:
    assert note_card("memory/2026-10-02.md", text).title == title


def test_front_matter_has_title_tags_and_summary() -> None:
    front = "---\ntitle: 'A: b'\ntags:\n  - one\n  - '#two'\nsummary: Short.\nother: x\n---\n"
    card = note_card("a.md", f"{front}# Heading\n\nText\n")
    assert card == NoteCard("A: b", "Short.", ("one", "two"), 8)


@pytest.mark.parametrize("text", ["---\nno end\n", "---\n", "text\n---\ntitle: x\n---\n"])
def test_a_rule_is_no_front_matter(text: str) -> None:
    assert note_card("a.md", text).front_lines == 0


@given(st.text(st.sampled_from("-#`*_[]()<>!|: \n\ta1é語~"), max_size=400))
def test_any_text_has_a_short_card(text: str) -> None:
    card = note_card("memory/any.md", text)
    assert card.title
    assert len(card.title) <= MAX_TITLE_CHARS
    assert len(card.text) <= MAX_TEXT_CHARS
    assert "\n" not in card.title + card.text
