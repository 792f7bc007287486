"""A server that ends in the middle of a write, and a service that has no connection left."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.hardening.database.proxy import Proxy
from tests.postgres_server import PASSWORD, PostgresServer, running_server

from notewell.core import VERSION, ChunkLimits, Secret, chunk
from notewell.errors import DatabaseUnavailable, IndexTrouble, IndexUnavailable
from notewell.index import Identity, IndexStore, StoreAudit, UpToDate
from notewell.index.postgres import PostgresStore
from notewell.postgres import Address, Database, Scope
from notewell.postgres.connections import Limits
from notewell.types import NoteStat

STAT = NoteStat(10, 1, 1, 1)
WRITERS = 8


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of its own: these tests end it."""
    with running_server(("max_connections=25", "restart_after_crash=off")) as server:
        server.create_database("notewell")
        yield server


def begin(store: IndexStore) -> None:
    with store.writing(wait_s=10) as writer:
        writer.start_generation(
            Identity("hash", "hash-64", 64, 60, 0, ("memory",), VERSION, "pgvector")
        )
        writer.publish()


def append(store: IndexStore, number: int) -> None:
    with store.writing(wait_s=10) as writer:
        assert writer.open_current() == UpToDate()
        with writer.transaction():
            chunks = chunk(f"Note number{number} of the router.\n", ChunkLimits(60, 0))
            writer.replace(f"memory/{number}.md", "memory", str(number), STAT, chunks)


def numbers_in(store: IndexStore) -> set[int]:
    with store.view() as view:
        assert view is not None
        return {int(note.digest) for note in view.notes().values()}


def agrees(store: IndexStore) -> bool:
    audit = StoreAudit()
    store.verify(audit, lambda _: None, lambda *_: None)
    return audit.agrees


def test_what_was_acknowledged_survives_a_server_that_is_killed_under_eight_writers(
    server: PostgresServer,
) -> None:
    limits = Limits(connection_wait_s=10.0)
    database = Database(Address(Secret(server.login_url("notewell"))), limits)
    stores = [PostgresStore(database, Scope("t", f"writer-{n}"), "notes") for n in range(WRITERS)]
    acknowledged: list[set[int]] = [set() for _ in stores]
    failures: list[IndexTrouble] = []
    enough = threading.Event()

    def write(turn: int) -> None:
        try:
            for number in range(10_000):
                append(stores[turn], number)
                acknowledged[turn].add(number)
                if all(len(one) >= 5 for one in acknowledged):
                    enough.set()
        except IndexTrouble as error:
            failures.append(error)

    for store in stores:
        begin(store)
    threads = [threading.Thread(target=write, args=(turn,)) for turn in range(WRITERS)]
    for thread in threads:
        thread.start()
    assert enough.wait(120)
    server.kill()
    for thread in threads:
        thread.join(120)
    assert len(failures) == WRITERS
    assert PASSWORD not in repr(failures)
    with pytest.raises(IndexUnavailable):
        numbers_in(stores[0])
    server.start()
    for store, sure in zip(stores, acknowledged, strict=True):
        found = numbers_in(store)
        # What was committed while the server was killed may be there, once.
        assert sure <= found
        assert len(found - sure) <= 1
        assert agrees(store)
        append(store, 20_000)
    database.close()


CHILD = """
import os, sys
from notewell.core import Secret
from notewell.postgres import Address, Database, Scope
from notewell.index.postgres import PostgresStore
from tests.hardening.database.test_bad_days import STAT, begin, chunk, ChunkLimits

store = PostgresStore(Database(Address(Secret(os.environ["URL"]))), Scope("t", "killed"), "notes")
with store.writing(wait_s=10) as writer:
    writer.open_current()
    with writer.transaction():
        for number in range(50):
            chunks = chunk(f"Half {number}.\\n", ChunkLimits(60, 0))
            writer.replace(f"memory/{number}.md", "memory", str(number), STAT, chunks)
        writer.view
        print("written, not committed", flush=True)
        sys.stdin.read()
"""


def test_a_process_that_is_killed_in_a_write_leaves_the_old_state_and_no_lease(
    server: PostgresServer,
) -> None:
    database = server.as_login("notewell")
    store = PostgresStore(database, Scope("t", "killed"), "notes")
    begin(store)
    append(store, 99)
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "URL": server.login_url("notewell")},
        cwd=Path(__file__).parents[3],
    )
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == b"written, not committed\n"
    assert store.describe().holder
    child.kill()
    child.wait()
    child.stdout.close()
    child.stdin.close()
    append(store, 100)  # The lease is free as soon as the server has noticed.
    assert numbers_in(store) == {99, 100}
    assert agrees(store)
    database.close()


def test_a_network_that_stalls_ends_every_wait_and_the_next_try_works(
    server: PostgresServer,
) -> None:
    proxy = Proxy(server)
    # The steps before and after it have to keep within them, on a busy machine, too.
    limits = Limits(connection_wait_s=10.0, read_s=2.0, network_s=3)
    database = Database(Address(Secret(proxy.url)), limits)
    store = PostgresStore(database, Scope("t", "stalled"), "notes")
    begin(store)
    append(store, 1)
    with pytest.raises(IndexUnavailable):  # In the middle of a transaction.
        ask_while_it_stalls(store, proxy)
    with pytest.raises(IndexUnavailable):  # And when one begins.
        numbers_in(store)
    proxy.go_on()
    assert numbers_in(store) == {1}
    database.close()
    proxy.close()


def ask_while_it_stalls(store: IndexStore, proxy: Proxy) -> None:
    with store.view() as view:
        assert view is not None
        proxy.stall()
        view.notes()


def take_all(database: Database, scope: Scope, stack: ExitStack) -> None:
    for _ in range(database.limits.connections):
        stack.enter_context(database.reading(scope))


def test_a_server_without_a_free_connection_gives_a_bounded_answer(server: PostgresServer) -> None:
    address = Address(Secret(server.login_url("notewell")))
    scope = Scope("t", "crowded")
    # Nobody waits that long here: a server that is full refuses at once.
    crowd = Database(address, Limits(connections=40, connection_wait_s=10.0))
    late = Database(address, Limits(connection_wait_s=10.0))
    store = PostgresStore(late, scope, "notes")
    with ExitStack() as stack:
        with pytest.raises(DatabaseUnavailable, match="no connection left"):
            take_all(crowd, scope, stack)
        with pytest.raises(IndexUnavailable, match="no connection left"):
            store.change_mark()
        assert store.describe().generation is None
    crowd.close()
    # "Try again in a moment": the server must notice first that connections were closed, and a
    # refusal is remembered for as long as the try took that met it.
    assert after_a_moment(store.change_mark) == ()
    late.close()


def after_a_moment(ask: Callable[[], tuple[object, ...]]) -> tuple[object, ...]:
    deadline = time.monotonic() + 60
    while True:
        try:
            return ask()
        except IndexUnavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
