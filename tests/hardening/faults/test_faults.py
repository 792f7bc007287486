"""After any fault a memory answers old or new, no note has suffered, and doing it again mends it.

A sample: every rename and fsync, and at least 40 other places for each case and kind of fault.
`python -m tests.hardening.torture.faults` goes through all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest
from tests.hardening.faults.campaign import Campaign, all_points, some_points
from tests.hardening.faults.cases import CASES
from tests.hardening.faults.cases_entries import ENTRY_CASES
from tests.hardening.faults.shim import FAULTS, Kind

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD is Linux's")

LEAST = 40
ENTRY_KINDS: tuple[Kind, ...] = ("kill", "full once")
ENTRY_POINTS = 6
"""Each child of these cases loads LanceDB, which takes a second."""
OTHERS = [name for name, case in CASES.items() if case not in ENTRY_CASES]


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("case", OTHERS)
def test_a_fault_leaves_old_or_new_and_is_mended_by_doing_it_again(
    faults: Campaign, case: str, kind: Kind
) -> None:
    operations = faults.operations(case)
    require_sound(faults, case, kind, some_points(operations, kind, LEAST))


@pytest.mark.parametrize("kind", ENTRY_KINDS)
@pytest.mark.parametrize("case", [case.name for case in ENTRY_CASES])
def test_a_fault_leaves_each_entry_as_it_was_or_as_it_should_be(
    faults: Campaign, case: str, kind: Kind
) -> None:
    points = all_points(faults.operations(case), kind)
    step = max(1, len(points) // ENTRY_POINTS)
    require_sound(faults, case, kind, points[step // 2 :: step])


def require_sound(faults: Campaign, case: str, kind: Kind, points: Sequence[int]) -> None:
    operations = faults.operations(case)
    tally = faults.run(case, kind, points)
    told = [
        f"{kind} at {at}, {operations[at - 1].what} {operations[at - 1].path}: {problem}"
        for at, problems in sorted(tally.bad.items())
        for problem in problems
    ]
    assert not told, "\n".join(told[:10])
