"""Both stages of training, one after the other.

base model + tokens.npz ──▶ fine.npz (English, the teacher) ──▶ student.npz (both languages)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from model import base, checkpoint
from model.architecture import WORD_LEVELS
from model.distil import distil
from model.fine import fine_tune

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor

    from model.architecture import Floats, State
    from model.distil import Distillation
    from model.fine import FineTuning

TEACHER_FILE = "fine.npz"
STUDENT_FILE = "student.npz"


def train(onnx: Path, tokens: Path, out: Path, fine: FineTuning, plan: Distillation) -> None:
    """Writes the teacher and the student; the first stage is not repeated if its file is there."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out.mkdir(parents=True, exist_ok=True)
    with np.load(tokens) as file:
        arrays = {name: file[name] for name in file.files}
    teacher, student = out / TEACHER_FILE, out / STUDENT_FILE
    if not teacher.exists():
        start = base.with_rows(base.base_weights(onnx), arrays, int(arrays["vocabulary"]))
        tuned = fine_tune(_tensors(start), arrays, device, fine, _say)
        checkpoint.save(teacher, _arrays(tuned), levels=WORD_LEVELS)

    def keep(state: Mapping[str, Tensor]) -> None:
        checkpoint.save(student, _arrays(state))

    keep(distil(_tensors(checkpoint.load(teacher)), arrays, device, plan, keep, _say))


def _say(line: str) -> None:
    print(line, flush=True)


def _tensors(state: State) -> dict[str, Tensor]:
    return {name: torch.from_numpy(np.array(value)) for name, value in state.items()}


def _arrays(state: Mapping[str, Tensor]) -> dict[str, Floats]:
    return {name: value.float().cpu().numpy() for name, value in state.items()}
