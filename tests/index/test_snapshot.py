"""What FTS5 hands over is what counting by hand finds, and no question can break it."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from notewell.core import TextQuery, index_words, text_query
from notewell.index.sqlite.connect import select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.index.conftest import Room

    from notewell.index import StoredChunk
    from notewell.index.sqlite import SqliteView

WORDS = [
    *("router", "Router's", "routing", "password", "heron", "robin", "decided", "sqlite", "the"),
    *("ERR_FOO", "a828e60", "café", "memorySearch.query", "索引", "数据库", "数据", "ไทย", "gpt4"),
    *("AND", "OR", "NOT", "NEAR", "body", "source", "_memory", "memory", "of"),
]
OPERATORS = ["AND", "OR", "NOT", "NEAR", "NEAR(", "(", ")", '"', "*", "^", ":", "-", "{", "}", "+"]
LINES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
TEXTS = st.lists(LINES | LINES.map("# {}".format) | st.just(""), max_size=12).map("\n".join)
PATHS = st.sampled_from(["MEMORY.md", "memory/router.md", "memory/索引.md", "memory/a/b_c.md"])
NO_NUL = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
HOSTILE = st.lists(
    st.sampled_from(OPERATORS)
    | st.text(max_size=12)
    | st.sampled_from(["body:", "source : _memory", "chunks_fts", "rank", "\x00", "\ud800", "'"]),
    max_size=12,
).flatmap(lambda parts: st.sampled_from(["", " "]).map(lambda joint: joint.join(parts)))


@pytest.fixture
def full(room: Room) -> Room:
    room.publish(
        {
            "MEMORY.md": "# Router\n\nThe router moved. It is NOT near the body of AND gates.\n",
            "memory/a.md": "heron AND robin OR finch: router*\n",
            "memory/索引.md": "数据库 索引\n",
        }
    )
    return room


@contextmanager
def looking(room: Room) -> Iterator[SqliteView]:
    with closing(room.index.reader()) as reader, reader.view() as view:
        assert view is not None
        yield view


def every_chunk(view: SqliteView) -> list[StoredChunk]:
    ids = (row[0] for row in select(view._db, "SELECT id FROM chunks"))
    return list(view.chunks(ids).values())


def counted(chunk: StoredChunk) -> tuple[Counter[str], Counter[str], Counter[str]]:
    body, heading, name = (
        Counter(index_words(text).split()) for text in (chunk.text, chunk.heading, chunk.path)
    )
    return body, heading, name


def assert_as_counted_by_hand(view: SqliteView, query: TextQuery) -> None:
    chunks = [one for one in every_chunk(view) if one.source == "memory"]
    matches, stats = view.matching(query, ["memory"], 10_000)
    told = {
        match.chunk_id: (match.body, match.heading, match.name, match.length) for match in matches
    }
    expected = {}
    for one in chunks:
        fields = counted(one)
        if any(field[term] for field in fields for term in query.terms):
            numbers = (tuple(field[term] for term in query.terms) for field in fields)
            expected[one.id] = (*numbers, fields[0].total())
    assert told == expected
    having = tuple(
        sum(any(field[term] for field in counted(one)) for one in every_chunk(view))
        for term in query.terms
    )
    if matches:
        total = sum(counted(one)[0].total() for one in every_chunk(view))
        assert stats.chunks == len(every_chunk(view))
        assert stats.mean_length == total / stats.chunks
    assert stats.having == having


# -- hostile questions ---------------------------------------------------------------------------


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(question=HOSTILE)
@example(question='"')
@example(question='router" OR source : "_sessions')
@example(question="NEAR(router moved, 5)")
@example(question="body : router")
@example(question="-router ^router router* {body name} : router")
@example(question="_memory _sessions")
def test_no_question_breaks_the_search_or_reaches_beyond_its_words(
    full: Room, question: str
) -> None:
    with looking(full) as view:
        assert_as_counted_by_hand(view, text_query(question))


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(terms=st.lists(st.sampled_from(OPERATORS) | NO_NUL, min_size=1, max_size=5))
@example(terms=[""])
@example(terms=['a"b'])
@example(terms=["_memory"])
def test_not_even_terms_that_are_no_words_break_it(full: Room, terms: list[str]) -> None:
    with looking(full) as view:
        view.matching(TextQuery(tuple(terms), frozenset()), ["memory"], 5)


def test_the_operators_of_fts5_are_words_like_others(
    full: Room, paths_of: Callable[[SqliteView, str], list[str]]
) -> None:
    with looking(full) as view:
        assert paths_of(view, "NEAR") == ["MEMORY.md"]
        assert paths_of(view, "finch*") == ["memory/a.md"]
        assert paths_of(view, "rout*") == []  # no prefixes: a star is no word
        assert paths_of(view, "NOT heron") == ["memory/a.md"]


# -- sources -------------------------------------------------------------------------------------


def test_only_the_wanted_sources_match(full: Room) -> None:
    with full.writing() as writer:
        full.put(writer, {"s/1.jsonl": "the router, memory and sessions"}, source="sessions")
    with looking(full) as view:
        for sources, expected in (
            (["sessions"], {"s/1.jsonl"}),
            (["memory"], {"MEMORY.md", "memory/a.md"}),
            (["memory", "sessions"], {"MEMORY.md", "memory/a.md", "s/1.jsonl"}),
            (["elsewhere"], set()),
        ):
            matches, _ = view.matching(text_query("router"), sources, 50)
            found = view.chunks(match.chunk_id for match in matches)
            assert {one.path for one in found.values()} == expected
        # The name of a source is no word of its chunks.
        matches, stats = view.matching(text_query("sessions"), ["memory"], 50)
        assert (list(matches), stats.having) == ([], (1,))
        both = view.matching(text_query("router memory"), ["memory", "sessions"], 50)[0]
        assert {len(match.body) for match in both} == {2}


def test_no_more_than_the_limit_and_the_best_first(full: Room) -> None:
    with looking(full) as view:
        every = view.matching(text_query("router heron robin"), ["memory"], 50)[0]
        assert view.matching(text_query("router heron robin"), ["memory"], 1)[0] == every[:1]
        best = view.chunks([every[0].chunk_id])[every[0].chunk_id]
        assert best.path == "memory/a.md"


# -- counting ------------------------------------------------------------------------------------


steps = st.lists(
    st.tuples(st.just("write"), PATHS, TEXTS)
    | st.tuples(st.just("forget"), PATHS, st.just(""))
    | st.tuples(st.just("merge"), st.just(""), st.just("")),
    min_size=1,
    max_size=12,
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(changes=steps, questions=st.lists(LINES, min_size=1, max_size=4))
def test_after_any_changes_terms_are_counted_as_by_hand(
    room: Room, changes: list[tuple[str, str, str]], questions: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        room = type(room)(Path(place) / "index")
        room.publish({})
        with room.writing() as writer:
            for verb, path, text in changes:
                if verb == "write":
                    room.put(writer, {path: text})
                elif verb == "forget":
                    with writer.transaction():
                        writer.forget([path])
                else:
                    with writer.transaction() as db:
                        db.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')")
        with looking(room) as view:
            for question in questions:
                assert_as_counted_by_hand(view, text_query(question))


def test_after_hundreds_of_replacements_the_counts_are_those_of_what_is_left(room: Room) -> None:
    """Enough of them that FTS5 merges its segments, with the deleted in them, several times."""
    room.publish({})
    with room.writing() as writer:
        for turn in range(300):
            path = f"memory/{turn % 17}.md"
            text = "\n\n".join(
                f"router {turn % 5} heron" + " robin" * (turn % 4) for _ in range(turn % 6)
            )
            room.put(writer, {path: text})
            if turn % 7 == 0:
                with writer.transaction():
                    writer.forget([f"memory/{(turn * 3) % 17}.md"])
    with looking(room) as view:
        assert len(every_chunk(view)) > 10
        for question in ("router", "heron robin", "router 3 robin heron", "md", "nobody"):
            assert_as_counted_by_hand(view, text_query(question))


# -- the rest ------------------------------------------------------------------------------------


def test_counts_are_those_of_the_tables(full: Room) -> None:
    with looking(full) as view:
        counts = view.counts()
        assert (counts.files, counts.chunks, counts.embedded) == (3, 3, 3)
        assert counts.by_source == {"memory": (3, 3)}
    with full.writing() as writer:
        full.put(writer, {"empty.md": "", "new.md": "new"})
    with looking(full) as view:
        counts = view.counts()
        assert (counts.files, counts.chunks, counts.embedded) == (5, 4, 3)


def test_waiting_chunks_come_oldest_first_and_in_parts(room: Room) -> None:
    room.publish({})
    with room.writing() as writer:
        room.put(writer, {f"{number}.md": f"note {number}" for number in range(5)})
        first = writer.view.waiting_for_vectors(2)
        rest = writer.view.waiting_for_vectors(9, after=first[-1].id)
        assert [one.path for one in first + rest] == [f"{number}.md" for number in range(5)]


def test_a_note_is_remembered_as_it_was(full: Room) -> None:
    with looking(full) as view:
        note = view.notes()["memory/索引.md"]
        assert (note.stat, note.digest) == ((1, 2, 3, 4), "digest of 数据库 索引\n")


def test_nearest_and_exact_cosines_agree(full: Room) -> None:
    vector = full.embedder.embed(["heron and robin"], "query")[0]
    with looking(full) as view:
        near = view.nearest(vector, ["memory"], 3)
        cosines = view.cosines(vector, [*near, 999])
        assert list(cosines) == sorted(near)
        assert near == sorted(cosines, key=lambda one: -cosines[one])
        assert view.answered_by == "exact"
