"""How the cost of each step grows with the number of notes, from a thousand to a hundred thousand.

    python bench/load.py [--sizes 1000,3000,10000] [--folder DIR] [--json]

For each size a workspace of made-up notes is written (seeded; days, headings, lists, about ten
chunks a note), and every step runs in a process of its own, so that its CPU time, its peak of
memory and its descriptors are its own. Exponents are the slope of log(CPU) over log(notes), by
least squares: 1 is linear. Bars: building an index at most 1.1, a sync that finds nothing to do
at most 1.0; a missed bar exits with 1. How a query grows is told, not judged.

Vectors come out of the hash of a text (`PoolEmbedder`): a model would take days for a million
chunks, and what is measured here is everything around it. They have 384 dimensions and come 64 at
a time. The five sizes take about half an hour and 7 GB of disk, which are given back.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from notewell import Memory
    from notewell.ports import Kind, Vectors
    from notewell.sync import Progress

Figures: TypeAlias = dict[str, float]
Mode: TypeAlias = Literal["keyword", "hybrid"]

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
DIMS, POOL, TEXTS_AT_ONCE = 384, 1_024, 64
ROUNDS = 3
WARM_QUESTIONS, COLD_QUESTIONS = 40, 5
ONE_THREAD = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Threads that wait for each other spend CPU time too, the more the busier the machine is."""
SETTLE_S = 2.1
"""A note touched less than two seconds before it is read is read once more by the next sync."""

FITTED = {
    "words cpu_s": 1.1,
    "vectors cpu_s": 1.1,
    "rebuild cpu_s": 1.1,
    "no-op cpu_s": 1.0,
    "changed cpu_s": None,
    "status cpu_s": None,
    "keyword warm p50_ms": None,
    "hybrid warm p50_ms": None,
    "keyword cold p50_ms": None,
    "hybrid cold p50_ms": None,
    "status index_mb": None,
    "rebuild rss_mb": None,
}
"""What is fitted, and the largest exponent that is good enough; None: told, not judged."""


# -- made-up notes -------------------------------------------------------------------------------

PARTS = "ba be bi bo da de di do ga ge ka ki ko la le li lo ma me mi na ne no pa ra re ri ro sa se"
WORDS = 40_000
DAYS_A_FOLDER = 1_000
FIRST_DAY = date(2024, 1, 1)


class Writing:
    """Notes as people keep them: the commonest words are stop words, the others follow Zipf's law,
    and every section has a number that no other has."""

    def __init__(self, seed: int = 1) -> None:
        from notewell.core.terms import _STOP_WORDS

        self._draw = random.Random(seed)
        draw = random.Random(0)  # Another seed writes other notes in the same language.
        made = {"".join(draw.choices(PARTS.split(), k=draw.randint(2, 4))) for _ in range(WORDS)}
        self._words = [*_STOP_WORDS.split(), *draw.sample(sorted(made), len(made))]
        weights = (1 / (rank + 3) for rank in range(len(self._words)))
        self._weights = list(itertools.accumulate(weights))

    def words(self, count: int) -> str:
        return " ".join(self._draw.choices(self._words, cum_weights=self._weights, k=count))

    def note(self, day: date) -> str:
        lines = [f"# {day:%A}, {day.isoformat()}", ""]
        for _ in range(self._draw.randint(7, 13)):
            lines += [f"## {self.words(4)} n{self._draw.randrange(10**9):09}", ""]
            lines += [f"{self.words(self._draw.randint(20, 50))}.", ""]
            lines += [f"- {self.words(self._draw.randint(6, 14))}" for _ in range(3)]
            lines.append("")
        return "\n".join(lines)

    def notes(self, count: int) -> Iterator[tuple[str, str]]:
        for number in range(count):
            day = FIRST_DAY + timedelta(number % DAYS_A_FOLDER)
            yield f"memory/area-{number // DAYS_A_FOLDER:03}/{day}.md", self.note(day)


def write_notes(workspace: Path, count: int) -> Figures:
    size = 0
    for path, text in Writing().notes(count):
        target = workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        size += len(text)
    return {"text_mb": size / 1e6}


