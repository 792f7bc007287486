"""The best chunks, and counts of them alone, are those of FTS5's `rank` column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest
from tests.sqlite_store import sqlite_store

from notewell import open_memory
from notewell.core import text_query
from notewell.index.sqlite import select
from notewell.index.sqlite.full_text import TermCounter, match_expression
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from notewell.core import TextMatches, TextQuery
    from notewell.index.sqlite import SqliteView
    from notewell.index.sqlite.full_text import Totals

QUESTIONS = (
    "attic",
    "router cellar",
    "the router of the router in the attic",
    "cellar lamp attic gate router",
    "note 7",
    "nowhere",
)
WORDS = ((2, "router"), (3, "cellar"), (4, "attic"), (5, "lamp"))


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteView]:
    folder: Path = tmp_path_factory.mktemp("ranked")
    (folder / "memory").mkdir()
    for number in range(240):
        # Thirty texts, so that of each rank there are several chunks.
        words = "".join(f"{word} " * (number % 10 % most) for most, word in WORDS)
        text = f"# Gate {'router ' * (number % 3)}\n\nThe {words}is here, or the lamp.\n"
        name = f"{('note', 'attic')[number % 2]}-{number:03}.md"
        (folder / "memory" / name).write_text(text, encoding="utf-8")
    state = folder / "state"
    with open_memory(folder, state_dir=state, embedder=HashEmbedder()) as memory:
        memory.sync(vectors=False)
        with sqlite_store(memory).view() as opened:
            assert opened is not None
            yield opened


@pytest.mark.parametrize("limit", [1, 7, 96, 1000])
@pytest.mark.parametrize("sources", [(), ("memory",), ("sessions",)])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_matches_as_by_the_rank_column(
    view: SqliteView, question: str, sources: Sequence[str], limit: int
) -> None:
    query = text_query(question)
    matches, totals = view._counted(query, sources, limit, None)
    assert (matches, totals) == _ranked(view, query, sources, limit)
    assert matches.lengths.keys() == set(matches.ids)


@pytest.mark.parametrize("limit", [1, 7, 1000])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_among_some_chunks(view: SqliteView, question: str, limit: int) -> None:
    query = text_query(question)
    every_third = [chunk_id for (chunk_id,) in select(view._db, "SELECT id FROM chunks")][::3]
    everything, totals = _ranked(view, query, (), 1000)
    matches, counted = view._counted(query, (), limit, every_third)
    allowed = frozenset(every_third)
    assert matches.ids == [one for one in everything.ids if one in allowed][:limit]
    assert counted == totals


def test_of_equal_ranks_the_older_chunk_comes_first(view: SqliteView) -> None:
    query = text_query("router cellar")
    ranks = dict(
        select(
            view._db,
            "SELECT rowid, bm25(chunks_fts, 0.0, 1.0, 0.6, 0.4) FROM chunks_fts "
            "WHERE chunks_fts MATCH ?",
            (match_expression(query, ()),),
        )
    )
    assert len(set(ranks.values())) < len(ranks) / 5
    matches, _ = view._counted(query, (), 50, None)
    assert matches.ids == sorted(ranks, key=lambda one: (ranks[one], one))[:50]


def _ranked(
    view: SqliteView, query: TextQuery, sources: Sequence[str], limit: int
) -> tuple[TextMatches, Totals]:
    """FTS5 sorts by its `rank` column, and counts in the same statement."""
    counter = TermCounter(query, len(sources))
    rows = select(
        view._db,
        "SELECT rowid, notewell_counts(chunks_fts, ?) FROM chunks_fts WHERE chunks_fts MATCH ? "
        "AND rank MATCH 'bm25(0.0, 1.0, 0.6, 0.4)' ORDER BY rank LIMIT ?",
        (apsw.pyobject(counter), match_expression(query, sources), limit),
    )
    return counter.matches([chunk_id for chunk_id, _ in rows]), counter.totals
