"""What a vector query costs, and how much it finds: `python bench/vectors.py [--json]`.

Everything is measured side by side in one process, in CPU time on one thread, and judged by
ratios, because absolute times say more about the machine than about the code. It exits with 1
when a bar is missed. The vectors come from a seeded generator that is unkind in the ways text
vectors are: clusters of unequal size, a decaying spectrum, a common part that makes two
unrelated vectors agree to about .6.
"""

from __future__ import annotations

import os

# Before numpy is imported, or it has no effect.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import json
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np
import sqlite_vec

from notewell.index.sqlite import open_new, open_reader, open_writer, select, vector_driver

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from notewell.ports import Vectors

    Query = Callable[[Vectors], list[tuple[int, float]]]

DIMS, K, QUERIES, SMALL, LARGE = 384, 24, 256, 10_000, 100_000
ROUNDS, A_ROUND = 15, 12
SOURCES = ["memory"]


@dataclass(frozen=True)
class Bar:
    what: str
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def held(self) -> bool:
        low = self.at_least is None or self.value >= self.at_least
        return low and (self.at_most is None or self.value <= self.at_most)

    def __str__(self) -> str:
        limit = f"<= {self.at_most}" if self.at_least is None else f">= {self.at_least}"
        return f"{self.what:44} {self.value:10.3f} {limit:8} {'ok' if self.held else 'MISSED'}"


def made_vectors(rows: int, seed: int = 7) -> Vectors:
    draw = np.random.default_rng(seed)
    spectrum = np.arange(1, DIMS + 1, dtype=np.float32) ** -0.5
    clusters = rows // 60
    centres = draw.standard_normal((clusters, DIMS), dtype=np.float32) * spectrum
    skewed = draw.zipf(1.4, size=rows) % clusters
    even = draw.integers(0, clusters, rows)
    cluster = np.where(draw.random(rows) < 0.5, skewed, even)
    vectors: Vectors = draw.standard_normal((rows, DIMS), dtype=np.float32) * (0.7 * spectrum)
    vectors += centres[cluster]
    vectors /= np.sqrt(np.square(vectors).sum(axis=1).mean())
    turn = np.linalg.qr(draw.standard_normal((DIMS, DIMS)))[0].astype(np.float32)
    vectors = vectors @ turn
    common = draw.standard_normal(DIMS).astype(np.float32)
    vectors += common * np.float32(np.sqrt(0.6 / 0.4) / np.linalg.norm(common))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def built(path: Path, name: str, vectors: Vectors) -> tuple[Path, float]:
    """An index of these vectors, and the CPU seconds it took."""
    begun = time.process_time()
    driver = vector_driver(name)
    db = open_new(path)
    with db:
        driver.create(db, DIMS)
    with db:
        driver.add(db, SOURCES[0], range(1, len(vectors) + 1), vectors)
        driver.settle(db)
    db.close()
    return path, time.process_time() - begun


def warm(path: Path, name: str) -> Query:
    db, reader = open_reader(path), vector_driver(name).reader()
    return lambda query: reader.nearest(db, query, SOURCES, K)


def cold(path: Path, name: str) -> Query:
    """Each query opens the file anew, as a short-lived process does."""

    def ask(query: Vectors) -> list[tuple[int, float]]:
        db = open_reader(path)
        try:
            return vector_driver(name).reader().nearest(db, query, SOURCES, K)
        finally:
            db.close()

    return ask


def edited(path: Path, rows: int) -> Query:
    """Each query follows another connection's commit: one chunk gone, one chunk new."""
    driver = vector_driver("segments")
    writer, ask = open_writer(path), warm(path, "segments")
    newest = rows

    def edit_and_ask(query: Vectors) -> list[tuple[int, float]]:
        nonlocal newest
        newest += 1
        with writer:
            driver.remove(writer, [newest - rows])
            driver.add(writer, SOURCES[0], [newest], query[None])
        begun = time.process_time()
        answer = ask(query)
        edit_and_ask.spent = time.process_time() - begun  # type: ignore[attr-defined]
        return answer

    return edit_and_ask


def seed_form(vectors: Vectors) -> Query:
    """The seed's query: the distance to every row of a vec0 table, joined to chunks. It is
    given an advantage: the whole database is in memory."""
    db = apsw.Connection(":memory:")
    db.enable_load_extension(True)  # noqa: FBT003
    db.load_extension(sqlite_vec.loadable_path())
    db.execute("CREATE TABLE chunks (id TEXT PRIMARY KEY, source TEXT, text TEXT)")
    db.execute(
        "CREATE VIRTUAL TABLE chunks_vec USING vec0 "
        f"(id TEXT PRIMARY KEY, embedding float[{DIMS}])"
    )
    names = [f"{row:064x}" for row in range(1, len(vectors) + 1)]
    with db:
        db.executemany(
            "INSERT INTO chunks VALUES (?, 'memory', ?)", [(name, "x" * 800) for name in names]
        )
        db.executemany(
            "INSERT INTO chunks_vec VALUES (?, ?)",
            [(name, row.tobytes()) for name, row in zip(names, vectors, strict=True)],
        )
    sql = (
        "SELECT c.id, vec_distance_cosine(v.embedding, ?) AS distance FROM chunks_vec v "
        "JOIN chunks c ON c.id = v.id WHERE c.source IN ('memory') ORDER BY distance LIMIT ?"
    )
    return lambda query: [
        (int(name, 16), 1 - distance) for name, distance in select(db, sql, (query.tobytes(), K))
    ]


