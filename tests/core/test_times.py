"""What holds for times in any language; `test_times_<language>.py` has the examples."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from time import perf_counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from notewell.core.ranking import decay
from notewell.core.times import (
    MAX_SPAN_DAYS,
    TimeSpan,
    find_times,
    note_date,
)
from notewell.limits import MAX_QUERY_CHARS

TODAY = date(2026, 11, 15)

_VOCABULARY = (
    "in on of the since before between from to and - – early mid- end week day last this next "
    "past a an half couple few 0 1 2 3rd 31 99 9999 2024 2026 days weeks months years ago back "
    "weekend quarter Monday Mon. sat March May Feb spring Q1 today yesterday 's recently night "
    "2026-03-02 2026-02-30 0000-00-00 2026-03 x.md 年 月 日 号 周 星期 上 这 本 下 个 天 前 以来 "
    "到 之前 十 二 三 几 半 去 今 明 后 最近 末 2026年 一 ² ٣ \ud800 \x00 \x01 ,"
)
_QUESTIONS = st.lists(st.sampled_from(_VOCABULARY.split(" ")), max_size=12).flatmap(
    lambda words: st.sampled_from([" ".join(words), "".join(words)])
)


@given(
    st.one_of(st.text(max_size=200), _QUESTIONS),
    st.one_of(st.just(TODAY), st.dates(), st.sampled_from([date.min, date.max])),
)
@example("next winter", date.max)
@example("last winter since last year before in March", date.min)
def test_any_text_is_read_without_error(question: str, today: date) -> None:
    span = find_times(question, today)
    if span:
        assert span.first <= span.last
        assert (span.last - span.first).days < MAX_SPAN_DAYS
        assert span.distance_days(span.first) == span.distance_days(span.last) == 0


@given(_QUESTIONS)
def test_the_generated_questions_are_read_the_same_twice(question: str) -> None:
    assert find_times(question, TODAY) == find_times(question, TODAY)


def test_distance_is_counted_from_the_nearer_end() -> None:
    march = TimeSpan(date(2026, 3, 1), date(2026, 3, 31))
    assert march.distance_days(date(2026, 3, 1)) == 0
    assert march.distance_days(date(2026, 2, 27)) == 2
    assert march.distance_days(date(2026, 4, 10)) == 10


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("memory/2026-11-15.md", "2026-11-15"),
        ("memory/2026/2026-11-15.md", "2026-11-15"),
        ("2026-11-15.MD", "2026-11-15"),
        ("memory/2026-11-15-router-decision.md", "2026-11-15"),
        ("/notes/extra/2026-11-15-日记.md", "2026-11-15"),
        ("memory/2026-02-31.md", None),
        ("memory/2026-11-15x.md", None),
        ("memory/2026-11-15-.md", None),
        ("memory/20261115.md", None),
        ("memory/2026-11-15.txt", None),
        ("memory/2026-11-15/plan.md", None),
        ("memory/x-2026-11-15.md", None),
        ("memory/٢٠٢٦-١١-١٥.md", None),
        ("MEMORY.md", None),
        ("memory.md", None),
        ("", None),
    ],
)
def test_a_note_has_the_date_of_its_name(path: str, expected: str | None) -> None:
    assert note_date(path) == (date.fromisoformat(expected) if expected else None)


@given(st.dates(), st.from_regex(r"(-[a-z]{1,9}){0,3}", fullmatch=True))
def test_every_day_is_read_back_from_its_note(day: date, slug: str) -> None:
    assert note_date(f"memory/{day.isoformat()}{slug}.md") == day
    assert find_times(f"what is in memory/{day.isoformat()}{slug}.md?", TODAY) == (day, day)


def test_decay_halves_a_score_at_the_half_life_and_stops_at_the_floor() -> None:
    assert decay(0, floor=0.1) == decay(-3, floor=0.1) == 1
    assert decay(30, floor=0.1) == pytest.approx(0.5)
    assert decay(15, half_life_days=15, floor=0.1) == pytest.approx(0.5)
    assert decay(30, half_life_days=15, floor=0.1) == pytest.approx(0.25)
    assert decay(36_500, floor=0.1) == 0.1


_AGES = st.floats(min_value=-1e6, max_value=1e300)


@given(_AGES, _AGES, st.floats(0.01, 1e6), st.floats(0, 1))
def test_an_older_note_never_gains_by_its_age(
    one: float, other: float, half_life_days: float, floor: float
) -> None:
    younger, older = sorted((one, other))
    weights = [decay(age, half_life_days, floor=floor) for age in (younger, older)]
    assert floor <= weights[1] <= weights[0] <= 1


@pytest.mark.parametrize("unit", ["plain prose of a note, ", "in ", "early ", "3 ", "上个", "十"])
def test_the_longest_question_is_read_and_its_time_reported(unit: str) -> None:
    """`pytest -rP` shows the figures; a busy machine must not fail the build."""
    question = unit * (MAX_QUERY_CHARS // len(unit))
    start = perf_counter()
    assert find_times(question, TODAY) is None
    sys.stdout.write(f"{unit!r}: {(perf_counter() - start) * 1e3:.0f} ms\n")


def test_importing_reads_no_language_and_its_time_is_reported() -> None:
    program = (
        "import notewell.types, datetime, sys, time; start = time.perf_counter(); "
        "from notewell.core.times import spans; "
        "import_ms = (time.perf_counter() - start) * 1e3; "
        "languages = [name for name in sys.modules "
        "if name.endswith(('times.find', 'english_phrases', 'chinese'))]; "
        "print(import_ms, len(languages), spans.compiled.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    import_ms, languages, compiled = done.stdout.decode().split()
    sys.stdout.write(f"import: {float(import_ms):.2f} ms\n")
    assert languages == compiled == "0"


@pytest.mark.parametrize(
    ("question", "day", "distance"),
    [
        ("what broke in June?", date(2026, 6, 30), 0),
        ("what broke in June?", date(2023, 6, 10), 7),
        ("what broke in June?", date(2023, 7, 3), 10),
        ("what broke on June 5?", date(2021, 6, 5), 7),
        ("六月发生了什么", date(2023, 6, 27), 7),
        ("what broke last June?", date(2023, 6, 10), 1087),
        ("what broke in June 2025?", date(2023, 6, 10), 722),
        ("on February 29", date(2023, 2, 28), 7),
    ],
)
def test_a_month_without_its_year_may_be_of_any_year(
    question: str, day: date, distance: int
) -> None:
    asked = find_times(question, TODAY)
    assert asked is not None
    assert asked.distance_days(day) == distance


@given(st.dates(), st.dates())
def test_a_time_that_comes_round_is_never_farther_than_the_latest(day: date, today: date) -> None:
    for question in ("in December", "on February 29", "一月"):
        asked = find_times(question, today)
        if asked is not None:
            latest = TimeSpan(asked.first, asked.last)
            assert 0 <= asked.distance_days(day) <= latest.distance_days(day)
