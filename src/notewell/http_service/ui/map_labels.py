"""Names for the regions of the map: k-means on the plane, and the words that a region has most.

    level 0   a dozen large regions, always shown
    level 1   their parts, shown when one zooms in
    level 2   parts of those

A word names a region if it is frequent there and rarer elsewhere. No word names two regions of one
level, so that a name can be trusted. Everything is seeded: the same map has the same names.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from notewell.core import read_front_matter

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Floats = NDArray[np.float32]

LEVELS = (12, 60, 240)
"""Regions of each level on a full map. A small map has fewer: see `POINTS_PER_REGION`."""
POINTS_PER_REGION = (12, 8, 6)
PLACE_WEIGHT = 1.3
"""How much the position of a point counts against its vector, which has the length 1."""
ROUNDS = 12
SEED = 20_000
HEADING_WEIGHT = 4
"""A word of a heading says more about a text than one of its sentences."""
MIN_SHARE = 0.08
"""Of the points of a region that must have a word, so that one long note does not name it."""
MAX_CHARS_READ = 600
WORDS_PER_NAME = 2

_WORD = re.compile(r"[^\W\d_]{3,24}")
_CJK = re.compile(r"[\u3400-\u9fff]{2,}")
_ADDRESS = re.compile(r"\]\([^)]*\)|https?://\S+")
_SPEAKER = re.compile(r"^[\s>*_-]*(?:user|assistant)[*_]*:", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}\s", re.MULTILINE)
_NOISE_WORDS = """
    all also and any are been but can com does each for from has have here how http https img into
    its just like may more must new not now one only other our out per related see set should some
    such summary than that the their them then there these they this title two use used uses using
    via want was way were what when which will with without would www you your
"""
_NOISE = frozenset(_NOISE_WORDS.split())
_CJK_NOISE = frozenset(
    "一不与並个为之也了于些他以们但個們其到可和在她它对将將對就己并很您我或所把於是有此每沒没為由的而至與被該請讓让该请还这這還那都"
)
"""Characters that join words or stand for them: a pair with one of them names nothing."""


class Label(NamedTuple):
    x: float
    y: float
    level: int
    region: int
    """The region of level 0 that it belongs to: it has the same colour."""
    text: str
    points: int


def words_of(text: str) -> Counter[str]:
    """The words of a chunk that can name a region, each counted once, or more in a heading."""
    words: Counter[str] = Counter()
    lines = text[:MAX_CHARS_READ].split("\n")
    # The names of front matter are in every note that has some.
    _, front_lines = read_front_matter(lines)
    for line in lines[front_lines:]:
        # The language of a block of code is in hundreds of notes.
        if line.lstrip().startswith("```"):
            continue
        weight = HEADING_WEIGHT if _HEADING.match(line) else 1
        for word in _terms(_ADDRESS.sub(" ", _SPEAKER.sub("", line))):
            words[word] = max(words[word], weight)
    return words


def _terms(line: str) -> set[str]:
    spaced = {word.casefold() for word in _WORD.findall(line) if not _CJK.search(word)}
    pairs = {run[at : at + 2] for run in _CJK.findall(line) for at in range(len(run) - 1)}
    return (spaced - _NOISE) | {pair for pair in pairs if not _CJK_NOISE.intersection(pair)}


def label_map(
    positions: Floats, vectors: Floats, words: Sequence[Counter[str]]
) -> tuple[Numbers, tuple[Label, ...]]:
    """The large region of each point, and the names of the regions of all levels."""
    import numpy as np

    count = len(positions)
    labels: list[Label] = []
    regions = np.zeros(count, np.int64)
    everywhere = Counter(word for chunk in words for word in chunk)
    last = 1
    for level, most in enumerate(LEVELS):
        wanted = min(most, count // POINTS_PER_REGION[level])
        # A level that hardly divides the one before would only repeat its names.
        if wanted < last * 2:
            continue
        last = wanted
        if level == 0:
            # With their vectors: where two regions meet, the meaning of a point decides.
            members = regions = _k_means(np.hstack([positions * PLACE_WEIGHT, vectors]), wanted)
        else:
            members = _k_means(positions, wanted)
        labels += _level_labels(level, positions, members, regions, words, everywhere)
    return regions, tuple(labels)


def _level_labels(
    level: int,
    positions: Floats,
    members: Numbers,
    regions: Numbers,
    words: Sequence[Counter[str]],
    everywhere: Counter[str],
) -> list[Label]:
    import numpy as np

    labels, taken = [], set[str]()
    sizes = np.bincount(members)
    # The largest first: it gets the word that two regions could have.
    for region in np.argsort(-sizes, kind="stable").tolist():
        points = np.flatnonzero(members == region)
        if len(points) < POINTS_PER_REGION[level] // 2:
            continue
        name = _name([words[at] for at in points.tolist()], everywhere, len(words), taken)
        if not name:
            continue
        taken.update(name)
        x, y = (round(float(one), 4) for one in np.median(positions[points], axis=0))
        inside = int(np.bincount(regions[points]).argmax())
        labels.append(Label(x, y, level, inside, " · ".join(name), len(points)))
    return labels


def _name(
    chunks: Sequence[Counter[str]], everywhere: Counter[str], total: int, taken: set[str]
) -> list[str]:
    present = Counter(word for chunk in chunks for word in chunk)
    weights: Counter[str] = Counter()
    for chunk in chunks:
        weights.update(chunk)
    least = max(2, math.ceil(MIN_SHARE * len(chunks)))
    scores = {
        word: weight / len(chunks) * lift
        for word, weight in weights.items()
        if present[word] >= least
        and word not in taken
        # How much more frequent it is here than everywhere.
        and (lift := math.log(present[word] / len(chunks) * total / everywhere[word])) > 0
    }
    best: list[str] = []
    # By the word, too: equal scores must not depend on the order of a dictionary.
    for word in sorted(scores, key=lambda one: (-scores[one], one)):
        # `plugin` beside `plugins` says nothing new.
        if all(word[:4] != other[:4] for other in best):
            best.append(word)
        if len(best) == WORDS_PER_NAME:
            break
    return best


def _k_means(points: Floats, wanted: int) -> Numbers:
    """The number of the nearest centre of each point."""
    import numpy as np

    random = np.random.default_rng(SEED)
    # Spread out: each next centre is the point farthest from all centres so far, among a
    # random sample, so that outliers do not take all of them.
    sample = points[random.permutation(len(points))[: 20 * wanted]]
    centres = np.empty((wanted, points.shape[1]), np.float32)
    centres[0] = sample[0]
    gaps = ((sample - centres[0]) ** 2).sum(axis=1)
    for number in range(1, wanted):
        centres[number] = sample[int((gaps * random.random(len(sample))).argmax())]
        gaps = np.minimum(gaps, ((sample - centres[number]) ** 2).sum(axis=1))
    for _ in range(ROUNDS):
        members = _nearest(points, centres)
        sizes = np.maximum(np.bincount(members, minlength=wanted), 1)
        for axis in range(points.shape[1]):
            sums = np.bincount(members, weights=points[:, axis], minlength=wanted)
            centres[:, axis] = sums / sizes
    return _nearest(points, centres)


def _nearest(points: Floats, centres: Floats) -> Numbers:
    # |a-b|² without |a|², which is the same for all centres of a point.
    distances = (centres * centres).sum(axis=1) - 2 * (points @ centres.T)
    nearest: Numbers = distances.argmin(axis=1)
    return nearest
