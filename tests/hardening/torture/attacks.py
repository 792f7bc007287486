"""The attacks of tests/hardening/attacks for as long as it takes; run from the repository:

    python -m tests.hardening.torture.attacks [SECONDS A RACE]

Prints a line an attack: what, how often, how often it succeeded, seconds. Exits with 1 if any did.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.hardening.attacks.asking import SLOWEST_S, ask_all, digests, small_memory
from tests.hardening.attacks.attacked_memory import ATTACKS, Attack, attacked_memory
from tests.hardening.attacks.patterns import why_slow
from tests.hardening.attacks.queries import QUERIES, hostile_queries
from tests.hardening.attacks.shapes import SHAPES
from tests.hardening.attacks.test_patterns import DISTINCT, bound

from notewell.core import ChunkLimits, chunk
from notewell.core.chunking import PARSED_CHARS
from notewell.sessions import TranscriptFolder, Transcripts

RACE_S = 3.0
SEEDS = (20261115, 1, 2)
WORST_S_PER_CHAR = 40e-6
"""Of hostile Markdown as large as what is parsed: 40 s a megabyte, three times what was seen."""


def race(attack: Attack, seconds: float, folder: Path) -> tuple[int, list[str]]:
    with attacked_memory(folder.resolve()) as attacked:
        tally = attack.run(attacked, seconds)
    return tally.tries, [*tally.leaks, *tally.written_outside]


def questions(seed: int, folder: Path) -> tuple[int, list[str]]:
    with small_memory(folder) as memory:
        before = digests(folder / "state")
        asked = ask_all(memory, hostile_queries(seed, QUERIES))
        changed = digests(folder / "state").items() ^ before.items()
    slow = [asked.slowest] if asked.slowest_s > SLOWEST_S else []
    return asked.queries, [*asked.stray, *slow, *(path for path, _ in changed)]


def markdown(folder: Path) -> tuple[int, list[str]]:
    slow = []
    for name, shape in SHAPES.items():
        text = shape(PARSED_CHARS * 9 // 10)
        began = time.thread_time()
        chunk(text, ChunkLimits())
        if time.thread_time() - began > WORST_S_PER_CHAR * len(text):
            slow.append(name)
    return len(SHAPES), slow


def tiny_lines(folder: Path) -> tuple[int, list[str]]:
    said = b'{"type":"user","sessionId":"s","message":{"content":"good"}}\n'
    (folder / "a.jsonl").write_bytes(said + b"{}\n" * 1_000_000 + said)
    found = Transcripts([TranscriptFolder(folder, "claude")], str).open("sessions/claude/a.jsonl")
    return 1_000_000, [] if found.text == "User: good\n" * 2 else [found.text[:80]]


def every_pattern(folder: Path) -> tuple[int, list[str]]:
    slow = [
        f"{one.where}: {why}" for one in DISTINCT.values() if (why := why_slow(one, bound(one)))
    ]
    return len(DISTINCT), slow


def run(name: str, attack: Callable[[Path], tuple[int, list[str]]]) -> bool:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tries, bad = attack(Path(folder))
    line = f"{name:<40} {tries:>9} {len(bad):>4} {time.monotonic() - began:7.1f}"
    sys.stdout.write(f"{line}{'  ' + bad[0][:200] if bad else ''}\n")
    sys.stdout.flush()
    return not bad


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else RACE_S
    well = [
        run(attack.name, lambda folder, one=attack: race(one, seconds, folder))  # type: ignore[misc]
        for attack in ATTACKS
    ]
    well += [
        run(f"questions, seed {seed}", lambda folder, one=seed: questions(one, folder))  # type: ignore[misc]
        for seed in SEEDS
    ]
    well.append(run("Markdown, as much as is parsed", markdown))
    well.append(run("a million tiny lines", tiny_lines))
    well.append(run("patterns, every text", every_pattern))
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
