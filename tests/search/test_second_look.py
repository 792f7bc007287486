"""What may change the order afterwards, and why a note is not among the hits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from notewell import Memory, SearchSettings, Settings, open_memory
from notewell.core import Passage, apply_quotas
from notewell.errors import BadRequest, NotANote
from notewell.ports import Reranker
from notewell.search import SearchOptions, rerank
from notewell.testing import HashEmbedder

Make = Callable[..., Memory]


@pytest.fixture
def remember(tmp_path: Path) -> Make:
    def make(
        notes: dict[str, str], reranker: Reranker | None = None, **settings: object
    ) -> Memory:
        workspace = tmp_path / "workspace"
        for name, text in notes.items():
            (workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (workspace / name).write_text(text, encoding="utf-8")
        memory = open_memory(
            workspace,
            state_dir=tmp_path / "state",
            embedder=HashEmbedder(),
            settings=Settings(search=replace(SearchSettings(), **settings)),  # type: ignore[arg-type]
            reranker=reranker,
        )
        memory.sync()
        return memory

    return make


NOTES = {
    "memory/one.md": "The harbour crane is painted red and lifts forty tons.",
    "memory/two.md": "The harbour crane is painted red and lifts forty tons!",
    "memory/three.md": "A crane landed in the harbour garden.",
    "memory/four.md": "Bread needs flour, salt and time.",
}
QUESTION = "the harbour crane painted red"


def paths(memory: Memory) -> list[str]:
    return [hit.path for hit in memory.search(QUESTION, min_score=0.0).hits]


# -- diversity -----------------------------------------------------------------------------------


def test_with_mmr_a_double_comes_after_something_new(remember: Make) -> None:
    plain = paths(remember(NOTES))
    assert set(plain[:2]) == {"memory/one.md", "memory/two.md"}
    diverse = paths(remember(NOTES, mmr_lambda=0.5))
    assert diverse[0] == plain[0]
    assert diverse[1] == "memory/three.md"
    assert sorted(diverse) == sorted(plain)


# -- a reranker ----------------------------------------------------------------------------------


class ByWord:
    """Likes texts with its word."""

    def __init__(self, word: str) -> None:
        self.word = word

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        assert question == QUESTION
        return [1.0 if self.word in text else 0.1 for text in texts]


class Slow:
    def __init__(self) -> None:
        self.done = threading.Event()

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        self.done.wait(30)
        return [0.5] * len(texts)


class Wrong:
    def __init__(self, answer: Sequence[float] | Exception) -> None:
        self.answer = answer

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may need longer than a reranker has, even to start a thread."""
    within = rerank.reranked
    monkeypatch.setattr(
        rerank,
        "reranked",
        lambda question, ranked, reranker, _: within(question, ranked, reranker, 60.0),
    )


@pytest.mark.usefixtures("patient")
def test_a_reranker_has_the_last_word(remember: Make) -> None:
    memory = remember(NOTES, ByWord("garden"))
    first, *_ = memory.search(QUESTION, min_score=0.0).hits
    assert first.path == "memory/three.md"
    assert (first.score, first.parts.rerank) == (1.0, 1.0)


def test_a_slow_reranker_leaves_the_first_order_and_says_so(remember: Make) -> None:
    plain = paths(remember(NOTES))
    slow = Slow()
    try:
        answer = remember(NOTES, slow).search(QUESTION, min_score=0.0)
    finally:
        slow.done.set()
    assert [hit.path for hit in answer.hits] == plain
    assert answer.notice == "the reranker took longer than 0.5 s: the first order stands"
    assert not answer.degraded


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (RuntimeError("no model"), "RuntimeError: no model"),
        ([0.5], "1 scores for 4 texts"),
        ([0.5, 2.0, 0.1, 0.1], "a score outside 0..1"),
        ([0.5, float("nan"), 0.1, 0.1], "a score outside 0..1"),
    ],
)
@pytest.mark.usefixtures("patient")
def test_a_reranker_that_fails_leaves_the_first_order_and_says_so(
    remember: Make, bad: Sequence[float] | Exception, told: str
) -> None:
    plain = paths(remember(NOTES))
    answer = remember(NOTES, Wrong(bad)).search(QUESTION, min_score=0.0)
    assert [hit.path for hit in answer.hits] == plain
    assert answer.notice == f"the reranker failed ({told}): the first order stands"


