"""A process that ends while a daemon thread works: every program may start such threads."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from notewell.native_calls import NativeCalls

PROGRAM = """
import itertools, sys, threading
from notewell import open_memory
from notewell.embedders.embedded import EmbeddedEmbedder
from notewell.embedders.weights import IN_PACKAGE
from notewell.redaction import Redactor

notes, state, work = sys.argv[1:]
memory = open_memory(notes, state_dir=state)
memory.sync()
embedder = EmbeddedEmbedder(IN_PACKAGE)
begun = [threading.Event() for _ in range(6)]
numbers = itertools.count()

def search(number):
    memory.search(f"how is the frost alarm number {number} set")

def embed(number):
    embedder.embed([f"the frost alarm number {number} rings " * 20], "document")

def embed_two(number):
    embedder.embed([f"alarm {number} rings", f"it is {number} degrees"], "document")

def redact(number):
    Redactor().redact(f"the frost alarm number {number} has the password: Xk29-{number}! " * 100)

def run(event):
    try:
        for number in numbers:
            globals()[work](number)
            event.set()
    finally:
        event.set()

for event in begun:
    threading.Thread(target=run, args=[event], daemon=True).start()
for event in begun:
    event.wait()
"""


@pytest.mark.parametrize("work", ["search", "embed", "embed_two", "redact"])
def test_a_process_ends_in_order_while_daemon_threads_work(tmp_path: Path, work: str) -> None:
    """Without `native_calls` it aborts: "terminate called without an active exception"."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text(
        "The frost alarm rings at 2 degrees.\n", encoding="utf-8"
    )
    places = [str(tmp_path / "notes"), str(tmp_path / "state")]
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *places, work],
        capture_output=True,
        encoding="utf-8",
        timeout=200,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_end_waits_for_calls_and_lets_no_other_begin() -> None:
    calls, inside, leave = NativeCalls(), threading.Event(), threading.Event()
    order: list[str] = []

    def call() -> None:
        with calls:
            inside.set()
            leave.wait()
            order.append("left")

    def end() -> None:
        calls.end()
        order.append("ended")
        with calls:
            order.append("the thread that ends the process may go on")

    working, ending = (threading.Thread(target=work) for work in (call, end))
    working.start()
    inside.wait()
    ending.start()
    while True:  # Until `end` has begun: from then on, no other thread gets in.
        try:
            with calls:
                pass
        except SystemExit:
            break
    assert order == []
    leave.set()
    working.join()
    ending.join()
    assert order == ["left", "ended", "the thread that ends the process may go on"]