def questions(workspace: Path, count: int) -> list[str]:
    """Half of them some words in a row out of a note, half the heading of one."""
    draw = random.Random(2)
    notes = sorted(workspace.glob("memory/*/*.md"))
    asked = []
    for number in range(count):
        lines = draw.choice(notes).read_text(encoding="utf-8").splitlines()
        mark = "## " if number % 2 else "- "
        line = draw.choice([one for one in lines if one.startswith(mark)])
        asked.append(" ".join(line.removeprefix(mark).split()[:6]))
    return asked


class PoolEmbedder:
    """The sum of two rows of a fixed pool, chosen by the text's hash: a vector in microseconds."""

    def __init__(self) -> None:
        from notewell.ports import ModelFacts

        self.facts = ModelFacts(provider="pool", model="pool-384", dims=DIMS, chunk_tokens=400)
        self.texts_at_once = TEXTS_AT_ONCE

    @cached_property
    def _pool(self) -> Vectors:
        import numpy as np

        return np.random.default_rng(3).standard_normal((POOL, DIMS), dtype=np.float32)

    def missing(self) -> None:
        return None

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        import numpy as np

        marks = [hashlib.blake2b(text.encode(), digest_size=4).digest() for text in texts]
        chosen = np.frombuffer(b"".join(marks), "<u2").reshape(-1, 2) % len(self._pool)
        rows = self._pool[chosen[:, 0]] + self._pool[chosen[:, 1]]
        vectors: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return vectors


# -- steps, each in a process of its own ---------------------------------------------------------


@dataclass
class Room:
    """Where one size is measured."""

    folder: Path
    notes: int
    turn: int = 0
    """Which of the processes that do the same this one is."""
    descriptors: int = field(default=0, init=False)

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def memory(self) -> Memory:
        from notewell import Settings, open_memory

        return open_memory(
            self.workspace,
            state_dir=self.folder / "state",
            settings=Settings(),
            embedder=PoolEmbedder(),
        )

    def count_descriptors(self, _: Progress | None = None) -> None:
        self.descriptors = max(self.descriptors, len(os.listdir("/dev/fd")))  # noqa: PTH208


def timed(action: Callable[[], object]) -> Figures:
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}


def middle(runs: Sequence[Figures]) -> Figures:
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def sync_once(room: Room, **how: bool) -> Figures:
    with room.memory() as memory:
        figures = timed(lambda: memory.sync(progress=room.count_descriptors, **how))
        room.count_descriptors()
        return figures


def sync_again(room: Room) -> Figures:
    with room.memory() as memory:
        figures = middle([timed(memory.sync) for _ in range(ROUNDS)])
        room.count_descriptors()
        return figures


def sync_changed(room: Room) -> Figures:
    """One note has one paragraph more each time."""
    target = room.workspace / "memory/area-000" / f"{FIRST_DAY + timedelta(500)}.md"
    writing = Writing(4)

    def change_and_sync(memory: Memory) -> Figures:
        with target.open("a", encoding="utf-8") as file:
            file.write(f"\n{writing.words(60)}\n")
        return timed(memory.sync)

    with room.memory() as memory:
        return middle([change_and_sync(memory) for _ in range(ROUNDS)])


def told_status(room: Room) -> Figures:
    with room.memory() as memory:
        figures = middle([timed(memory.status) for _ in range(ROUNDS)])
        status = memory.status()
    chunks = status.counts.chunks if status.counts else 0
    return figures | {"chunks": chunks, "index_mb": status.index_bytes / 1e6}


def ask_warm(room: Room, mode: Mode) -> Figures:
    asked = questions(room.workspace, WARM_QUESTIONS)
    with room.memory() as memory:
        for question in asked[:3]:  # Loads what is loaded once, and what the second query keeps.
            memory.search(question, mode=mode)
        runs = [timed(partial(memory.search, question, mode=mode)) for question in asked]
        room.count_descriptors()
    spent = [1000 * run["cpu_s"] for run in runs]
    return {"p50_ms": statistics.median(spent), "p95_ms": statistics.quantiles(spent, n=20)[-1]}


def ask_cold(room: Room, mode: Mode) -> Figures:
    """One question and the end: the imports and the look at the notes included."""
    question = questions(room.workspace, COLD_QUESTIONS)[room.turn]
    before = time.process_time()  # What finding the question took is not the search's.
    with room.memory() as memory:
        answer = memory.search(question, mode=mode)
        assert answer.hits
    return {"ms": 1000 * (time.process_time() - before)}


