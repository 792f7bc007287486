"""Every role at once, any of them killed at random.

    python -m tests.hardening.torture.soak [SECONDS] [--rounds N] [--seed N]

Exits with 1 if an answer was wrong or empty, an entry was lost, anything was left behind, or
`notewell verify` is not content at the end.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.hardening.processes.soak import ROLES, soak


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=30.0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    good = True
    _show(f"{'seed':>6}{'kills':>8}{'answers':>10}{'syncs':>8}{'entries':>9}  verdict")
    for seed in range(asked.seed, asked.seed + asked.rounds):
        with tempfile.TemporaryDirectory() as folder:
            done = soak(Path(folder), asked.seconds, seed, (*ROLES, "store"))
        good = good and done.is_good
        _show(
            f"{seed:>6}{done.kills:>8}{done.answers:>10}{done.syncs:>8}{done.entries:>9}  "
            f"{'good' if done.is_good else done}"
        )
    return 0 if good else 1


def _show(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
