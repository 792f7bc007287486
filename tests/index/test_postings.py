"""Lists of words that are kept give the same chunks, in the same order, as FTS5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.sqlite_store import sqlite_store

from notewell import Settings, open_memory
from notewell.core import languages_of, text_query
from notewell.errors import IndexUnreadable
from notewell.index.sqlite.full_text import source_word
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from notewell.index.sqlite import SqliteStore, SqliteView

QUESTIONS = (
    "router cellar",
    "the router of the router in the attic",
    "memorySearch.query of the Häuser",
    "Haus Garten",
    "索引库 router",
    "gone",
    "nowhere",
)


@pytest.fixture
def view(tmp_path: Path) -> Iterator[SqliteView]:
    folder = tmp_path / "notes" / "memory"
    folder.mkdir(parents=True)
    for number in range(40):
        words = " ".join(["router"] * (number % 4) + ["cellar"] * (number % 3) + ["attic"])
        text = f"# Router {number % 5}\n\n{words} {number % 7}.\n\nmemorySearch.query {words}\n"
        (folder / f"router-{number}.md").write_text(text, encoding="utf-8")
    long_line = "The router is in the cellar and not in the attic. " * 60
    (folder / "long.md").write_text(long_line, encoding="utf-8")
    (folder / "zh.md").write_text("索引库在这里。\n", encoding="utf-8")
    german = "Die Häuser und die Gärten sind in der Stadt, und das Haus ist nicht im Garten.\n"
    (folder / "de.md").write_text(german, encoding="utf-8")
    (folder / "gone.md").write_text("gone router\n", encoding="utf-8")
    with open_memory(
        tmp_path / "notes",
        state_dir=tmp_path / "state",
        settings=Settings(),
        embedder=HashEmbedder(),
    ) as memory:
        memory.sync()
        (folder / "gone.md").unlink()
        memory.sync()
        with sqlite_store(memory).view() as opened:
            assert opened is not None
            yield opened


@pytest.mark.parametrize("limit", [1, 7, 20, 500])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_matches_as_fts5_gives(view: SqliteView, question: str, limit: int) -> None:
    query = text_query(question, languages_of(view.having))
    having = view.having([form for group in query.groups for form in group])
    memo = view._memo
    assert memo is not None
    counted, totals = view._counted(query, (), limit, None)
    kept = view._short_lists(query, having, memo.postings(view._db), limit)
    assert kept == (counted, totals)


@pytest.mark.parametrize("limit", [1, 7, 20, 500])
@pytest.mark.parametrize("question", QUESTIONS)
def test_arrays_have_the_same_matches_when_the_words_are_asked_again(
    view: SqliteView, question: str, limit: int
) -> None:
    query = text_query(question, languages_of(view.having))
    having = view.having([form for group in query.groups for form in group])
    memo = view._memo
    assert memo is not None
    if not having:
        return
    assert view._long_lists(query, having, memo.postings(view._db), limit) is None
    again = view._long_lists(query, having, memo.postings(view._db), limit)
    assert again == view._counted(query, (), limit, None)


def test_a_word_that_only_filters_have_has_no_arrays(view: SqliteView) -> None:
    memo = view._memo
    assert memo is not None
    reader = memo.postings(view._db)
    having = {"router": 40, source_word("memory"): 40}
    assert reader.arrays(having) is None
    assert reader.arrays(having) is None


@pytest.mark.parametrize("table", ["chunks_fts_docsize", "chunks_fts_data"])
def test_an_index_that_lacks_its_counts_is_damaged(tmp_path: Path, table: str) -> None:
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "notes" / "memory" / "a.md").write_text("router\n", encoding="utf-8")
    with open_memory(
        tmp_path / "notes", state_dir=tmp_path / "state", embedder=HashEmbedder()
    ) as memory:
        memory.sync()
        with sqlite_store(memory).writing(wait_s=1) as writer:
            writer.open_current()
            with writer.transaction() as db:
                db.execute(f"DELETE FROM {table} WHERE id = 1")
        with pytest.raises(IndexUnreadable):
            search_router(sqlite_store(memory))


def search_router(store: SqliteStore) -> None:
    with store.view() as view:
        assert view is not None
        view.matching(text_query("router"), ["memory"], 5)
