"""Two public sets, and the 200 questions that are asked: chosen by a seed, not by us."""

from __future__ import annotations

import hashlib
import tarfile
from typing import TYPE_CHECKING, NamedTuple

from notewell.evals import load_dataset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from notewell.evals.dataset import EvalQuestion

SETS = ("ws_locomo", "anthropic_docs")
"""Conversations, as dated notes with a line for each turn; and pages of a documentation."""
ARCHIVE = "dev.tar.xz"
SEED = 20261118
COUNT = 200


class AskedSet(NamedTuple):
    """A part of a public set: notes by workspace, and the questions about them."""

    name: str
    workspaces: Mapping[str, Path]
    questions: tuple[EvalQuestion, ...]


def load_sets(data: Path, scratch: Path, count: int = COUNT) -> list[AskedSet]:
    """An equal share of the questions from each set. `data` has the sets, or their archive."""
    root = _unpacked(data, scratch)
    return [_load(root / name, scratch, count // len(SETS)) for name in SETS]


def choose(questions: Sequence[EvalQuestion], count: int, seed: int) -> list[EvalQuestion]:
    """In the order of a digest of seed and id, which nobody can bend to his taste."""

    def place(question: EvalQuestion) -> bytes:
        return hashlib.sha256(f"{seed}:{question.id}".encode()).digest()

    return sorted(questions, key=place)[:count]


def _load(folder: Path, scratch: Path, count: int) -> AskedSet:
    dataset = load_dataset(folder, scratch)
    chosen = choose(dataset.questions, count, SEED)
    names = sorted({question.workspace for question in chosen})
    workspaces = {name: dataset.workspaces[name].path for name in names}
    return AskedSet(dataset.name, workspaces, tuple(chosen))


def _unpacked(data: Path, scratch: Path) -> Path:
    if all((data / name).is_dir() for name in SETS):
        return data
    if not (data / ARCHIVE).is_file():
        raise SystemExit(f"{data} has neither {' and '.join(SETS)} nor {ARCHIVE}: use --data")
    folder = scratch / "sets"
    if not all((folder / name).is_dir() for name in SETS):
        with tarfile.open(data / ARCHIVE) as archive:
            archive.extractall(folder, filter="data")
    return next(path.parent for path in folder.rglob(SETS[0]))
