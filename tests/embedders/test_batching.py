from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.embedders.batching import (
    GOOD_IN_A_ROW,
    Batching,
    LearnedLimits,
    RequestLimits,
    estimated_tokens,
    plan,
)
from notewell.embedders.retrying import Deadline
from notewell.embedders.vectors import MAX_SPLIT_DEPTH, split_in_half
from notewell.errors import EmbedderFailed, TextTooLarge
from notewell.ports import Kind
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from notewell.ports import Vectors


class Server:
    """Takes so many texts and so many characters a text, and notes what it was asked."""

    def __init__(self, most_texts: int = 10**9, most_chars: int = 10**9) -> None:
        self.model = HashEmbedder()
        self.most_texts = most_texts
        self.most_chars = most_chars
        self.poison: str | None = None
        self.sizes: list[int] = []
        self.under_way = 0
        self.most_under_way = 0
        self.lock = threading.Lock()
        self.meet: threading.Barrier | None = None

    def __call__(self, texts: Sequence[str], kind: Kind, deadline: Deadline) -> Vectors:
        with self.lock:
            self.sizes.append(len(texts))
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            if self.meet:
                self.meet.wait(60)
            return self._answer(texts, kind)
        finally:
            with self.lock:
                self.under_way -= 1

    def _answer(self, texts: Sequence[str], kind: Kind) -> Vectors:
        too_long = any(len(text) > self.most_chars for text in texts)
        if len(texts) > self.most_texts or too_long or self.poison in texts:
            raise TextTooLarge("fake", "too large", http_status=400)
        return self.model.embed(texts, kind)


def batching(server: Server, limits: RequestLimits, concurrency: int = 4) -> Batching:
    return Batching(server, limits, concurrency, lambda: Deadline(10.0, lambda: 0.0))


@given(
    st.lists(st.integers(0, 50), max_size=60),
    st.integers(1, 10),
    st.integers(1, 100),
)
def test_a_plan_has_every_text_once_in_order_and_within_the_limits(
    tokens: list[int], items: int, most: int
) -> None:
    batches = plan(range(len(tokens)), tokens, RequestLimits(items, most))
    assert [number for batch in batches for number in batch] == list(range(len(tokens)))
    for batch in batches:
        assert len(batch) <= items
        assert len(batch) == 1 or sum(tokens[number] for number in batch) <= most
    for first, second in pairwise(batches):
        joined = (*first, second[0])
        assert len(joined) > items or sum(tokens[number] for number in joined) > most


@given(
    st.lists(st.text("ab ", min_size=1, max_size=12), min_size=1, max_size=40),
    st.integers(1, 9),
    st.integers(1, 12),
    st.integers(1, 4),
)
def test_texts_come_back_in_order_whatever_the_server_takes(
    texts: list[str], most_texts: int, items: int, concurrency: int
) -> None:
    server = Server(most_texts)
    vectors = batching(server, RequestLimits(items, 20), concurrency).embed(
        texts, "document", None
    )
    assert np.array_equal(vectors, HashEmbedder().embed(texts, "document"))
    assert server.most_under_way <= concurrency


def test_what_the_server_takes_is_learned_and_kept() -> None:
    server = Server(most_texts=10)
    stack = batching(server, RequestLimits(64, 10**6), concurrency=1)
    texts = [f"text {n}" for n in range(64)]
    stack.embed(texts, "document", None)
    assert server.sizes == [64, 32, 16, *[8] * 8]
    server.sizes.clear()
    stack.embed(texts, "document", None)
    # After sixteen good requests a larger one is tried, and that is refused again.
    assert server.sizes == [8] * 8
    stack.embed(texts, "document", None)
    assert server.sizes.count(16) == 1


def test_requests_go_out_together_but_never_more_than_allowed() -> None:
    server = Server()
    server.meet = threading.Barrier(3)  # Nobody gets through before three are there.
    texts = [f"text {n}" for n in range(9)]
    batching(server, RequestLimits(1, 100), concurrency=3).embed(texts, "document", None)
    assert server.most_under_way == 3


