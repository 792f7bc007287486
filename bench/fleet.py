"""Searches of one agent among very many in PostgreSQL, beside the same searches in SQLite.

    python -m bench.fleet [--agents 200,1000] [--chunks 100] [--searches 200]
                          [--large 1000,10000] [--writers 8]

A real server is started (`tests/postgres_server.py`). A few memories of made-up notes are indexed;
their rows are copied until there are as many agents as wanted. Every search asks another agent, so
that nothing of it is known yet: three transactions, as in `Memory.search`. CPU of the server is
that of all its processes, CPU of the client that of this process; embedding the question takes
microseconds here.

`--large` indexes single agents with so many chunks in both stores, and fits how the costs grow.
`--writers` index an agent each at the same time. The plans of a search are captured at each size.
Exits with 1 if the median of the server is over 8 ms for small agents, if a plan reads a whole
table, or if the vector leg finds less than .99 of the true neighbours.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psycopg
from bench.fleet_growth import exponent, made_up_notes, recall, write_at_once
from bench.load import PoolEmbedder, questions
from tests.postgres_plans import captured_plans
from tests.postgres_server import running_server

from notewell.index.postgres import DRIVER, PostgresStore
from notewell.index.sqlite import SqliteStore
from notewell.postgres import Scope
from notewell.records import replace
from notewell.search import QuestionCache, SearchOptions, prepare, search
from notewell.sync import Indexer
from notewell.testing import InMemoryNotes
from notewell.testing.embedders import windowed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.postgres_server import PostgresServer

    from notewell.index import IndexStore
    from notewell.ports import SplitText, WindowedVector
    from notewell.postgres import Database

MODELS = 8
"""Memories that are really indexed; all others are copies of them."""
LIMIT_MS = 8.0
RECALL = 0.99
LARGE_SEARCHES = 100
TENANT = "fleet"
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
GROUP = 20
"""Searches between two looks at the CPU time of the server, which the kernel counts in 10 ms."""
TABLES = ("generations", "files", "chunks", "postings", "vectors", "half_vectors")


class FleetEmbedder(PoolEmbedder):
    """With windows, as the embedded model has them."""

    def __init__(self) -> None:
        super().__init__()
        self.facts = replace(self.facts, window_share=0.5)

    def embed_windows(self, texts: Sequence[SplitText]) -> list[WindowedVector]:
        return windowed(self, texts)


class Costs(NamedTuple):
    """Milliseconds of CPU for a search: the mean of each group of searches."""

    client: list[float]
    server: list[float]

    def __str__(self) -> str:
        parts = [("client", self.client), ("server", self.server)]
        return "  ".join(
            f"{name} p50 {_p(one, 50):6.2f} p95 {_p(one, 95):6.2f}" for name, one in parts
        )


def _p(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]


def server_cpu_s(server: PostgresServer) -> float:
    """Of all processes of the server, those that have ended included."""
    assert server.process is not None
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # It has just ended.
        own = int(stat.parent.name) == server.process.pid
        if own or int(fields[1]) == server.process.pid:
            used = int(fields[11]) + int(fields[12])
            total += used + (int(fields[13]) + int(fields[14]) if own else 0)
    return total * TICK_S


def indexer(store: IndexStore, notes: InMemoryNotes, driver: str) -> Indexer:
    return Indexer(
        notes=notes,
        indexes_notes=True,
        open_transcripts=lambda: None,
        delta_limits=None,
        redact_notes=None,
        redaction="",
        store=store,
        embedder=FleetEmbedder(),
        chunk_tokens=400,
        chunk_overlap=0,
        vector_driver=driver,
        driver_problem=None,
        keyword_only=False,
        now_ns=time.time_ns,
        monotonic_s=time.monotonic,
        lease_wait_s=10,
    )


def ask(store: IndexStore, driver: str, question: str) -> int:
    """A search as `Memory.search` makes it, without the look at the notes."""
    keeper = indexer(store, InMemoryNotes({}), driver)
    options = SearchOptions(today=date(2026, 11, 15))
    cache = QuestionCache(0)
    context = prepare(keeper.index_facts(), question, keeper.embedder, options, cache)
    with store.view() as view:
        assert view is not None
        answer = search(view, context, None)
    assert answer.mode == "hybrid", answer.notice
    return len(answer.hits)


def measured(
    asked: Sequence[tuple[IndexStore, str]], driver: str, server: PostgresServer
) -> Costs:
    costs = Costs([], [])
    for start in range(0, len(asked) - GROUP + 1, GROUP):
        client, at_server = time.process_time(), server_cpu_s(server)
        for store, question in asked[start : start + GROUP]:
            ask(store, driver, question)
        costs.client.append((time.process_time() - client) * 1000 / GROUP)
        costs.server.append((server_cpu_s(server) - at_server) * 1000 / GROUP)
    return costs


def agent_name(number: int) -> str:
    return f"agent-{number:06}"


def copy_agents(server: PostgresServer, first: int, last: int) -> None:
    """Give the agents `first` … `last` the rows of one of the models."""
    with psycopg.connect(server.owner_url("notewell")) as owner:
        for table in TABLES:
            names = owner.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 2 "
                "AND NOT attisdropped ORDER BY attnum",
                (f"notewell.{table}",),
            ).fetchall()
            columns = ", ".join(name for (name,) in names)
            sql = (
                f"INSERT INTO notewell.{table} (tenant, agent, {columns}) "
                f"SELECT tenant, 'agent-' || lpad(n::text, 6, '0'), {columns} "
                f"FROM generate_series(%s::int, %s::int) AS n JOIN notewell.{table} AS model "
                "ON model.tenant = %s "
                "AND model.agent = 'agent-' || lpad((n %% %s)::text, 6, '0') "
                # Rows of one agent lie together, as when each is indexed by itself.
                "ORDER BY n"
            )
            owner.execute(sql.encode(), (first, last, TENANT, MODELS))
    with psycopg.connect(server.owner_url("notewell"), autocommit=True) as owner:
        owner.execute("VACUUM ANALYZE")
        owner.execute("CHECKPOINT")


def bytes_a_chunk(server: PostgresServer, chunks: int) -> dict[str, float]:
    with psycopg.connect(server.owner_url("notewell")) as owner:
        rows = owner.execute(
            "SELECT parent.relname, sum(pg_total_relation_size(inhrelid)) FROM pg_inherits "
            "JOIN pg_class AS parent ON parent.oid = inhparent AND parent.relkind = 'p' "
            "WHERE parent.relnamespace = 'notewell'::regnamespace GROUP BY 1 ORDER BY 1"
        ).fetchall()
    return {name: float(size) / chunks for name, size in rows}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--agents", default="200,1000")
    parser.add_argument("--chunks", type=int, default=100)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--large", default="1000,10000")
    parser.add_argument("--writers", type=int, default=8)
    arguments = parser.parse_args()
    sizes = sorted(int(one) for one in arguments.agents.split(","))
    settings = ("shared_buffers=1GB", "max_wal_size=8GB", "autovacuum=off")
    with tempfile.TemporaryDirectory() as scratch, running_server(settings) as server:
        server.create_database("notewell")
        database = server.as_login("notewell")
        try:
            is_kept = _run(Path(scratch), server, database, sizes, arguments)
            write_and_tell(server, arguments.writers)
            large = [int(one) for one in arguments.large.split(",") if one]
            is_kept &= measure_large(Path(scratch), server, database, large)
            return 0 if is_kept else 1
        finally:
            database.close()


def _run(
    scratch: Path,
    server: PostgresServer,
    database: Database,
    sizes: Sequence[int],
    arguments: argparse.Namespace,
) -> bool:
    local: list[IndexStore] = []
    asked: list[list[str]] = []
    chunks = 0
    for number in range(MODELS):
        held = made_up_notes(arguments.chunks, seed=number + 1)
        asked.append(asked_of(held, scratch / str(number), arguments.searches // MODELS + 1))
        local.append(SqliteStore(scratch / f"index-{number}", "segments"))
        indexer(local[-1], held, "segments").run()
        report = indexer(store_of(database, number), held, DRIVER).run()
        chunks += report.chunks
    print(f"{MODELS} memories, {chunks / MODELS:.0f} chunks each")
    draw, is_kept, have = random.Random(5), True, MODELS
    for size in sizes:
        copy_agents(server, have, size - 1)
        have = size
        agents = [draw.randrange(size) for _ in range(arguments.searches)]
        pairs = [
            (agent, asked[agent % MODELS][turn % len(asked[agent % MODELS])])
            for turn, agent in enumerate(agents)
        ]
        for agent, question in pairs[
            :GROUP
        ]:  # Connections and catalogs are warm, as in a service.
            ask(store_of(database, agent), DRIVER, question)
        there = measured(
            [(store_of(database, agent), question) for agent, question in pairs], DRIVER, server
        )
        fresh = [
            (SqliteStore(scratch / f"index-{agent % MODELS}", "segments"), question)
            for agent, question in pairs
        ]
        here = measured(fresh, "segments", server)
        sizes_text = "  ".join(
            f"{name} {one:.0f}"
            for name, one in bytes_a_chunk(server, size * chunks // MODELS).items()
        )
        print(f"{size:6} agents  postgres: {there}")
        print(f"{'':6}         sqlite:   {here}")
        print(f"{'':6}         bytes a chunk: {sizes_text}", flush=True)
        # One that was not asked yet: of the others nothing is read again.
        cold = next(number for number in range(size) if number not in agents)
        is_kept &= plans_are_good(store_of(database, cold), asked[cold % MODELS][0])
        found = recall(store_of(database, cold), asked[cold % MODELS])
        print(f"{'':6}         recall of the vector leg: {found:.3f}", flush=True)
        is_kept &= _p(there.server, 50) <= LIMIT_MS and found >= RECALL
    return is_kept


def asked_of(notes: InMemoryNotes, folder: Path, count: int) -> list[str]:
    """Questions about notes, which are written to a folder for that."""
    for path in notes.scan().notes:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(notes.read(path).text, encoding="utf-8")
    return questions(folder, count)


def plans_are_good(store: IndexStore, question: str) -> bool:
    """Print what the server reads for a search, by which index; nothing may be read whole."""
    with captured_plans() as plans:
        ask(store, DRIVER, question)
    steps = [step for plan in plans.values() for step in plan]
    shown = sorted({str(step) for step in steps})
    print(f"{'':6}         plans: {'; '.join(shown)}")
    return len({step.partition for step in steps}) == 1 and not any(
        step.reads_everything for step in steps
    )


def write_and_tell(server: PostgresServer, writers: int) -> None:
    if not writers:
        return
    before = server_cpu_s(server)
    done, took_s = write_at_once(server.login_url("notewell"), writers, 1000)
    chunks, client_s = sum(one.chunks for one in done), sum(one.cpu_s for one in done)
    server_s = server_cpu_s(server) - before
    print(
        f"{writers} writers: {chunks} chunks in {took_s:.1f} s, {chunks / took_s:.0f} a second; "
        f"CPU a chunk: client {client_s / chunks * 1000:.2f} ms, "
        f"server {server_s / chunks * 1000:.2f} ms",
        flush=True,
    )


def measure_large(
    scratch: Path, server: PostgresServer, database: Database, sizes: Sequence[int]
) -> bool:
    """One agent of each size, indexed in both stores. The same process asks all questions, so it
    knows what it has read already, as a service does."""
    grown: dict[str, dict[int, float]] = {}
    is_kept = True
    for size in sizes:
        notes = made_up_notes(size, seed=size)
        asked = asked_of(notes, scratch / f"large-{size}", LARGE_SEARCHES)
        there = PostgresStore(database, Scope(TENANT, f"large-{size}"), "notes")
        here = SqliteStore(scratch / f"large-index-{size}", "segments")
        at_server, client = server_cpu_s(server), time.process_time()
        chunks = indexer(there, notes, DRIVER).run().chunks
        index_client, index_server = (
            time.process_time() - client,
            server_cpu_s(server) - at_server,
        )
        client = time.process_time()
        indexer(here, notes, "segments").run()
        index_sqlite = time.process_time() - client
        with psycopg.connect(server.owner_url("notewell"), autocommit=True) as owner:
            owner.execute("VACUUM ANALYZE")
        costs = measured([(there, question) for question in asked], DRIVER, server)
        local = measured([(here, question) for question in asked], "segments", server)
        found = recall(there, asked)
        print(f"one agent of {chunks} chunks")
        print(f"{'':6}         postgres: {costs}")
        print(f"{'':6}         sqlite:   {local}")
        print(
            f"{'':6}         index it: client {index_client:.1f} s, server {index_server:.1f} s, "
            f"with SQLite {index_sqlite:.1f} s of CPU; recall of the vector leg: {found:.3f}",
            flush=True,
        )
        for name, value in (
            ("index, client", index_client),
            ("index, server", index_server),
            ("search, client", _p(costs.client, 50)),
            ("search, server", _p(costs.server, 50)),
            ("search, SQLite", _p(local.client, 50)),
        ):
            grown.setdefault(name, {})[chunks] = value
        is_kept &= found >= RECALL
    if sizes[1:]:
        shown = "  ".join(f"{name} {exponent(values):.2f}" for name, values in grown.items())
        print(f"growth exponents: {shown}", flush=True)
    return is_kept


def store_of(database: Database, number: int) -> PostgresStore:
    return PostgresStore(database, Scope(TENANT, agent_name(number)), "notes")


if __name__ == "__main__":
    sys.exit(main())
