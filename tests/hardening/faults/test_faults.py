"""After any fault a memory answers old or new, no note has suffered, and doing it again mends it.

A sample: every rename and fsync, and at least 40 other places for each case and kind of fault.
`python -m tests.hardening.torture.faults` goes through all of them.
"""

from __future__ import annotations

import sys

import pytest
from tests.hardening.faults.campaign import Campaign, some_points
from tests.hardening.faults.cases import CASES
from tests.hardening.faults.shim import FAULTS, Kind

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD is Linux's")

LEAST = 40


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("case", CASES)
def test_a_fault_leaves_old_or_new_and_is_mended_by_doing_it_again(
    faults: Campaign, case: str, kind: Kind
) -> None:
    operations = faults.operations(case)
    tally = faults.run(case, kind, some_points(operations, kind, LEAST))
    told = [
        f"{kind} at {at}, {operations[at - 1].what} {operations[at - 1].path}: {problem}"
        for at, problems in sorted(tally.bad.items())
        for problem in problems
    ]
    assert not told, "\n".join(told[:10])
