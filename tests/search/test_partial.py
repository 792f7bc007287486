"""While vectors are missing, a note that was saved a moment ago ranks as if it had one."""

from __future__ import annotations

from pathlib import Path

import pytest

from notewell import Memory, open_memory
from notewell.core.ranking import estimated_vectors
from notewell.testing import HashEmbedder

OLD = {
    "2026-11-01": "The green door of the boat house was painted again; the paint is in the shed.",
    "2026-11-02": "We talked about the door of the old barn: it needs a lock and a new handle.",
    "2026-11-03": "Ada plans the trip to the lake, with the tent and the small stove.",
    "2026-11-04": "The gateway was moved to the rack below the stairs.",
    "2026-11-05": "Ben repaired the fence and wants to paint it green in spring.",
}
NEW = {
    "2026-11-06": "The blue door of the boat house sticks in winter; plane its lower edge.",
    "2026-11-07": "The lock of the barn was ordered, it comes on Tuesday.",
    "2026-11-08": "The stove of the tent needs another gas bottle.",
    "2026-11-09": "Cold disk is full: the logs of the gateway are kept for twenty days now.",
    "2026-11-10": "The lake was frozen, so the trip is in April.",
    "2026-11-11": "Spring cleaning: shed first, then the boat house.",
    "2026-11-12": "The fence posts are rotten at the ground.",
    "2026-11-13": "A handle for the kitchen cupboard was lost.",
    "2026-11-14": "Paint for the kitchen: white, two buckets.",
}
QUESTIONS = [
    "why does the blue door of the boat house stick?",
    "how long are the logs of the gateway kept on the cold disk?",
    "when does the lock of the barn come?",
    "which paint do we need for the kitchen?",
    "where is the paint for the green door?",
]


def write(workspace: Path, notes: dict[str, str]) -> None:
    for name, text in notes.items():
        path = workspace / "memory" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """Five of fourteen notes have a vector."""
    write(tmp_path / "workspace", OLD)
    memory = open_memory(
        tmp_path / "workspace", state_dir=tmp_path / "state", embedder=HashEmbedder()
    )
    memory.sync()
    write(tmp_path / "workspace", NEW)
    memory.sync(vectors=False)
    return memory


def test_the_first_hit_is_the_same_as_with_all_vectors(memory: Memory) -> None:
    with memory:
        partial = [memory.search(question) for question in QUESTIONS]
        assert {answer.mode for answer in partial} == {"partial"}
        # Not a score of its own: whoever explains a hit must not take the estimate for one.
        assert partial[0].hits[0].parts.vector is None
        memory.sync()
        whole = [memory.search(question) for question in QUESTIONS]
        assert {answer.mode for answer in whole} == {"hybrid"}
        assert [answer.hits[0].path for answer in partial] == [
            answer.hits[0].path for answer in whole
        ]
        assert whole[0].hits[0].path == "memory/2026-11-06.md"


def test_the_estimate_lies_between_a_middling_chunk_and_the_nearest() -> None:
    estimates = estimated_vectors({1: 0.0, 2: 0.5, 3: 1.0, 4: 0.9}, {4: 0.8, 5: 0.4})
    assert estimates == pytest.approx({1: 0.6, 2: 0.7, 3: 0.8})
    assert estimated_vectors({1: 0.5}, {}) == {}
