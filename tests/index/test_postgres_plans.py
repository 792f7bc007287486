"""What the server reads for a question: the partition of one agent, and few rows of it."""

from __future__ import annotations

import time

import psycopg
import pytest
from tests.index.test_postgres_isolation import VIEW_QUESTIONS, fill, write_everything
from tests.postgres_plans import Plans, captured_plans
from tests.postgres_server import PostgresServer

from notewell.core import text_query
from notewell.errors import NotewellError
from notewell.index.postgres import PostgresStore
from notewell.postgres import Scope
from notewell.testing import HashEmbedder

NAME = "plans"
AGENTS = 40
WAIT_S = 30


@pytest.fixture(scope="module")
def server(postgres_server: PostgresServer) -> PostgresServer:
    postgres_server.create_database(NAME)
    database = postgres_server.as_login(NAME)
    for number in range(AGENTS):
        fill(PostgresStore(database, Scope("t", f"agent-{number}"), "notes"), f"word{number}")
    database.close()
    with psycopg.connect(postgres_server.owner_url(NAME), autocommit=True) as owner:
        owner.execute("VACUUM ANALYZE")
    return postgres_server


def scans(server: PostgresServer) -> dict[str, int]:
    """How often each partition was read so far. The server counts when a connection has ended."""
    with psycopg.connect(server.owner_url(NAME)) as owner:
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            others = owner.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = %s "
                "AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
                (NAME,),
            ).fetchall()
            owner.rollback()  # Statistics do not change inside a transaction.
            if others == [(0,)]:
                break
            time.sleep(0.01)
        return dict(
            owner.execute(
                "SELECT relname, seq_scan + coalesce(idx_scan, 0) FROM pg_stat_all_tables "
                "WHERE schemaname = 'notewell' AND relname LIKE '%\\_p__'"
            ).fetchall()
        )


def partitions_read(server: PostgresServer, before: dict[str, int]) -> set[str]:
    after = scans(server)
    return {name for name, count in after.items() if count != before.get(name, 0)}


def test_every_question_and_write_reads_the_partition_of_its_agent_alone(
    server: PostgresServer,
) -> None:
    before = scans(server)
    database = server.as_login(NAME)
    store = PostgresStore(database, Scope("t", "agent-7"), "notes")
    with store.view() as view:
        assert view is not None
        for question in VIEW_QUESTIONS.values():
            question(view)
    with store.writing(wait_s=0) as writer:
        writer.open_current()
        write_everything(writer)
        writer.purge()
    store.describe()
    store.change_mark()
    store.cache_entries()
    store.purge_cache()
    store.mark_suspect()
    database.close()
    read = partitions_read(server, before)
    assert {name.rpartition("_p")[0] for name in read} == {
        "chunks",
        "files",
        "generations",
        "half_vectors",
        "postings",
        "vector_cache",
        "vectors",
    }
    assert len({name.rpartition("_p")[2] for name in read}) == 1, read


def test_a_statement_that_names_no_agent_is_noticed_by_this_test(server: PostgresServer) -> None:
    before = scans(server)
    with psycopg.connect(server.owner_url(NAME)) as owner:  # Nobody hides rows from the owner.
        owner.execute("SELECT count(path) FROM notewell.files")
    assert len(partitions_read(server, before)) > 1


SMALL, LARGE = 400, 4000
TABLES = ("generations", "files", "chunks", "postings", "vectors", "half_vectors")


def copy_agents(server: PostgresServer, first: int, last: int) -> None:
    """Rows of one agent for each of these numbers."""
    with psycopg.connect(server.owner_url(NAME), autocommit=True) as owner:
        for table in TABLES:
            columns = ", ".join(
                name
                for (name,) in owner.execute(
                    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass "
                    "AND attnum > 2 AND NOT attisdropped ORDER BY attnum",
                    (f"notewell.{table}",),
                )
            )
            owner.execute(
                f"INSERT INTO notewell.{table} (tenant, agent, {columns}) "
                f"SELECT tenant, 'agent-' || n, {columns} FROM notewell.{table}, "
                "generate_series(%s::int, %s::int) AS n WHERE agent = 'agent-9'".encode(),
                (first, last),
            )
        owner.execute("VACUUM ANALYZE")


