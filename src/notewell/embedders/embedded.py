"""The embedder that works right after install: offline, without a key and without a download.

    text -> word pieces -> windows of at most 512 -> model -> first row of each -> mean -> length 1

The model is snowflake-arctic-embed-s in int8, run by onnxruntime on the CPU, one text a run:
batches of padded texts were slower and took three times the memory.

Making the object costs nothing. The first `embed` loads the runtime and the weights, once,
after the digests of the files were checked: 34 MB take some 25 ms, little beside the loading.
"""

from __future__ import annotations

import math
import os
import threading
from typing import TYPE_CHECKING, Any

from notewell.embedders import weights
from notewell.errors import EmbedderFailed, EmbedderMissing
from notewell.ports import ModelFacts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from notewell.ports import Kind, Vectors

PROVIDER = "embedded"

FACTS = ModelFacts(
    provider=PROVIDER,
    model="snowflake-arctic-embed-s-int8",
    dims=384,
    chunk_tokens=400,
    scripts="latin",
    vector_weight=0.35,
    vector_weight_sure=0.65,
    # On six English sets of questions (documentation, conversations, code, articles) a passage
    # that does not answer had a cosine of .46 to .61 in the middle; nineteen in twenty answers
    # stayed below .81. A floor a little under most strangers keeps an order among them.
    cosine_floor=0.5,
    cosine_ceiling=0.81,
)

QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
"""The words the model was trained to see before a question; documents have none."""

WINDOW_PIECES = 512
"""What the model can look at in one run, with [CLS] and [SEP]."""

MAX_WINDOWS = 8
"""A chunk of 1600 characters needs four at the very worst; what is no chunk is cut after eight."""

THREADS = 2
"""On two free cores 1.75 times the chunks a second of one thread for 7 % more work, still ahead
with one core busy, and the same vectors to the last bit."""

TEXTS_AT_ONCE = 8
"""About a second of one core: all that a kill may cost."""

PULL = "run `notewell model pull`"


class EmbeddedEmbedder:
    """Looks for the weights in `folders`, in that order, and takes the first sound copy."""

    def __init__(self, folders: Sequence[Path], *, threads: int = THREADS) -> None:
        self._folders = tuple(folders)
        self._threads = threads
        self._loading = threading.Lock()
        self._model: _Model | None = None

    @property
    def facts(self) -> ModelFacts:
        return FACTS

    @property
    def texts_at_once(self) -> int:
        return TEXTS_AT_ONCE

    def missing(self) -> str | None:
        """Told from the names of the files alone; a damaged one shows when it is loaded."""
        if any(weights.is_complete(folder) for folder in self._folders):
            return None
        return f"the weights are not there; {PULL}"

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        import numpy as np

        if not texts:
            return np.empty((0, FACTS.dims), dtype=np.float32)
        model = self._loaded()
        prefix = QUERY_PREFIX if kind == "query" else ""
        return np.stack([model.vector(text, prefix) for text in texts])

    def _loaded(self) -> _Model:
        with self._loading:
            if self._model is None:
                self._model = _Model(_sound_folder(self._folders), self._threads)
            return self._model


class _Model:
    """The runtime with the weights in it; runs may come from several threads."""

    def __init__(self, folder: Path, threads: int) -> None:
        # Recent releases report to their makers unless told not to; nobody hears from us.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:
            import onnxruntime
            from onnxruntime.capi import onnxruntime_pybind11_state as native
        except ImportError as error:
            raise EmbedderMissing(
                PROVIDER, f"onnxruntime cannot be imported ({error})", "reinstall notewell"
            ) from error
        # Its errors have no common root, so we take every one there is; the bindings add
        # RuntimeError for what C++ throws and ValueError for arguments they do not like.
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
        """One vector for the whole text: the mean of its windows, each of length 1."""
        rows = [self._window_vector(window) for window in self._windows(text, prefix)]
        return rows[0] if len(rows) == 1 else _unit(sum(rows[1:], start=rows[0]))

    def _windows(self, text: str, prefix: str) -> Iterator[list[int]]:
        """As few windows as will do, of equal length: a short rest would weigh like a long one."""
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
        return _unit(states[0, 0])


def _sound_folder(folders: Sequence[Path]) -> Path:
    folder = weights.find(folders)
    if folder is not None:
        return folder
    problems = [weights.problem(folder) or "sound by now" for folder in folders]
    raise EmbedderMissing(
        PROVIDER, "; ".join(problems) or "no folder to look for weights in", PULL
    )


def _session_options(onnxruntime: Any, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # texts differ in length; the arena would only grow
    options.log_severity_level = 3  # errors; its warnings are about graphs, not about us
    # A waiting thread that spins takes the processor from the work it waits for.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _exceptions_in(module: Any) -> tuple[type[Exception], ...]:
    return tuple(
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Exception)
    )


def _unit(row: Vectors) -> Vectors:
    """Length 1, so that a dot product is the cosine; what has no direction is refused."""
    import numpy as np

    length = float(np.linalg.norm(row.astype(np.float64)))
    if not math.isfinite(length) or length < 1e-6:
        raise EmbedderFailed(PROVIDER, f"the model gave a vector of length {length}")
    return (row / length).astype(np.float32)