STEPS: dict[str, Callable[[Room], Figures]] = {
    "notes": lambda room: write_notes(room.workspace, room.notes),
    "words": lambda room: sync_once(room, vectors=False),
    "vectors": sync_once,
    "no-op": sync_again,
    "changed": sync_changed,
    "status": told_status,
    "keyword warm": lambda room: ask_warm(room, "keyword"),
    "hybrid warm": lambda room: ask_warm(room, "hybrid"),
    "keyword cold": lambda room: ask_cold(room, "keyword"),
    "hybrid cold": lambda room: ask_cold(room, "hybrid"),
    "rebuild": lambda room: sync_once(room, force=True),
}


def run_step(name: str, room: Room) -> None:
    figures = STEPS[name](room)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures["rss_mb"] = peak / (1e6 if sys.platform == "darwin" else 1e3)
    figures["descriptors"] = room.descriptors
    print(json.dumps(figures))


# -- the whole of it -----------------------------------------------------------------------------


def measured(folder: Path, notes: int) -> Figures:
    """Every figure of one size; the parent stays small, because a child begins with its peak."""
    told: Figures = {"notes": notes}
    for step in STEPS:
        turns = COLD_QUESTIONS if step.endswith("cold") else 1
        figures = summed_up([in_child(step, folder, notes, turn) for turn in range(turns)])
        told |= {f"{step} {name}": value for name, value in figures.items()}
        print(f"{notes} {step}: {json.dumps(figures)}", file=sys.stderr, flush=True)
        if step == "notes":
            time.sleep(SETTLE_S)
    return told


def in_child(step: str, folder: Path, notes: int, turn: int) -> Figures:
    command = [sys.executable, __file__, "--step", step, "--turn", str(turn)]
    where = ["--folder", str(folder), "--sizes", str(notes)]
    done = subprocess.run([*command, *where], check=True, stdout=subprocess.PIPE, env=ONE_THREAD)
    figures: Figures = json.loads(done.stdout)
    return figures


def summed_up(runs: Sequence[Figures]) -> Figures:
    """Of processes that did the same, the middle, and of their times the worst too."""
    figures = middle(runs)
    if "ms" in figures:
        times = sorted(run["ms"] for run in runs)
        del figures["ms"]
        figures |= {"p50_ms": statistics.median(times), "p95_ms": times[-1]}
    return figures


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of log y over log x, by least squares."""
    return statistics.linear_regression(
        [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    ).slope


@dataclass(frozen=True)
class Growth:
    """How one figure grows with the number of notes."""

    what: str
    exponent: float
    last: float
    """Between the two largest sizes alone: fixed costs hide a bad growth among small ones."""
    bar: float | None

    @property
    def held(self) -> bool:
        return self.bar is None or self.exponent <= self.bar

    def __str__(self) -> str:
        judged = "" if self.bar is None else f"<= {self.bar} {'PASS' if self.held else 'FAIL'}"
        return f"{self.what:24} {self.exponent:6.2f} {self.last:6.2f}   {judged}"


def growth(table: Sequence[Figures]) -> list[Growth]:
    found = []
    for name, bar in FITTED.items():
        points = [(row["notes"], row[name]) for row in table]
        found.append(Growth(name, slope(points), slope(points[-2:]), bar))
    return found


def shown(table: Sequence[Figures]) -> str:
    lines = [f"{'notes':24}" + "".join(f"{int(row['notes']):12}" for row in table)]
    lines += (
        f"{name:24}" + "".join(f"{row[name]:12.3f}" for row in table)
        for name in table[0]
        if name != "notes"
    )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--folder", type=Path, help="where there is room; the default is TMPDIR")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--turn", type=int, help=argparse.SUPPRESS)
    told = parser.parse_args()
    sizes = sorted(int(size) for size in told.sizes.split(","))
    if told.step:
        run_step(told.step, Room(told.folder, sizes[0], told.turn))
        return 0
    table = []
    for notes in sizes:
        with tempfile.TemporaryDirectory(dir=told.folder) as folder:
            table.append(measured(Path(folder), notes))
    grown = growth(table) if len(table) > 1 else []
    if told.json:
        print(json.dumps({"table": table, "growth": [asdict(one) for one in grown]}, indent=2))
    else:
        print(shown(table), *grown, sep="\n")
    return 0 if all(one.held for one in grown) else 1


if __name__ == "__main__":
    sys.exit(main())
