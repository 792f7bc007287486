"""The scale of a model's cosines, from the vectors of questions and chunks."""

from __future__ import annotations

import numpy as np
import pytest

from notewell.core import excerpt, scale_of
from notewell.ports import CosineScale


def test_an_excerpt_is_a_few_whole_words_from_the_middle() -> None:
    line = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    words = excerpt(f"# Title\n\n{line * 3}\n\n- end\n")
    assert words in line * 3
    assert 40 <= len(words) <= 80
    assert words.split()[0] in line.split()
    assert words.split()[-1] in line.split()


@pytest.mark.parametrize("text", ["short", "", "\n\n", "a\nb"])
def test_a_short_chunk_is_its_own_excerpt(text: str) -> None:
    assert excerpt(text) == text.strip()


def test_an_excerpt_of_a_dense_script_is_shorter() -> None:
    text = "柠檬树怕霜冻" * 40
    assert excerpt(text) in text
    assert 10 <= len(excerpt(text)) <= 30


def unit(*angles: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    radians = np.radians(np.array(angles))
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def test_floor_and_ceiling_come_from_probes_and_excerpts() -> None:
    chunks = unit(0, 0, 0)
    # Cosines of .5 for unrelated texts, of .766 for an excerpt and its chunk.
    scale = scale_of(unit(60, 60), unit(40, 40, 40), chunks)
    assert scale == pytest.approx((0.5, 0.5 + 1.4 * 0.266), abs=0.001)


def test_a_ceiling_stays_below_one() -> None:
    assert scale_of(unit(60), unit(0), unit(0)).ceiling < 1


def test_a_model_that_cannot_tell_texts_apart_keeps_its_cosines() -> None:
    assert scale_of(unit(10), unit(10), unit(0)) == CosineScale(0.0, 1.0)