def plans_of_a_search(server: PostgresServer, agent: str) -> Plans:
    """Of an agent that nobody has asked yet: what a process has read, it reads no second time."""
    database = server.as_login(NAME)
    store = PostgresStore(database, Scope("t", agent), "notes")
    vector = HashEmbedder().embed(["word9"], "query")[0]
    with captured_plans() as plans, store.view() as view:
        assert view is not None
        view.identity()
        view.having(["de·", "fr·"])
        found, _ = view.matching(text_query("word9 router"), ("memory",), 10)
        ids = [one.chunk_id for one in found]
        near = view.nearest(vector, ("memory",), 10)
        view.facts(ids)
        view.cosines(vector, [*ids, *near])
        view.window_cosines(vector, [*ids, *near])
        view.chunks(near)
    database.close()
    assert ids
    return plans


def test_no_plan_of_a_search_reads_a_whole_table_however_large_the_fleet_is(
    server: PostgresServer,
) -> None:
    copy_agents(server, AGENTS, SMALL - 1)
    small = plans_of_a_search(server, "agent-100")
    copy_agents(server, SMALL, LARGE - 1)
    large = plans_of_a_search(server, "agent-101")
    assert tables_of(large) == tables_of(small)
    steps = [step for plan in large.values() for step in plan]
    assert {step.table for step in steps} == {"generations", "postings", "chunks", "vectors"}
    assert [str(step) for step in steps if step.reads_everything] == []
    assert len({step.partition for step in steps}) == 1


def tables_of(plans: Plans) -> dict[str, set[str]]:
    return {sql: {step.table for step in plan} for sql, plan in plans.items()}


def test_the_policy_finds_the_partition_and_a_plan_that_reads_all_of_it_is_noticed(
    server: PostgresServer,
) -> None:
    database = server.as_login(NAME)
    with captured_plans() as plans, database.reading(Scope("t", "agent-1")) as transaction:
        for name in ("indexscan", "bitmapscan", "indexonlyscan"):
            transaction.execute(f"SET LOCAL enable_{name} = off")
        transaction.rows("SELECT count(text) FROM notewell.chunks WHERE path = 'MEMORY.md'")
    database.close()
    ((step,),) = [plan for sql, plan in plans.items() if "count(text)" in sql]
    assert step.reads_everything


def test_a_cold_search_takes_few_statements(server: PostgresServer) -> None:
    """Each costs the server about as much as the rows that it reads."""
    database = server.as_login(NAME)
    store = PostgresStore(database, Scope("t", "agent-9"), "notes")
    statements: list[str] = []
    vector = HashEmbedder().embed(["word9"], "query")[0]
    with store.view() as view:
        assert view is not None
        rows = view._rows
        ask = rows.select

        def counted(sql: str, values: object = ()) -> list[tuple[object, ...]]:
            statements.append(sql)
            return ask(sql, values)  # type: ignore[arg-type]

        rows.select = counted  # type: ignore[method-assign]
        view.having(["de·", "fr·"])
        found, _ = view.matching(text_query("word9 router"), ("memory",), 10)
        ids = [one.chunk_id for one in found]
        assert ids
        near = view.nearest(vector, ("memory",), 10)
        view.facts(ids)
        view.cosines(vector, [*ids, *near])
        view.window_cosines(vector, [*ids, *near])
        chunks = view.chunks(near)
        for chunk in chunks.values():
            view.around(chunk.path, 1, 100)
    database.close()
    assert len(statements) == 4, statements  # Words twice, chunks, vectors.


def test_no_part_of_an_error_names_another_agent(server: PostgresServer) -> None:
    database = server.as_login(NAME)
    with (
        pytest.raises(NotewellError) as raised,
        database.writing(Scope("t", "agent-1")) as transaction,
    ):
        transaction.execute("UPDATE notewell.files SET agent = 'agent-2'")
    database.close()
    assert "agent-2" not in str(raised.value)
