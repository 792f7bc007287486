"""A snippet shows why a chunk was found."""

from __future__ import annotations

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from notewell.core.passages import ELLIPSIS, snippet

FILLER = "nothing to see on this line, move along please\n" * 40


def test_a_short_chunk_is_shown_whole() -> None:
    assert snippet("short", {"short": 1.0}) == "short"


def test_the_window_is_around_the_match() -> None:
    text = FILLER + "the password of the router is hunter2\n" + FILLER
    shown = snippet(text, {"router": 1.0, "password": 1.0}, 200)
    assert "the password of the router is hunter2" in shown
    assert shown.startswith(ELLIPSIS)
    assert shown.endswith(ELLIPSIS)


def test_the_window_with_more_worth_wins() -> None:
    text = "router\n" + FILLER + "router password\n" + FILLER
    assert "router password" in snippet(text, {"router": 1.0, "password": 1.0}, 200)


def test_without_a_match_the_beginning_is_shown() -> None:
    assert snippet("first line\n" + FILLER, {}, 100).startswith("first line")


def test_a_match_in_chinese_is_centred_too() -> None:
    text = "无关的内容。" * 200 + "我们决定使用索引库。" + "无关的内容。" * 200
    assert "索引" in snippet(text, {"索引": 1.0}, 100)


@given(st.text(max_size=2000), st.text(max_size=20), st.integers(10, 800))
def test_a_snippet_is_never_longer_than_asked(text: str, term: str, chars: int) -> None:
    assert len(snippet(text, {term: 1.0}, chars)) <= chars


def test_every_process_shows_the_same_snippet() -> None:
    # .1 + .2 + .3 is .6 or a little more, depending on the order, which the hash seed decides.
    code = """
from notewell.core import snippet
text = "delta " + "x " * 200 + "alpha beta gamma"
print(snippet(text, {"alpha": 0.1, "beta": 0.2, "gamma": 0.3, "delta": 0.6}, 80)[:5])
"""
    shown = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
        for seed in range(1, 9)
    }
    assert shown == {"delta\n"}