def spent_ms(ask: Query, queries: Sequence[Vectors]) -> list[float]:
    times = []
    for query in queries:
        begun = time.process_time()
        ask(query)
        times.append(getattr(ask, "spent", time.process_time() - begun) * 1000)
    return times


def raced(contenders: dict[str, Query], queries: Vectors) -> dict[str, float]:
    """The median CPU ms of each; they take turns, so a slow moment of the machine hits all."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(ROUNDS):
        mine = [queries[(turn * A_ROUND + i) % len(queries)] for i in range(A_ROUND)]
        for name, ask in contenders.items():
            ask(mine[0])  # back into the caches: the others have just been there
            times[name] += spent_ms(ask, mine[1:] if "seed" not in name else mine[1:3])
    return {name: statistics.median(spent) for name, spent in times.items()}


def recalls(ask: Query, vectors: Vectors, queries: Vectors) -> list[float]:
    found = []
    for query in queries:
        exact = vectors.astype(np.float64) @ query
        true = set((np.argpartition(-exact, K)[:K] + 1).tolist())
        found.append(len(true & {chunk for chunk, _ in ask(query)}) / K)
    return found


def measured(folder: Path) -> tuple[dict[str, float], list[Bar]]:
    made = made_vectors(LARGE + QUERIES)
    order = np.random.default_rng(11).permutation(len(made))
    queries, large = made[order[:QUERIES]], made[order[QUERIES:]]
    small = np.ascontiguousarray(large[:SMALL])
    few, few_s = built(folder / "few.sqlite", "segments", small)
    many, many_s = built(folder / "many.sqlite", "segments", large)
    other, other_s = built(folder / "other.sqlite", "sqlite-vec", small)
    few_edited = built(folder / "few_edited.sqlite", "segments", small)[0]
    many_edited = built(folder / "many_edited.sqlite", "segments", large)[0]
    contenders: dict[str, Query] = {
        "one BLAS product, 10 k": lambda query: [(0, float((small @ query)[0]))],
        "segments, 10 k": warm(few, "segments"),
        "segments, 100 k": warm(many, "segments"),
        "sqlite-vec, 10 k": warm(other, "sqlite-vec"),
        "the seed's form, 10 k": seed_form(small),
        "segments, 10 k, after an edit": edited(few_edited, SMALL),
        "segments, 100 k, after an edit": edited(many_edited, LARGE),
        "segments, 10 k, cold": cold(few, "segments"),
        "segments, 100 k, cold": cold(many, "segments"),
        "sqlite-vec, 10 k, cold": cold(other, "sqlite-vec"),
    }
    ms = raced(contenders, queries)
    figures = {f"{name} [ms]": value for name, value in ms.items()}
    sizes = {"few": few, "many": many, "other": other}
    figures |= {f"file {name} [MB]": at.stat().st_size / 1e6 for name, at in sizes.items()}
    figures |= {"build few [s]": few_s, "build many [s]": many_s, "build other [s]": other_s}
    bars = [
        Bar(
            "10 k, times one BLAS product",
            ms["segments, 10 k"] / ms["one BLAS product, 10 k"],
            at_most=5,
        ),
        Bar(
            "10 k, the seed's form times ours",
            ms["the seed's form, 10 k"] / ms["segments, 10 k"],
            at_least=10,
        ),
        Bar("100 k, times 10 k", ms["segments, 100 k"] / ms["segments, 10 k"], at_most=4),
    ]
    for name, vectors in (("10 k", small), ("100 k", large)):
        for state in ("", ", cold"):
            found = recalls(contenders[f"segments, {name}{state}"], vectors, queries)
            figures[f"recall@{K}, {name}{state}, worst query"] = min(found)
            mean = statistics.mean(found)
            bars.append(Bar(f"recall@{K}, {name}{state}", mean, at_least=0.98))
    return figures, bars


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    with tempfile.TemporaryDirectory() as folder:
        figures, bars = measured(Path(folder))
    if as_json:
        rows = [{**asdict(bar), "held": bar.held} for bar in bars]
        print(json.dumps({"figures": figures, "bars": rows}, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name:44} {value:10.3f}")
        print()
        for bar in bars:
            print(bar)
    return 0 if all(bar.held for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
