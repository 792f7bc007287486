"""First stage: the English base model learns what headings, docstrings and questions ask for.

In each batch of one source, a query must be nearer to its own passage than to those of the other
queries (InfoNCE). A passage that the base model finds nearer than the right one is probably right,
too, and does not count. Each vector must also stay near to that of the base model: stronger
training cost .04 of the answers in conversations, which have no such pairs.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn import functional

from model.network import encoder_of, state_of
from model.ragged import Ragged
from model.targets import vectors_in_parts, vectors_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from model.network import Encoder

LIMITS = {"query": 64, "passage": 256, "negative": 256}
"""Token ids of each column; the rest is cut off."""

REPORT_EVERY = 50
"""Steps."""


class FineTuning(NamedTuple):
    steps: int = 250
    batch: int = 768
    hard: int = 192
    """So many passages more, which are of the same document and wrong."""
    rate: float = 2e-5
    warm_up: float = 0.08
    """The share of the steps in which the rate rises."""
    temperature: float = 0.03
    backwards: float = 0.3
    """The weight of the reverse question: which query does a passage answer?"""
    closeness: float = 10.0
    """How much the distance from the base model counts."""
    doubt: float = 0.02
    """A passage that is nearer than the right one by so much is no wrong one."""
    shares: tuple[tuple[str, float], ...] = (
        ("mdn", 0.28),
        ("kubernetes", 0.10),
        ("react", 0.04),
        ("vue", 0.02),
        ("code", 0.25),
        ("meetings", 0.23),
        ("dialogues", 0.08),
    )
    """How often a batch is of this source."""


class _Column(NamedTuple):
    texts: Ragged
    limit: int
    before: Sequence[int]
    """The prefix, before queries."""
    vectors: Tensor
    """What the base model says."""

    def near(self, student: Encoder, rows: Tensor) -> Tensor:
        return vectors_in_parts(student, self.texts, rows, self.limit, self.before)

    def before_training(self, rows: Tensor) -> Tensor:
        return self.vectors[self.texts.send(rows)]


def fine_tune(
    state: Mapping[str, Tensor],
    arrays: Mapping[str, NDArray[Any]],
    device: str,
    plan: FineTuning,
    say: Callable[[str], None],
) -> dict[str, Tensor]:
    """The parameters after training; `say` gets a line now and then."""
    torch.manual_seed(0)
    choose = random.Random(0)
    student = encoder_of(state).to(device)
    began = time.monotonic()
    columns = _columns(student, arrays, device)
    by_source = _by_source(arrays)
    names, shares = zip(*((n, s) for n, s in plan.shares if n in by_source), strict=True)
    optimizer = torch.optim.AdamW(student.parameters(), lr=plan.rate, weight_decay=0.01)
    for step in range(plan.steps):
        rows = by_source[choose.choices(names, shares)[0]]
        rows = rows[torch.randperm(len(rows))[: plan.batch]]
        contrast, distance = _losses(student, columns, rows, plan)
        progress = step / plan.steps
        for group in optimizer.param_groups:
            group["lr"] = plan.rate * min(1.0, progress / plan.warm_up) * (1 - progress)
        optimizer.zero_grad(set_to_none=True)
        (contrast + plan.closeness * distance).backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        if step % REPORT_EVERY == 0 or step == plan.steps - 1:
            losses = f"contrast {contrast.item():.3f}, distance {distance.item():.4f}"
            say(f"fine {step}: {losses}; {time.monotonic() - began:.0f} s")
    return state_of(student)


def _columns(base: Encoder, arrays: Mapping[str, NDArray[Any]], device: str) -> list[_Column]:
    columns = []
    for name, limit in LIMITS.items():
        texts = Ragged.load(arrays, f"pairs_en.{name}", device)
        before = arrays["prefix"].tolist() if name == "query" else ()
        columns.append(_Column(texts, limit, before, vectors_of(base, texts, limit, before)))
    return columns


def _by_source(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    codes = torch.from_numpy(arrays["pairs_en.source"])
    names = arrays["pairs_en.source.names"].tolist()
    return {name: (codes == code).nonzero()[:, 0] for code, name in enumerate(names)}


def _losses(
    student: Encoder, columns: Sequence[_Column], rows: Tensor, plan: FineTuning
) -> tuple[Tensor, Tensor]:
    """How well queries find their passages, and how far all vectors have moved."""
    hard = rows[columns[2].texts.lengths[rows] > 0][: plan.hard]
    chosen = [rows, rows, hard] if len(hard) else [rows, rows]
    used = list(zip(columns, chosen, strict=False))
    near = [column.near(student, some) for column, some in used]
    before = [column.before_training(some) for column, some in used]
    moved = sum((1 - (a * b).sum(-1)).mean() for a, b in zip(near, before, strict=True))
    return _contrast(near, before, plan), moved


def _contrast(near: Sequence[Tensor], before: Sequence[Tensor], plan: FineTuning) -> Tensor:
    queries, passages = near[0], torch.cat(list(near[1:]))
    right = torch.arange(len(queries), device=queries.device)
    with torch.no_grad():
        cosines = before[0] @ torch.cat(list(before[1:])).T
        doubtful = cosines > cosines.diagonal()[:, None] + plan.doubt
        doubtful[right, right] = False
    scores = (queries @ passages.T / plan.temperature).masked_fill(doubtful, -1e4)
    back = scores[:, : len(queries)].T
    forwards = functional.cross_entropy(scores, right)
    return forwards + plan.backwards * functional.cross_entropy(back, right)
