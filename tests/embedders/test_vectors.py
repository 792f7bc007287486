from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.embedders.vectors import NotRows, unit_vectors

numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(numbers, min_size=n, max_size=n))))
def test_what_passes_has_length_one_and_what_does_not_is_refused(rows: list[list[float]]) -> None:
    try:
        vectors = unit_vectors(rows, len(rows), None)
    except NotRows:
        # Nothing at all, or a row that points nowhere.
        assert not rows or min(max(abs(number) for number in row) for row in rows) < 1e-6
    else:
        assert vectors.dtype == np.float32
        assert np.isfinite(vectors).all()
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, float("nan")]],
        [[1.0, float("inf")]],
        [[0.0, 0.0]],
        [[1e-30, 0.0]],
        [[1.0]],
        [[1.0, 2.0, 3.0]],
        [["a", "b"]],
        [None],
        [[[1.0, 2.0]]],
        [[10**400, 1.0]],
        [[]],
        [],
        [[1.0, 2.0], [1.0, 2.0]],
        [{"a": 1.0}],
        [1.0],
    ],
)
def test_no_bad_vector_gets_through(rows: Any) -> None:
    with pytest.raises(NotRows):
        unit_vectors(rows, 1, 2)


def test_huge_and_tiny_numbers_keep_their_direction() -> None:
    big, small = unit_vectors([[3e300, 4e300], [3e-3, 4e-3]], 2, 2)
    assert np.allclose(big, [0.6, 0.8])
    assert np.allclose(small, [0.6, 0.8])
