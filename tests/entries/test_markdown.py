"""Entries as a file: what is written is what is read back."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.entries import CATEGORIES, EntryStore, MemoryEntry
from notewell.entries.entry import clean_text
from notewell.entries.markdown import from_markdown, to_markdown
from notewell.errors import BadRequest

Open = Callable[..., EntryStore]

LINES = st.sampled_from(
    ["", " ", ">", "> quoted", "## fact, 2026-01-01T00:00:00.000Z", "- id: x", "# Entries of x",
     "```", "\u2028", "\x0b", "\ttab", "trailing  ", "茶 🫖", "<!-- -->", "a\\b"]
)  # fmt: skip
TEXTS = st.lists(LINES | st.text(max_size=20), min_size=1, max_size=6).map("\n".join)
ENTRIES = st.builds(
    MemoryEntry,
    st.uuids().map(str),
    TEXTS.filter(lambda text: text.replace("\0", "").strip()).map(
        lambda text: clean_text("x" + text)
    ),
    st.floats(0, 1),
    st.sampled_from(CATEGORIES),
    st.integers(0, 253_402_300_799_999),
    st.just("main"),
    st.sampled_from(["", "hash/hash-64/64", "openai/text-embedding-3-small/1536"]),
)


@given(st.lists(ENTRIES, max_size=4))
def test_every_field_but_the_vector_comes_back(entries: list[MemoryEntry]) -> None:
    assert from_markdown(to_markdown(entries, "main")) == entries


def test_the_file_can_be_read_by_people() -> None:
    entry = MemoryEntry(
        "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
        "Tea,\n\nnot coffee.",
        0.7,
        "preference",
        1_794_738_030_125,
        "main",
        "hash/hash-64/64",
    )
    assert to_markdown([entry], "main") == (
        "# Entries of main\n\n## preference, 2026-11-15T10:20:30.125Z\n\n"
        "- id: 1b4e28ba-2fa1-41d2-883f-0016d3cca427\n- importance: 0.7\n"
        "- model: hash/hash-64/64\n\n> Tea,\n>\n> not coffee.\n"
    )


HEAD = "# Entries of main\n\n## fact, 2026-11-15T10:20:30.125Z\n\n"
ID = "- id: 1b4e28ba-2fa1-41d2-883f-0016d3cca427\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1: expected `# Entries of"),
        ("# Notes\n", "line 1: expected"),
        ("# Entries of main\n\nhello\n", "line 3: expected `## <category>"),
        ("# Entries of main\n## fact\n", "line 2: expected `## <category>"),
        ("# Entries of main\n## fact, 2026-13-15T10:20:30.125Z\n", "line 2: .* is not a time"),
        (HEAD + "> text\n", "line 3: the entry has no id"),
        (HEAD + ID + "> text\n", "line 3: the entry has no importance"),
        (HEAD + ID + "- importance: much\n\n> text\n", "line 3: its importance is not a number"),
        (HEAD + ID + "- importance: 2\n\n> text\n", "line 3: the importance must be"),
        (HEAD + ID + "- importance: 1\n", "line 3: there is nothing to remember"),
        (HEAD + ID + "- importance: 1\n\nbare text\n", "line 8: expected a field"),
        (HEAD.replace("fact", "fiction") + ID + "- importance: 1\n> x\n", "not a category"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        from_markdown(text)


def test_import_is_idempotent_and_leaves_what_is_there(opened: Open) -> None:
    mine, theirs = opened("main"), opened("guest")
    for number in range(20):
        mine.store(f"thing{number} is at place{number * 7}", importance=number / 20)
    file = to_markdown(mine.entries(), "main")
    first = theirs.import_entries(from_markdown(file))
    assert (first.added, first.there, first.differing) == (20, 0, 0)
    assert [replace(entry, owner="main") for entry in theirs.entries()] == mine.entries()
    assert theirs.recall("thing7").results[0].entry.text == "thing7 is at place49"
    again = theirs.import_entries(from_markdown(file.replace("thing3 is", "thing3 was")))
    assert (again.added, again.there, again.differing) == (0, 20, 1)
    assert theirs.count() == 20


def test_an_id_that_stands_twice_in_a_file_is_stored_once(store: EntryStore) -> None:
    entry = MemoryEntry(str(uuid.UUID(int=1)), "The anchor is red", 0.5, "fact", 1, "main")
    assert store.import_entries([entry, entry]).added == 1
    assert store.count() == 1
