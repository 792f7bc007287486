"""Questions that mean to be SQL or FTS5: they are words, and words only."""

from __future__ import annotations

from pathlib import Path

from tests.hardening.attacks.asking import SLOWEST_S, ask_all, digests, small_memory
from tests.hardening.attacks.queries import hostile_queries

IN_CI = 4_000
"""All 20 000 take 20 s of an idle processor: tests/hardening/torture/attacks.py asks them."""


def test_no_question_breaks_out_of_its_quotes(tmp_path: Path) -> None:
    with small_memory(tmp_path) as memory:
        before = digests(tmp_path / "state")
        asked = ask_all(memory, hostile_queries(20261115, IN_CI))
        assert digests(tmp_path / "state") == before
        assert [hit.path for hit in memory.search("walrus").hits] == ["MEMORY.md"]
    assert asked.stray == []
    assert asked.slowest_s < SLOWEST_S, asked.slowest
    assert asked.answered > asked.queries // 10  # else the questions were no questions
    assert asked.refused > 0


def test_the_same_seed_asks_the_same_questions() -> None:
    assert list(hostile_queries(7, 50)) == list(hostile_queries(7, 50))
