"""Measures the scale of a model's cosines once an index has enough vectors; see
`core.calibration`. Costs one or two requests for each index."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from notewell.core import LEAST_CHUNKS, MEASURED_CHUNKS, PROBES, excerpt, scale_of
from notewell.index import UpToDate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.index import Identity, IndexStore
    from notewell.ports import CosineScale, Embedder, Vectors

SPARE = 4
"""So many times more ids are looked up than chunks are needed: ids of removed chunks are gone."""


class _Sample(NamedTuple):
    """Excerpts of chunks and the vectors of these chunks."""

    excerpts: list[str]
    vectors: Vectors


def lacks_scale(store: IndexStore, wanted: Identity) -> bool:
    """Whether an index is large enough to be measured, and was not measured yet."""
    with store.view() as view:
        if view is None or view.identity() != wanted or view.cosine_scale() is not None:
            return False
        return not view.waiting() and view.counts().embedded >= LEAST_CHUNKS


def measure_scale(
    store: IndexStore, embedder: Embedder, wanted: Identity, *, wait_s: float
) -> None:
    """Raises `EmbedderTrouble` and `IndexBusy`."""
    sample = _sample(store, wanted)
    if sample is None:
        return
    scale = _measured(embedder, sample)
    with store.writing(wait_s=wait_s) as writer:
        is_same = isinstance(writer.open_current(), UpToDate) and writer.view.identity() == wanted
        if is_same:
            with writer.transaction():
                writer.set_cosine_scale(scale)


def _sample(store: IndexStore, wanted: Identity) -> _Sample | None:
    with store.view() as view:
        if view is None or view.identity() != wanted:
            return None
        inventory = view.inventory()
        last = inventory.last_id()
        step = max(1, last // (SPARE * MEASURED_CHUNKS))
        ids, vectors = inventory.vectors(range(1, last + 1, step))
        chosen = list(range(0, len(ids), max(1, len(ids) // MEASURED_CHUNKS)))
        chosen = chosen[:MEASURED_CHUNKS]
        chunks = view.chunks(ids[number] for number in chosen)
        excerpts = [excerpt(chunks[ids[number]].text) for number in chosen]
        return _Sample(excerpts, vectors[chosen]) if chosen else None


def _measured(embedder: Embedder, sample: _Sample) -> CosineScale:
    import numpy as np

    texts = [*PROBES, *sample.excerpts]
    rows = np.concatenate([embedder.embed(part, "query") for part in _parts(texts, embedder)])
    return scale_of(rows[: len(PROBES)], rows[len(PROBES) :], sample.vectors)


def _parts(texts: Sequence[str], embedder: Embedder) -> list[Sequence[str]]:
    size = embedder.texts_at_once
    return [texts[start : start + size] for start in range(0, len(texts), size)]
