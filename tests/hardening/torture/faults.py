"""Every fault at every operation of every case.

    python -m tests.hardening.torture.faults        # all of it; an hour on two busy cores
    python -m tests.hardening.torture.faults --case rebuild --kind kill

Prints a line for each case and kind, and what went wrong. The exit code is 1 if anything did.
"""

from __future__ import annotations

import argparse
import sys

from tests.hardening.faults.campaign import HEADING, Campaign, Tally, all_points, campaign
from tests.hardening.faults.cases import CASES
from tests.hardening.faults.shim import FAULTS

SHOWN = 3
"""Of one line; the same fault tends to go wrong in the same way."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.hardening.torture.faults", description=__doc__
    )
    parser.add_argument("--case", action="append", choices=CASES, help="only this one")
    parser.add_argument("--kind", action="append", choices=FAULTS, help="only this fault")
    parser.add_argument("--workers", type=int, default=2)
    told = parser.parse_args()
    say(HEADING)
    with campaign(told.workers) as running:
        tallies = [
            tortured(running, case, kind)
            for case in told.case or CASES
            for kind in told.kind or FAULTS
        ]
    total, bad = sum(one.points for one in tallies), sum(len(one.bad) for one in tallies)
    seconds = sum(one.seconds for one in tallies)
    say(f"{total} points, {bad} bad, {seconds:.0f} s")
    return 1 if bad else 0


def tortured(running: Campaign, case: str, kind: str) -> Tally:
    fault = next(one for one in FAULTS if one == kind)
    operations = running.operations(case)
    tally = running.run(case, fault, all_points(operations, fault))
    say(str(tally))
    for at, problems in sorted(tally.bad.items())[:SHOWN]:
        say(f"    at {at}, {operations[at - 1].what} {operations[at - 1].path}")
        for problem in problems:
            say(f"        {problem}")
    return tally


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
