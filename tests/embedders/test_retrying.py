from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core import Secret
from notewell.embedders.error_mapping import RETRYABLE_STATUSES, error_for, retry_after_s
from notewell.embedders.http_client import HttpReply
from notewell.embedders.providers.provider import ErrorFacts
from notewell.embedders.remote_plan import SettingNames
from notewell.embedders.retrying import Deadline, Retrying, RetryPolicy, pause_s
from notewell.errors import AnswerUnusable, EmbedderFailed, EmbedderUnreachable
from notewell.ports import Kind
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from notewell.ports import Vectors

NAMES = SettingNames("remote.baseUrl", "remote.apiKey")


class World:
    """A clock that sleeping moves, and a provider that fails so many times."""

    def __init__(self, error: EmbedderFailed, times: int) -> None:
        self.now = 0.0
        self.error = error
        self.times = times
        self.asked = 0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def ask(self, texts: Sequence[str], kind: Kind, deadline: Deadline) -> Vectors:
        self.asked += 1
        if self.asked <= self.times:
            raise self.error
        return HashEmbedder().embed(texts, kind)

    def run(self, within_s: float) -> Vectors:
        retrying = Retrying(self.ask, self.sleep, lambda: 1.0)
        return retrying(["x"], "document", Deadline.after(within_s, self.clock))


def test_pauses_double_until_the_tries_are_used_up() -> None:
    world = World(EmbedderUnreachable("p", "no"), times=9)
    with pytest.raises(EmbedderUnreachable):
        world.run(within_s=60.0)
    assert (world.asked, world.now) == (3, 1.5)


def test_a_pause_that_would_outlast_the_deadline_is_not_begun() -> None:
    world = World(EmbedderFailed("p", "busy", http_status=503, retry_after_s=30.0), times=1)
    with pytest.raises(EmbedderFailed):
        world.run(within_s=20.0)
    assert (world.asked, world.now) == (1, 0.0)


def test_what_the_provider_asks_for_is_waited() -> None:
    world = World(EmbedderFailed("p", "busy", http_status=429, retry_after_s=30.0), times=1)
    world.run(within_s=60.0)
    assert (world.asked, world.now) == (2, 30.0)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 418, 422, 429, 500, 503, 529])
def test_only_statuses_that_may_pass_are_asked_again(status: int) -> None:
    pause = pause_s(EmbedderFailed("p", "x", http_status=status), 1, RetryPolicy(), 0.5)
    assert (pause is not None) == (status in RETRYABLE_STATUSES)


def test_an_unusable_answer_is_paid_for_once() -> None:
    assert pause_s(AnswerUnusable("p", "x", http_status=200), 1, RetryPolicy(), 0.5) is None


@given(st.integers(1, 50), st.floats(0, 1))
def test_no_pause_is_longer_than_the_longest(tried: int, random: float) -> None:
    pause = pause_s(EmbedderUnreachable("p", "x"), tried, RetryPolicy(tries=99), random)
    assert pause is not None
    assert 0.25 <= pause <= 8.0


@pytest.mark.parametrize(
    ("header", "date", "seconds"),
    [
        ("7", None, 7.0),
        ("0.5", None, 0.5),
        ("-3", None, 0.0),
        ("nan", None, 2.0),
        ("inf", None, 2.0),
        ("soon", None, 2.0),
        (None, None, 2.0),
        ("Sun, 15 Nov 2026 10:00:30 GMT", "Sun, 15 Nov 2026 10:00:00 GMT", 30.0),
        ("Sun, 15 Nov 2026 10:00:30 GMT", None, 2.0),
        ("Sun, 15 Nov 2026 10:00:30 GMT", "Sun, 15 Nov 2026 10:00:00", 2.0),
    ],
)
def test_the_wait_asked_for_is_read_from_header_or_body(
    header: str | None, date: str | None, seconds: float
) -> None:
    reply = HttpReply(429, None, retry_after=header, date=date)
    assert retry_after_s(reply, ErrorFacts(retry_after_s=2.0)) == seconds


def test_a_message_is_one_short_line_without_what_we_sent() -> None:
    facts = ErrorFacts(message="no\nsuch \x1b[31mthing for sk-12345678 " + "x" * 500)
    error = error_for(
        "p", HttpReply(500, None), facts, [Secret("Bearer sk-12345678"), Secret("ab")], NAMES
    )
    assert str(error).startswith(
        "the 'p' embedder failed: HTTP 500: no such [31mthing for [key] xxx"
    )
    assert len(str(error)) < 260


def test_about_a_key_the_provider_is_not_quoted() -> None:
    facts = ErrorFacts(message="Incorrect API key provided: sk-pr****5678", code="invalid_api_key")
    assert "5678" not in str(error_for("p", HttpReply(401, None), facts, [], NAMES))
