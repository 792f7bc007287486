"""Every k-th byte of an index, its log and its cache flipped; every page zeroed, moved, cut off.

    python -m tests.hardening.torture.damage [--every K] [--seed N] [--only WORD]

From the root of the repository. Prints a table, then what was bad; exits with 1 if anything was.
About 0.05 s a try on a file system in memory. `page moved` has a known gap (the checksum of a page
does not say where it belongs), so its wrong answers are shown, and do not count.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.hardening.damage import damages
from tests.hardening.damage.damaged_memory import DamagedMemory, Outcome, tally
from tests.hardening.damage.damages import Damage, copied_page, cut, flipped, zeroed_page

from notewell.index.sqlite.connect import PAGE_BYTES

KNOWN_GAPS = ("page moved",)
SHOWN = 5


def cases(
    damaged: DamagedMemory, every: int, draw: random.Random
) -> Iterator[tuple[str, list[Damage]]]:
    size = damaged.index.stat().st_size
    pages = range(size // PAGE_BYTES)
    offset = draw.randrange(every)
    yield "bit flipped", [flipped(at, draw.randrange(8)) for at in range(offset, size, every)]
    yield "header bit flipped", [flipped(at, bit) for at in range(100) for bit in range(8)]
    yield "byte lost", [_without(at) for at in range(offset, size, 8 * every)]
    yield "cut off", [cut(length) for length in range(offset, size, 4 * every)]
    yield "page zeroed", [zeroed_page(page) for page in pages]
    pairs = [(a, b) for a in pages for b in pages if a != b]
    draw.shuffle(pairs)
    yield "page moved", [copied_page(*pair) for pair in pairs[: size // every]]
    cache = damaged.folder / "cache.sqlite"
    ats = range(offset, cache.stat().st_size, every)
    yield "cache bit flipped", [_in_cache(at, draw.randrange(8)) for at in ats]
    yield "CURRENT byte changed", [_pointer(at, byte) for at in range(15) for byte in (0, 47, 255)]


def _without(at: int) -> Damage:
    return damages.replaced(lambda data: data[:at] + data[at + 1 :])


def _in_cache(at: int, bit: int) -> Damage:
    """And no index, so that every vector comes from the cache."""

    def damage(damaged: DamagedMemory) -> None:
        cache = damaged.folder / "cache.sqlite"
        data = bytearray(cache.read_bytes())
        data[at] ^= 1 << bit
        cache.write_bytes(data)
        damages.index_is_gone(damaged)

    return damage


def _pointer(at: int, byte: int) -> Damage:
    def damage(damaged: DamagedMemory) -> None:
        path = damaged.folder / "CURRENT"
        data = bytearray(path.read_bytes())
        data[at] = byte
        path.write_bytes(data)

    return damage


def run(every: int, seed: int, only: str) -> int:
    root = Path(tempfile.mkdtemp(prefix="notewell-torture-", dir=_quick())).resolve()
    worst = 0
    try:
        damaged = DamagedMemory(root).healthy()
        _say(f"{'case':<22}{'tries':>7}{'detected':>10}{'harmless':>10}{'bad':>6}{'seconds':>9}")
        for name, todo in cases(damaged, every, random.Random(seed)):
            if only in name:
                worst |= _row(name, damaged, todo)
    finally:
        shutil.rmtree(root)
    return worst


def _row(name: str, damaged: DamagedMemory, todo: list[Damage]) -> int:
    started = time.monotonic()
    outcomes = [damaged.tried(damage) for damage in todo]
    took = time.monotonic() - started
    counts = tally(outcomes)
    _say(
        f"{name:<22}{len(todo):>7}{counts['detected']:>10}{counts['harmless']:>10}"
        f"{counts['bad']:>6}{took:>9.1f}"
    )
    for told in _worst(outcomes):
        _say(f"    {told[:300]}")
    return int(bool(counts["bad"]) and name not in KNOWN_GAPS)


def _worst(outcomes: list[Outcome]) -> list[str]:
    return sorted({one.told for one in outcomes if one.verdict == "bad"})[:SHOWN]


def _quick() -> str | None:
    memory = Path("/dev/shm")
    return str(memory) if memory.is_dir() else None


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=97, metavar="K", help="each K-th byte")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--only", default="", metavar="WORD", help="cases with this in their name")
    words = parser.parse_args()
    return run(words.every, words.seed, words.only)


if __name__ == "__main__":
    sys.exit(main())
