"""Index, query and snippet agree on what a word is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core.terms import text_query, useful_terms
from notewell.core.words import (
    chunk_words,
    index_words,
    is_identifier,
    split_words,
    stem,
    word_forms,
)
from notewell.limits import MAX_QUERY_TERMS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World", "hello world"),
        ("Melanie's notes", "melani note"),
        ("don't", "dont"),
        ("café Café", "cafe cafe"),
        ("memorySearch.query", "memorysearch_query memori search queri"),
        ("ERR_FOO", "err_foo err foo"),
        ("a828e60", "a828e60"),
        ("GPT4", "gpt4 gpt 4"),
        ("HTTPServer", "httpserver http server"),
        ("索引库", "索引 引库 索 引 库"),
        ("猫", "猫"),
        ("한국어는", "한국 국어 어는 한 국 어 는"),
        ("用SQLite存储", "用 sqlit sq lite 存储 存 储"),
        ("…—!?", ""),
    ],
)
def test_text_becomes_the_words_it_is_found_by(text: str, expected: str) -> None:
    assert index_words(text) == expected


@pytest.mark.parametrize(
    "family",
    [
        "note notes noted noting",
        "run runs running",
        "make makes making",
        "decide decides decided deciding",
        "ship ships shipped shipping",
        "party parties",
        "class classes",
        "use uses used using",
        "memory memories",
    ],
)
def test_forms_of_an_english_word_meet(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(("one", "other"), [("note", "not"), ("need", "ned"), ("bus", "bu")])
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@given(st.text(max_size=300))
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    indexed = set(index_words(text).split(" "))
    assert set(text_query(text).terms) <= indexed


@given(st.text(max_size=300))
def test_words_are_made_of_word_characters_only(text: str) -> None:
    for word in split_words(text):
        assert all(form and " " not in form and '"' not in form for form in word.forms)
        assert not any(form.startswith("_") for form in word.forms)
        assert text[word.start : word.end]


def test_stop_words_are_dropped_unless_nothing_is_left() -> None:
    assert text_query("What did we decide about the database?").terms == ("decid", "databas")
    assert text_query("who are you").terms == ("who", "are", "you")
    assert text_query("我们决定什么").terms == ("们决", "决定", "定什")


def test_of_a_thousand_words_the_rarest_that_somebody_wrote_are_kept() -> None:
    query = text_query(" ".join(f"w{number}x" for number in range(1000)))
    having = {f"w{number}x": number for number in range(1, 500)}
    kept = useful_terms(query, having).terms
    assert kept == tuple(f"w{number}x" for number in range(1, MAX_QUERY_TERMS + 1))
    assert useful_terms(text_query("alpha beta"), {}).terms == ("alpha", "beta")


def test_pairs_of_characters_that_nobody_wrote_are_not_asked_for() -> None:
    query = text_query("霜冻来了怎么办 gateway")
    assert useful_terms(query, {"霜冻": 1}).terms == ("霜冻", "gatewai")


@pytest.mark.parametrize("form", ["a828e60", "err_foo", "20261115", "v1_2", "gpt4"])
def test_made_up_names_are_identifiers(form: str) -> None:
    assert is_identifier(form)


@pytest.mark.parametrize("form", ["note", "2026", "3", "索引", "b12"])
def test_words_and_small_numbers_are_not(form: str) -> None:
    assert not is_identifier(form)


@given(st.text(max_size=300))
def test_no_word_has_a_character_that_splits_it_in_an_index(text: str) -> None:
    """SQLite's tokenizer splits words at every ASCII character but letters, digits and `_`."""
    words = [*index_words(text).split(), *text_query(text).terms]
    assert not [word for word in words if re.search(r"[\x00-\x2f:-@\[-^`{-\x7f]", word)]


@given(
    st.lists(
        st.sampled_from(
            [
                "DevOps",
                "notes",
                "Häuser",
                "GPT4",
                "a828e60",
                "日记",
                "Дом",
                "_",
                "-",
                "/",
                "x",
                "42",
            ]
        ),
        min_size=1,
    ),
    st.sampled_from([("en", ""), ("de", "Das Haus ist nicht groß, und der Garten auch nicht. ")]),
)
def test_a_chunk_has_a_form_of_each_word_in_whatever_case(
    parts: list[str], written: tuple[str, str]
) -> None:
    language, before = written
    text = "".join(parts)
    body = set(chunk_words(f"{before}#{text} more", "").body.split())
    for forms in word_forms(text.casefold(), () if language == "en" else (language,)):
        assert not body.isdisjoint(forms), (forms, body)
