"""The language of a text in Latin letters, and the terms of a question in several languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core.languages import LANGUAGES, language_of
from notewell.core.terms import as_spelled, text_query, useful_terms
from notewell.core.words import chunk_words


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("cs", "Rozhodli jsme se, že schůzka je v pátek, ale jen když přijde také zákazník."),
        ("da", "Mødet blev flyttet til fredag af kunden, og der er ikke plads til alle."),
        ("de", "Wir haben beschlossen, dass die Sitzung am Freitag ist."),
        ("es", "Decidimos que la reunión es el viernes porque no hay sala para todos."),
        ("fi", "Päätimme että kokous on perjantaina, mutta se ei ole varma."),
        ("fr", "Nous avons décidé que la réunion est vendredi, pas jeudi."),
        ("hu", "Azt döntöttük, hogy a találkozó pénteken lesz, és nem csütörtökön."),
        ("it", "Abbiamo deciso che la riunione è venerdì, ma non per tutti."),
        ("nl", "We hebben besloten dat het overleg op vrijdag is, niet eerder."),
        ("pl", "Ustaliliśmy, że spotkanie jest w piątek, ale nie dla wszystkich."),
        ("pt", "Decidimos que a reunião é na sexta, mas não para todos, e também por vídeo."),
        ("ro", "Am hotărât că ședința este vineri și nu se mai schimbă."),
        ("sv", "Vi har bestämt att mötet är på fredag, men inte för alla."),
        ("tr", "Toplantı cuma günü için planlandı ve çok kısa bir sunum olarak yapılacak."),
        ("en", "We decided that the meeting is on Friday, but not for everybody."),
        (
            "en",
            "def load(path):\n    if path is None: return {}\n    for line in path: yield line",
        ),
        ("en", "Paris, Los Angeles, São Paulo"),
        ("en", "la Seine"),
        ("en", ""),
        ("en", "привет 你好"),
    ],
)
def test_the_language_of_a_text(language: str, text: str) -> None:
    assert language_of(text) == language


@given(st.text(max_size=300))
def test_every_text_has_a_language(text: str) -> None:
    assert language_of(text) in {"en", *LANGUAGES}


@given(st.text(max_size=100), st.sampled_from(LANGUAGES))
def test_a_word_finds_itself_whatever_its_text_was_taken_for(text: str, language: str) -> None:
    """The guess may be wrong: each term of the text as a question is in it, in that language."""
    note = f"{text} {' '.join(['que es la de'] * 30)}"
    words = set(chunk_words(note, "").body.split())
    guessed = language_of(note)
    query = text_query(text, (guessed, language))
    assert all(words.intersection(group) for group in query.groups)


def test_a_question_has_each_stem_once() -> None:
    query = text_query("Haus und Häuser", ("de",))
    assert query.terms == ("haus", "und", "hauser")
    assert query.groups == (("haus", "de·haus"), ("und", "de·und"), ("hauser",))


def test_an_index_in_english_alone_changes_no_question() -> None:
    assert text_query("where are the houses?", ()).variants == ()


def test_a_stem_that_no_chunk_has_is_not_searched() -> None:
    query = text_query("libros antiguos", ("es", "pt"))
    useful = useful_terms(query, {"es·libr": 3})
    assert useful.groups == (("libro", "es·libr"), ("antiguo",))


def test_the_weight_of_a_term_counts_for_the_forms_in_a_text() -> None:
    query = text_query("libro", ("es",))
    weights = as_spelled({"libro": 2.0}, query, "Los librito y libros de la casa")
    assert weights["libro"] == 2.0
    german = text_query("Haus", ("de",))
    assert as_spelled({"haus": 2.0}, german, "alte Häuser") == {"haus": 2.0, "hauser": 2.0}


def test_each_line_of_a_chunk_has_its_own_language() -> None:
    lines = ["- The keys are on the fridge.", "- Die Häuser am See werden verkauft.", "- SQLite"]
    body = chunk_words("\n".join(lines), "Notes").body.split(" ")
    assert "key" in body
    assert "de·haus" in body
    assert "sqlit" in body
    assert body[-1] == "de·"


def test_a_line_that_is_not_clear_has_the_language_of_the_text() -> None:
    text = "Wir haben die Häuser verkauft und das Geld ist da.\nHäuser, Gärten"
    assert chunk_words(text, "").body.split(" ").count("de·haus") == 2
