"""Vectors to places on a sheet: what means something near lies near.

    vectors ─PCA─▶ 32 dims ─▶ who is nearest to whom ─▶ springs between those, shoving elsewhere

The shape is that of t-SNE and UMAP: neighbours pull, a few others chosen by lot push, both weaker
with distance, and every step is smaller than the one before. Chance is seeded and the start is the
plane of most spread, so that the same vectors give the same picture.

Everything is done in blocks: 20 000 vectors take seconds, and never the matrix of all with all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notewell.ports import Vectors

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

MAX_POINTS = 20_000
"""More cannot be told apart on a screen; above, every n-th is taken."""

DIMS = 32
"""What is left out of 384 is mostly noise, and a neighbour is found in a tenth of the time."""
NEIGHBOURS = 12
STEPS = 240
PUSHED = 5
"""By how many others, chosen by lot, a point is pushed in each step."""
STRETCH = 10.0
"""The first picture is so wide that a spring is about as long as a neighbourhood."""
REACH = 4.0
"""No single step goes further: two points on one spot would fly apart."""
BLOCK_ROWS = 512
"""40 MB of distances to 20 000 others."""
GROUP = 16
SEED = 20_000


def layout(vectors: Vectors) -> Floats:
    """Two numbers a row, from -1 to 1, in the order of the rows."""
    import numpy as np

    count = len(vectors)
    if count < 3:
        return np.array([[0.0, 0.0], [0.5, 0.5]], np.float32)[:count]
    from threadpoolctl import threadpool_limits

    # One thread: sums in another order differ in the last digit, and springs make much of that.
    with threadpool_limits(1):
        reduced = _reduced(vectors)
        first, second = _springs(reduced)
        return _fitted(_settled(_start(reduced), first, second))


def _reduced(vectors: Vectors) -> Floats:
    """The directions of most spread, the widest first."""
    import numpy as np

    mean = vectors.mean(axis=0, dtype=np.float64)
    spread = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), BLOCK_ROWS):
        centred = vectors[start : start + BLOCK_ROWS] - mean
        spread += centred.T @ centred
    _, axes = np.linalg.eigh(spread)
    axes = axes[:, ::-1][:, :DIMS]
    # An axis and its opposite are the same to algebra; its largest part shall be positive.
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    reduced: Floats = (vectors - mean.astype(np.float32)) @ axes.astype(np.float32)
    return reduced


def _springs(points: Floats) -> tuple[Numbers, Numbers]:
    """Between each point and its nearest, each pair once."""
    import numpy as np

    count = len(points)
    most = min(NEIGHBOURS, count - 1)
    squares = (points * points).sum(axis=1)
    near = np.empty((count, most), np.int64)
    for start in range(0, count, BLOCK_ROWS):
        rows = slice(start, min(start + BLOCK_ROWS, count))
        distances = np.full((rows.stop - start, -(-count // GROUP) * GROUP), np.inf, np.float32)
        # |a|² is the same along a row: the order needs only |b|² - 2ab.
        distances[:, :count] = squares - 2 * (points[rows] @ points.T)
        distances[np.arange(rows.stop - start), np.arange(start, rows.stop)] = np.inf
        near[rows] = _least(distances, most)
    one = np.repeat(np.arange(count), most)
    other = near.ravel()
    pairs = np.unique(np.minimum(one, other) * count + np.maximum(one, other))
    return pairs // count, pairs % count


def _least(distances: Floats, most: int) -> Numbers:
    """The columns of the least numbers of each row.

    They lie in as many groups of columns at most, those with the least minima: to sort out the
    groups first takes an eighth of the time.
    """
    import numpy as np

    minima = distances.reshape(len(distances), -1, GROUP).min(axis=2)
    if minima.shape[1] <= most:
        return np.argpartition(distances, most - 1, axis=1)[:, :most]
    groups = np.sort(np.argpartition(minima, most - 1, axis=1)[:, :most], axis=1)
    columns = (groups[:, :, None] * GROUP + np.arange(GROUP)).reshape(len(distances), -1)
    held = np.take_along_axis(distances, columns, axis=1)
    best = np.argpartition(held, most - 1, axis=1)[:, :most]
    return np.take_along_axis(columns, best, axis=1)


def _start(reduced: Floats) -> Floats:
    import numpy as np

    plane = np.zeros((len(reduced), 2), np.float32)
    plane[:, : reduced.shape[1]] = reduced[:, :2]
    widest = float(np.abs(plane).max())
    # Texts that are all the same lie on one spot; a little noise lets them be seen.
    noise = np.random.default_rng(SEED).normal(0, 1e-3, plane.shape).astype(np.float32)
    return plane * (STRETCH / widest if widest else 1.0) + noise


def _settled(places: Floats, first: Numbers, second: Numbers) -> Floats:
    import numpy as np

    count = len(places)
    chance = np.random.default_rng(SEED)
    springs = np.bincount(first, minlength=count) + np.bincount(second, minlength=count)
    weight = (1 / np.maximum(springs, 1)).astype(np.float32)[:, None]
    everyone = np.arange(count)
    for step in range(STEPS):
        gap = places[second] - places[first]
        pull = gap / (1 + _squared(gap))
        move = (_summed(pull, first, count) - _summed(pull, second, count)) * weight
        for _ in range(PUSHED):
            others = (everyone + chance.integers(1, count)) % count
            away = places - places[others]
            squared = _squared(away)
            move += away / ((0.05 + squared) * (1 + squared)) / PUSHED
        stride = 2.0 * (1 - step / STEPS)
        places = places + stride * np.clip(move, -REACH, REACH)
    return places


def _squared(gaps: Floats) -> Floats:
    squared: Floats = (gaps * gaps).sum(axis=1, keepdims=True)
    return squared


def _summed(forces: Floats, at: Numbers, count: int) -> Floats:
    """What acts on each point; `bincount` adds in order, so that the sum is always the same."""
    import numpy as np

    sums = [np.bincount(at, weights=forces[:, axis], minlength=count) for axis in (0, 1)]
    return np.stack(sums, axis=1).astype(np.float32)


def _fitted(places: Floats) -> Floats:
    """Into the square from -1 to 1; a few that flew far must not make specks of all others."""
    import numpy as np

    middle = np.median(places, axis=0)
    reach = float(np.quantile(np.abs(places - middle), 0.995)) or 1.0
    fitted: Floats = np.clip((places - middle) / (reach * 1.05), -1, 1).astype(np.float32)
    return fitted
