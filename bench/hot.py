"""What a search costs in a running process, beside what SQLite and numpy take for its core.

    python -m bench.hot [--sizes 100,10000,100000] [--folder DIR] [--profile hybrid|keyword]

The floor of a keyword search is FTS5 itself: the same table, the same terms, the 24 best rows with
their texts. The floor of a hybrid search adds the 24 nearest vectors: one BLAS product, and above
`MATRIX_ROWS` a scan of sign bits. Embedding the question is not measured: a repeated question is
not embedded again. Nor is the look for changed notes before a search, which `bench.load` measures.
A hit chooses its lines when they are read: a third row has a hybrid search whose lines are read,
as every surface does.

Notes are sentences of our own documentation, in which one word in eight is a made-up one: so the
words of a question are about as common as in real notes, and new words come with every note.
Vectors come from the hash of a text (`bench.load`), with windows. CPU time; for each question the
least of several rounds, in which all contenders take turns, and of these the median. With
`--folder` the memories stay there for the next run. A million chunks take half an hour to build:
`--sizes 1000000`.
"""

from __future__ import annotations

import os

# Before numpy is imported, or it has no effect: threads that wait for each other cost CPU time.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import contextlib
import gc
import random
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from bench.load import DAYS_A_FOLDER, FIRST_DAY, PoolEmbedder, Writing
from bench.rows import Row

from notewell import Settings, SyncSettings, open_memory
from notewell.core import text_query
from notewell.index.sqlite import open_reader, select
from notewell.records import replace
from notewell.testing.embedders import windowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import apsw
    from bench.load import Mode

    from notewell import Memory
    from notewell.ports import SplitText, Vectors, WindowedVector

SIZES = (100, 10_000, 100_000)
KEYWORD_LIMITS = {100: 4.0, 10_000: 2.5, 100_000: 2.0, 1_000_000: 2.0}
READ_LIMITS = {100: 5.0, 10_000: 3.0, 100_000: 2.0, 1_000_000: 2.0}
HYBRID_LIMITS = {100: 4.0, 10_000: 3.0, 100_000: 2.0, 1_000_000: 2.0}
CHUNKS_A_NOTE = 10
DOCS = Path(__file__).parents[1] / "docs"
MADE_UP = 1 / 8
BEST = 24
MATRIX_ROWS = 20_000
QUESTIONS, QUESTION_WORDS, ROUNDS = 20, 12, 7


class WindowPool(PoolEmbedder):
    """The same, with a vector for each window, as the embedded model has them."""

    def __init__(self) -> None:
        super().__init__()
        self.facts = replace(
            self.facts,
            model="pool-windows",
            window_share=0.5,
            cosine_floor=0.0,
            cosine_ceiling=0.9,
        )

    def embed_windows(self, texts: Sequence[SplitText]) -> list[WindowedVector]:
        return windowed(self, texts)


# -- the memories --------------------------------------------------------------------------------


def opened(folder: Path) -> Memory:
    settings = Settings(sync=SyncSettings(on_search=False))
    return open_memory(
        folder / "workspace", state_dir=folder / "state", settings=settings, embedder=WindowPool()
    )


