"""The forms of a word meet in its stem, in the language that its letters name."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core.stems import stem_by_script
from notewell.core.terms import text_query
from notewell.core.words import index_words


@pytest.mark.parametrize(
    ("family", "stem"),
    [
        ("книга книги книгу книгой книгами книгах", "книг"),
        ("ёлка елки ёлку", "елк"),
        ("γλώσσα γλώσσας γλώσσες", "γλωσσ"),
        ("كتاب الكتاب بالكتاب كِتَابٌ", "كتاب"),
        ("किताब किताबें किताबों", "किताब"),
    ],
)
def test_the_forms_of_a_word_meet(family: str, stem: str) -> None:
    assert set(index_words(family).split()) == {stem}


def test_a_stress_mark_and_a_decomposed_letter_change_nothing() -> None:
    assert index_words("за́мками") == index_words("замками")
    decomposed = unicodedata.normalize("NFD", "чайник")
    assert decomposed != "чайник"
    assert index_words(decomposed) == index_words("чайник")


@pytest.mark.parametrize(
    ("language", "family", "stem"),
    [
        ("cs", "kniha knihy knihu", "knih"),
        ("da", "bog bogen", "bog"),
        ("de", "Haus Hauses Häuser Häusern", "haus"),
        ("es", "libro libros", "libr"),
        ("es", "decisión decisiones", "decision"),
        ("fi", "talo talot talossa", "talo"),
        ("fr", "application applications l'application", "appliqu"),
        ("hu", "ház háznak háztól", "haz"),
        ("it", "libro libri", "libr"),
        ("nl", "vogel vogels", "vogel"),
        ("no", "hus huset husene", "hus"),
        ("pl", "dom domu domem", "dom"),
        ("pt", "livro livros", "livr"),
        ("ro", "carte cărți cărții", "cart"),
        ("sv", "bil bilar bilarna", "bil"),
        ("tr", "kitap kitaplar kitapları", "kitap"),
    ],
)
def test_the_forms_of_a_word_in_latin_letters_meet(language: str, family: str, stem: str) -> None:
    assert set(index_words(family, language).split()) == {f"{language}·{stem}"}


@pytest.mark.parametrize("text", ["gpt4 ERR_FOO", "12 345", "книга 索引库", "aujourd'hui"])
def test_what_is_no_word_of_the_language_stays_as_it_is(text: str) -> None:
    assert index_words(text, "fr") == index_words(text)


@pytest.mark.parametrize("word", ["київ", "پدران", "café", "naïve", "הספרים", "žena", "Ⅷ"])
def test_letters_that_name_no_language_decide_nothing(word: str) -> None:
    assert stem_by_script(word) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("l'application", "application"),
        ("L’État d'Alsace", "etat alsac"),
        ("jusqu'ici qu'elle", "ici elle"),
        ("dell'Università un'altra", "universita altra"),
        ("O'Brien don't o'clock", "obrien o brien dont oclock"),
        ("d'you l's m'm", "dyou l mm"),
    ],
)
def test_an_elided_article_is_no_part_of_the_word(text: str, expected: str) -> None:
    assert index_words(text) == expected


@given(
    st.text(st.characters(codec="utf-8", min_codepoint=0x300, max_codepoint=0x97F), max_size=200)
)
def test_any_mix_of_letters_and_marks_finds_itself(text: str) -> None:
    """Whatever the stems are: a text as a question has the words of the text as a note."""
    assert set(text_query(text).terms) <= set(index_words(text).split())


def test_hostile_words_are_cut_and_lose_nothing() -> None:
    long = "приложени" * 10_000
    assert len(index_words(long)) < 100
    assert index_words("дом́" + "\u0301" * 5_000 + " кот").split()[-1] == "кот"
