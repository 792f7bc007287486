"""Windows are small parts of a chunk, in order, with nothing left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core import (
    find_windows,
    has_windows,
    pack_windows,
    split_text,
    unit_rows,
    window_cosines,
    window_places,
)
from notewell.core.windows import LONG_LINE_CHARS, WINDOW_CHARS

if TYPE_CHECKING:
    from notewell.ports import Vectors

BULLETS = [f"- {name}: {'something that was said, ' * 3}and more." for name in "abcdefgh"]


def texts(text: str) -> list[str]:
    return [text[start:end] for start, end in find_windows(text)]


def test_a_text_of_one_window_has_none() -> None:
    assert find_windows("We ship the router on Friday.") == ()
    assert find_windows("") == ()
    assert find_windows("x" * WINDOW_CHARS) == ()
    assert split_text("# Decisions", "We ship on Friday.").windows == ()


def test_windows_are_whole_lines() -> None:
    found = texts("\n".join(BULLETS))
    assert "\n".join(found).split("\n") == BULLETS
    assert all(len(part) <= WINDOW_CHARS + 1 for part in found)
    assert len(found) > 2


def test_a_long_line_is_split_at_the_ends_of_sentences() -> None:
    sentences = [
        f"In week {number} we changed the router and wrote it down." for number in range(12)
    ]
    found = texts(" ".join(sentences))
    assert all(part.endswith("down.") and part.startswith("In week") for part in found)
    assert " ".join(found) == " ".join(sentences)


def test_a_sentence_without_an_end_is_cut_at_a_space() -> None:
    found = texts("word " * 300)
    assert all(len(part) <= LONG_LINE_CHARS for part in found)
    assert all(part.split() == ["word"] * len(part.split()) for part in found)
    assert len(texts("x" * 2000)) == 8


def test_chinese_characters_count_twice() -> None:
    sentence = "我们在星期五发布了新的路由器，天线要重新订购。"
    found = texts(sentence * 20)
    assert all(len(part) <= WINDOW_CHARS // 2 for part in found)
    assert all(part.endswith("。") for part in found)


def test_code_has_no_windows() -> None:
    body = [f"    total_{number} = read(number, {number}) + total" for number in range(12)]
    function = "\n".join(["def read_all(number):", *body])
    assert find_windows(function) == ()
    assert find_windows("\n".join(["```", *(line.strip() for line in body), "```"])) == ()
    # Text around a little code has some, and so has a list of several levels.
    assert find_windows("\n".join([*BULLETS, "```", *body[:3], "```"]))
    assert find_windows("\n".join(f"    {line}" for line in BULLETS))


def test_each_window_has_its_lines() -> None:
    text = "\n".join(["# Trip", "", *BULLETS])
    lines = text.split("\n")
    for (start, end), places in zip(find_windows(text), window_places(text, 11), strict=True):
        quoted = [lines[line - 11][extent.start : extent.end] for line, extent in places]
        assert "\n".join(quoted) == text[start:end]


def test_windows_of_a_long_line_have_their_characters() -> None:
    line = " ".join(f"Sentence {number} is about the harbour." for number in range(30))
    for shift in (0, 1000):
        places = window_places(line, 7, shift)
        assert [number for ((number, _),) in places] == [7] * len(places)
        for (start, end), ((_, extent),) in zip(find_windows(line), places, strict=True):
            assert extent == (start + shift, end + shift)


def test_the_text_of_a_window_has_the_headings_above_it_and_no_marker() -> None:
    marked = "\n".join(f"{line} <!-- @claude #{number} -->" for number, line in enumerate(BULLETS))
    split = split_text("# Home › ## Trip", marked)
    assert split.text.startswith("# Home › ## Trip\n\n- a: ")
    assert len(split.windows) > 2
    for text in split.window_texts():
        assert text.startswith("# Home › ## Trip\n\n- ")
        assert "<!--" not in text
    assert len(window_places(marked, 1)) == len(split.windows)


LINES = st.lists(
    st.one_of(
        st.just(""),
        st.text(alphabet="ab c.。日é \t", max_size=60),
        st.integers(1, 900).map(lambda size: ("some words of a long line. " * 40)[:size]),
        st.integers(1, 900).map(lambda size: "日本語のメモ。" * (size // 7)),
        st.integers(1, 900).map("x".__mul__),
    ),
    max_size=12,
)


@given(LINES)
def test_nothing_is_lost_and_nothing_comes_twice(lines: list[str]) -> None:
    text = "\n".join(lines)
    windows = find_windows(text)
    assert len(windows) != 1
    end = 0
    for window in windows:
        assert end <= window.start < window.end <= len(text)
        assert not text[end : window.start].strip()
        assert len(text[window.start : window.end].replace("\n", "").strip()) <= LONG_LINE_CHARS
        end = window.end
    assert not windows or not text[end:].strip()


# -- codes ---------------------------------------------------------------------------------------


def unit(rows: int, dims: int = 384) -> Vectors:
    return unit_rows(np.random.default_rng(17).normal(size=(rows, dims)).astype(np.float32), dims)


def test_a_window_has_nearly_its_cosine_in_a_quarter_of_the_bytes() -> None:
    rows = unit(9)
    query, windows = rows[0], list(rows[1:])
    packed = pack_windows(windows)
    assert len(packed) == 1 + 8 * 384
    found = window_cosines(query, {7: packed, 9: pack_windows([query])})
    assert found[9] == pytest.approx([1.0], abs=1e-3)
    assert found[7] == pytest.approx([float(row @ query) for row in windows], abs=2e-3)
    assert window_cosines(query, {}) == {}


def test_windows_of_another_count_length_or_version_do_not_fit() -> None:
    packed = pack_windows(list(unit(3)))
    assert has_windows(packed, 3, 384)
    assert has_windows(b"", 0, 384)
    assert pack_windows([]) == b""
    for wrong in (b"", packed[:-1], b"\x00" + packed[1:]):
        assert not has_windows(wrong, 3, 384)
    assert not has_windows(packed, 2, 384)
    assert not has_windows(packed, 0, 384)
