"""The made-up texts with and without secrets, and the language of their templates."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

import pytest
from model.secrets import marks, people_languages, technical_values
from model.secrets.texts import generated

if TYPE_CHECKING:
    from pathlib import Path

    from model.secrets.marks import Text


@pytest.fixture(scope="module")
def texts() -> list[Text]:
    return list(generated(1))


def test_a_seed_gives_the_same_texts_and_another_seed_others(texts: list[Text]) -> None:
    again = list(islice(generated(1), 20_500))  # all of people, and some of machines
    assert again == texts[: len(again)]
    assert list(islice(generated(2), 100)) != texts[:100]


def test_about_as_many_texts_have_secrets_as_have_none(texts: list[Text]) -> None:
    having = sum(bool(text.secrets) for text in texts)
    assert 50_000 <= having <= 54_000
    assert 57_000 <= len(texts) - having <= 61_000


def test_no_text_is_there_twice(texts: list[Text]) -> None:
    """Nor with its secrets and again as one that has none."""
    assert [
        text for text, times in Counter(text.text for text in texts).items() if times > 1
    ] == []


def test_each_secret_stands_in_its_text_once(texts: list[Text]) -> None:
    wrong = [
        (secret, text)
        for text in texts
        for secret in text.secrets
        if len(secret) < 3 or text.text.count(secret) != 1
    ]
    assert wrong == []


def test_no_mark_of_a_template_is_left(texts: list[Text]) -> None:
    left = re.compile(r"[‹›⟦⟧⏎⇥¤×]|^@@(with|without|fill)\b", re.MULTILINE)
    assert [text for text in texts if left.search(text.text)] == []


def test_every_section_of_templates_is_used(texts: list[Text]) -> None:
    kinds = {(text.kind, bool(text.secrets)) for text in texts}
    assert _kinds_of_people() | _kinds_of_machines() == {
        (kind, secret) for kind, secret in kinds if kind != "technical/mixed"
    }


def _kinds_of_people() -> set[tuple[str, bool]]:
    kinds = set()
    for path in people_languages.FOLDER.glob("*.txt"):
        for section in marks.sections(path):
            word, _, title = section.title.partition(" ")
            if word in ("with", "without"):
                kinds.add((f"people/{path.stem.partition('_')[0]}/{title}", word == "with"))
    return kinds


def _kinds_of_machines() -> set[tuple[str, bool]]:
    kinds = {("technical/token", True), ("technical/webhook", True), ("technical/url", True)}
    kinds.add(("technical/near", False))
    for path in technical_values.FOLDER.glob("*.txt"):
        for section in marks.sections(path):
            word, _, title = section.title.partition(" ")
            if word in ("with", "without"):
                kinds.add((f"technical/{title}", word == "with"))
    return kinds


def test_templates_with_secrets_have_marks_of_secrets_and_others_have_none() -> None:
    for folder in (people_languages.FOLDER, technical_values.FOLDER):
        for path in folder.glob("*.txt"):
            for section in marks.sections(path):
                if section.title.startswith("with "):
                    assert [line for line in section.lines if "⟦" not in line] == []
                if section.title.startswith("without "):
                    assert [line for line in section.lines if "⟦" in line] == []


def test_every_mark_in_a_filler_has_a_filler() -> None:
    """In all its alternatives, also those that one seed does not draw."""
    drawing = technical_values.Drawing(Random(1))
    languages = [people_languages.Drawing(Random(1), one) for one in people_languages.languages()]
    for each in (drawing, *languages):
        for alternatives in each.known.values():
            for alternative in alternatives:
                each.filled(alternative)


def test_a_number_keeps_a_value_and_another_number_has_another() -> None:
    drawing = marks.Drawing(Random(1), {"door": ["red", "green", "blue"]})
    for _ in range(20):
        first, again, other = drawing.filled("‹door#1› ‹door#1› ‹door#2›").split()
        assert first == again != other


def test_marks_draw_numbers_characters_and_several_values() -> None:
    drawing = marks.Drawing(Random(1), {"word": ["sea"]})
    assert re.fullmatch("0[3-5]-[0-9A-Z]{4}", drawing.filled("‹n:03-05›-‹c:U4›"))
    assert drawing.filled("‹cap:word›, ‹word×2, ›⏎‹a|a›") == "Sea, sea, sea\na"
    made = drawing.complete("pin ⟦D4⟧ key ⟦=sk-[X8]⟧.", "kind")
    assert re.fullmatch(r"pin \d{4} key sk-[0-9a-f]{8}\.", made.text)
    assert [len(secret) for secret in made.secrets] == [4, 11]


def test_a_weight_counts_an_alternative_several_times(tmp_path: Path) -> None:
    path = tmp_path / "doors.txt"
    path.write_text("@@fill door\n2× red|‹green|blue›\n@@with door\n⟦pin⟧\n", encoding="utf-8")
    assert marks.fillers(marks.sections(path)) == {"door": ["red", "red", "‹green|blue›"]}


def test_a_mark_that_nothing_explains_is_named() -> None:
    with pytest.raises(ValueError, match="'window'"):
        marks.Drawing(Random(1), {}).filled("the ‹window›")
