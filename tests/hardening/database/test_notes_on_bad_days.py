"""Notes in PostgreSQL while the network, the disk or a process fails: what was acknowledged is
there, once, and every wait ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from tests.hardening.database.proxy import Proxy
from tests.postgres_server import NOBODY, PASSWORD, PostgresServer

from notewell import Settings, StoreSettings, open_memory
from notewell.core import Secret
from notewell.errors import DatabaseUnavailable, NoteBusy
from notewell.notes import Entry
from notewell.notes.postgres import PostgresNotes
from notewell.postgres import Address, Database, Scope
from notewell.postgres.connections import Limits
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from notewell.ports import Kind, Vectors

DAY = date(2026, 11, 15)
KEY = "memory/2026-11-15.md"
ROOT = Path(__file__).parents[3]
QUICK = Limits(connection_wait_s=10.0, read_s=2.0, lock_s=1.0, idle_s=2.0, network_s=3)
"""Each of these waits ends a step that must fail. All others have to keep within them, on a busy
machine, too: so they are seconds, and not shorter."""


@pytest.fixture
def proxy(postgres_server: PostgresServer) -> Iterator[Proxy]:
    one = Proxy(postgres_server)
    yield one
    one.close()


@contextmanager
def notes_at(url: str, scope: Scope, limits: Limits = QUICK) -> Iterator[PostgresNotes]:
    database = Database(Address(Secret(url)), limits)
    try:
        yield PostgresNotes(database, scope)
    finally:
        database.close()


def entries(notes: PostgresNotes) -> list[str]:
    """The first word of each entry of the day."""
    return [line.split()[1].decode() for line in (notes.read_bytes(KEY) or b"").splitlines()]


# -- the network ---------------------------------------------------------------------------------


def test_an_append_whose_answer_is_lost_is_there_once_after_it_is_repeated(
    proxy: Proxy, postgres_scope: Scope
) -> None:
    with notes_at(proxy.url, postgres_scope) as notes:
        notes.append(Entry("first", "test"), DAY)
        proxy.lose_answer_to(b"COMMIT")
        with pytest.raises(DatabaseUnavailable):
            notes.append(Entry("second", "test"), DAY)
        assert not notes.append(Entry("second", "test"), DAY).added  # It was committed.
        assert entries(notes) == ["first", "second"]


def test_an_append_that_did_not_reach_its_commit_is_not_there(
    proxy: Proxy, postgres_scope: Scope
) -> None:
    with notes_at(proxy.url, postgres_scope) as notes:
        notes.append(Entry("first", "test"), DAY)
        # The server does not learn that its client is lost, and the transaction has the lock.
        proxy.lose_answer_to(b"UPDATE notewell.notes")
        with pytest.raises(DatabaseUnavailable):
            notes.append(Entry("second", "test"), DAY)
        assert entries(notes) == ["first"]
        assert notes.append(Entry("second", "test"), DAY).added
        assert entries(notes) == ["first", "second"]


def test_a_network_that_drips_gives_whole_answers_or_ends_the_wait(
    proxy: Proxy, postgres_scope: Scope
) -> None:
    text = "word " * 1000
    with notes_at(proxy.url, postgres_scope) as notes:
        notes.append(Entry(text, "test"), DAY)
        whole = notes.read_bytes(KEY)
        proxy.drip(0.02)  # 5 kB would take minutes, and a byte more is always there.
        with pytest.raises(DatabaseUnavailable, match="does not answer in time"):
            notes.read_bytes(KEY)
        proxy.drip(0)  # Every message in pieces of one byte.
        assert notes.read_bytes(KEY) == whole
        assert notes.append(Entry("second", "test"), DAY).added
        assert entries(notes)[-1] == "second"


# -- a slow server -------------------------------------------------------------------------------


def test_a_table_that_somebody_has_locked_ends_the_wait(
    postgres_server: PostgresServer, postgres_scope: Scope
) -> None:
    with notes_at(postgres_server.login_url("notewell"), postgres_scope) as notes:
        notes.append(Entry("first", "test"), DAY)
        with psycopg.connect(postgres_server.owner_url("notewell")) as owner:
            owner.execute("LOCK TABLE notewell.notes IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(DatabaseUnavailable, match="waited too long for a lock"):
                notes.read_bytes(KEY)
            with pytest.raises(NoteBusy):
                notes.append(Entry("second", "test"), DAY, wait_s=0.2)
        assert notes.append(Entry("second", "test"), DAY).added
        assert entries(notes) == ["first", "second"]


# -- a full disk ---------------------------------------------------------------------------------


class SmallDisk:
    """A file system in memory that belongs to the server."""

    def __init__(self, size: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="nw-disk-"))
        words = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700,uid={NOBODY},gid={NOBODY}"]
        if os.geteuid() or subprocess.run([*words, "none", self.folder], check=False).returncode:
            shutil.rmtree(self.folder)
            pytest.skip("a file system can be mounted by root alone")

    def grow(self, size: str) -> None:
        words = ["mount", "-o", f"remount,size={size}", str(self.folder)]
        subprocess.run(words, check=True)

    def remove(self) -> None:
        subprocess.run(["umount", self.folder], check=True)
        shutil.rmtree(self.folder)


@pytest.fixture
def small_disk(postgres_server: PostgresServer) -> Iterator[SmallDisk]:
    """`crowded` is a database on it."""
    disk = SmallDisk("40m")
    with psycopg.connect(postgres_server.owner_url("postgres"), autocommit=True) as owner:
        owner.execute(f"CREATE TABLESPACE small LOCATION '{disk.folder}'".encode())
        postgres_server.create_database("crowded", options="TABLESPACE small")
        yield disk
        disk.grow("80m")
        owner.execute("DROP DATABASE crowded WITH (FORCE)")
        owner.execute("DROP TABLESPACE small")
    disk.remove()


def test_a_full_disk_refuses_clearly_keeps_everything_and_recovers_by_itself(
    postgres_server: PostgresServer, small_disk: SmallDisk, postgres_scope: Scope
) -> None:
    url = postgres_server.login_url("crowded")
    with notes_at(url, postgres_scope, Limits()) as notes:
        stored: dict[str, bytes] = {}
        with pytest.raises(DatabaseUnavailable, match="no room on its disk: ask whoever runs"):
            put_many(notes, stored)
        assert stored
        small_disk.grow("80m")
        assert {path: notes.read_bytes(path) for path in notes.stored()} == stored
        assert notes.append(Entry("first", "test"), DAY).added
        assert entries(notes) == ["first"]


def put_many(notes: PostgresNotes, stored: dict[str, bytes]) -> None:
    """Until an error; `stored` has what was acknowledged."""
    for number in range(100):
        data = os.urandom(1 << 20)
        notes.put(f"memory/{number}.md", data, expected=None)
        stored[f"memory/{number}.md"] = data


# -- a process that is killed --------------------------------------------------------------------

EMBEDDING = """
import os, sys
from pathlib import Path
from notewell import Settings, StoreSettings, open_memory
from notewell.core import Secret
from notewell.testing import HashEmbedder

