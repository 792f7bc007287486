"""Whether the silent turn runs, from values alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.capture import FlushFacts, FlushSettings, RunFlush, Skip, decide
from notewell.capture.flush_decision import (
    MAX_TRIES,
    NO_REPLY,
    Mark,
    is_silent,
    threshold,
)
from notewell.notes import user_day

TODAY = date(2026, 11, 15)
FULL = FlushFacts(used_tokens=176_000, context_window=200_000, compactions=0)
DONE = Mark(TODAY, 0, 176_000, 1, done=True)


def test_runs_from_the_threshold_on_and_not_before() -> None:
    assert isinstance(decide(FULL, FlushSettings(), None, TODAY), RunFlush)
    below = replace(FULL, used_tokens=175_999)
    skipped = decide(below, FlushSettings(), None, TODAY)
    assert skipped == Skip("175999 tokens are used; it is time at 176000")


@pytest.mark.parametrize(
    ("facts", "settings", "why"),
    [
        (FULL, FlushSettings(enabled=False), "memoryFlush.enabled is false"),
        (replace(FULL, access="ro"), FlushSettings(), "the workspace is read-only"),
        (replace(FULL, access="none"), FlushSettings(), "closed to this session"),
        (replace(FULL, provider="cli"), FlushSettings(), "command line tool"),
        (replace(FULL, context_window=0), FlushSettings(), "window is not known"),
    ],
)
def test_skips_with_the_reason(facts: FlushFacts, settings: FlushSettings, why: str) -> None:
    skipped = decide(facts, settings, None, TODAY)
    assert isinstance(skipped, Skip)
    assert why in skipped.why


@given(st.integers(1, 2_000_000), st.integers(0, 500_000), st.integers(0, 500_000))
def test_every_window_is_flushed_before_it_is_full(window: int, reserve: int, soft: int) -> None:
    settings = FlushSettings(reserve_tokens=reserve, soft_threshold_tokens=soft)
    assert 1 <= threshold(window, settings) <= window
    full = FlushFacts(used_tokens=window, context_window=window)
    assert isinstance(decide(full, settings, None, TODAY), RunFlush)


def test_once_a_cycle_and_again_in_the_next() -> None:
    assert isinstance(decide(FULL, FlushSettings(), DONE, TODAY), Skip)
    assert isinstance(decide(replace(FULL, compactions=1), FlushSettings(), DONE, TODAY), RunFlush)


def test_where_nobody_counts_a_conversation_that_shrank_is_in_its_next_cycle() -> None:
    mark = replace(DONE, compactions=None)
    uncounted = replace(FULL, compactions=None)
    assert isinstance(decide(uncounted, FlushSettings(), mark, TODAY), Skip)
    small = FlushFacts(used_tokens=40_000, context_window=60_000)
    assert isinstance(decide(small, FlushSettings(), mark, TODAY), RunFlush)


def test_compaction_by_another_path_flushes_whatever_the_tokens_are() -> None:
    asked = FlushFacts(used_tokens=10, context_window=0, compactions=0, compacting=True)
    assert isinstance(decide(asked, FlushSettings(), None, TODAY), RunFlush)
    assert isinstance(decide(asked, FlushSettings(), DONE, TODAY), Skip)


def test_a_second_try_after_midnight_keeps_its_note() -> None:
    begun = replace(DONE, done=False)
    again = decide(FULL, FlushSettings(), begun, TODAY + timedelta(days=1))
    assert isinstance(again, RunFlush)
    assert again.path == "memory/2026-11-15.md"


def test_a_turn_under_way_is_left_alone_and_a_failing_one_given_up() -> None:
    begun = replace(DONE, done=False)
    under_way = decide(FULL, FlushSettings(), begun, TODAY, is_under_way=True)
    assert under_way == Skip("the flush of this compaction cycle is under way")
    given_up = decide(FULL, FlushSettings(), replace(begun, tries=MAX_TRIES), TODAY)
    assert given_up == Skip("the flush of this compaction cycle failed 2 times")


@given(st.text(max_size=80), st.text(max_size=80))
def test_every_prompt_says_how_to_stay_silent(prompt: str, system: str) -> None:
    settings = FlushSettings(prompt=prompt, system_prompt=system)
    run = decide(FULL, settings, None, TODAY)
    assert isinstance(run, RunFlush)
    assert NO_REPLY in run.prompt
    assert NO_REPLY in run.system_prompt


def test_the_users_prompt_gets_the_day_filled_in() -> None:
    told = FlushSettings(prompt="Write to memory/YYYY-MM-DD.md or NO_REPLY.")
    run = decide(FULL, told, None, TODAY)
    assert isinstance(run, RunFlush)
    assert run.prompt == "Write to memory/2026-11-15.md or NO_REPLY."


@pytest.mark.parametrize("text", ["NO_REPLY", " no_reply.\n", "`NO_REPLY`", "", "[NO_REPLY]"])
def test_silence_is_known_however_it_is_written(text: str) -> None:
    assert is_silent(text)


def test_an_answer_is_not_silence() -> None:
    assert not is_silent("I saved two notes. NO_REPLY")


@pytest.mark.parametrize(
    ("moment", "zone", "day"),
    [
        ("2026-11-15T23:59:59.900000+01:00", "Europe/Berlin", "2026-11-15"),
        ("2026-11-16T00:00:00+01:00", "Europe/Berlin", "2026-11-16"),
        ("2026-03-29T00:59:59+00:00", "Europe/Berlin", "2026-03-29"),  # 01:59:59, then 03:00
        ("2026-03-29T22:00:00+00:00", "Europe/Berlin", "2026-03-30"),
        ("2026-03-28T22:59:59.9+00:00", "Europe/Berlin", "2026-03-28"),
        ("2026-10-25T22:59:59.9+00:00", "Europe/Berlin", "2026-10-25"),  # a day of 25 hours
        ("2026-10-25T23:00:00+00:00", "Europe/Berlin", "2026-10-26"),
        ("2025-11-15T12:00:00+00:00", "Asia/Tokyo", "2025-11-15"),
        ("2027-11-15T18:00:00+00:00", "Asia/Tokyo", "2027-11-16"),
    ],
)
def test_the_day_is_the_users(moment: str, zone: str, day: str) -> None:
    today = user_day(datetime.fromisoformat(moment).astimezone(UTC), ZoneInfo(zone))
    run = decide(FULL, FlushSettings(), None, today)
    assert isinstance(run, RunFlush)
    assert run.path == f"memory/{day}.md"
