"""Which days a question means; every example is asked on Sunday, 15 November 2026."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from time import perf_counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.core.limits import MAX_QUERY_CHARS
from recollect.core.times import (
    DECAY_FLOOR,
    MAX_SPAN_DAYS,
    TimeSpan,
    asked_times,
    decay,
    note_date,
)

TODAY = date(2026, 11, 15)

# One example a line: the question, then its first and, when it is another, its last day.
DAYS = """
what did we do today? | 2026-11-15
today's plan | 2026-11-15
TODAY’S PLAN | 2026-11-15
what is on tonight | 2026-11-15
what did I say this morning? | 2026-11-15
what happened yesterday? | 2026-11-14
yesterday afternoon's call | 2026-11-14
who called last night | 2026-11-14
what did I plan the day before yesterday? | 2026-11-13
what is due tomorrow | 2026-11-16
the day after tomorrow | 2026-11-17
what we said an hour ago | 2026-11-15
half an hour ago | 2026-11-15
two days ago | 2026-11-13
what broke 10 days ago | 2026-11-05
a couple of days ago | 2026-11-12 | 2026-11-13
a few days back | 2026-11-10 | 2026-11-13
a week ago | 2026-11-05 | 2026-11-11
three weeks ago | 2026-10-22 | 2026-10-28
a month ago | 2026-10-01 | 2026-10-31
half a year ago | 2026-02-14 | 2026-08-15
a year ago | 2025-05-17 | 2026-05-16
0 weeks ago | 2026-11-15
"""

PERIODS = """
what did we decide last week? | 2026-11-02 | 2026-11-08
last week on Wednesday | 2026-11-04
on Wednesday last week | 2026-11-04
Thursday of last week | 2026-11-05
this week | 2026-11-09 | 2026-11-15
next week | 2026-11-16 | 2026-11-22
last weekend | 2026-11-07 | 2026-11-08
this weekend | 2026-11-14 | 2026-11-15
what did you do over the weekend? | 2026-11-14 | 2026-11-15
last month | 2026-10-01 | 2026-10-31
this month | 2026-11-01 | 2026-11-30
next month | 2026-12-01 | 2026-12-31
late last month | 2026-10-21 | 2026-10-31
last quarter | 2026-07-01 | 2026-09-30
last year | 2025-01-01 | 2025-12-31
this year | 2026-01-01 | 2026-12-31
next year | 2027-01-01 | 2027-12-31
in the last two weeks | 2026-11-01 | 2026-11-15
over the past month | 2026-10-15 | 2026-11-15
the past few days | 2026-11-10 | 2026-11-15
the last 24 hours | 2026-11-14 | 2026-11-15
what have I read recently? | 2026-11-01 | 2026-11-15
lately | 2026-11-01 | 2026-11-15
the other day | 2026-11-01 | 2026-11-15
last Monday | 2026-11-09
last Sunday | 2026-11-08
the call on Monday | 2026-11-09
on Sunday | 2026-11-15
on Mon. we met | 2026-11-09
this Friday | 2026-11-13
next Friday | 2026-11-20
next Tue | 2026-11-17
Monday's meeting | 2026-11-09
Monday morning | 2026-11-09
what did we say Friday? | 2026-11-13
"""

MONTHS = """
what did we ship in March? | 2026-03-01 | 2026-03-31
in December | 2025-12-01 | 2025-12-31
in November | 2026-11-01 | 2026-11-30
in March 2025 | 2025-03-01 | 2025-03-31
the March 2025 release | 2025-03-01 | 2025-03-31
in March last year | 2025-03-01 | 2025-03-31
in May | 2026-05-01 | 2026-05-31
May 2025 | 2025-05-01 | 2025-05-31
last May | 2026-05-01 | 2026-05-31
last November | 2025-11-01 | 2025-11-30
next March | 2027-03-01 | 2027-03-31
in Sept 2024 | 2024-09-01 | 2024-09-30
early March | 2026-03-01 | 2026-03-10
mid-March | 2026-03-11 | 2026-03-20
in late March | 2026-03-21 | 2026-03-31
at the end of March 2025 | 2025-03-21 | 2025-03-31
early yesterday | 2026-11-14
in 2024 | 2024-01-01 | 2024-12-31
the roadmap of 2025 | 2025-01-01 | 2025-12-31
in the year 2025 | 2025-01-01 | 2025-12-31
Q1 2026 | 2026-01-01 | 2026-03-31
2025 Q4 goals | 2025-10-01 | 2025-12-31
in Q3 | 2026-07-01 | 2026-09-30
last spring | 2026-03-01 | 2026-05-31
last summer | 2026-06-01 | 2026-08-31
last autumn | 2025-09-01 | 2025-11-30
last fall | 2025-09-01 | 2025-11-30
last winter | 2025-12-01 | 2026-02-28
this fall | 2026-09-01 | 2026-11-30
this summer | 2026-06-01 | 2026-08-31
in the summer of 2025 | 2025-06-01 | 2025-08-31
in winter | 2025-12-01 | 2026-02-28
2026-03 | 2026-03-01 | 2026-03-31
"""

DATES = """
on March 2 | 2026-03-02
on December 24 | 2025-12-24
March 2nd, 2026 | 2026-03-02
May 3rd | 2026-05-03
what happened May 3? | 2026-05-03
on 3 May | 2026-05-03
2 March 2026 | 2026-03-02
the 2nd of March | 2026-03-02
on Feb 29 | 2024-02-29
on Monday, March 2 | 2026-03-02
2026-03-02 | 2026-03-02
2026/3/2 | 2026-03-02
at 2026-03-02T10:30 | 2026-03-02
(2026-03-02) | 2026-03-02
see memory/2026-03-02.md. | 2026-03-02
what is in memory/2026/2026-03-02-router.md? | 2026-03-02
the week of March 4 | 2026-03-02 | 2026-03-08
"""

RANGES = """
since Monday | 2026-11-09 | 2026-11-15
since March | 2026-03-01 | 2026-11-15
since last week | 2026-11-02 | 2026-11-15
since 2025-11-15 | 2025-11-15 | 2026-11-15
after March 2026 | 2026-04-01 | 2026-11-15
between March and May 2025 | 2025-03-01 | 2025-05-31
what was said between November and March? | 2025-11-01 | 2026-03-31
between the 2nd of March and the 5th of March | 2026-03-02 | 2026-03-05
from 2026-01-01 to 2026-01-07 | 2026-01-01 | 2026-01-07
2026-01-01–2026-01-07 | 2026-01-01 | 2026-01-07
from 2026-01-07 to 2026-01-01 | 2026-01-01 | 2026-01-07
from March 2025 to May | 2025-03-01 | 2025-05-31
in March-May 2025 | 2025-03-01 | 2025-05-31
from Monday to Wednesday | 2026-11-09 | 2026-11-11
from last Monday until yesterday | 2026-11-09 | 2026-11-14
on Monday to nobody | 2026-11-09
before March, and then yesterday | 2026-11-14
since 2019, and since Monday | 2026-11-09 | 2026-11-15
yesterday or in March | 2026-11-14
"""

CHINESE = """
今天做了什么 | 2026-11-15
今早 | 2026-11-15
他说昨天 | 2026-11-14
昨晚 | 2026-11-14
前天 | 2026-11-13
大前天 | 2026-11-12
明天 | 2026-11-16
后天 | 2026-11-17
上周我们决定了什么 | 2026-11-02 | 2026-11-08
這週 | 2026-11-09 | 2026-11-15
本周 | 2026-11-09 | 2026-11-15
下周 | 2026-11-16 | 2026-11-22
上个星期 | 2026-11-02 | 2026-11-08
上上周 | 2026-10-26 | 2026-11-01
周末 | 2026-11-14 | 2026-11-15
上周末 | 2026-11-07 | 2026-11-08
上个月 | 2026-10-01 | 2026-10-31
上月 | 2026-10-01 | 2026-10-31
这个月 | 2026-11-01 | 2026-11-30
本月 | 2026-11-01 | 2026-11-30
上季度 | 2026-07-01 | 2026-09-30
去年 | 2025-01-01 | 2025-12-31
今年 | 2026-01-01 | 2026-12-31
前年 | 2024-01-01 | 2024-12-31
三天前 | 2026-11-12
十二天前 | 2026-11-03
二十天前 | 2026-10-26
二三十天前 | 2026-10-26
几天前 | 2026-11-10 | 2026-11-13
３天前 | 2026-11-12
两周前 | 2026-10-29 | 2026-11-04
三个星期以前 | 2026-10-22 | 2026-10-28
1个月前 | 2026-10-01 | 2026-10-31
一年前 | 2025-05-17 | 2026-05-16
半年前 | 2026-02-14 | 2026-08-15
在三月 | 2026-03-01 | 2026-03-31
3月 | 2026-03-01 | 2026-03-31
十二月份 | 2025-12-01 | 2025-12-31
2026年 | 2026-01-01 | 2026-12-31
2026年3月 | 2026-03-01 | 2026-03-31
去年三月 | 2025-03-01 | 2025-03-31
2026年3月2日 | 2026-03-02
3月2日 | 2026-03-02
3月2号 | 2026-03-02
三月二十一日 | 2026-03-21
周一 | 2026-11-09
星期天 | 2026-11-15
礼拜一 | 2026-11-09
上周三 | 2026-11-04
这个星期三 | 2026-11-11
晚上周三 | 2026-11-11
上周一共开了几次会 | 2026-11-02 | 2026-11-08
上周日志 | 2026-11-02 | 2026-11-08
最近 | 2026-11-01 | 2026-11-15
最近三天 | 2026-11-12 | 2026-11-15
过去两周 | 2026-11-01 | 2026-11-15
周一以来 | 2026-11-09 | 2026-11-15
3月2日之后 | 2026-03-03 | 2026-11-15
3月到5月 | 2026-03-01 | 2026-05-31
2025年3月到5月 | 2025-03-01 | 2025-05-31
上周一到周三 | 2026-11-02 | 2026-11-04
周一到公司 | 2026-11-09
2026-03-02我们做了什么 | 2026-03-02
上周 or yesterday | 2026-11-02 | 2026-11-08
yesterday or 上周 | 2026-11-14
"""


def _rows(table: str) -> list[tuple[str, TimeSpan]]:
    rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines() if line]
    return [
        (row[0], TimeSpan(date.fromisoformat(row[1]), date.fromisoformat(row[-1]))) for row in rows
    ]


@pytest.mark.parametrize(
    ("question", "expected"), _rows(DAYS + PERIODS + MONTHS + DATES + RANGES + CHINESE)
)
def test_a_question_means_these_days(question: str, expected: TimeSpan) -> None:
    assert asked_times(question, TODAY) == expected


@pytest.mark.parametrize(
    "question",
    [
        "",
        "what did we decide about the router?",
        "may I come in?",
        "it may fail",
        "this may fail",
        "may 2 agents write at once?",
        "may 3rd party code run?",
        "step 2 may fail",
        "the 2nd may be wrong",
        "march on",
        "let's march",
        "wait a second",
        "the second try",
        "the sun sat low on the hill",
        "he sat there",
        "this sat in the queue",
        "is it 1.2.3 or 3.11?",
        "python 3.11 in 3.12",
        "TCK-2026",
        "in TCK-2026",
        "in #2024",
        "room 2024",
        "2024",
        "in 1850",
        "in 2048",
        "in 2024 tokens",
        "a list of 2000 items",
        "order 2026-123-45",
        "2026-02-31",
        "2026-13",
        "2026/3",
        "1234-05-06",
        "February 30",
        "February 30, 2026",
        "summer likes tea",
        "a photo of June",
        "a letter from April",
        "what does April like?",
        "in Spring Boot",
        "in fall-back mode",
        "every Monday morning",
        "is the shop closed on Mondays",
        "when is Black Friday?",
        "Monday to Friday",
        "Q1",
        "the last word",
        "the last two chapters",
        "this time",
        "the week of silence",
        "two and a half years ago",
        "99999 days ago",
        "three blind mice",
        "before 2025-03-01",
        "by Friday",
        "since 2019",
        "since next week",
        "between 2015 and 2025",
        "between you and me",
        "https://example.org/2026/03/02/post",
        "每周一",
        "一周一次",
        "以前天气很好",
        "说明天气",
        "修改后日志",
        "成本月报",
        "三年前端经验",
        "2025年前",
        "3月2日之前",
        "99月",
        "2月30日",
        "四三天前",
        "1850年",
        "三三月",
        "第三个月",
    ],
)
def test_a_false_friend_names_no_time(question: str) -> None:
    assert asked_times(question, TODAY) is None


@pytest.mark.parametrize(
    ("today", "question", "expected"),
    [
        (date(2026, 11, 16), "last weekend", ("2026-11-14", "2026-11-15")),
        (date(2026, 11, 18), "over the weekend", ("2026-11-14", "2026-11-15")),
        (date(2026, 3, 1), "in March", ("2026-03-01", "2026-03-31")),
        (date(2026, 3, 1), "last March", ("2025-03-01", "2025-03-31")),
        (date(2026, 1, 31), "last month", ("2025-12-01", "2025-12-31")),
        (date(2026, 1, 31), "last quarter", ("2025-10-01", "2025-12-31")),
        (date(2027, 1, 10), "this winter", ("2026-12-01", "2027-02-28")),
        (date(2027, 1, 10), "last winter", ("2025-12-01", "2026-02-28")),
        (date(2027, 1, 10), "next winter", ("2027-12-01", "2028-02-29")),
        (date(2024, 2, 29), "a year ago", ("2022-08-31", "2023-08-30")),
        (date(2026, 12, 31), "next month", ("2027-01-01", "2027-01-31")),
    ],
)
def test_another_today_means_other_days(
    today: date, question: str, expected: tuple[str, str]
) -> None:
    assert asked_times(question, today) == TimeSpan(*map(date.fromisoformat, expected))


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
    span = asked_times(question, today)
    if span:
        assert span.first <= span.last
        assert (span.last - span.first).days < MAX_SPAN_DAYS
        assert span.distance_days(span.first) == span.distance_days(span.last) == 0


@given(_QUESTIONS)
def test_the_generated_questions_are_read_the_same_twice(question: str) -> None:
    assert asked_times(question, TODAY) == asked_times(question, TODAY)


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
    assert asked_times(f"what is in memory/{day.isoformat()}{slug}.md?", TODAY) == (day, day)


def test_decay_halves_a_score_at_the_half_life_and_then_stops() -> None:
    assert decay(0) == decay(-3) == 1
    assert decay(30) == pytest.approx(0.5)
    assert decay(15, half_life_days=15, floor=0.1) == pytest.approx(0.5)
    assert decay(30, half_life_days=15, floor=0.1) == pytest.approx(0.25)
    assert decay(36_500) == DECAY_FLOOR


_AGES = st.floats(min_value=-1e6, max_value=1e300)


@given(_AGES, _AGES, st.floats(0.01, 1e6), st.floats(0, 1))
def test_an_older_note_never_gains_by_its_age(
    one: float, other: float, half_life_days: float, floor: float
) -> None:
    younger, older = sorted((one, other))
    weights = [decay(age, half_life_days, floor) for age in (younger, older)]
    assert floor <= weights[1] <= weights[0] <= 1


@pytest.mark.parametrize("unit", ["plain prose of a note, ", "in ", "early ", "3 ", "上个", "十"])
def test_the_longest_question_is_read_and_its_time_reported(
    unit: str, record_property: Callable[[str, object], None]
) -> None:
    question = unit * (MAX_QUERY_CHARS // len(unit))
    start = perf_counter()
    assert asked_times(question, TODAY) is None
    record_property("read_ms", round((perf_counter() - start) * 1e3, 1))


def test_importing_compiles_no_pattern_and_its_time_is_reported(
    record_property: Callable[[str, object], None],
) -> None:
    program = (
        "import recollect.core.types, time; start = time.perf_counter(); "
        "from recollect.core import times; "
        "print((time.perf_counter() - start) * 1e3, times._compiled.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    import_ms, compiled = done.stdout.decode().split()
    record_property("import_ms", round(float(import_ms), 2))
    assert compiled == "0"


def test_a_week_starts_on_monday_wherever_today_lies_in_it() -> None:
    for days in range(7):
        today = date(2026, 11, 9) + timedelta(days=days)
        assert asked_times("this week", today) == (date(2026, 11, 9), date(2026, 11, 15))
        assert asked_times("last week", today) == (date(2026, 11, 2), date(2026, 11, 8))
