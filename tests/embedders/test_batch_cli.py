"""Batch jobs from the command line: what a failed one costs is said, and nobody has to wait."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.embedders.fake_batch import FakeBatches
from tests.embedders.machine import Machine

from notewell.core.calibration import MEASURED_CHUNKS, PROBES
from notewell.embedders.batch.embedder import MIN_TEXTS


@pytest.fixture
def server() -> Iterator[FakeBatches]:
    running = FakeBatches()
    with running:
        yield running


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """With more chunks than a batch job needs."""
    machine = Machine(tmp_path)
    sections = (f"# Boat {number}\n\nBoat {number} is green.\n" for number in range(MIN_TEXTS))
    machine.write_note("boats.md", "\n".join(sections))
    return machine


def configure(machine: Machine, server: FakeBatches, **batch: Any) -> None:
    machine.configure(
        {
            "provider": "openai",
            "outputDimensionality": 8,
            "chunking": {"tokens": 16},
            "remote": {
                "baseUrl": server.url("openai"),
                "apiKey": "key",
                "batch": {"enabled": True, "pollIntervalMs": 100, **batch},
            },
        }
    )


def index(machine: Machine) -> tuple[int, dict[str, Any]]:
    indexed = machine.run("index", "--json")
    return indexed.returncode, json.loads(indexed.stdout)


def test_a_batch_that_failed_says_so_and_leaves_exit_code_5(
    machine: Machine, server: FakeBatches
) -> None:
    configure(machine, server)
    server.stumble("create", "400")
    indexed = machine.run("index")
    assert indexed.returncode == 5
    assert "batch jobs failed, and vectors cost the full price" in indexed.stderr
    assert len(server.plain_texts) >= MIN_TEXTS
    # Everything is there now, so the next run has nothing to complain about.
    code, report = index(machine)
    assert (code, report["vectorsWaiting"], report["batchFailure"]) == (0, 0, None)


def test_a_batch_that_works_leaves_exit_code_0(machine: Machine, server: FakeBatches) -> None:
    configure(machine, server)
    code, report = index(machine)
    assert (code, report["batchFailure"], report["vectorsWaiting"]) == (0, None, 0)
    # Only the short texts by which the scale of the model is measured.
    assert len(server.plain_texts) == len(PROBES) + MEASURED_CHUNKS


def test_without_waiting_a_later_run_fetches_what_an_earlier_one_began(
    machine: Machine, server: FakeBatches
) -> None:
    configure(machine, server, wait=False)
    server.looks_before_end = 1
    code, report = index(machine)
    assert code == 5
    assert "batch_0" in report["trouble"]
    assert report["batchFailure"] is None
    assert report["vectorsWaiting"] == report["chunks"] >= MIN_TEXTS
    # A job that is under way is no failure of the sync.
    assert json.loads(machine.run("status", "--json").stdout)["lastError"] is None
    # The words are there all the same.
    assert json.loads(machine.run("search", "boat 17", "--json").stdout)["results"]
    code, report = index(machine)
    assert (code, report["trouble"], report["vectorsWaiting"]) == (0, None, 0)
    assert len(server.jobs) == 1
    # Nothing was paid for twice: the only plain texts are questions, and the excerpts by which the
    # scale of the model is measured.
    assert len([text for text in server.plain_texts if "green" in text]) <= MEASURED_CHUNKS
