"""The scale of a model's cosines, measured from an index, for a model that nobody has measured.

Cosines of unrelated texts are about 0 under one model and .7 under another, and for many models a
question and its answer have another cosine than two notes. So questions are embedded:

    floor     general questions (`PROBES`) and chunks: what unrelated texts have
    typical   a few words of a chunk and this chunk: what a question and its answer have
    ceiling   floor + `HEADROOM` · (typical - floor)

Checked with two models that are measured by questions with known answers, on four workspaces each
(conversations, notes, documentation, articles), and two in Chinese: `typical` is at .81 to 1.15 of
what own questions have at their nearest chunk (articles in Chinese 1.4). The scale that results:
.48 to .80 for snowflake-arctic-embed-s (measured by hand: .5 and .81), .02 to .6 for the
multilingual model.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from notewell.core.cutting import fitting_chars
from notewell.ports import CosineScale

if TYPE_CHECKING:
    from notewell.ports import Vectors

PROBES = (
    "How long do I boil an egg?",
    "Who painted the ceiling of the chapel?",
    "What is the capital of Australia?",
    "How do I change the oil of a car?",
    "Why is the sky blue?",
    "What does the new tax law say about gifts?",
    "Which vaccine does a puppy need first?",
    "How many players are in a handball team?",
    "When does the museum open on Sundays?",
    "How is glass made from sand?",
    "What is the boiling point of ethanol?",
    "Which train goes from Lyon to Turin?",
    "How do I remove a coffee stain from wool?",
    "What did the senator say about the dam?",
    "How deep is the Mariana Trench?",
    "Which key is the violin concerto in?",
)
"""Questions about sixteen subjects. No memory is about most of them."""

MEASURED_CHUNKS = 32
LEAST_CHUNKS = 64
"""An index with fewer vectors is not measured: too few excerpts, and a search in it shows little
that is wrong."""

EXCERPT_WEIGHT = 80
"""In quarter tokens: the length of a question. With 50 the cosines are lower than those of real
questions, with 120 higher."""

HEADROOM = 1.4
"""From the median answer to the best ones: 95 % of the answers are below the ceiling."""

LEAST_RANGE = 0.05
"""A model with less between unrelated and typical cosines cannot tell them apart."""


RAW = CosineScale(0.0, 1.0)
"""Cosines as they are: the model cannot tell answers from other texts."""


def excerpt(text: str) -> str:
    """A few words from the middle of a chunk, as long as a question."""
    lines = [line.strip("-*#> \t") for line in text.split("\n")]
    lines = [line for line in lines if len(line) > EXCERPT_WEIGHT // 8] or [text.strip()]
    line = lines[len(lines) // 2]
    spare = len(line) - fitting_chars(line, 0, EXCERPT_WEIGHT)
    if spare <= 0:
        return line
    start = spare // 2
    piece = line[start : start + fitting_chars(line, start, EXCERPT_WEIGHT)]
    # Whole words, in scripts with spaces.
    return piece.partition(" ")[2].rpartition(" ")[0] or piece


def scale_of(probes: Vectors, excerpts: Vectors, chunks: Vectors) -> CosineScale:
    """From the vectors of `PROBES`, of excerpts and of their chunks, one row each."""
    floor = median((probes @ chunks.T).ravel().tolist())
    typical = median((excerpts * chunks).sum(axis=1).tolist())
    if typical - floor < LEAST_RANGE:
        return RAW
    # A ceiling of 1 would mean that the scale is not known.
    ceiling = min(0.999, floor + HEADROOM * (typical - floor))
    return CosineScale(round(floor, 4), round(ceiling, 4))
