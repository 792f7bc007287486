"""Chinese times: there are no spaces between words, so one pattern finds all times.

    上周一到周三      a match of _TIME, then of _TAIL (since, after, up to), then perhaps
    ──────  ────      another match of _TIME; _read converts each to days.

Traditional characters are replaced by simplified ones first, one by one, so positions stay valid.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from notewell.core.times.spans import (
    FEW,
    RECENT_DAYS,
    ParsedTime,
    TimeSpan,
    ago,
    compiled,
    day_of_year,
    is_selective,
    join_times,
    latest_weekend,
    months,
    one_day,
    one_day_a_year,
    period,
    real_day,
    recurring,
    shift,
    until_today,
    week,
    weekday,
    year_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAINER = str.maketrans("週這個後禮過號兩幾來從時鐘", "周这个后礼过号两几来从时钟")
"""Traditional to simplified, for the few characters that the pattern contains."""

_DAYS = {"今": 0, "昨": -1, "前": -2, "大前": -3, "明": 1, "后": 2}
_WEEKDAYS = "一二三四五六日"
_WHICH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1}
_YEARS = {"前": -2, "去": -1, "今": 0, "明": 1}
_UNITS = {
    "分钟": "minute", "小时": "hour", "天": "day", "周": "week", "星期": "week", "礼拜": "week",
    "周末": "weekend", "月": "month", "季度": "quarter", "年": "year",
}  # fmt: skip
_COUNTS: dict[str, tuple[float, float]] = {"几": FEW, "半": (0.5, 0.5)}

# Each (?<!) excludes a longer word that ends in the same characters: 说明|天, 以前|天, 成本|月;
# each (?!) excludes one that begins with them: 上周一|共, 上周日|志, 三年前|端.
_TIME = r"""
    (?: (?P<said_year> (?: (?<!\d)(?P<year>\d{4})
                       | (?P<near>今|(?<!过)去|(?<![以之目大])前|(?<![说声证表])明)
                       ) 年(?!前|以前|之前|后) )
      | (?<![\d.十一二三四五六七八九]) )
    (?: (?P<month>\d{1,2}|[十一二三四五六七八九]{1,2})月份?
        (?: (?P<day>\d{1,2}|[十一二三四五六七八九]{1,3})[日号] )?
      | (?(said_year)|(?!)) )
  | (?P<until_now>(?:最近|过去|(?<!附)近)的?)?
    (?<![\d.]) (?P<count>\d{1,3}|[十一二两三四五六七八九]{1,3}|几|半)
    (?P<unit>分钟|个?小时|天|周|个?星期|个?礼拜|个月|年)
    (?(until_now)|[以之]?前(?![端台缀提置往期面景沿]))
  | (?P<recently>最近|近来|近期|近日|这几天|前[几两些]天)
  | (?P<near_day>[今昨][天日早晚晨夜] | (?<![说发声证表])明[天日早晚晨]
      | (?<![以之提目])大?前(?:天(?!气)|晚) | (?<![以之先然])后天(?![性气]) )
  | (?: (?P<which>(?<![晚早以马网路手线])上上?|这|(?<![成基资版文样根脚副日])本
                 |(?<![以线如地])下)个?
      | (?<![每\d十一二两三四五六七八九几个]) )
    (?: (?:周|星期|礼拜)
        (?P<weekday>[一二三四五六日天](?![共起直些样般个次位名条项场篇件份志期程常]))
      | (?P<period>周末|(?(which)(?:周|星期|礼拜|月|季度)|(?!))) )