def test_two_calls_at_once_share_the_allowance() -> None:
    server = Server()
    server.meet = threading.Barrier(2)
    stack = batching(server, RequestLimits(1, 100), concurrency=2)
    texts = [f"text {n}" for n in range(4)]
    calls = [
        threading.Thread(target=stack.embed, args=(texts, "document", None)) for _ in range(2)
    ]
    for call in calls:
        call.start()
    for call in calls:
        call.join(60)
    assert server.most_under_way == 2
    assert len(server.sizes) == 8


def test_one_text_that_is_refused_does_not_shrink_what_comes_after() -> None:
    server = Server()
    server.poison = "text 20"
    stack = batching(server, RequestLimits(32, 10**6), concurrency=1)
    texts = [f"text {n}" for n in range(32)]
    with pytest.raises(TextTooLarge) as caught:
        stack.embed(texts, "document", None)
    assert set(caught.value.finished) == set(range(20))
    assert len(server.sizes) < 16
    server.poison = None
    server.sizes.clear()
    stack.embed(texts, "document", None)
    assert server.sizes == [32]


def test_a_text_that_is_too_long_gets_the_mean_of_its_parts() -> None:
    server = Server(most_chars=900)
    text = " ".join(f"word{n:04}" for n in range(200))
    (vector,) = batching(server, RequestLimits(8, 10**6)).embed([text], "document", None)
    (whole,) = HashEmbedder().embed([text], "document")
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
    assert float(vector @ whole) > 0.8
    assert server.sizes == [1] * 3


def test_a_text_that_no_cutting_helps_is_refused_after_a_few_tries() -> None:
    server = Server(most_chars=1)
    with pytest.raises(TextTooLarge):
        batching(server, RequestLimits(8, 10**6)).embed(["long " * 10_000], "document", None)
    assert len(server.sizes) == 1 + MAX_SPLIT_DEPTH
    with pytest.raises(TextTooLarge):
        batching(server, RequestLimits(8, 10**6)).embed(["short"], "document", None)


@given(st.text(min_size=2))
def test_a_cut_loses_nothing(text: str) -> None:
    first, second = split_in_half(text)
    assert first + second == text
    assert first
    assert second


def test_an_error_that_nobody_foresaw_is_raised_and_not_lost_with_its_thread() -> None:
    def ask(texts: Sequence[str], kind: Kind, deadline: Deadline) -> Vectors:
        raise ZeroDivisionError

    stack = Batching(ask, RequestLimits(1, 10), 4, lambda: Deadline(1.0, lambda: 0.0))
    with pytest.raises(ZeroDivisionError):
        stack.embed(["a", "b", "c"], "document", None)


def test_after_a_failure_no_further_batch_is_begun() -> None:
    asked: list[str] = []

    def ask(texts: Sequence[str], kind: Kind, deadline: Deadline) -> Vectors:
        asked.extend(texts)
        raise EmbedderFailed("fake", "no")

    stack = Batching(ask, RequestLimits(1, 10), 1, lambda: Deadline(1.0, lambda: 0.0))
    with pytest.raises(EmbedderFailed):
        stack.embed(["a", "b", "c"], "document", None)
    assert asked == ["a"]


def test_learned_limits_recover_to_where_they_began_and_not_further() -> None:
    limits = LearnedLimits(RequestLimits(10, 100))
    limits.too_large(10, 100)
    assert limits.now == RequestLimits(5, 50)
    for _ in range(GOOD_IN_A_ROW * 3):
        limits.went_through()
    assert limits.now == RequestLimits(10, 100)


def test_chinese_counts_a_token_a_character() -> None:
    assert estimated_tokens("abcde") == 2
    assert estimated_tokens("日本語") == 3
