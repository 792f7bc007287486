"""Behind PgBouncer in transaction mode each transaction may run on another connection, which the
transactions of other tenants have used before."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import psycopg
import pytest
from tests.hardening.database.test_bad_days import agrees, append, begin, numbers_in
from tests.postgres_server import LOGIN, NOBODY, PASSWORD, PostgresServer

from notewell.core import Secret
from notewell.index.postgres import PostgresStore
from notewell.notes import Entry
from notewell.notes.postgres import PostgresNotes
from notewell.postgres import Address, AdvisoryLease, Database, Scope, hold_lease, lease_holder

PROGRAM = os.environ.get("NOTEWELL_TEST_PGBOUNCER") or shutil.which("pgbouncer")
SERVER_CONNECTIONS, CLIENTS, ROUNDS = 3, 12, 5
INDEXERS = 2
"""Each keeps a connection for its lease and needs another one: fewer than the pooler has."""
DAY = date(2026, 11, 15)
START_S = 30

pytestmark = pytest.mark.skipif(not PROGRAM, reason="needs PgBouncer: see scripts/pgbouncer.sh")


@pytest.fixture(scope="module")
def url(postgres_server: PostgresServer) -> Iterator[str]:
    """The server through a pooler that has fewer connections than we have clients."""
    folder = Path(tempfile.mkdtemp(prefix="nw-pool-"))
    (folder / "users.txt").write_text(f'"{LOGIN}" "{PASSWORD}"\n', encoding="utf-8")
    (folder / "pooler.ini").write_text(
        f"[databases]\nnotewell = host={postgres_server.folder}\n[pgbouncer]\n"
        f"pool_mode = transaction\ndefault_pool_size = {SERVER_CONNECTIONS}\n"
        f"listen_addr =\nunix_socket_dir = {folder}\nauth_type = scram-sha-256\n"
        f"auth_file = {folder}/users.txt\nignore_startup_parameters = extra_float_digits\n",
        encoding="utf-8",
    )
    words = [str(PROGRAM), str(folder / "pooler.ini")]
    if os.geteuid() == 0:  # It refuses to run as root.
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, NOBODY, NOBODY)
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *words]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    address = f"postgresql://{LOGIN}:{PASSWORD}@/notewell?host={folder}&port=6432"
    try:
        wait_for(address, process, folder / "log")
        yield address
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            assert process.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.02)
        else:
            return


def test_tenants_that_share_connections_see_and_write_their_own_rows_alone(url: str) -> None:
    databases = [Database(Address(Secret(url))) for _ in range(CLIENTS)]

    def write_notes(number: int) -> None:
        notes = PostgresNotes(databases[number], Scope(f"tenant-{number}", "same-agent"))
        for turn in range(ROUNDS):
            assert notes.append(Entry(f"canary-{number}.{turn}", "test"), DAY).added
            (path,) = notes.scan().notes
            lines = notes.read(path).text.splitlines()
            assert [line.split()[1] for line in lines] == [
                f"canary-{number}.{one}" for one in range(turn + 1)
            ]

    def write_index(number: int) -> None:
        store = PostgresStore(databases[number], Scope(f"index-{number}", "same-agent"), "notes")
        begin(store)
        for turn in range(ROUNDS):
            append(store, number * 100 + turn)
            assert numbers_in(store) == {number * 100 + one for one in range(turn + 1)}
        assert agrees(store)

    with ThreadPoolExecutor(CLIENTS + INDEXERS) as pool:
        work = [pool.submit(write_index, number) for number in range(INDEXERS)]
        work += [pool.submit(write_notes, number) for number in range(CLIENTS)]
        for one in work:
            one.result()
    for database in databases:
        database.close()


def test_a_transaction_leaves_nothing_on_the_connection_for_the_next_one(url: str) -> None:
    database = Database(Address(Secret(url)))
    with psycopg.connect(url, autocommit=True) as stranger:
        for number in range(SERVER_CONNECTIONS * 3):
            with database.writing(Scope("tenant", f"agent-{number}")) as transaction:
                transaction.execute("SELECT 1")
            rows = stranger.execute(
                "SELECT current_user::text, coalesce(current_setting('app.tenant', true), ''), "
                "coalesce(current_setting('app.agent', true), '')"
            ).fetchall()
            assert rows == [(LOGIN, "", "")]
    database.close()


def test_a_lease_has_one_holder_whichever_connections_are_used(url: str) -> None:
    one, other = (Database(Address(Secret(url))) for _ in range(2))
    lease = AdvisoryLease(Scope("tenant", "agent"), "writer", "notes")
    with hold_lease(one, lease, wait_s=5):
        for _ in range(SERVER_CONNECTIONS * 2):
            assert "process" in str(lease_holder(other, lease))
    assert lease_holder(other, lease) is None
    with hold_lease(other, lease, wait_s=5):
        pass
    for database in (one, other):
        database.close()
