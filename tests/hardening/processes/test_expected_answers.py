"""The judge of answers, on made-up events: it must not call everything right."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.hardening.processes.events import Events
from tests.hardening.processes.expected_answers import times_to_see, wrong_answers


@pytest.mark.parametrize(
    ("number", "begun", "ended", "is_right"),
    [
        (1, 1.0, 1.1, True),
        (1, 3.5, 3.6, True),  # the sync of 2 is not over yet
        (2, 3.5, 3.6, True),
        (1, 5.0, 5.1, False),  # 2 was synced before the question
        (2, 5.0, 5.1, True),
        (3, 5.0, 5.1, False),  # nobody had written it by then
        (3, 5.0, 6.5, True),
        (None, 5.0, 5.1, False),
    ],
)
def test_an_answer_is_right_from_its_sync_until_the_next_one(
    number: int | None, begun: float, ended: float, is_right: bool, tmp_path: Path
) -> None:
    events = Events(tmp_path)
    for one, writing, synced in ((1, 0.1, 0.5), (2, 2.0, 4.0), (3, 6.0, 9.0)):
        events.tell("writing", number=one, at=writing)
        events.tell("written", number=one, at=writing + 0.1)
        events.tell("synced", begun=writing + 0.2, ended=synced)
    events.tell("answered", begun=begun, ended=ended, number=number, why="")

    assert (wrong_answers(tmp_path) == []) is is_right


def test_the_time_to_see_is_until_the_end_of_the_first_answer_that_shows_it(
    tmp_path: Path,
) -> None:
    events = Events(tmp_path)
    events.tell("published", number=2, at=1.0)
    for ended, number in ((1.1, 1), (1.25, 2), (1.5, 2)):
        events.tell("answered", begun=1.0, ended=ended, number=number, why="")

    assert times_to_see(tmp_path) == [0.25]
