"""Thousands of power cuts.

    python -m tests.hardening.torture.powerloss [--images N] [--rounds N] [--seed N]

Each round records every story anew and checks N images of it. Exits with 1 if any is bad.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.hardening.powerloss.all_stories import STORIES, tell
from tests.hardening.powerloss.record import build_shim, can_build_shim


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=1000, help="of each story in a round")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--story", choices=sorted(STORIES), action="append")
    parser.add_argument("--fault", choices=["unsynced", "folder"], help="a mistake to be found")
    asked = parser.parse_args()
    if not can_build_shim():
        parser.error("needs Linux and gcc")
    _show(f"{'case':<18}{'operations':>11}{'images':>8}{'different':>11}{'bad':>6}{'seconds':>9}")
    bad = 0
    for number in range(asked.rounds):
        for story in asked.story or STORIES:
            bad += _tell(story, asked.images, asked.seed + number, asked.fault)
    return 1 if bad else 0


def _tell(story: str, count: int, seed: int, fault: str | None) -> int:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        shim = build_shim(Path(folder))
        place = Path(folder).resolve() / "story"
        done = tell(story, shim, place, count=count, seed=seed, fault=fault)
    bad = done.bad.total()
    _show(
        f"{story:<18}{done.operations:>11}{done.images:>8}{done.different:>11}{bad:>6}"
        f"{done.seconds:>9.1f}"
    )
    for wrong, times in done.bad.most_common(5):
        _show(f"    {times} times: {wrong} (first: {done.example})")
    return bad


def _show(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
