"""Which days an English question means; every example is asked on Sunday, 15 November 2026."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from notewell.core.times import TimeSpan, find_times

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
what did I do the week before August 3, 2023? | 2023-07-27 | 2023-08-03
where was she in the week before 16 November 2023? | 2023-11-09 | 2023-11-16
the puppy I got two weeks before August 11, 2023 | 2023-07-25 | 2023-07-31
three days before last Monday | 2026-11-06
the day before March 2 | 2026-03-01 | 2026-03-02
what did I start recently, as I said on 3 June, 2023? | 2023-06-03
what did we do recently? | 2026-11-01 | 2026-11-15
"""

_LINES = (DAYS + PERIODS + MONTHS + DATES + RANGES).splitlines()


@pytest.mark.parametrize("line", [line for line in _LINES if line])
def test_a_question_means_these_days(line: str) -> None:
    question, *said = (cell.strip() for cell in line.split("|"))
    days = [date.fromisoformat(day) for day in said]
    assert find_times(question, TODAY) == TimeSpan(days[0], days[-1])


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
        "the week before the release",
        "two weeks before we met",
        "the week before March",
        "by Friday",
        "since 2019",
        "since next week",
        "between 2015 and 2025",
        "between you and me",
        "https://example.org/2026/03/02/post",
    ],
)
def test_a_false_friend_names_no_time(question: str) -> None:
    assert find_times(question, TODAY) is None


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
    assert find_times(question, today) == TimeSpan(*map(date.fromisoformat, expected))


def test_a_week_starts_on_monday_wherever_today_lies_in_it() -> None:
    for days in range(7):
        today = date(2026, 11, 9) + timedelta(days=days)
        assert find_times("this week", today) == (date(2026, 11, 9), date(2026, 11, 15))
        assert find_times("last week", today) == (date(2026, 11, 2), date(2026, 11, 8))
