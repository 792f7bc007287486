"""Records are written behind the answers, and nobody who reads them sees that."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from notewell import Settings, open_memory
from notewell.capture import FileLogs, recorded_searches
from notewell.capture.record_queue import MOST_WAITING, RecordQueue
from notewell.testing import HashEmbedder
from notewell.tools import SearchInput, memory_search

if TYPE_CHECKING:
    from pathlib import Path

    from notewell import Memory

WAIT_S = 30.0


def opened(tmp_path: Path) -> Memory:
    note = tmp_path / "notes" / "MEMORY.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text("# Boat\n\nThe boat is blue.\n", encoding="utf-8")
    return open_memory(
        note.parent, state_dir=tmp_path / "state", settings=Settings(), embedder=HashEmbedder()
    )


def waits_for(event: threading.Event) -> None:
    assert event.wait(WAIT_S)


def fails(_: object) -> None:
    raise ZeroDivisionError


def test_an_answer_does_not_wait_for_its_record(tmp_path: Path) -> None:
    may_write = threading.Event()
    with opened(tmp_path) as memory:
        redact = memory.journal._load_redactor

        def redact_later() -> object:
            may_write.wait(WAIT_S)
            return redact()

        memory.journal._load_redactor = redact_later  # type: ignore[assignment]
        memory_search(memory, SearchInput("which colour is the boat?"))
        assert not list(tmp_path.rglob("asked.jsonl"))
        may_write.set()
        (record,) = recorded_searches(memory.journal.folder)
    assert record.query == "which colour is the boat?"


def test_a_closed_memory_has_written_its_records(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        for number in range(20):
            memory_search(memory, SearchInput(f"boat {number}"))
    (log,) = tmp_path.rglob("asked.jsonl")
    asked = [json.loads(line)["query"] for line in log.read_text(encoding="utf-8").splitlines()]
    assert asked == [f"boat {number}" for number in range(20)]


def test_a_process_that_closes_nothing_has_written_its_records(tmp_path: Path) -> None:
    opened(tmp_path).close()
    program = (
        "import sys\n"
        "from notewell import open_memory\n"
        "from notewell.testing import HashEmbedder\n"
        "from notewell.tools import SearchInput, memory_search\n"
        "memory = open_memory(sys.argv[1], state_dir=sys.argv[2], embedder=HashEmbedder())\n"
        "memory_search(memory, SearchInput('which colour is the boat?'))\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "notes"), str(tmp_path / "state")]
    subprocess.run(command, check=True, timeout=60)
    (log,) = tmp_path.rglob("asked.jsonl")
    assert "which colour is the boat?" in log.read_text(encoding="utf-8")


def test_records_keep_their_order_and_a_full_queue_loses_none(tmp_path: Path) -> None:
    queue, logs, written = RecordQueue(), FileLogs(tmp_path), list[int]()
    may_write = threading.Event()
    queue.add(logs, lambda _: waits_for(may_write))
    for number in range(MOST_WAITING - 1):
        queue.add(logs, lambda _, number=number: written.append(number))  # type: ignore[misc]
    last = threading.Thread(target=lambda: queue.add(logs, lambda _: written.append(-1)))
    last.start()
    assert written == []
    may_write.set()
    last.join(WAIT_S)
    queue.flush()
    assert written == [*range(MOST_WAITING - 1), -1]


def test_a_record_that_fails_does_not_stop_the_next_one(tmp_path: Path) -> None:
    queue, logs, written = RecordQueue(), FileLogs(tmp_path), list[int]()
    problems, hook = list[object](), threading.excepthook
    threading.excepthook = lambda problem: problems.append(problem.exc_type)
    try:
        queue.add(logs, fails)
        queue.flush()
        queue.add(logs, lambda _: written.append(1))
        queue.flush()
    finally:
        threading.excepthook = hook
    assert written == [1]
    assert problems == [ZeroDivisionError]
