"""The files of the product: the graph, its weights and the vocabulary, in one folder."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING

from model import checkpoint
from model.graph import GRAPH_FILE, WEIGHTS_FILE, write_onnx
from model.tokens import TRADITIONAL, VOCABULARY

if TYPE_CHECKING:
    from pathlib import Path

VOCABULARY_FILES = (VOCABULARY, TRADITIONAL)


def export(student: Path, vocabulary: Path, folder: Path) -> None:
    """Prints size and sha256 of each file, which `notewell.embedders.weights` pins."""
    folder.mkdir(parents=True, exist_ok=True)
    write_onnx(checkpoint.load(student), folder)
    for name in VOCABULARY_FILES:
        shutil.copyfile(vocabulary / name, folder / name)
    for name in (GRAPH_FILE, WEIGHTS_FILE, *VOCABULARY_FILES):
        content = (folder / name).read_bytes()
        print(f"{name}: {len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
