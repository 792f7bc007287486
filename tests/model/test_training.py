"""The pipeline as a whole, from texts to a model that onnxruntime runs, on made-up texts."""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import pytest
import torch
from model.__main__ import main
from model.architecture import Floats
from model.distil import Distillation
from model.fine import FineTuning
from model.network import Encoder, encoder_of
from model.ragged import Ragged
from model.targets import states_of, vectors_of
from model.train import train
from numpy.typing import NDArray
from tests.model import made_up

from model import base, checkpoint

FINE = FineTuning(steps=30, batch=32, hard=8, rate=1e-3, closeness=0.1)
PLAN = Distillation(
    steps=40,
    seconds=1e6,
    parallel=16,
    code_switched=8,
    dictionary=8,
    english=16,
    long=4,
    joined=4,
    heading_pairs=8,
    rate=1e-3,
    rows_rate=1e-2,
    warm_up=5,
    keep_every=15,
)


class Run(NamedTuple):
    folder: Path
    arrays: dict[str, NDArray[Any]]

    def encoder(self, name: str) -> Encoder:
        return _encoder(checkpoint.load(self.folder / "out" / name))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("training")
    (folder / "texts").mkdir()
    made_up.write_texts(folder / "texts")
    made_up.write_base(folder / "base.onnx")
    tokens, out = folder / "tokens.npz", folder / "out"
    assert main(["tokens", str(folder / "texts"), str(tokens)]) == 0
    train(folder / "base.onnx", tokens, out, FINE, PLAN)
    student, vocabulary = out / "student.npz", folder / "texts/vocabulary"
    assert main(["export", str(student), str(vocabulary), str(folder / "export")]) == 0
    with np.load(tokens) as arrays:
        return Run(folder, {name: arrays[name] for name in arrays.files})


def _encoder(state: dict[str, Floats]) -> Encoder:
    return encoder_of({name: torch.tensor(value) for name, value in state.items()})


def _vectors(encoder: Encoder, run: Run, column: str) -> Floats:
    vectors: Floats = vectors_of(encoder, Ragged.load(run.arrays, column, "cpu"), 160).numpy()
    return vectors


def test_fine_tuning_brings_queries_nearer_to_their_passages(run: Run) -> None:
    start = base.base_weights(run.folder / "base.onnx")
    before = base.with_rows(start, run.arrays, int(run.arrays["vocabulary"]))

    def margin(encoder: Encoder) -> float:
        queries = _vectors(encoder, run, "pairs_en.query")
        cosines = queries @ _vectors(encoder, run, "pairs_en.passage").T
        return float(cosines.diagonal().mean() - cosines.mean())

    assert margin(run.encoder("fine.npz")) > margin(_encoder(before)) + 0.02


def test_the_student_learns_chinese(run: Run) -> None:
    teacher, student = run.encoder("fine.npz"), run.encoder("student.npz")
    student.prepare(rounded=True)
    meant = _vectors(teacher, run, "parallel.en")

    def loss(encoder: Encoder) -> float:
        return float(1 - (_vectors(encoder, run, "parallel.zh") * meant).sum(1).mean())

    assert loss(student) < 0.7 * loss(teacher)


def test_the_export_computes_what_was_trained(run: Run) -> None:
    student = run.encoder("student.npz")
    student.prepare(rounded=True)
    graph = onnxruntime.InferenceSession(
        run.folder / "export/model.onnx", providers=["CPUExecutionProvider"]
    )
    texts = Ragged.load(run.arrays, "long_zh", "cpu")
    for row in range(3):
        batch = texts.batch(torch.tensor([row]), 400)
        with torch.no_grad():
            trained = states_of(student, batch)[batch.mask].numpy()
        ids = batch.ids[batch.mask][None].numpy()
        (states,) = graph.run(["states"], {"input_ids": ids})
        lengths = np.linalg.norm(states[0], axis=1) * np.linalg.norm(trained, axis=1)
        assert ((states[0] * trained).sum(1) / lengths).min() > 0.999


def test_the_export_says_what_the_product_pins(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    student, vocabulary = run.folder / "out/student.npz", run.folder / "texts/vocabulary"
    assert main(["export", str(student), str(vocabulary), str(run.folder / "again")]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = ["model.onnx", "weights.bin", "vocab.txt", "traditional.tsv"]
    assert [line.split(":")[0] for line in lines] == names
    for name in names:
        again, first = (run.folder / folder / name for folder in ("again", "export"))
        assert again.read_bytes() == first.read_bytes()


def test_the_same_teacher_has_the_same_student(run: Run) -> None:
    again = run.folder / "out-again"
    again.mkdir()
    shutil.copyfile(run.folder / "out/fine.npz", again / "fine.npz")
    # The first stage is not repeated, so nothing reads the base model.
    train(run.folder / "missing.onnx", run.folder / "tokens.npz", again, FINE, PLAN)
    first, second = run.folder / "out/student.npz", again / "student.npz"
    assert second.read_bytes() == first.read_bytes()


def test_missing_files_are_named_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens, student = str(tmp_path / "tokens.npz"), str(tmp_path / "student.npz")
    assert main(["tokens", str(tmp_path), tokens]) == 1
    assert "vocabulary/glosses.json" in capsys.readouterr().err
    assert main(["train", str(tmp_path / "base.onnx"), tokens, str(tmp_path / "out")]) == 1
    assert "base.onnx" in capsys.readouterr().err
    assert main(["export", student, str(tmp_path), str(tmp_path / "out")]) == 1
    assert "student.npz" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
