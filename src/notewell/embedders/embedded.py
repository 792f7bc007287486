"""The embedder that works right after installation: offline, without a key or a download.

The model is our own, `notewell-embed`; `encoder.py` runs it. The folder `model/` of the repository
has everything that made it. Making the object costs nothing: the first `embed` loads the runtime
and maps the weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from notewell.embedders import weights
from notewell.embedders.lazy_model import PROVIDER, LazyModel
from notewell.ports import ModelFacts, VectorWeights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from notewell.embedders.encoder import Encoder
    from notewell.ports import Kind, Lacking, SplitText, Vectors, WindowedVector

FACTS = ModelFacts(
    provider=PROVIDER,
    model=weights.FULL_NAME,
    dims=384,
    chunk_tokens=400,
    scripts=frozenset({"latin", "han"}),
    # Measured on question sets in English (documentation, conversations, code, articles), in
    # Chinese, and across both: see docs/ranking.md.
    weights=VectorWeights(
        least=0.42,
        sure=0.65,
        same_script=0.4,
        same_script_long=0.12,
        across_scripts=0.8,
        code=0.85,
    ),
    # A floor slightly below most wrong passages keeps an order among them.
    cosine_floor=0.45,
    cosine_ceiling=0.81,
    window_share=0.8,
)

THREADS = 2
"""So many texts are embedded side by side, each by one thread. Two threads for one text took 9 %
more CPU time, and their throughput was lower."""

TEXTS_AT_ONCE = 8
"""Less than a second of one core: the most work that a kill can lose."""

REINSTALL = "reinstall notewell"

T = TypeVar("T")
R = TypeVar("R")


class EmbeddedEmbedder:
    """Uses the weights in `folder`."""

    def __init__(self, folder: Path, *, threads: int = THREADS) -> None:
        self._model = LazyModel(weights.NOTEWELL_EMBED, folder, _open, REINSTALL)
        self._threads = threads

    @property
    def facts(self) -> ModelFacts:
        return FACTS

    @property
    def texts_at_once(self) -> int:
        return TEXTS_AT_ONCE

    def missing(self) -> Lacking | None:
        return self._model.missing()

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        import numpy as np

        if not texts:
            return np.empty((0, FACTS.dims), dtype=np.float32)
        encoder = self._model.get(kind)
        return np.stack(self._map(lambda text: encoder.vector(text, kind), texts))

    def embed_windows(self, texts: Sequence[SplitText]) -> list[WindowedVector]:
        """Windows cost nothing: they come out of the same pass as the vector of the text."""
        return self._map(self._model.get("document").windowed, texts)

    def _map(self, embed: Callable[[T], R], texts: Sequence[T]) -> list[R]:
        if len(texts) == 1 or self._threads == 1:
            return [embed(text) for text in texts]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._threads) as pool:
            try:
                rows = pool.map(embed, texts)
            except RuntimeError:
                # No thread can be started: the process ends, or the system allows no more.
                rows = map(embed, texts)
            return list(rows)


def _open(folder: Path) -> Encoder:
    from notewell.embedders.encoder import Encoder  # Not needed by a search for words.

    return Encoder(folder)
