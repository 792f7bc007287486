"""The queue of syncs: writers fill it, any worker empties it, and nothing is paid for twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from tests.postgres_server import PostgresServer

from notewell import open_memory
from notewell.cli import main
from notewell.databases import database_notes, tenant_database
from notewell.errors import EmbedderUnreachable
from notewell.http_service.sync_worker import SyncWorker, WorkDone
from notewell.memory import Memory
from notewell.notes import Entry
from notewell.ports import Kind
from notewell.postgres import Database, Scope, SyncQueue
from notewell.postgres.sync_queue import enqueue
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from notewell.ports import Vectors

DAY = date(2026, 11, 15)
GOING = threading.Event()


class CountingEmbedder(HashEmbedder):
    """Counts what would be paid for."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: Counter[str] = Counter()
        self.before: Callable[[], None] = lambda: None
        self.most = 32

    @property
    def texts_at_once(self) -> int:
        return self.most

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if kind == "document":
            self.before()
            self.texts.update(texts)
        return super().embed(texts, kind)


@pytest.fixture
def queue(tenant: str) -> SyncQueue:
    return SyncQueue(*tenant_database())


def opener(embedder: HashEmbedder) -> Callable[[str], AbstractContextManager[Memory]]:
    @contextmanager
    def opened(agent: str) -> Iterator[Memory]:
        with open_memory("postgres:", agent=agent, embedder=embedder) as memory:
            yield memory

    return opened


def write(agent: str, *texts: str) -> None:
    notes = database_notes(agent)
    for text in texts:
        notes.append(Entry(text, "test"), DAY)


def test_what_is_written_is_indexed_and_embedded_by_whoever_takes_it(queue: SyncQueue) -> None:
    write("support", "The giraffe is tall.", "The router is old.")
    write("sales", "The price is high.")
    assert queue.waiting() == 2  # One for each agent, however much was written.
    embedder, done = CountingEmbedder(), list[WorkDone]()
    worker = SyncWorker(queue, opener(embedder), on_done=done.append)
    while worker.work(GOING):
        pass
    assert [one.agent for one in done] == ["support", "sales"]
    assert queue.waiting() == 0
    assert set(embedder.texts.values()) == {1}
    with open_memory("postgres:", agent="support", embedder=embedder) as memory:
        counts = memory.inspect.counts()
        assert counts is not None
        assert counts[1].waiting == 0
        assert memory.search("giraffe").hits


def test_two_workers_never_have_the_same_work(queue: SyncQueue) -> None:
    for number in range(3):
        write(f"agent-{number}", "text")
    with queue.claim() as one, queue.claim() as two, queue.claim() as three, queue.claim() as none:
        assert one is not None
        assert two is not None
        assert three is not None
        assert sorted(work.agent for work in (one, two, three)) == [
            "agent-0",
            "agent-1",
            "agent-2",
        ]
        assert none is None
        one.outcome = two.outcome = three.outcome = "done"
    assert queue.waiting() == 0


def test_what_is_written_during_a_sync_is_not_forgotten(queue: SyncQueue) -> None:
    write("support", "first")
    with queue.claim() as claimed:
        assert claimed is not None
        write("support", "second", "third")  # They do not wait for the worker.
        claimed.outcome = "done"
    assert queue.waiting() == 1
    with queue.claim() as again:
        assert again is not None
        again.outcome = "done"


def test_a_writer_that_is_not_finished_keeps_its_work_from_being_taken(
    queue: SyncQueue, tenant: str, postgres: Database
) -> None:
    write("support", "first")
    scope = Scope(tenant, "support")
    with postgres.writing(scope) as transaction:
        enqueue(transaction, scope)
        with queue.claim() as claimed:
            assert claimed is None
    assert queue.waiting() == 1
    with queue.claim() as claimed:
        assert claimed is not None
        claimed.outcome = "done"


def test_a_large_agent_takes_turns_with_the_others(queue: SyncQueue) -> None:
    write("large", *(f"Sentence number {number} is here. " * 40 for number in range(12)))
    write("small", "One sentence.")
    embedder = CountingEmbedder()
    embedder.most = 2
    done: list[WorkDone] = []
    worker = SyncWorker(queue, opener(embedder), on_done=done.append, slice_s=0)
    while worker.work(GOING):
        pass
    agents = [one.agent for one in done]
    assert agents[:2] == ["large", "small"]
    assert agents.count("large") > 2
    assert set(embedder.texts.values()) == {1}


def test_work_that_failed_waits_longer_each_time(queue: SyncQueue, tenant: str) -> None:
    write("support", "The giraffe is tall.")
    embedder = CountingEmbedder()

    def fail() -> None:
        raise EmbedderUnreachable("hash", "no network")

    embedder.before = fail
    done: list[WorkDone] = []
    worker = SyncWorker(queue, opener(embedder), on_done=done.append)
    assert worker.work(GOING)
    assert isinstance(done[0].error, EmbedderUnreachable)
    assert not worker.work(GOING)  # Not before a second has passed.
    database, name = tenant_database()
    scope = Scope.service(name)
    with database.writing(scope) as transaction:
        transaction.execute("UPDATE notewell.sync_queue SET not_before = 'epoch'")
        rows = transaction.rows("SELECT attempts FROM notewell.sync_queue")
    assert rows == [(1,)]
    embedder.before = lambda: None
    assert worker.work(GOING)
    assert queue.waiting() == 0


def test_a_worker_that_is_killed_frees_its_work_at_once(
    queue: SyncQueue, tenant: str, postgres_server: PostgresServer
) -> None:
    write("support", "The giraffe is tall.")
    script = (
        "import sys, time\n"
        "from notewell.databases import tenant_database\n"
        "from notewell.postgres import SyncQueue\n"
        "with SyncQueue(*tenant_database()).claim() as claimed:\n"
        "    print(claimed.agent, flush=True)\n"
        "    time.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"support\n"
    with queue.claim() as claimed:
        assert claimed is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    # The server notices the end of the connection; it says so by giving the lock away.
    with psycopg.connect(postgres_server.owner_url("notewell")) as owner:
        owner.execute(
            "SELECT * FROM notewell.sync_queue WHERE tenant = %s FOR UPDATE", (tenant,)
        ).fetchall()
    with queue.claim() as claimed:
        assert claimed is not None
        claimed.outcome = "done"


def test_the_command_ends_when_the_queue_is_empty(
    queue: SyncQueue, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("support", "The giraffe is tall.")
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    try:
        assert main(["worker", "--once", "--json"]) == 0
        (line,) = capsys.readouterr().out.strip().split("\n}\n")
        assert json.loads(line)["vectorsAdded"] == 1
        assert main(["worker", "--once", "--all"]) == 0
        assert "support: 1 chunks, 0 vectors added" in capsys.readouterr().out
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])


def test_no_tenant_sees_or_takes_the_work_of_another(queue: SyncQueue, postgres: Database) -> None:
    write("support", "The giraffe is tall.")
    theirs = SyncQueue(postgres, "theirs")
    assert theirs.waiting() == 0
    with theirs.claim() as claimed:
        assert claimed is None
    for scope in (Scope("theirs", "support"), Scope(tenant_database().tenant, "sales")):
        with postgres.writing(scope) as transaction:
            assert transaction.rows("SELECT * FROM notewell.sync_queue") == []
            assert transaction.execute("DELETE FROM notewell.sync_queue") == 0
    assert queue.waiting() == 1