# -- a quota for each source ---------------------------------------------------------------------


def chosen(sources: str, quotas: dict[str, int] | None = None) -> str:
    """Six hits out of passages whose sources are given by their first letters, best first."""
    settings = SearchOptions(today=date(2026, 11, 15), quotas=quotas)
    full = {"m": "memory", "s": "sessions"}
    found = [Passage(f"{letter}{at}", 1, 1, at) for at, letter in enumerate(sources)]
    kept = apply_quotas(found, lambda one: full[one.path[0]], settings.quota, settings.max_results)
    assert [one.best for one in kept] == sorted(one.best for one in kept)
    return "".join(one.path[0] for one in kept)


def test_sessions_take_no_more_than_half_while_notes_have_something_to_say() -> None:
    assert chosen("sssssssmmm") == "sssmmm"
    assert chosen("ssssssssm") == "sssssm"
    assert chosen("sssssssss") == "ssssss"
    assert chosen("mmmmmmmss") == "mmmmmm"


def test_a_quota_that_was_set_is_kept() -> None:
    assert chosen("sssssmmmmmm", {"sessions": 1}) == "smmmmm"


# -- why is it not there? ------------------------------------------------------------------------


def test_a_note_among_the_hits_is_told_with_its_lines(remember: Make) -> None:
    told = remember(NOTES).inspect.why_absent(QUESTION, "memory/one.md")
    assert told == "memory/one.md is among the hits: memory/one.md#L1-L1"


def test_a_note_that_came_too_late_is_told_with_its_place(remember: Make) -> None:
    told = remember(NOTES).inspect.why_absent(
        QUESTION, "memory/four.md", max_results=2, min_score=0.0
    )
    assert "its best lines are L1-L1, none of the words, meaning 0." in told
    assert "they come at place 4 of 4 chunks" in told


def test_a_note_below_the_threshold_is_told_with_both_figures(remember: Make) -> None:
    told = remember(NOTES).inspect.why_absent(QUESTION, "memory/four.md", min_score=0.9)
    assert "is below the minimum 0.90" in told


def test_without_vectors_the_missing_words_are_named(remember: Make) -> None:
    told = remember(NOTES).inspect.why_absent(QUESTION, "memory/four.md", mode="keyword")
    assert told.startswith("memory/four.md has none of the words of the question: harbour")


def test_a_note_that_is_not_indexed_is_told_so(remember: Make, tmp_path: Path) -> None:
    memory = remember({**NOTES, "memory/empty.md": ""})
    assert "no text to find" in memory.inspect.why_absent(QUESTION, "memory/empty.md")
    (tmp_path / "workspace" / "memory" / "new.md").write_text("new", encoding="utf-8")
    assert memory.inspect.why_absent(QUESTION, "memory/new.md") == (
        "memory/new.md is not indexed yet: run `notewell index`"
    )
    (tmp_path / "workspace" / "memory" / "link.md").symlink_to("one.md")
    assert "links are not followed" in memory.inspect.why_absent(QUESTION, "memory/link.md")
    with pytest.raises(NotANote):
        memory.inspect.why_absent(QUESTION, "../elsewhere.md")


def test_an_unknown_fusion_is_refused() -> None:
    with pytest.raises(BadRequest, match="known: weighted, rrf, seed"):
        SearchOptions(today=date(2026, 11, 15), fusion="sum")  # type: ignore[arg-type]


@pytest.mark.parametrize("fusion", ["weighted", "rrf", "seed"])
def test_every_fusion_finds_what_has_all_the_words(remember: Make, fusion: str) -> None:
    assert set(paths(remember(NOTES, fusion=fusion))[:2]) == {"memory/one.md", "memory/two.md"}


def test_more_candidates_fill_the_answer_where_neighbours_become_one_hit(remember: Make) -> None:
    lines = "\n\n".join("The harbour crane is painted red. " + "pad " * 40 for _ in range(6))
    notes = {f"memory/n{number:02}.md": f"# {number}\n\n{lines}" for number in range(40)}
    few = remember(notes, candidate_multiplier=1)
    many = remember(notes, candidate_multiplier=4)
    assert len(paths(few)) < len(paths(many)) == 6
