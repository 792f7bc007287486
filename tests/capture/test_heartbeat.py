"""Silence must not look like health."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from notewell.capture.hook_state import capture_health, record_hook_run
from notewell.files import append_json_line, read_json_lines

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def test_where_no_hook_ever_ran_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert capture_health(tmp_path, NOW) is None


def test_a_capture_is_told_and_all_is_well(tmp_path: Path) -> None:
    record_hook_run(tmp_path, "session-end", "claude", NOW, captured="memory/a.md")
    found = capture_health(tmp_path, NOW)
    assert found is not None
    assert found.message.endswith("last captured on 2026-11-15 12:00")
    assert found.action is None


def test_hooks_that_run_for_weeks_without_a_capture_are_something_to_look_at(
    tmp_path: Path,
) -> None:
    for day in range(20):
        record_hook_run(tmp_path, "session-start", "claude", NOW + timedelta(days=day))
    found = capture_health(tmp_path, NOW + timedelta(days=20))
    assert found is not None
    assert "nothing captured since 2026-11-15 12:00" in found.message
    assert found.action is not None


def test_nobody_waits_for_a_capture_that_is_switched_off(tmp_path: Path) -> None:
    for day in range(20):
        record_hook_run(
            tmp_path, "session-start", "claude", NOW + timedelta(days=day), is_on=False
        )
    found = capture_health(tmp_path, NOW + timedelta(days=20))
    assert found is not None
    assert found.action is None


def test_a_clock_that_jumps_a_year_back_and_forth_is_survived(tmp_path: Path) -> None:
    for days in (0, 365, -365):
        record_hook_run(
            tmp_path, "session-end", "claude", NOW + timedelta(days=days), captured="memory/a.md"
        )
        found = capture_health(tmp_path, NOW)
        assert found is not None
        assert found.action is None


def test_a_failure_is_told_until_a_capture_succeeds(tmp_path: Path) -> None:
    record_hook_run(tmp_path, "session-end", "claude", NOW, trouble="no room on its disk")
    record_hook_run(tmp_path, "session-start", "claude", NOW)
    failed = capture_health(tmp_path, NOW)
    assert failed is not None
    assert "no room on its disk" in failed.message
    record_hook_run(tmp_path, "session-end", "claude", NOW, captured="memory/a.md")
    mended = capture_health(tmp_path, NOW)
    assert mended is not None
    assert mended.action is None


@pytest.mark.parametrize("text", ["", "[]", '{"last": 1}', '{"last": {"at": "x"}, "since": 3}'])
def test_a_broken_heartbeat_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "heartbeat.json").write_text(text, encoding="utf-8")
    assert capture_health(tmp_path, NOW) is None
    record_hook_run(tmp_path, "stop", "claude", NOW)
    assert capture_health(tmp_path, NOW) is not None


def test_a_log_keeps_its_newer_half_when_it_is_full(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    for number in range(500):
        append_json_line(log, {"n": number}, max_bytes=1000)
    numbers = [line["n"] for line in read_json_lines(log)]
    assert log.stat().st_size <= 1000
    assert numbers == list(range(numbers[0], 500))
    assert len(numbers) > 20