class Embedder(HashEmbedder):
    texts_at_once = 2

    def embed(self, texts, kind):
        print(len(texts), flush=True)
        if not sys.stdin.readline():
            raise SystemExit
        return super().embed(texts, kind)

store = StoreSettings(driver="postgres", url=Secret(os.environ["URL"]), tenant=sys.argv[1])
memory = open_memory(sys.argv[2], settings=Settings(store=store), embedder=Embedder(),
                     state_dir=sys.argv[3], environment={})
memory.sync()
"""


class CountingEmbedder(HashEmbedder):
    texts = 0

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        self.texts += len(texts) if kind == "document" else 0
        return super().embed(texts, kind)


def test_a_process_that_is_killed_while_it_embeds_loses_no_vector_that_it_has_stored(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    folder, tenant = tmp_path / "notes" / "memory", str(tmp_path)
    folder.mkdir(parents=True)
    for number in range(20):
        (folder / f"{number}.md").write_text(f"Note {number} of the router.\n", encoding="utf-8")
    url = postgres_server.login_url("notewell")
    place = (str(folder.parent), str(tmp_path / "state"))
    with subprocess.Popen(
        [sys.executable, "-c", EMBEDDING, tenant, *place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "URL": url},
        cwd=ROOT,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(4):
            assert child.stdout.readline()
            child.stdin.write(b"go on\n")
            child.stdin.flush()
        assert child.stdout.readline()  # It computes the next ones now.
        os.kill(child.pid, signal.SIGKILL)
    embedder = CountingEmbedder()
    store = StoreSettings(driver="postgres", url=Secret(url), tenant=tenant)
    memory = open_memory(
        place[0],
        settings=Settings(store=store),
        embedder=embedder,
        state_dir=place[1],
        environment={},
    )
    with memory:
        counts = memory.status().counts
        assert counts is not None
        assert counts.embedded + counts.waiting == counts.chunks == 20
        assert memory.search("router", min_score=0.0).hits  # With the vectors that are there.
        report = memory.sync()
        assert report.vectors_waiting == 0
        assert 0 < embedder.texts < 20
        again = memory.sync()
        assert again.vectors_added == 0
    assert PASSWORD not in str(report)
