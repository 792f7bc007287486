"""The places of a query's words in a text are those that splitting the text would find."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core.form_places import FormPlace, all_forms, find_forms
from notewell.core.words import split_words

SPELLED = """
stories Story backStory story's makes making made parties party running runner ties tied agreed
owing owe don't O'Brien l'application l'air memorySearch.query err_foo ERR_FOO a828e60 gpt4 GPT4
HTTPServer v1.2.3 3.14 10,000 e-mail user@example.com https://example.com/a_b café Café naïve
книгами 索引库 用SQLite存储 ok i I'm re-read “quoted” it’s qu’elle x_ _y __init__ isn't 'quoted'
"""
SPELLINGS = SPELLED.split()

TEXTS = st.lists(
    st.one_of(
        st.sampled_from(SPELLINGS),
        st.text(max_size=8),
        st.text("aeiyngsd'_.AB9", max_size=8),
        st.sampled_from([" ", "\n", "\t", "\r\n", "\u202f", "\u00a0", "\x0b"]),
    ),
    max_size=30,
).flatmap(lambda parts: st.sampled_from(["".join(parts), " ".join(parts)]))


def splitting(text: str, forms: set[str]) -> list[FormPlace]:
    """The definition: every word of the text."""
    return sorted(
        FormPlace(word.start, word.end, form)
        for word in split_words(text)
        for form in word.forms
        if form in forms
    )


def forms_of(text: str) -> list[str]:
    return sorted({form for word in split_words(text) for form in word.forms})


@given(TEXTS, TEXTS, st.data())
def test_the_same_words_as_by_splitting_the_text(
    text: str, question: str, data: st.DataObject
) -> None:
    known = [*forms_of(text), *forms_of(question)]
    forms = data.draw(st.sets(st.sampled_from(known), max_size=6)) if known else set()
    assert find_forms(text, forms) == splitting(text, forms)
    assert all_forms(text) == frozenset(forms_of(text))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_of_a_word_is_found_by_each_of_its_forms(spelling: str) -> None:
    for text in (spelling, f"so ({spelling}),\nand", f"– {spelling.upper()} – {spelling}s"):
        for form in forms_of(text):
            assert find_forms(text, {form}) == splitting(text, {form})


def test_a_very_long_line_is_searched_in_linear_time() -> None:
    text = "a" * 200_000 + " story " + "story" * 20_000
    assert [place.start for place in find_forms(text, {"stori"})] == [200_001]
