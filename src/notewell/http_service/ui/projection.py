"""Projects vectors to two dimensions (dimensionality reduction): similar vectors stay close.

    vectors ─PCA─▶ 32 dims ─▶ nearest-neighbour graph ─▶ neighbours attract, random others repel

The algorithm is like UMAP with negative sampling: neighbours attract each other, a few random
points repel each other, both forces decrease with distance, and each step is smaller than the one
before. The random generator is seeded and the first two principal components are the start, so the
same vectors always give the same picture.

All steps work in blocks: 20 000 vectors take seconds, and the full distance matrix never exists.
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
"""A screen cannot show more; a larger index is sampled."""

DIMS = 32
"""The other components of 384 are mostly noise, and the neighbour search is ten times faster."""
NEIGHBOURS = 12
STEPS = 240
NEGATIVE_SAMPLES = 5
"""How many random points repel a point in each step."""
INITIAL_SCALE = 10.0
"""Half width of the initial layout: then an edge is about as long as a neighbourhood."""
MAX_STEP = 4.0
"""Gradient clipping: two points at the same position would fly apart."""
BLOCK_ROWS = 512
"""40 MB of distances to 20 000 points."""
GROUP = 16
SEED = 20_000


def project(vectors: Vectors) -> Floats:
    """Two numbers per row, from -1 to 1, in the order of the rows."""
    import numpy as np

    count = len(vectors)
    if count < 3:
        return np.array([[0.0, 0.0], [0.5, 0.5]], np.float32)[:count]
    from threadpoolctl import threadpool_limits

    # One thread: with several, sums are added in another order and differ in the last digit. The
    # iterations amplify that, and the picture would change from run to run.
    with threadpool_limits(1):
        reduced = _reduce(vectors)
        first, second = _neighbour_pairs(reduced)
        return _fit_to_square(_optimize(_initial_positions(reduced), first, second))


def _reduce(vectors: Vectors) -> Floats:
    """PCA: the components with the largest variance, in descending order."""
    import numpy as np

    mean = vectors.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), BLOCK_ROWS):
        centred = vectors[start : start + BLOCK_ROWS] - mean
        covariance += centred.T @ centred
    _, axes = np.linalg.eigh(covariance)
    axes = axes[:, ::-1][:, :DIMS]
    # The sign of an eigenvector is arbitrary: make its largest component positive.
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    reduced: Floats = (vectors - mean.astype(np.float32)) @ axes.astype(np.float32)
    return reduced


def _neighbour_pairs(points: Floats) -> tuple[Numbers, Numbers]:
    """The edges of the nearest-neighbour graph, each pair once."""
    import numpy as np

    count = len(points)
    neighbours = min(NEIGHBOURS, count - 1)
    squares = (points * points).sum(axis=1)
    nearest = np.empty((count, neighbours), np.int64)
    for start in range(0, count, BLOCK_ROWS):
        rows = slice(start, min(start + BLOCK_ROWS, count))
        distances = np.full((rows.stop - start, -(-count // GROUP) * GROUP), np.inf, np.float32)
        # |a-b|² = |a|² + |b|² - 2ab. |a|² is constant in a row, so the order does not need it.
        distances[:, :count] = squares - 2 * (points[rows] @ points.T)
        distances[np.arange(rows.stop - start), np.arange(start, rows.stop)] = np.inf
        nearest[rows] = _smallest_columns(distances, neighbours)
    point = np.repeat(np.arange(count), neighbours)
    other = nearest.ravel()
    # One number per unordered pair, so that `unique` removes duplicates.
    pairs = np.unique(np.minimum(point, other) * count + np.maximum(point, other))
    return pairs // count, pairs % count


def _smallest_columns(distances: Floats, number: int) -> Numbers:
    """The columns of the `number` smallest values of each row.

    The values lie in at most `number` groups of columns, those with the smallest minima. Selecting
    the groups first takes an eighth of the time of a direct selection.
    """
    import numpy as np

    minima = distances.reshape(len(distances), -1, GROUP).min(axis=2)
    if minima.shape[1] <= number:
        return np.argpartition(distances, number - 1, axis=1)[:, :number]
    groups = np.sort(np.argpartition(minima, number - 1, axis=1)[:, :number], axis=1)
    columns = (groups[:, :, None] * GROUP + np.arange(GROUP)).reshape(len(distances), -1)
    candidates = np.take_along_axis(distances, columns, axis=1)
    best = np.argpartition(candidates, number - 1, axis=1)[:, :number]
    return np.take_along_axis(columns, best, axis=1)


def _initial_positions(reduced: Floats) -> Floats:
    import numpy as np

    plane = np.zeros((len(reduced), 2), np.float32)
    plane[:, : reduced.shape[1]] = reduced[:, :2]
    widest = float(np.abs(plane).max())
    # Identical texts have the same position; a little noise makes all of them visible.
    noise = np.random.default_rng(SEED).normal(0, 1e-3, plane.shape).astype(np.float32)
    return plane * (INITIAL_SCALE / widest if widest else 1.0) + noise


def _optimize(positions: Floats, first: Numbers, second: Numbers) -> Floats:
    import numpy as np

    count = len(positions)
    random = np.random.default_rng(SEED)
    degrees = np.bincount(first, minlength=count) + np.bincount(second, minlength=count)
    weight = (1 / np.maximum(degrees, 1)).astype(np.float32)[:, None]
    points = np.arange(count)
    for step in range(STEPS):
        gap = positions[second] - positions[first]
        attraction = gap / (1 + _squared_norm(gap))
        move = (
            _sum_by_point(attraction, first, count) - _sum_by_point(attraction, second, count)
        ) * weight
        for _ in range(NEGATIVE_SAMPLES):
            # One random shift for all points: as good as random pairs, and much faster to draw.
            others = (points + random.integers(1, count)) % count
            away = positions - positions[others]
            squared = _squared_norm(away)
            # 0.05 keeps the repulsion finite at distance zero.
            move += away / ((0.05 + squared) * (1 + squared)) / NEGATIVE_SAMPLES
        learning_rate = 2.0 * (1 - step / STEPS)
        positions = positions + learning_rate * np.clip(move, -MAX_STEP, MAX_STEP)
    return positions


def _squared_norm(gaps: Floats) -> Floats:
    squared: Floats = (gaps * gaps).sum(axis=1, keepdims=True)
    return squared


def _sum_by_point(forces: Floats, points: Numbers, count: int) -> Floats:
    """The total force on each point. `bincount` adds in order, so the result is reproducible."""
    import numpy as np

    sums = [np.bincount(points, weights=forces[:, axis], minlength=count) for axis in (0, 1)]
    return np.stack(sums, axis=1).astype(np.float32)


def _fit_to_square(positions: Floats) -> Floats:
    """Scales to the square from -1 to 1 by a quantile: outliers must not shrink the rest."""
    import numpy as np

    middle = np.median(positions, axis=0)
    extent = float(np.quantile(np.abs(positions - middle), 0.995)) or 1.0
    fitted: Floats = np.clip((positions - middle) / (extent * 1.05), -1, 1).astype(np.float32)
    return fitted
