"""The embedder that works right after installation: offline, without a key or a download.

    text ──▶ word pieces ──▶ windows of at most 512 ──▶ model ──▶ first row of each ──▶ mean

The model is snowflake-arctic-embed-s in int8, run by onnxruntime on the CPU, one text in each
run: batches of padded texts were slower and took three times the memory.

Making the object costs nothing. The first `embed` loads the runtime and the weights, once, after
it has checked the digests of the files: 25 ms for 34 MB, little compared with the loading.
"""

from __future__ import annotations

import math
import os
import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from notewell.core import pack_windows
from notewell.embedders import weights
from notewell.embedders.vectors import unit_vector
from notewell.errors import EmbedderFailed, EmbedderMissing
from notewell.ports import Lacking, ModelFacts, VectorWeights, WindowedVector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from notewell.ports import Kind, SplitText, Vectors

PROVIDER = "embedded"

FACTS = ModelFacts(
    provider=PROVIDER,
    model="snowflake-arctic-embed-s-int8",
    dims=384,
    chunk_tokens=400,
    scripts=frozenset({"latin"}),
    weights=VectorWeights(least=0.35, sure=0.65),
    # Measured on six English question sets (documentation, conversations, code, articles): the
    # median cosine of a passage that does not answer was .46 to .61, and 95 % of the answers
    # stayed below .81. A floor slightly below most wrong passages keeps an order among them.
    # With its best window a long chunk is nearer by .01. Both limits stay as they are: a short
    # chunk has no windows.
    cosine_floor=0.5,
    cosine_ceiling=0.81,
    window_share=0.5,
)

QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
"""The model was trained with this text before a query; documents have none."""

WINDOW_PIECES = 512
"""What the model reads in one run, including [CLS] and [SEP]."""

MAX_WINDOWS = 8
"""A chunk of 1600 characters needs at most four; a longer text is cut off after eight."""

THREADS = 2
"""Measured on two free cores: 1.75 times the throughput of one thread for 7 % more CPU time. It
is still faster with one core busy, and the vectors are identical to the last bit."""

TEXTS_AT_ONCE = 8
"""About a second of one core: the most work that a kill can lose."""

PULL = "run `notewell model pull`"


M = TypeVar("M")


class LazyModel(Generic[M]):
    """Loads a model once, at its first use, from the first folder with intact files. Thread-safe.

    Both embedded models use it.
    """

    def __init__(
        self,
        files: weights.ModelFiles,
        folders: Sequence[Path],
        load: Callable[[Path], M],
        pull: str,
    ) -> None:
        """`pull` is the action that an error message proposes."""
        self._files = files
        self._folders = tuple(folders)
        self._load = load
        self._pull = pull
        self._lock = threading.Lock()
        self._model: M | None = None

    def missing(self) -> Lacking | None:
        """Checks names and sizes only, because `status` calls it; `get` checks the digests."""
        if any(weights.is_complete(folder, self._files) for folder in self._folders):
            return None
        return Lacking(f"the weights of {self._files.name} are not there", self._pull)

    def get(self) -> M:
        with self._lock:
            if self._model is None:
                self._model = self._load(self._intact_folder())
            return self._model

    def _intact_folder(self) -> Path:
        folder = weights.find(self._folders, self._files)
        if folder is not None:
            return folder
        problems = [
            # None: another process has repaired it since `find` looked.
            weights.problem(folder, self._files) or "intact by now"
            for folder in self._folders
        ]
        raise EmbedderMissing(
            PROVIDER, "; ".join(problems) or "no folder to look for weights in", self._pull
        )


class EmbeddedEmbedder:
    """Uses the first folder of `folders` that contains intact weights."""

    def __init__(self, folders: Sequence[Path], *, threads: int = THREADS) -> None:
        self._model = LazyModel(
            weights.ARCTIC_EMBED_S, folders, lambda folder: _Model(folder, threads), PULL
        )

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
        model = self._model.get()
        prefix = QUERY_PREFIX if kind == "query" else ""
        return np.stack([model.vector(text, prefix) for text in texts])

    def embed_windows(self, texts: Sequence[SplitText]) -> list[WindowedVector]:
        """Each window is a text of its own: the token states of one pass over the chunk are no
        vectors of windows under this model (see docs/ranking.md)."""
        model = self._model.get()
        return [
            WindowedVector(
                model.vector(text.text, ""),
                pack_windows([model.vector(window, "") for window in text.window_texts()]),
            )
            for text in texts
        ]


class _Model:
    """The runtime with the loaded weights. Thread-safe."""

    def __init__(self, folder: Path, threads: int) -> None:
        # Recent releases of onnxruntime send telemetry by default. Notewell sends none.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:
            import onnxruntime
            from onnxruntime.capi import onnxruntime_pybind11_state as native
        except ImportError as error:
            raise EmbedderMissing(
                PROVIDER, f"onnxruntime cannot be imported ({error})", "reinstall notewell"
            ) from error
        # Its exceptions have no common base class, so we catch every one that it defines. The
        # bindings add RuntimeError for C++ exceptions and ValueError for bad arguments.
        foreign = (*_exceptions_in(native), OSError, RuntimeError, ValueError)
        self._foreign: tuple[type[Exception], ...] = foreign
        from notewell.embedders.wordpiece import WordPiece

        try:
            self._pieces = WordPiece.load(folder / "vocab.txt")
            self._session = onnxruntime.InferenceSession(
                str(folder / "model.onnx"),
                _session_options(onnxruntime, threads),
                providers=["CPUExecutionProvider"],
            )
        except self._foreign as error:
            raise EmbedderFailed(PROVIDER, f"the model does not load: {error}") from error

    def vector(self, text: str, prefix: str) -> Vectors:
        """One vector for the complete text: the mean of its windows, each of length 1."""
        rows = [self._window_vector(window) for window in self._windows(text, prefix)]
        return rows[0] if len(rows) == 1 else unit_vector(sum(rows[1:], start=rows[0]), PROVIDER)

    def _windows(self, text: str, prefix: str) -> Iterator[list[int]]:
        """As few windows as possible, of equal length: a short last window would count as much as
        a long one in the mean."""
        before = self._pieces.pieces(prefix)
        pieces = self._pieces.pieces(text)
        room = WINDOW_PIECES - 2 - len(before)
        count = min(max(1, math.ceil(len(pieces) / room)), MAX_WINDOWS)
        length = min(math.ceil(len(pieces) / count), room)
        for number in range(count):
            part = pieces[number * length : (number + 1) * length]
            yield [self._pieces.first, *before, *part, self._pieces.last]

    def _window_vector(self, window: list[int]) -> Vectors:
        import numpy as np

        ids = np.array([window], dtype=np.int64)
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        try:
            (states,) = self._session.run(None, feed)
        except self._foreign as error:
            raise EmbedderFailed(PROVIDER, f"the model did not run: {error}") from error
        return unit_vector(states[0, 0], PROVIDER)


def _session_options(onnxruntime: Any, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # Texts differ in length, so the arena would only grow.
    options.log_severity_level = 3  # Errors only; its warnings are about the graph of the model.
    # A thread that spins while it waits takes the CPU from the thread that it waits for.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _exceptions_in(module: Any) -> tuple[type[Exception], ...]:
    return tuple(
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Exception)
    )