"""
_TAIL = "(?P<since>以来|至今|到现在)|(?P<after>之后|以后)|(?P<open>[以之]?前)|(?P<to>[到至~～–—-])"


def chinese_times(question: str, today: date) -> Iterator[tuple[int, TimeSpan]]:
    """Each time with its position in the text."""
    text = question.translate(_PLAINER)
    end = 0
    for match in compiled(_TIME, re.VERBOSE).finditer(text):
        # The second time of a range is part of the first result.
        parsed = _read(match, today) if match.start() >= end else None
        if not parsed:
            continue
        span, end = _with_tail(text, match, parsed, today)
        if span and is_selective(span):
            yield match.start(), span


def _with_tail(
    text: str, match: re.Match[str], start: ParsedTime, today: date
) -> tuple[TimeSpan | None, int]:
    """The time with the words that follow it (since, after, up to another), and their end. The
    time is None if it has no first day."""
    tail = compiled(_TAIL).match(text, start.end)
    if not tail:
        return start.span, start.end
    if tail["since"]:
        return TimeSpan(start.span.first, today), tail.end()
    if tail["after"]:
        return TimeSpan(shift(start.span.last, 1), today), tail.end()
    if tail["open"]:
        return None, tail.end()
    other = compiled(_TIME, re.VERBOSE).match(text, tail.end())
    end = _read(other, today) if other else None
    if not other or not end:
        return start.span, start.end
    span = join_times(start, end, lambda day: _read(match, day), lambda day: _read(other, day))
    return span, end.end


def _read(match: re.Match[str], today: date) -> ParsedTime | None:
    end = match.end()
    which = _WHICH.get(match["which"] or "")
    if match["month"] or match["said_year"]:
        return _date(match, today)
    if match["count"]:
        return _count(match, today)
    if match["recently"]:
        return ParsedTime(until_today(RECENT_DAYS, "day", today), end)
    if match["near_day"]:
        return ParsedTime(one_day(shift(today, _DAYS[match["near_day"][:-1]])), end)
    if match["weekday"]:
        # 星期天 and 星期日 are both Sunday.
        number = _WEEKDAYS.index(match["weekday"].replace("天", "日"))
        if which is None:
            return ParsedTime(one_day(weekday(number, today)), end, every_days=7)
        return ParsedTime(one_day(shift(week(today, which).first, number)), end)
    if which is None:
        return ParsedTime(latest_weekend(today), end)
    return ParsedTime(period(_UNITS[match["period"]], which, today), end)


def _date(match: re.Match[str], today: date) -> ParsedTime | None:
    """2026年, 去年三月, 2026年3月2日, 三月, 3月2号."""
    end = match.end()
    year = year_number(match["year"], today) if match["year"] else None
    if match["near"]:
        year = today.year + _YEARS[match["near"]]
    # 前年 in the year 2 would be the year 0, and a four-digit number may be a count.
    if match["said_year"] and not (year and 0 < year <= date.max.year):
        return None
    month, day = (_number(match[part]) for part in ("month", "day"))
    if year and not match["month"]:
        return ParsedTime(months(year, 1, 12), end)
    if not month or month > 12:
        return None
    if not match["day"]:
        span = months(year, month) if year else recurring(month, 1, today)
        return ParsedTime(span, end, 0 if year else 365)
    date_ = real_day(year, month, day or 0) if year else day_of_year(month, day or 0, today)
    if not date_:
        return None
    return ParsedTime(one_day(date_), end) if year else ParsedTime(one_day_a_year(date_), end, 365)


def _count(match: re.Match[str], today: date) -> ParsedTime | None:
    """三天前, 半年前, 最近两周."""
    unit = _UNITS[match["unit"].removeprefix("个")]
    number = _number(match["count"]) or 0
    least, most = _COUNTS.get(match["count"], (number, number))
    if not most:
        return None
    if match["until_now"]:
        return ParsedTime(until_today(most, unit, today), match.end())
    return ParsedTime(ago(least, most, unit, today), match.end())


def _number(text: str | None) -> int | None:
    """3, 三, 十二, 二十一; 三四 (three or four) counts as three."""
    if not text or text.isdecimal():
        return int(text) if text else None
    tens, ten, ones = text.replace("两", "二").rpartition("十")
    digits = "零一二三四五六七八九"
    units = digits.find(ones) if ones else 0
    # 十 without a digit before it is ten. 三四 is found too, at the position of 三.
    number = (digits.find(tens) if tens else 1) * 10 + units if ten else units
    return number if number > 0 and units >= 0 else None
