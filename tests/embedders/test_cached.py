from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core import split_text
from notewell.embedders import Cached
from notewell.errors import EmbedderFailed
from notewell.testing import BrokenEmbedder, HashEmbedder, WindowedHashEmbedder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.ports import Embedder, Kind, Vectors


class Shelf:
    """A cache that is a dictionary, and counts what it is given."""

    def __init__(self) -> None:
        self.kept: dict[str, Vectors] = {}
        self.kept_windows: dict[str, bytes] = {}

    def get(self, digests: Sequence[str]) -> Mapping[str, Vectors]:
        return {digest: self.kept[digest] for digest in digests if digest in self.kept}

    def windows(self, digests: Sequence[str]) -> Mapping[str, bytes]:
        return {one: self.kept_windows[one] for one in digests if one in self.kept_windows}

    def put(
        self, vectors: Mapping[str, Vectors], windows: Mapping[str, bytes] | None = None
    ) -> None:
        self.kept.update(vectors)
        self.kept_windows.update(windows or {})


class FailsAfter(HashEmbedder):
    """Works for so many texts, then no more."""

    def __init__(self, texts: int) -> None:
        super().__init__()
        self.left = texts

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        self.left -= len(texts)
        if self.left < 0:
            raise EmbedderFailed("hash", "enough for today")
        return super().embed(texts, kind)


def test_a_text_is_embedded_once_however_often_it_comes() -> None:
    inner, shelf = HashEmbedder(), Shelf()
    first = Cached(inner, shelf).embed(["a note", "another", "a note"], "document")
    again = Cached(inner, shelf).embed(["another", "a note"], "document")
    assert inner.embedded_texts == 2
    assert np.array_equal(first, inner.embed(["a note", "another", "a note"], "document"))
    assert np.array_equal(again, first[[1, 0]])


def test_the_digest_is_the_sha256_of_the_text() -> None:
    shelf = Shelf()
    Cached(HashEmbedder(), shelf).embed(["abc"], "document")
    assert list(shelf.kept) == ["ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"]


def test_a_question_passes_by_the_cache() -> None:
    inner, shelf = HashEmbedder(), Shelf()
    cached = Cached(inner, shelf)
    cached.embed(["a question"], "query")
    cached.embed(["a question"], "query")
    assert (inner.embedded_texts, shelf.kept) == (2, {})
    assert cached.facts is inner.facts


@pytest.mark.parametrize(
    "bad",
    [
        np.ones(3, dtype=np.float32),
        np.full(64, np.nan, dtype=np.float32),
        np.full(64, np.inf, dtype=np.float32),
        np.zeros(64, dtype=np.float32),
        np.full(64, 1e30, dtype=np.float32),
    ],
    ids=["other dims", "nan", "infinite", "zero", "wrong length"],
)
def test_a_damaged_vector_is_made_again(bad: Vectors) -> None:
    inner, shelf = HashEmbedder(), Shelf()
    cached = Cached(inner, shelf)
    good = cached.embed(["a note"], "document")
    (digest,) = shelf.kept
    shelf.kept[digest] = bad
    assert np.array_equal(cached.embed(["a note"], "document"), good)
    assert np.array_equal(shelf.kept[digest], good[0])


def test_what_was_embedded_before_a_failure_is_kept() -> None:
    at_once = HashEmbedder().texts_at_once
    texts = [f"note {n}" for n in range(at_once * 2)]
    shelf = Shelf()
    with pytest.raises(EmbedderFailed):
        Cached(FailsAfter(at_once), shelf).embed(texts, "document")
    assert len(shelf.kept) == at_once


class HalfDone(HashEmbedder):
    """Has every second row when it fails, as several requests under way at once do."""

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        rows = super().embed(texts, kind)
        trouble = EmbedderFailed("hash", "half of it")
        trouble.finished = dict(list(enumerate(rows))[::2])
        raise trouble


def test_rows_that_come_with_a_failure_are_kept_before_it_is_raised() -> None:
    shelf = Shelf()
    texts = ["one", "two", "three"]
    with pytest.raises(EmbedderFailed):
        Cached(HalfDone(), shelf).embed(texts, "document")
    assert len(shelf.kept) == 2
    after = HashEmbedder()
    vectors = Cached(after, shelf).embed(texts, "document")
    assert after.embedded_texts == 1
    assert np.array_equal(vectors, HashEmbedder().embed(texts, "document"))


def test_a_cached_vector_is_of_use_while_the_length_is_not_known() -> None:
    shelf = Shelf()
    good = Cached(HashEmbedder(), shelf).embed(["a note"], "document")
    unknown = BrokenEmbedder(EmbedderFailed("broken", "on purpose"))
    unknown.facts = replace(unknown.facts, dims=0)
    assert np.array_equal(Cached(unknown, shelf).embed(["a note"], "document"), good)


LONG = "\n".join(f"- entry {number}: {'words of a note, ' * 4}" for number in range(6))


def test_windows_are_embedded_once_with_their_text() -> None:
    inner, shelf = WindowedHashEmbedder(), Shelf()
    texts = [split_text("# Log", LONG), split_text("", "short"), split_text("# Log", LONG)]
    first = Cached(inner, shelf).embed_windows(texts)
    spent = inner.embedded_texts
    assert spent == 2 + len(texts[0].windows) > 3
    again = Cached(inner, shelf).embed_windows(texts[:2])
    assert inner.embedded_texts == spent
    assert [one.windows for one in again] == [one.windows for one in first[:2]]
    assert first[0].windows == first[2].windows
    assert first[1].windows == b""
    assert np.array_equal(again[0].vector, first[0].vector)


def test_a_cached_vector_without_its_windows_is_embedded_again() -> None:
    inner, shelf = WindowedHashEmbedder(), Shelf()
    texts = [split_text("", LONG), split_text("", "short")]
    fresh = Cached(inner, shelf).embed_windows(texts)
    shelf.kept_windows.clear()
    again = Cached(WindowedHashEmbedder(), shelf).embed_windows(texts)
    assert [one.windows for one in again] == [one.windows for one in fresh]
    assert list(shelf.kept_windows.values()) == [fresh[0].windows]


def test_an_embedder_without_windows_gets_each_text_once() -> None:
    inner = HashEmbedder()
    (only,) = Cached(inner, Shelf()).embed_windows([split_text("", LONG)])
    assert only.windows == b""
    assert inner.embedded_texts == 1


def test_trouble_inside_comes_out_as_it_is() -> None:
    trouble = EmbedderFailed("broken", "on purpose")
    broken: Embedder = Cached(BrokenEmbedder(trouble), Shelf())
    with pytest.raises(EmbedderFailed) as caught:
        broken.embed(["a note"], "document")
    assert caught.value is trouble


@given(st.lists(st.lists(st.sampled_from(["", "a", "b c", "日本", "\ud800"]), max_size=6)))
def test_a_cached_embedder_answers_like_the_one_inside(calls: list[list[str]]) -> None:
    inner, plain = HashEmbedder(), HashEmbedder()
    cached = Cached(inner, Shelf())
    for texts in calls:
        expected = plain.embed(texts, "document")
        assert np.array_equal(cached.embed(texts, "document"), expected)
    assert inner.embedded_texts == len({text for texts in calls for text in texts})
