"""The real model, as the wheel carries it."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from notewell.core import has_windows, split_text, window_cosines
from notewell.embedders import embedded, open_embedded
from notewell.embedders.embedded import EmbeddedEmbedder
from notewell.embedders.vectors import unit_vector
from notewell.errors import BadSetting, EmbedderFailed, EmbedderMissing
from notewell.ports import ALL_SCRIPTS

if TYPE_CHECKING:
    from pathlib import Path

QUESTION = "When did we ship the router?"
ANSWER = "## Releases\n\nThe new router went live on the third of March, after two weeks of tests."
OTHER = "## Garden\n\nTomatoes want sun and a lot of water; the basil stands beside them."


def test_an_answer_is_nearer_to_its_question_than_something_else(
    embedder: EmbeddedEmbedder,
) -> None:
    (question,) = embedder.embed([QUESTION], "query")
    answer, other = embedder.embed([ANSWER, OTHER], "document") @ question
    assert answer > embedded.FACTS.cosine_floor
    assert answer > other + 0.1


def test_vectors_have_the_promised_shape_and_length(embedder: EmbeddedEmbedder) -> None:
    vectors = embedder.embed([ANSWER, OTHER, "", "\x00", "日本語のメモ"], "document")
    assert vectors.shape == (5, embedder.facts.dims)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert embedder.embed([], "document").shape == (0, embedder.facts.dims)


def test_the_same_text_has_the_same_vector_whatever_stands_beside_it(
    embedder: EmbeddedEmbedder, weights_folder: Path
) -> None:
    alone = embedder.embed([ANSWER], "document")
    among = embedder.embed([OTHER, ANSWER], "document")
    other_object = EmbeddedEmbedder([weights_folder], threads=1).embed([ANSWER], "document")
    assert np.array_equal(alone[0], among[1])
    assert np.allclose(alone, other_object, atol=1e-5)


def test_a_window_is_nearer_to_its_question_than_the_chunk_around_it(
    embedder: EmbeddedEmbedder,
) -> None:
    lines = [OTHER.partition("\n\n")[2]] * 4 + [ANSWER.partition("\n\n")[2]] + [OTHER] * 3
    split = split_text("## Notes", "\n".join(lines))
    (question,) = embedder.embed([QUESTION], "query")
    (windowed,) = embedder.embed_windows([split])
    assert has_windows(windowed.windows, len(split.windows), embedder.facts.dims)
    assert np.array_equal(windowed.vector, embedder.embed([split.text], "document")[0])
    (cosines,) = window_cosines(question, {1: windowed.windows}).values()
    best = cosines.index(max(cosines))
    assert "router" in split.window_texts()[best]
    assert cosines[best] > float(windowed.vector @ question) + 0.02
    assert embedder.embed_windows([split_text("", "short")])[0].windows == b""


def test_a_question_and_a_document_of_the_same_words_differ(embedder: EmbeddedEmbedder) -> None:
    query = embedder.embed([QUESTION], "query")
    document = embedder.embed([QUESTION], "document")
    assert not np.allclose(query, document, atol=1e-3)


def test_a_text_past_the_window_is_the_mean_of_its_windows(embedder: EmbeddedEmbedder) -> None:
    # "note" is one piece, so 600 of them are two windows of 300.
    (long,) = embedder.embed(["note " * 300 + "garden " * 300], "document")
    halves = embedder.embed(["note " * 300, "garden " * 300], "document")
    mean = halves.sum(axis=0)
    assert np.allclose(long, mean / np.linalg.norm(mean), atol=1e-5)


def test_the_end_of_a_long_text_is_read_too(embedder: EmbeddedEmbedder) -> None:
    filling = "The weather was as it was the day before. " * 80
    (question,) = embedder.embed([QUESTION], "query")
    without, with_answer = embedder.embed([filling, filling + ANSWER], "document") @ question
    assert with_answer > without


def test_a_long_question_keeps_its_prefix_in_every_window(embedder: EmbeddedEmbedder) -> None:
    (long,) = embedder.embed(["note " * 800], "query")
    (short,) = embedder.embed(["note " * 400], "query")
    assert np.allclose(long, short, atol=1e-5)


def test_a_text_without_end_costs_no_more_than_eight_windows(embedder: EmbeddedEmbedder) -> None:
    windows = list(embedder._model.get()._windows("note " * 100_000, ""))
    assert [len(window) for window in windows] == [512] * embedded.MAX_WINDOWS


def test_threads_may_share_one_embedder(weights_folder: Path) -> None:
    embedder = EmbeddedEmbedder([weights_folder])
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda _: embedder.embed([ANSWER], "document"), range(8)))
    assert all(np.array_equal(vectors[0], other) for other in vectors)


def test_missing_weights_name_the_folders_and_the_next_step(tmp_path: Path) -> None:
    embedder = EmbeddedEmbedder([tmp_path / "package", tmp_path / "pulled"])
    with pytest.raises(EmbedderMissing, match=r"package.*pulled.*notewell model pull") as caught:
        embedder.embed([QUESTION], "query")
    assert caught.value.provider == "embedded"
    assert "notewell model pull" in caught.value.action


def test_one_flipped_byte_is_found_and_a_sound_copy_is_used_instead(
    tmp_path: Path, weights_folder: Path
) -> None:
    content = bytearray((weights_folder / "model.onnx").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "model.onnx").write_bytes(content)
    (tmp_path / "vocab.txt").write_bytes((weights_folder / "vocab.txt").read_bytes())
    with pytest.raises(EmbedderMissing, match=r"model\.onnx is damaged.*notewell model pull"):
        EmbeddedEmbedder([tmp_path]).embed([QUESTION], "query")
    EmbeddedEmbedder([tmp_path, weights_folder]).embed([QUESTION], "query")


def test_after_missing_weights_arrive_the_same_object_works(
    tmp_path: Path, weights_folder: Path
) -> None:
    pulled = tmp_path / "pulled"
    embedder = EmbeddedEmbedder([pulled])
    with pytest.raises(EmbedderMissing):
        embedder.embed([QUESTION], "query")
    pulled.symlink_to(weights_folder)
    assert embedder.embed([QUESTION], "query").shape == (1, 384)


def test_what_the_runtime_raises_becomes_our_own_error(
    tmp_path: Path, weights_folder: Path, embedder: EmbeddedEmbedder
) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model at all")
    (tmp_path / "vocab.txt").write_bytes((weights_folder / "vocab.txt").read_bytes())
    with pytest.raises(EmbedderFailed, match="does not load"):
        embedded._Model(tmp_path, threads=1)
    with pytest.raises(EmbedderFailed, match="did not run"):
        embedder._model.get()._window_vector([10**9])


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_vector_without_direction_is_refused(bad: float) -> None:
    with pytest.raises(EmbedderFailed, match="length"):
        unit_vector(np.full(384, bad, dtype=np.float32), "embedded")


def test_the_door_looks_into_the_package_first_and_then_where_models_are_pulled_to(
    tmp_path: Path, weights_folder: Path
) -> None:
    opened = open_embedded(tmp_path)
    assert isinstance(opened, EmbeddedEmbedder)
    assert opened._model._folders == (weights_folder, tmp_path / "arctic-embed-s")
    assert opened.embed([QUESTION], "query").shape == (1, opened.facts.dims)


def test_a_model_is_opened_by_its_name_and_an_unknown_one_refused() -> None:
    assert open_embedded(model="use-multilingual-v3").facts.scripts == ALL_SCRIPTS
    assert open_embedded(model=embedded.FACTS.model).facts == embedded.FACTS
    with pytest.raises(BadSetting, match="known: arctic-embed-s, use-multilingual-v3"):
        open_embedded(model="quantum")


def test_importing_the_room_and_opening_an_embedder_loads_nothing_heavy() -> None:
    code = (
        "import sys; from notewell.embedders import open_embedded; "
        "import notewell.testing; open_embedded().facts; "
        "print({'numpy', 'onnxruntime'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"
    assert done.stderr == b""
