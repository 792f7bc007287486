"""One agent that grows, and eight writers at once: parts of `bench.fleet`."""

from __future__ import annotations

import math
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from bench.load import Writing

from notewell.core import Secret
from notewell.index.postgres import DRIVER, PostgresStore
from notewell.postgres import Address, Database, Scope
from notewell.testing import InMemoryNotes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.index import IndexStore

NEAREST = 50
"""How many neighbours of a question a search asks for, about."""
RECALL_QUESTIONS = 20
CHUNKS_A_NOTE = 10


def made_up_notes(chunks: int, seed: int) -> InMemoryNotes:
    return InMemoryNotes(dict(Writing(seed).notes(max(1, chunks // CHUNKS_A_NOTE))))


def recall(store: IndexStore, questions: Sequence[str]) -> float:
    """The part of the true neighbours that the vector leg finds."""
    from bench.fleet import FleetEmbedder

    queries = FleetEmbedder().embed(questions[:RECALL_QUESTIONS], "query")
    found = 0
    with store.view() as view:
        assert view is not None
        ids, vectors = view.inventory().vectors(range(view.inventory().last_id() + 1))
        matrix = np.asarray(vectors, dtype=np.float64)
        for query in queries:
            cosines = matrix @ query.astype(np.float64)
            # The worst of the true neighbours: chunks with equal cosines are equally good.
            limit = np.sort(cosines)[-min(NEAREST, len(cosines))] - 1e-6
            by_id = dict(zip(ids, cosines.tolist(), strict=True))
            near = view.nearest(query, ("memory",), NEAREST)
            found += sum(by_id[one] >= limit for one in near)
    return found / (len(queries) * min(NEAREST, len(ids)))


def exponent(values: Mapping[int, float]) -> float:
    """The slope of log(value) over log(size), by least squares: 1 is linear."""
    points = [(math.log(size), math.log(max(value, 1e-9))) for size, value in values.items()]
    return statistics.linear_regression(*zip(*points, strict=True)).slope


# -- writers -------------------------------------------------------------------------------------


class Written(NamedTuple):
    chunks: int
    cpu_s: float


def write_agent(url: str, number: int, chunks: int) -> Written:
    """In a process of its own: index a new agent, vectors included."""
    from bench.fleet import indexer

    database = Database(Address(Secret(url)))
    store = PostgresStore(database, Scope("writers", f"writer-{number}"), "notes")
    notes = made_up_notes(chunks, seed=100 + number)
    began = time.process_time()
    report = indexer(store, notes, DRIVER).run()
    cpu_s = time.process_time() - began
    database.close()
    return Written(report.chunks, cpu_s)


def write_at_once(url: str, writers: int, chunks: int) -> tuple[list[Written], float]:
    """What each has written, and the seconds from the first start to the last end."""
    began = time.perf_counter()
    with ProcessPoolExecutor(writers) as pool:
        done = list(pool.map(write_agent, [url] * writers, range(writers), [chunks] * writers))
    return done, time.perf_counter() - began
