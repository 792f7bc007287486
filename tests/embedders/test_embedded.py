"""The real model, as the package has it. What a small one can show is in test_encoder.py."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from notewell.core import has_windows, split_text, window_cosines
from notewell.embedders import embedded, open_embedded, weights
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


def test_a_question_finds_its_answer_in_the_other_language(embedder: EmbeddedEmbedder) -> None:
    questions = embedder.embed(["我们什么时候发布了路由器？", QUESTION], "query")
    answers = embedder.embed(
        [ANSWER, OTHER, "新的路由器在三月三日上线。", "西红柿要阳光和水。"], "document"
    )
    chinese, english = (answers @ question for question in questions)
    assert chinese[0] > chinese[1] + 0.1
    assert english[2] > english[3] + 0.1


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
    other_object = EmbeddedEmbedder(weights_folder, threads=1).embed([ANSWER], "document")
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
    assert cosines[best] > float(windowed.vector @ question)
    assert cosines[best] > sorted(cosines)[-2] + 0.05
    assert embedder.embed_windows([split_text("", "short")])[0].windows == b""


def test_a_question_and_a_document_of_the_same_words_differ(embedder: EmbeddedEmbedder) -> None:
    query = embedder.embed([QUESTION], "query")
    document = embedder.embed([QUESTION], "document")
    assert not np.allclose(query, document, atol=1e-3)


def test_the_end_of_a_long_text_is_read_too(embedder: EmbeddedEmbedder) -> None:
    filling = "The weather was as it was the day before. " * 80
    (question,) = embedder.embed([QUESTION], "query")
    without, with_answer = embedder.embed([filling, filling + ANSWER], "document") @ question
    assert with_answer > without


def test_threads_may_share_one_embedder(weights_folder: Path) -> None:
    embedder = EmbeddedEmbedder(weights_folder)
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda _: embedder.embed([ANSWER], "document"), range(8)))
    assert all(np.array_equal(vectors[0], other) for other in vectors)


def test_missing_weights_name_the_folder_and_the_next_step(tmp_path: Path) -> None:
    embedder = EmbeddedEmbedder(tmp_path / "package")
    lacking = embedder.missing()
    assert lacking is not None
    assert lacking.action == "reinstall notewell"
    with pytest.raises(EmbedderMissing, match=r"package.*reinstall notewell") as caught:
        embedder.embed([QUESTION], "query")
    assert caught.value.provider == "embedded"
    assert caught.value.action == "reinstall notewell"


def test_one_flipped_byte_is_found_before_notes_are_embedded(
    tmp_path: Path, weights_folder: Path
) -> None:
    folder = shutil.copytree(weights_folder, tmp_path / "copy")
    content = bytearray((folder / "vocab.txt").read_bytes())
    content[-2] ^= 1
    (folder / "vocab.txt").write_bytes(content)
    embedder = EmbeddedEmbedder(folder)
    # A question is quick: only the sizes are compared.
    assert embedder.missing() is None
    embedder.embed([QUESTION], "query")
    for _ in range(2):
        with pytest.raises(EmbedderMissing, match=r"vocab\.txt is damaged.*reinstall notewell"):
            embedder.embed([ANSWER], "document")
        with pytest.raises(EmbedderMissing, match="damaged"):
            embedder.embed_windows([split_text("", ANSWER)])


def test_a_file_of_another_size_is_found_by_a_question_too(
    tmp_path: Path, weights_folder: Path
) -> None:
    for file in weights_folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "model.onnx").unlink()
    (tmp_path / "model.onnx").write_bytes(b"no model at all")
    with pytest.raises(EmbedderMissing, match=r"model\.onnx is damaged"):
        EmbeddedEmbedder(tmp_path).embed([QUESTION], "query")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("vocab.txt", b"[UNK]\n", b"[UNX]\n"),
        ("traditional.tsv", b"\t", b" "),
        ("model.onnx", b"MatMul", b"\xff" * 6),
    ],
)
def test_a_file_that_does_not_load_is_named_to_a_question_too(
    tmp_path: Path, weights_folder: Path, name: str, old: bytes, new: bytes
) -> None:
    for file in weights_folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    content = (tmp_path / name).read_bytes()
    assert old in content
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(content.replace(old, new))
    with pytest.raises(EmbedderMissing, match=rf"{name} is damaged.*reinstall notewell"):
        EmbeddedEmbedder(tmp_path).embed([QUESTION], "query")


def test_links_to_the_files_serve_as_well(tmp_path: Path, weights_folder: Path) -> None:
    for file in weights_folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    assert EmbeddedEmbedder(tmp_path).embed([QUESTION], "query").shape == (1, 384)


def test_after_missing_weights_arrive_the_same_object_works(
    tmp_path: Path, weights_folder: Path
) -> None:
    folder = tmp_path / "restored"
    embedder = EmbeddedEmbedder(folder)
    with pytest.raises(EmbedderMissing):
        embedder.embed([QUESTION], "query")
    folder.symlink_to(weights_folder)
    assert embedder.embed([QUESTION], "query").shape == (1, 384)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_vector_without_direction_is_refused(bad: float) -> None:
    with pytest.raises(EmbedderFailed, match="length"):
        unit_vector(np.full(384, bad, dtype=np.float32), "embedded")


def test_a_model_is_opened_by_its_name_and_an_unknown_one_refused() -> None:
    assert open_embedded(model="use-multilingual-v3").facts.scripts == ALL_SCRIPTS
    assert open_embedded(model=embedded.FACTS.model).facts == embedded.FACTS
    for earlier in weights.EARLIER_NAMES:
        assert open_embedded(model=earlier).facts == embedded.FACTS
    with pytest.raises(BadSetting, match="known: notewell-embed, use-multilingual-v3"):
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
