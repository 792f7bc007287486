"""Second stage: the student learns Chinese, windows out of one pass, and to live with 8 bits.

The student begins as its teacher, the fine-tuned English model. In each step it sees

    short   translations, English with words replaced by Chinese ones, dictionary entries, English
    long    English texts of a memory: notes, conversations, documentation, code
    joined  Chinese texts of several lines, whose translation is known line by line

and must give each text the vector that the teacher gives to its English. The mean of the states
of a window must be the vector that the teacher gives to the window as a text of its own.

Long texts of every kind that a memory has must be among them: without conversations, the vectors
of conversations moved away (cosine .95 instead of .98), and with them the answers.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from model.network import encoder_of, state_of, text_vectors, window_vectors
from model.ragged import Ragged, Windowed, joined
from model.targets import states_of, vectors_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from model.network import Encoder

TRANSLATED = ("parallel", "code_switched", "dictionary")
ENGLISH = "english"

SHORT_LIMIT, LONG_LIMIT, WINDOW_LIMIT = 160, 400, 200
"""Token ids; the rest of a text is cut off."""

SHORT_PARTS, LONG_PARTS = 3, 1
"""A step sorts its texts by length and runs them in so many parts, so that little is filled up."""

REPORT_EVERY = 100
"""Steps."""


class Distillation(NamedTuple):
    """The counts are of texts in each step."""

    seconds: float = 600.0
    """The learning rate falls to 0 in this time."""
    steps: int = 1_000_000
    """At most; for a test."""
    parallel: int = 416
    code_switched: int = 256
    dictionary: int = 192
    english: int = 352
    long: int = 240
    joined: int = 128
    as_query: float = 0.4
    """How often the short texts have the prefix of a query."""
    rate: float = 8e-5
    rows_rate: float = 1.5e-3
    """Of the rows of words."""
    old_rows: float = 0.03
    """How far the rows of the base model move, compared with those that are new."""
    warm_up: int = 100
    """Steps in which the rate rises."""
    temperature: float = 0.05
    contrast: float = 0.3
    headings: float = 0.15
    """The weight of Chinese headings and their sections, every fourth step."""
    heading_pairs: int = 256
    window_contrast: float = 0.03
    keep_every: int = 400


class _Short(NamedTuple):
    """All short texts, and the vectors of their English, also as queries."""

    texts: Ragged
    ends: dict[str, int]
    """The sets of texts, in order, and where each ends."""
    vectors: Tensor
    query_vectors: Tensor


class _Long(NamedTuple):
    """Long texts, and the vectors of their English and of the English of their windows."""

    texts: Windowed
    vectors: Tensor
    window_vectors: Tensor


class _Lessons(NamedTuple):
    """What there is to learn."""

    prefix: list[int]
    """Before a query."""
    short: _Short
    long: _Long
    joined: _Long
    headings: tuple[Ragged, Ragged]
    """Chinese headings, and their sections."""


def distil(
    state: Mapping[str, Tensor],
    arrays: Mapping[str, NDArray[Any]],
    device: str,
    plan: Distillation,
    keep: Callable[[dict[str, Tensor]], None],
    say: Callable[[str], None],
) -> dict[str, Tensor]:
    """`state` is the teacher, and where the student begins. `keep` gets the student now and then,
    because machines are lost, and `say` a line."""
    torch.manual_seed(0)
    teacher = encoder_of(state).to(device).eval()
    student = encoder_of(state).to(device)
    began = time.monotonic()
    lessons = _lessons(teacher, arrays, device)
    say(f"the teacher has read everything; {time.monotonic() - began:.0f} s")
    del teacher
    optimizer = _optimizer(student, plan, device)
    rates = _row_rates(arrays, len(_words(student)), plan.old_rows, device)
    began, step = time.monotonic(), 0
    while step < plan.steps and time.monotonic() - began < plan.seconds:
        left = 1 - max(step / plan.steps, (time.monotonic() - began) / plan.seconds)
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * min(1.0, (step + 1) / plan.warm_up) * max(0.01, left)
        losses = _step(student, lessons, optimizer, rates, step, plan)
        if step % REPORT_EVERY == 0:
            parts = ", ".join(f"{name} {loss.item():.3f}" for name, loss in losses.items())
            say(f"distil {step}: {parts}; {time.monotonic() - began:.0f} s")
        step += 1
        if step % plan.keep_every == 0:
            keep(state_of(student))
    say(f"distil ended at {step}; {time.monotonic() - began:.0f} s")
    return state_of(student)


def _words(encoder: Encoder) -> Tensor:
    return encoder.embeddings["word_embeddings"].weight


def _optimizer(student: Encoder, plan: Distillation, device: str) -> torch.optim.AdamW:
    words = _words(student)
    others = [one for one in student.parameters() if one is not words]
    return torch.optim.AdamW(
        [
            {"params": others, "rate": plan.rate, "weight_decay": 0.01},
            {"params": [words], "rate": plan.rows_rate, "weight_decay": 0.0},
        ],
        betas=(0.9, 0.98),
        fused=device == "cuda",
    )


def _step(
    student: Encoder,
    lessons: _Lessons,
    optimizer: torch.optim.AdamW,
    rates: Tensor,
    step: int,
    plan: Distillation,
) -> dict[str, Tensor]:
    student.prepare(rounded=True)
    losses = _losses(student, lessons, step, plan)
    optimizer.zero_grad(set_to_none=True)
    torch.stack(list(losses.values())).sum().backward()
    torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
    words = _words(student)
    before = words.detach().clone()
    optimizer.step()
    # After the step: Adam scales gradients away, so smaller ones would change nothing.
    words.data.copy_(torch.lerp(before, words.data, rates))
    return losses


def _row_rates(arrays: Mapping[str, NDArray[Any]], rows: int, old: float, device: str) -> Tensor:
    """Chinese rows learn; the others stay almost where they are."""
    rates = torch.full((rows, 1), old, device=device)
    rates[torch.from_numpy(arrays["gloss.rows"].astype("int64")).to(device)] = 1.0
    return rates


# -- what the teacher says ------------------------------------------------------------------------


def _lessons(teacher: Encoder, arrays: Mapping[str, NDArray[Any]], device: str) -> _Lessons:
    prefix = arrays["prefix"].tolist()
    return _Lessons(
        prefix,
        _short(teacher, arrays, prefix, device),
        _long(teacher, arrays, device),
        _long_chinese(teacher, arrays, device),
        (
            Ragged.load(arrays, "pairs_zh.query", device),
            Ragged.load(arrays, "pairs_zh.passage", device),
        ),
    )


def _short(
    teacher: Encoder, arrays: Mapping[str, NDArray[Any]], prefix: Sequence[int], device: str
) -> _Short:
    def load(name: str) -> Ragged:
        return Ragged.load(arrays, name, device)

    translated = {name: load(f"{name}.zh") for name in TRANSLATED}
    english = [load(f"{name}.en") for name in TRANSLATED]
    plain = [load("parallel.en"), load("code_switched.en"), load("pairs_en.query")]
    texts = joined([*translated.values(), *plain])
    meant = joined([*english, *plain])
    ends, end = {}, 0
    for name, some in translated.items():
        end += len(some)
        ends[name] = end
    ends[ENGLISH] = len(texts)
    return _Short(
        texts,
        ends,
        vectors_of(teacher, meant, SHORT_LIMIT),
        vectors_of(teacher, meant, SHORT_LIMIT, prefix),
    )


def _long(teacher: Encoder, arrays: Mapping[str, NDArray[Any]], device: str) -> _Long:
    long = Windowed.load(arrays, "long_en", device)
    whole = vectors_of(teacher, long.texts, LONG_LIMIT)
    return _Long(long, whole, vectors_of(teacher, _windows_with_heading(long), WINDOW_LIMIT))


def _windows_with_heading(long: Windowed) -> Ragged:
    """Each window as a text of its own, below the headings of its text."""
    heads = long.heads[long.owners]
    lengths = heads + long.ends - long.starts
    owners = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    at = torch.arange(len(owners)) - (lengths.cumsum(0) - lengths)[owners]
    inside = at - heads[owners]
    offset = torch.where(inside < 0, at, long.starts[owners] + inside)
    places = long.texts.starts[long.owners][owners] + offset
    return Ragged(long.texts.ids[long.texts.send(places)], lengths)


def _long_chinese(teacher: Encoder, arrays: Mapping[str, NDArray[Any]], device: str) -> _Long:
    whole = vectors_of(teacher, Ragged.load(arrays, "long_zh.en", device), LONG_LIMIT)
    parts = vectors_of(teacher, Ragged.load(arrays, "long_zh.part", device), WINDOW_LIMIT)
    return _Long(Windowed.load(arrays, "long_zh", device), whole, parts)


# -- one step -------------------------------------------------------------------------------------


def _losses(
    student: Encoder, lessons: _Lessons, step: int, plan: Distillation
) -> dict[str, Tensor]:
    losses = _short_losses(student, lessons.short, lessons.prefix, plan)
    for name, long, count, weight in (
        ("long", lessons.long, plan.long, 8.0),
        ("joined", lessons.joined, plan.joined, 6.0),
    ):
        whole, windows = _long_losses(student, long, count, plan)
        losses[name] = weight * whole
        losses[f"{name} windows"] = weight * windows
    if step % 4 == 0:
        losses["headings"] = plan.headings * _heading_loss(student, lessons, plan)
    return losses


def _short_losses(
    student: Encoder, short: _Short, prefix: Sequence[int], plan: Distillation
) -> dict[str, Tensor]:
    counts = (plan.parallel, plan.code_switched, plan.dictionary, plan.english)
    starts = (0, *short.ends.values())
    rows = torch.cat(
        [
            torch.randint(first, end, (count,))
            for (first, end), count in zip(pairwise(starts), counts, strict=True)
        ]
    )
    rows = rows[short.texts.lengths[rows].argsort()]
    near, right = [], []
    for part in rows.chunk(SHORT_PARTS):
        asks = bool(torch.rand(()) < plan.as_query)
        batch = short.texts.batch(part, SHORT_LIMIT, prefix if asks else ())
        near.append(text_vectors(states_of(student, batch)))
        right.append((short.query_vectors if asks else short.vectors)[short.texts.send(part)])
    vectors, targets = torch.cat(near), torch.cat(right)
    translated = rows < starts[-2]
    foreign = short.texts.send(translated.nonzero()[:, 0])
    english = short.texts.send((~translated).nonzero()[:, 0])
    chinese, meant = vectors[foreign], targets[foreign]
    return {
        "zh": 10 * _distance(chinese, meant),
        "zh contrast": plan.contrast * _contrast(chinese, meant, plan.temperature),
        "en": 10 * _distance(vectors[english], targets[english]),
    }


def _long_losses(
    student: Encoder, long: _Long, count: int, plan: Distillation
) -> tuple[Tensor, Tensor]:
    """The distance of whole texts, and that of their windows."""
    texts = long.texts.texts
    rows = torch.randint(len(texts), (count,))
    rows = rows[texts.lengths[rows].argsort()]
    whole, near, right = [], [], []
    for part in rows.chunk(LONG_PARTS):
        states = states_of(student, texts.batch(part, LONG_LIMIT))
        whole.append(text_vectors(states))
        windows, owners = long.texts.of(part, LONG_LIMIT)
        # One state more: [CLS] comes first.
        starts, ends = long.texts.starts[windows] + 1, long.texts.ends[windows] + 1
        near.append(window_vectors(states, *map(texts.send, (owners, starts, ends))))
        right.append(long.window_vectors[texts.send(windows)])
    vectors, targets = torch.cat(near), torch.cat(right)
    contrast = plan.window_contrast * _contrast(vectors, targets, plan.temperature)
    distance = _distance(torch.cat(whole), long.vectors[texts.send(rows)])
    return distance, _distance(vectors, targets) + contrast


def _heading_loss(student: Encoder, lessons: _Lessons, plan: Distillation) -> Tensor:
    headings, sections = lessons.headings
    rows = torch.randint(len(headings), (plan.heading_pairs,))
    near = text_vectors(states_of(student, headings.batch(rows, SHORT_LIMIT, lessons.prefix)))
    right = text_vectors(states_of(student, sections.batch(rows, WINDOW_LIMIT)))
    return _contrast(near, right, plan.temperature)


def _distance(near: Tensor, right: Tensor) -> Tensor:
    return (1 - (near * right).sum(-1)).mean()


def _contrast(near: Tensor, right: Tensor, temperature: float) -> Tensor:
    """The right vector must be nearer than those of the other texts of the batch."""
    own = torch.arange(len(near), device=near.device)
    return functional.cross_entropy(near @ right.T / temperature, own)
