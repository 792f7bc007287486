"""What narrows a search, as it is typed and as a program says it."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell import Filters
from notewell.core import both, split_question
from notewell.errors import BadRequest

TODAY = date(2026, 11, 15)


@pytest.mark.parametrize(
    ("question", "text", "filters"),
    [
        ("router tag:network", "router", Filters(tags=("network",))),
        ("tag:#Net/Home the  router", "the  router", Filters(tags=("net/home",))),
        ("a path:Projects/ b path:x", "a b", Filters(paths=("projects/", "x"))),
        ('path:"my notes" a', "a", Filters(paths=("my notes",))),
        ("after:2026-03 before:7d", "", Filters(after=("2026-03",), before=("7d",))),
    ],
)
def test_filters_are_taken_out_of_a_question(question: str, text: str, filters: Filters) -> None:
    assert split_question(question) == (text, filters)
    assert split_question(str(filters)) == ("", filters)


@pytest.mark.parametrize(
    "question",
    [
        'what does "tag:x" mean',
        '"a path:b c"',
        "see https://x.y:80/tag:x at 10:30",
        "foo:bar mytag:x (tag:x)",
        "the tag: is empty, before: lunch",
        "Tag:x PATH:/bin",
        ' spaces  stay : as they are "',
    ],
)
def test_everything_else_is_text(question: str) -> None:
    assert split_question(question) == (question, Filters())


@pytest.mark.parametrize(
    ("after", "before", "first", "end"),
    [
        ("2026", "2027", date(2026, 1, 1), date(2027, 1, 1)),
        ("2026-03", "2026-04", date(2026, 3, 1), date(2026, 4, 1)),
        ("2026-3-4", "2026-03-05", date(2026, 3, 4), date(2026, 3, 5)),
        ("7d", "0d", date(2026, 11, 8), TODAY),
    ],
)
def test_after_includes_its_day_and_before_does_not(
    after: str, before: str, first: date, end: date
) -> None:
    assert Filters.of(after=[after], before=[before]).days(TODAY) == (first, end)


def test_of_several_days_the_narrowest_count() -> None:
    filters = both(Filters.of(after=["2025", "2026"]), Filters.of(after=["2024"], before=["10d"]))
    assert filters.days(TODAY) == (date(2026, 1, 1), date(2026, 11, 5))


@pytest.mark.parametrize(
    "written",
    ["banana", "2026-13", "2026-02-30", "0000", "999999d", "７d", "1e3", "2026-03-04x", ""],
)
def test_a_day_that_cannot_be_read_names_the_forms(written: str) -> None:
    with pytest.raises(BadRequest, match=r"2026-03-04.*2026-03.*2026.*7d.*quotes"):
        Filters.of(before=[written])


def test_bad_filters_are_refused() -> None:
    with pytest.raises(BadRequest, match="needs a value"):
        Filters.of(tags=["#"])
    with pytest.raises(BadRequest, match="needs a value"):
        Filters.of(paths=[" "])
    with pytest.raises(BadRequest, match="at most 16"):
        Filters.of(tags=["a"] * 17)
    with pytest.raises(BadRequest, match="512"):
        Filters.of(paths=["a" * 513])
    with pytest.raises(BadRequest, match="a text, not int"):
        Filters.of(tags=[3])  # type: ignore[list-item]


@given(st.lists(st.sampled_from(['"', " ", "tag:", "path:", "after:", "2026", "x", ":", "\n"])))
def test_any_question_is_split_or_refused(parts: list[str]) -> None:
    question = "".join(parts)
    try:
        text, filters = split_question(question)
    except BadRequest:
        return
    assert bool(filters) == (text != question)
    assert len(text) <= len(question)
