"""What was written is found, in the right order, with the lines and the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notewell import Memory, Settings, Span, open_memory
from notewell.errors import BadRequest, EmbedderMissing
from notewell.testing import BrokenEmbedder, HashEmbedder

Make = Callable[..., Memory]


@pytest.fixture
def remember(tmp_path: Path) -> Make:
    """A synced memory over notes given as path=text, `/` written as `__`."""

    def make(settings: Settings | None = None, **notes: str) -> Memory:
        for name, text in notes.items():
            path = tmp_path / "workspace" / (name.replace("__", "/") + ".md")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        memory = open_memory(
            tmp_path / "workspace",
            state_dir=tmp_path / "state",
            embedder=HashEmbedder(),
            settings=settings or Settings(),
        )
        memory.sync()
        return memory

    return make


def test_a_single_note_is_found_with_its_lines(remember: Make) -> None:
    memory = remember(MEMORY="# Facts\n\nThe router's password is hunter2.\n")
    answer = memory.search("what is the password of the router?")
    assert [hit.citation for hit in answer.hits] == ["MEMORY.md#L1-L3"]
    assert answer.hits[0].span == Span(1, 3)
    assert answer.hits[0].heading == "# Facts"
    assert answer.mode == "hybrid"
    assert answer.reason is None


@pytest.mark.parametrize(
    "question", ["a828e60", "which commit was a828e60 again?", "ERR_FOO", "memorySearch.query"]
)
def test_an_exact_identifier_is_found_among_many_notes(remember: Make, question: str) -> None:
    noise = {f"memory__n{number}": f"which commit was it, note {number}" for number in range(60)}
    memory = remember(
        **noise, memory__exact="Fixed in a828e60: ERR_FOO when memorySearch.query is empty."
    )
    assert memory.search(question).hits[0].path == "memory/exact.md"
    assert memory.search(question, min_score=1.0).hits[0].path == "memory/exact.md"


def test_a_sentence_is_found_by_its_own_words(remember: Make) -> None:
    noise = {f"memory__n{number}": f"day {number}: rain and bread" for number in range(50)}
    memory = remember(**noise, memory__hit="The lemon trees were moved inside before the frost.")
    answer = memory.search("lemon trees moved inside", min_score=1.0)
    assert [hit.path for hit in answer.hits] == ["memory/hit.md"]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("我们决定使用索引库来存储数据。", "索引"),
        ("我们决定使用索引库来存储数据。", "用什么存储数据？"),
        ("柠檬树怕霜冻，低于二度要开暖风机。", "霜冻来了怎么办"),
        ("データベースはSQLiteに決めた。", "データベース"),
        ("한국어는 데이터베이스에 저장한다.", "데이터베이스"),
        ("ฐานข้อมูลอยู่บนเซิร์ฟเวอร์", "ฐานข้อมูล"),
        ("Решение: база данных SQLite.", "база данных"),
        ("Größe des Cafés", "cafes"),
    ],
)
def test_every_script_is_searched(remember: Make, text: str, question: str) -> None:
    noise = {f"memory__n{number}": f"another note {number}" for number in range(20)}
    memory = remember(**noise, memory__hit=text)
    assert memory.search(question, mode="keyword").hits[0].path == "memory/hit.md"


def test_a_note_is_found_by_its_name_and_its_heading(remember: Make) -> None:
    memory = remember(
        memory__backups="nightly at two",
        memory__other="# Restoring\n\nstop it, copy it, start it\n",
        memory__noise="nothing of the kind",
    )
    assert memory.search("backups", mode="keyword").hits[0].path == "memory/backups.md"
    assert memory.search("restoring", mode="keyword").hits[0].path == "memory/other.md"


def test_the_same_question_has_the_same_answer(remember: Make) -> None:
    same = {f"memory__n{number}": "exactly the same text" for number in range(20)}
    memory = remember(**same)
    first = memory.search("same text")
    assert [hit.path for hit in first.hits] == sorted(hit.path for hit in first.hits)
    assert all(memory.search("same text") == first for _ in range(3))


def test_of_two_notes_that_say_the_same_the_newer_comes_first(remember: Make) -> None:
    days = ("2024-01-01", "2026-11-10", "2025-06-01")
    memory = remember(**{f"memory__{day}": "the zebra was fed" for day in days})
    assert [hit.path[7:17] for hit in memory.search("zebra").hits] == sorted(days, reverse=True)


def test_a_question_about_a_time_prefers_notes_of_that_time(remember: Make) -> None:
    days = ("2024-03-02", "2025-03-20", "2026-10-01")
    memory = remember(**{f"memory__{day}": "the zebra was fed" for day in days})
    assert memory.search("zebra in March 2024").hits[0].path == "memory/2024-03-02.md"
    assert memory.search("zebra in March 2025").hits[0].parts.recency > 1


def test_no_age_hides_an_exact_hit(remember: Make) -> None:
    fresh = {f"memory__2026-11-{day:02}": f"ticket talk of day {day}" for day in range(1, 15)}
    memory = remember(**fresh, **{"memory__2001-01-01": "TCK-68565 was closed"})
    assert memory.search("TCK-68565").hits[0].path == "memory/2001-01-01.md"


def test_scores_fall_and_parts_explain_them(remember: Make) -> None:
    memory = remember(
        memory__a="alpha beta gamma", memory__b="alpha beta", memory__c="alpha", memory__d="delta"
    )
    hits = memory.search("alpha beta gamma", min_score=0.0).hits
    assert [hit.path for hit in hits][:3] == ["memory/a.md", "memory/b.md", "memory/c.md"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].parts.text_rank == hits[0].parts.vector_rank == 1
    assert all(0 <= hit.score <= 1 for hit in hits)


def test_no_more_hits_than_asked_for(remember: Make) -> None:
    memory = remember(**{f"memory__n{number}": f"zebra {number}" for number in range(30)})
    assert len(memory.search("zebra").hits) == 6
    assert len(memory.search("zebra", max_results=11).hits) == 11
    assert len(memory.search("zebra", max_results=200).hits) == 30


def test_an_empty_memory_says_so(tmp_path: Path) -> None:
    with open_memory(tmp_path, state_dir=tmp_path / "state", embedder=HashEmbedder()) as memory:
        assert memory.search("x").reason == "nothing is indexed yet: run `notewell index`"
        memory.sync()
        reason = "the index is empty: when it was made there were no notes"
        assert memory.search("x").reason == reason


def test_an_answer_below_the_threshold_says_how_near_it_came(remember: Make) -> None:
    memory = remember(
        memory__a="alpha beside many other words that nobody asked for at all", memory__b="none"
    )
    reason = memory.search("alpha omega psi chi phi", min_score=0.99).reason
    assert reason is not None
    assert "is below the minimum 0.99" in reason
    assert "--" not in reason, "an option of the command line, for readers of every surface"


def test_words_that_nobody_wrote_are_said_to_be_missing(remember: Make) -> None:
    memory = remember(memory__a="alpha")
    assert memory.search("omega", mode="keyword").reason == "no chunk contains any of these words"


def test_without_an_embedder_words_answer_and_the_reason_is_given(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("alpha beta", encoding="utf-8")
    with open_memory(tmp_path, state_dir=tmp_path / "s", embedder=HashEmbedder()) as memory:
        memory.sync()
    trouble = EmbedderMissing("hash", "it is gone", "bring it back")
    broken = BrokenEmbedder(trouble)
    with open_memory(tmp_path, state_dir=tmp_path / "s", embedder=broken) as memory:
        answer = memory.search("alpha")
    assert [hit.path for hit in answer.hits] == ["MEMORY.md"]
    assert answer.degraded
    assert answer.mode == "keyword"


def test_a_search_by_keyword_that_was_asked_for_is_not_degraded(remember: Make) -> None:
    answer = remember(MEMORY="alpha").search("alpha", mode="keyword")
    assert (answer.mode, answer.degraded, answer.notice) == ("keyword", False, None)


def test_a_long_chunk_is_shown_around_the_match(remember: Make) -> None:
    filler = "".join(f"- entry {number} about nothing\n" for number in range(30))
    memory = remember(MEMORY=filler + "- the zebra is here\n" + filler)
    shown = memory.search("zebra").hits[0].snippet
    assert "the zebra is here" in shown
    assert len(shown) <= 700


@pytest.mark.parametrize("question", ["", "   ", "\n"])
def test_an_empty_question_is_refused(remember: Make, question: str) -> None:
    with pytest.raises(BadRequest, match="the question is empty"):
        remember(MEMORY="alpha").search(question)


def test_a_long_question_is_asked_by_its_rarest_words(remember: Make) -> None:
    noise = {f"memory__n{number}": f"term{number} and more" for number in range(5)}
    memory = remember(**noise, memory__hit="the zebra")
    question = " ".join(f"unheard{number}" for number in range(300)) + " zebra"
    assert memory.search(question, mode="keyword").hits[0].path == "memory/hit.md"
    with pytest.raises(BadRequest, match="at most 100000 characters"):
        memory.search("x" * 100_001)


def test_what_the_model_cannot_read_gets_no_vector_and_no_vote(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    embedder.facts = replace(embedder.facts, scripts=frozenset({"latin"}))
    (tmp_path / "MEMORY.md").write_text("我们决定使用索引库来存储数据。", encoding="utf-8")
    with open_memory(tmp_path, state_dir=tmp_path / "s", embedder=embedder) as memory:
        memory.sync()
        counts = memory.status().counts
        assert counts is not None
        assert (counts.chunks, counts.embedded, counts.waiting) == (1, 0, 0)
        answer = memory.search("database")
        assert (answer.hits, answer.mode, answer.degraded) == ((), "keyword", False)
        assert memory.search("索引").hits[0].path == "MEMORY.md"
        (tmp_path / "memory").mkdir()
        (tmp_path / "memory" / "latin.md").write_text("the database", encoding="utf-8")
        memory.sync()
        answer = memory.search("database", min_score=0.0)
        assert [hit.path for hit in answer.hits] == ["memory/latin.md"]
        assert answer.mode == "hybrid"


@pytest.mark.parametrize(
    "asked", [{"max_results": 0}, {"max_results": 10**6}, {"min_score": 2.0}, {"min_score": -1.0}]
)
def test_impossible_wishes_are_refused(remember: Make, asked: dict[str, float]) -> None:
    with pytest.raises(BadRequest):
        remember(MEMORY="alpha").search("alpha", **asked)  # type: ignore[arg-type]


HOSTILE = st.one_of(
    st.text(min_size=1, max_size=200),
    st.lists(
        st.sampled_from(
            [
                "alpha",
                '"',
                "AND",
                "OR",
                "NOT",
                "NEAR(",
                ")",
                "*",
                "^",
                "body:",
                "{",
                "}",
                "-",
                "\x00",
            ]
        ),
        min_size=1,
        max_size=30,
    ).map(" ".join),
)


@given(question=HOSTILE.filter(str.strip))
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_question_is_an_error(shared_memory: Memory, question: str) -> None:
    shared_memory.search(question)


@pytest.fixture(scope="module")
def shared_memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    folder = tmp_path_factory.mktemp("shared")
    (folder / "MEMORY.md").write_text("alpha beta\n\n# NEAR\n\nAND OR NOT", encoding="utf-8")
    memory = open_memory(folder, state_dir=folder / "state", embedder=HashEmbedder())
    memory.sync()
    return memory
