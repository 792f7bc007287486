"""Vectors of a sealed segment as signs and as codes.

A cosine is split at the mean µ of the segment, x = µ + d, because text vectors share
a large common part, and the signs of uncentred vectors hardly differ:

    q·x  =  q·µ + µ·d + (q-µ)·d          µ·d is kept per vector ("lean")

Only the last term has to be estimated, twice, each time for fewer rows:

    signs   sign(q-µ) against sign(d) by XOR and popcount, times |d|²/|d|₁ ("pull"), so that
            a vector of few large values counts as long as it is; 1/32 of the bytes: every
            row is scanned
    codes   d as int8 times a step of its own; 1/4 of the bytes, good to about .001

Bits lie word-major: word 0 of all rows, then word 1, and so on. That turns a scan into a few
long passes over contiguous memory; row by row it would take five times as long.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Ids: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float32]
    Codes: TypeAlias = NDArray[np.int8]

REFINED_ROWS = 512
"""Rows that are refined in one pass: as float32 they fit a second-level cache."""

SCRATCH_WORDS = 98_304
"""Words in one pass: 768 KiB fit a second-level cache (16 384 rows of 384 dims)."""

SIGNS_TO_COSINE = np.pi / 2
"""Two random vectors of cosine r agree in 1/2 + asin(r)/pi of their signs; for small r this factor
inverts that. It overestimates the nearest rows, which come first anyway: a sine was no better."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """What one segment stores, beside its ids."""

    mean: bytes
    """float32, one a dimension."""
    shape: bytes
    """float16, three a row: all leans, then all pulls, then all steps."""
    bits: bytes
    """uint64, word-major."""
    codes: bytes
    """int8, one a dimension, row by row."""


def seal(vectors: Floats) -> Sealed:
    mean = vectors.mean(axis=0, dtype=np.float64).astype("<f4")
    apart = vectors - mean
    size = np.abs(apart)
    with np.errstate(invalid="ignore"):  # 0/0 if a vector equals the mean.
        pull = np.nan_to_num(np.square(apart).sum(axis=1) / size.sum(axis=1))
    # Rounded first, so that the codes are computed with the step that is stored.
    step = (size.max(axis=1) / 127).astype("<f2")
    codes = np.rint(apart / np.maximum(step, np.finfo("<f2").smallest_subnormal)[:, None])
    return Sealed(
        mean=mean.tobytes(),
        shape=np.stack([products(apart, mean), pull, step]).astype("<f2").tobytes(),
        bits=np.ascontiguousarray(_words(apart > 0).T).tobytes(),
        codes=np.clip(codes, -127, 127).astype(np.int8).tobytes(),
    )


def _words(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Each row of flags as 64-bit words, the last one padded with zeros."""
    octets = np.packbits(flags, axis=1, bitorder="little")
    words = np.zeros((len(octets), -(-octets.shape[1] // 8)), "<u8")
    words.view(np.uint8)[:, : octets.shape[1]] = octets
    return words


class Scratch:
    """Buffers for one pass over a block of rows. They are reused: the page faults of new memory
    cost more than the pass itself. An index without segments never needs them."""

    @cached_property
    def _words(self) -> NDArray[np.uint64]:
        return np.empty(SCRATCH_WORDS, np.uint64)

    @cached_property
    def _counts(self) -> NDArray[np.uint8]:
        return np.empty(SCRATCH_WORDS, np.uint8)

    def blocks(
        self, bits: NDArray[np.uint64]
    ) -> Iterator[tuple[slice, NDArray[np.uint64], NDArray[np.uint8]]]:
        words, rows = bits.shape
        most = SCRATCH_WORDS // words
        for start in range(0, rows, most):
            stop = min(start + most, rows)
            size = words, stop - start
            room = words * (stop - start)
            yield (
                slice(start, stop),
                self._words[:room].reshape(size),
                self._counts[:room].reshape(size),
            )


class Segment:
    """One segment in memory. Its rows never change; they can only be removed."""

    def __init__(self, ids: bytes, mean: bytes, shape: bytes, bits: bytes) -> None:
        self.mean: Floats = np.frombuffer(mean, "<f4")
        self.lean, self.pull, self.step = (
            np.frombuffer(shape, "<f2").reshape(3, -1).astype(np.float32)
        )
        self.bits: NDArray[np.uint64] = np.frombuffer(bits, "<u8").reshape(-1, len(self.lean))
        self.codes: Codes = np.empty((0, len(self.mean)), np.int8)
        self.bury(ids)

    def __len__(self) -> int:
        return len(self.lean)

    def bury(self, ids: bytes) -> None:
        """Update the ids: a removed row has a negative one and scores below all others."""
        self.ids: NDArray[np.int64] = np.frombuffer(ids, "<i8")
        self.lean[self.ids < 0] = -np.inf

    @property
    def holds_codes(self) -> bool:
        return len(self.codes) == len(self)

    def hold(self, codes: bytes) -> None:
        self.codes = np.frombuffer(codes, np.int8).reshape(len(self), -1)

    def estimate(self, query: Floats, out: Floats, scratch: Scratch) -> None:
        """A rough cosine of every row, from its signs."""
        apart = query - self.mean
        signs = _words((apart > 0)[None])[0][:, None]
        common = query @ self.mean
        weight = np.float32(SIGNS_TO_COSINE * np.abs(apart).mean())
        for block, words, counts in scratch.blocks(self.bits):
            np.bitwise_xor(self.bits[:, block], signs, out=words)
            np.bitwise_count(words, out=counts)
            # Summed as integers: that takes half the time of summing floats.
            differing = np.add.reduce(counts, axis=0, dtype=np.uint16)
            score = np.multiply(differing, -2 * weight, out=out[block])
            score += len(query) * weight
            score *= self.pull[block]
            score += self.lean[block]
            score += common

    def refine(self, query: Floats, slots: NDArray[np.intp]) -> Floats:
        """A close cosine of these rows, from their codes, which must be loaded."""
        near = np.empty(len(slots), np.float32)
        for start in range(0, len(slots), REFINED_ROWS):
            block = slice(start, start + REFINED_ROWS)
            codes = np.take(self.codes, slots[block], axis=0, mode="clip")
            near[block] = products(codes.astype(np.float32), query)
        near *= self.step[slots]
        near += query @ self.mean
        return near


def products(rows: Floats, query: Floats) -> Floats:
    """The product of each row with the query.

    Not `rows @ query`: for more than about 3000 rows OpenBLAS wakes its threads, which then spin
    and took up to ten times the CPU time of the product. `vecdot` multiplies row by row in this
    thread, and leaves the numpy of our caller as it is.
    """
    scores: Floats = np.vecdot(rows, query)
    return scores


def highest(scores: Floats, n: int) -> NDArray[np.intp]:
    """The positions of the `n` highest scores, in no order.

    A full partition of 100 000 scores costs as much as the scan that computed them. A sample gives
    a bound that leaves slightly more than `n`; if the sample misleads, a partition follows.
    """
    if n >= len(scores):
        return np.arange(len(scores))
    if len(scores) > 8 * n:
        sample = scores[::16]
        rank = n // 13 + 8  # A quarter more than n/16, plus 8, against the variance of the sample.
        if rank < len(sample):
            bound = np.partition(sample, len(sample) - rank)[len(sample) - rank]
            above = np.flatnonzero(scores >= bound)
            if n <= len(above) < len(scores) // 2:
                return above[highest(scores[above], n)]
    return np.argpartition(scores, len(scores) - n)[len(scores) - n :]