def built(folder: Path, chunks: int) -> Path:
    """A memory of about so many chunks; one that is there is used again."""
    place = folder / str(chunks)
    if not place.exists():
        write_notes(place / "workspace", chunks // CHUNKS_A_NOTE)
        with opened(place) as memory:
            memory.sync()
    return place


@contextlib.contextmanager
def bare_connection(memory: Memory) -> Iterator[apsw.Connection]:
    """A connection of its own to the same file, in one read transaction."""
    with memory.indexer.store.view() as view:
        assert view is not None
        path = view.path  # type: ignore[attr-defined]
    db = open_reader(path)
    try:
        db.execute("BEGIN")
        yield db
    finally:
        db.close()


class Sentences:
    """Text for notes and questions."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._made_up = Writing(seed)
        texts = (file.read_text(encoding="utf-8") for file in sorted(DOCS.rglob("*.md")))
        prose = (line for text in texts for line in text.splitlines() if line[:1].isalpha())
        self._all = [one for line in prose for one in line.split(". ") if len(one.split()) > 4]

    def sentence(self) -> str:
        words = self._draw.choice(self._all).split()
        return " ".join(
            self._made_up.words(1) if self._draw.random() < MADE_UP else word for word in words
        )

    def section(self) -> str:
        body = ". ".join(self.sentence() for _ in range(self._draw.randint(4, 6)))
        return f"## {self.sentence()}\n\n{body}\n"

    def question(self) -> str:
        return " ".join(self._draw.choice(self._all).split()[:QUESTION_WORDS])


def write_notes(workspace: Path, count: int) -> None:
    sentences = Sentences(1)
    for number in range(count):
        day = FIRST_DAY + timedelta(number % DAYS_A_FOLDER)
        note = workspace / f"memory/area-{number // DAYS_A_FOLDER:03}/{day}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(
            "\n".join(sentences.section() for _ in range(CHUNKS_A_NOTE)), encoding="utf-8"
        )


def questions() -> list[str]:
    sentences = Sentences(2)
    return [sentences.question() for _ in range(QUESTIONS)]


# -- the floor -----------------------------------------------------------------------------------


def fts5(db: apsw.Connection, terms: str) -> list[tuple[object, ...]]:
    return select(
        db,
        "SELECT chunks.id, text FROM chunks_fts JOIN chunks ON chunks.id = chunks_fts.rowid "
        "WHERE chunks_fts MATCH ? AND rank MATCH 'bm25(0.0, 1.0, 0.6, 0.4)' ORDER BY rank LIMIT ?",
        (terms, BEST),
    )


def stored_vectors(db: apsw.Connection) -> Vectors:
    rows = select(db, "SELECT vector FROM chunks_vec")
    vectors: Vectors = np.frombuffer(b"".join([row[0] for row in rows]), "<f4").reshape(
        len(rows), -1
    )
    return vectors


def matrix_scan(vectors: Vectors, query: Vectors) -> object:
    return np.argpartition(vectors @ query, -BEST)[-BEST:]


class BitScan:
    """The Hamming distance to every row: word-major bits, and no row is compared again."""

    def __init__(self, vectors: Vectors) -> None:
        self._mean = vectors.mean(axis=0)
        packed = np.packbits(vectors > self._mean, axis=1).view(np.uint64)
        self._bits = np.ascontiguousarray(packed.T)

    def nearest(self, query: Vectors) -> object:
        word = np.packbits(query > self._mean).view(np.uint64)
        distance = np.zeros(self._bits.shape[1], np.uint16)
        for bits, own in zip(self._bits, word, strict=True):
            distance += np.bitwise_count(bits ^ own)
        return np.argpartition(distance, BEST)[:BEST]


# -- measuring -----------------------------------------------------------------------------------


def least_ms(actions: dict[str, Callable[[], object]]) -> dict[str, float]:
    best = dict.fromkeys(actions, float("inf"))
    for _ in range(ROUNDS):
        for name, action in actions.items():
            begun = time.process_time_ns()
            action()
            best[name] = min(best[name], (time.process_time_ns() - begun) / 1e6)
    return best


def measured(folder: Path, chunks: int) -> list[Row]:
    place = built(folder, chunks)
    asked = questions()
    with opened(place) as memory, bare_connection(memory) as db:
        vectors = stored_vectors(db)
        scan = partial(matrix_scan, vectors)
        if len(vectors) > MATRIX_ROWS:
            scan = BitScan(vectors).nearest  # type: ignore[assignment]
            del vectors
        for question in asked:  # Loads what is loaded once; embeds the questions.
            memory.search(question)
        gc.collect()
        times = [_one(memory, db, scan, question) for question in asked]
    middle = {name: statistics.median(one[name] for one in times) for name in times[0]}
    hybrid_floor = middle["fts5"] + middle["scan"]
    return [
        Row(
            f"keyword search, {chunks} chunks, over FTS5",
            middle["keyword"],
            middle["fts5"],
            KEYWORD_LIMITS.get(chunks, 2.0),
        ),
        Row(
            f"hybrid search, {chunks} chunks, over FTS5 and scan",
            middle["hybrid"],
            hybrid_floor,
            HYBRID_LIMITS.get(chunks, 2.0),
        ),
        Row(
            f"the same and its lines read, {chunks} chunks",
            middle["read"],
            hybrid_floor,
            READ_LIMITS.get(chunks, 2.0),
        ),
    ]


def _one(
    memory: Memory, db: apsw.Connection, scan: Callable[[Vectors], object], question: str
) -> dict[str, float]:
    vector = WindowPool().embed([question], "query")[0]
    terms = " OR ".join(f'"{term}"' for term in text_query(question).terms)
    return least_ms(
        {
            "fts5": partial(fts5, db, terms),
            "scan": partial(scan, vector),
            "keyword": partial(memory.search, question, mode="keyword"),
            "hybrid": partial(memory.search, question),
            "read": partial(read_lines, memory, question),
        }
    )


def read_lines(memory: Memory, question: str) -> list[str]:
    return [hit.shown_text for hit in memory.search(question).hits]


def rows(sizes: Sequence[int] = SIZES, folder: Path | None = None) -> list[Row]:
    with tempfile.TemporaryDirectory() as made:
        return [row for size in sizes for row in measured(folder or Path(made), size)]


def profile(place: Path, mode: Mode) -> None:
    """Which functions a warm search spends its time in."""
    import cProfile
    import pstats

    asked = questions()
    with opened(place) as memory:
        search = partial(memory.search, mode=mode)
        for question in asked:
            search(question)
        profiler = cProfile.Profile()
        profiler.enable()
        for question in asked * ROUNDS:
            search(question)
        profiler.disable()
    print(f"{mode}, {len(asked) * ROUNDS} searches")
    pstats.Stats(profiler).sort_stats("tottime").print_stats(45)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--profile", choices=("keyword", "hybrid"))
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    if arguments.profile:
        profile(built(arguments.folder, sizes[0]), arguments.profile)
        return 0
    found = rows(sizes, arguments.folder)
    print(*found, sep="\n")
    return 0 if all(row.is_kept for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
