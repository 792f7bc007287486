"""A search that becomes faster gives the same answers: hits, order, scores and what is shown.

`answers.json` has the answers to questions about the example notes and conversations. After a
change of the ranking on purpose, write it anew and read the difference:

    python -m tests.search.test_same_answers
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from notewell import SessionSettings, Settings, open_memory
from notewell.testing import WindowedHashEmbedder

if TYPE_CHECKING:
    from notewell.engines import StoreSearcher
    from notewell.types import Answer, Hit

EXAMPLES = Path(__file__).parents[2] / "examples"
ANSWERS = Path(__file__).with_name("answers.json")
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
MODES: tuple[Literal["keyword", "hybrid"], ...] = ("keyword", "hybrid")

QUESTIONS = (
    "which database did we choose?",
    "When was the frost alarm repaired, and by whom?",
    "what broke in October",
    "backups of the router's configuration, restic or borg?",
    "温室的温度报警",
    "Heizung entlüften im Keller",
    "What did I plan for the trip and the garden?",
    "how much does the shop's delivery cost",
    "who are you",
    "xylophone quarterly zebra",
)


def recorded(answer: Answer) -> dict[str, Any]:
    return {
        "mode": answer.mode,
        "nearness": answer.nearness.value if answer.nearness else None,
        "hits": [_hit(hit) for hit in answer.hits],
    }


def _hit(hit: Hit) -> dict[str, Any]:
    texts = [hit.snippet, hit.heading, *(lines.text for lines in hit.shown), repr(hit.said)]
    return {
        "citation": hit.citation,
        "vector": hit.parts.vector,
        "text": hit.parts.text,
        "time": hit.parts.decay * hit.parts.recency,
        "echo": hit.parts.echo,
        "shown": [str(lines.span) for lines in hit.shown],
        "texts": hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16],
    }


def answers(state: Path, searcher: StoreSearcher | None = None) -> dict[str, dict[str, Any]]:
    sessions = SessionSettings(
        enabled=True, folders=((EXAMPLES / "conversations/diary/sessions", "diary"),)
    )
    with open_memory(
        EXAMPLES / "workspace",
        state_dir=state,
        settings=Settings(sessions=sessions),
        embedder=WindowedHashEmbedder(),
        searcher=searcher,
        now_ns=lambda: int(NOW.timestamp() * 1e9),
    ) as memory:
        memory.sync()
        return {
            f"{mode}: {question}": recorded(memory.search(question, mode=mode, min_score=0.0))
            for mode in MODES
            for question in QUESTIONS
        }


def test_answers_and_scores_are_those_that_were_recorded(tmp_path: Path) -> None:
    require_recorded(answers(tmp_path))


def require_recorded(found: dict[str, dict[str, Any]]) -> None:
    expected = json.loads(ANSWERS.read_text(encoding="utf-8"))
    assert found.keys() == expected.keys()
    for question, answer in found.items():
        assert _places(answer) == _places(expected[question]), question
        assert _scores(answer) == pytest.approx(_scores(expected[question]), abs=1e-6), question


def _places(answer: dict[str, Any]) -> list[Any]:
    hits = [(hit["citation"], hit["shown"], hit["texts"]) for hit in answer["hits"]]
    return [answer["mode"], *hits]


def _scores(answer: dict[str, Any]) -> list[float]:
    parts = ("vector", "text", "time", "echo")
    # -1 for a leg that did not find the chunk.
    scores = [hit[part] for hit in answer["hits"] for part in parts] + [answer["nearness"]]
    return [-1.0 if score is None else score for score in scores]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = answers(Path(folder))
    ANSWERS.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
