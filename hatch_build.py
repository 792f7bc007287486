"""Puts the weights of the embedded model into the wheel, so that it works offline once installed.

The repository does not hold them; `src/notewell/embedders/weights.py` knows where they are.
Without them the wheel is still whole: search goes by keyword until `notewell model pull`.

NOTEWELL_BUILD_MODELS names further models to pack, by commas: a wheel with `use-multilingual-v3`
is some 30 MB heavier and needs no download for Chinese and other languages either.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from types import ModuleType


ALSO = "NOTEWELL_BUILD_MODELS"


class WeightsHook(BuildHookInterface[Any]):
    """Runs before every target; the source distribution stays free of foreign files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        weights = _load_weights(Path(self.root))
        _pack(weights, weights.ARCTIC_EMBED_S)
        for name in filter(None, os.environ.get(ALSO, "").split(",")):
            model = weights.model_called(name.strip())
            if model is None:
                raise ValueError(f"{ALSO} names {name!r}, which is no model of {weights.__file__}")
            _pack(weights, model)


def _pack(weights: ModuleType, model: Any) -> None:
    folder = weights.in_package(model)
    if weights.find([folder], model):
        return
    try:
        source = weights.fetch(folder, model)
    except weights.WeightsUnavailable as error:
        print(
            f"WARNING: this wheel of Notewell has no embedded model {model.name} ({error}). "
            f"Search goes by keyword until `notewell model pull` has fetched it.",
            file=sys.stderr,
        )
    else:
        print(f"embedded model {model.name} taken from {source}", file=sys.stderr)


def _load_weights(root: Path) -> ModuleType:
    """The module from its path: what it belongs to is not installed while it is being built."""
    path = root / "src" / "notewell" / "embedders" / "weights.py"
    spec = importlib.util.spec_from_file_location("notewell_build_weights", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
