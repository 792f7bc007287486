from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from notewell.testing import HashEmbedder


@given(st.lists(st.text(max_size=40), max_size=5), st.integers(1, 100))
def test_every_text_has_a_vector_of_length_one(texts: list[str], dims: int) -> None:
    vectors = HashEmbedder(dims).embed(texts, "document")
    assert vectors.shape == (len(texts), dims)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_texts_that_share_words_are_nearer() -> None:
    embedder = HashEmbedder()
    question = "when did the router ship"
    near, far = embedder.embed(["The router did ship in March.", "Basil wants sun."], "document")
    (asked,) = embedder.embed([question], "query")
    assert near @ asked > far @ asked


def test_the_same_words_give_the_same_vector_on_every_machine() -> None:
    (vector,) = HashEmbedder(dims=4).embed(["note"], "document")
    assert vector.tolist() == HashEmbedder(dims=4).embed(["NOTE"], "query")[0].tolist()
    assert np.abs(vector).tolist() == [0.0, 0.0, 0.0, 1.0]
