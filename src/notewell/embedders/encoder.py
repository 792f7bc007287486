"""Runs the embedded model: int8, by onnxruntime, on the CPU, one text in each run.

    text ──▶ word pieces ──▶ parts of at most 512 ──▶ states ──┬──▶ first row: the text
                                                               └──▶ mean of some rows: a window

The model was trained so that the mean of the states of a window, in one pass over the text around
it, is a vector of that window ("late chunking").
Batches of padded texts were slower and took three times the memory.
"""

from __future__ import annotations

import math
import os
import threading
from typing import TYPE_CHECKING, Any

from notewell.core import pack_windows
from notewell.embedders.lazy_model import PROVIDER
from notewell.embedders.vectors import unit_vector
from notewell.errors import EmbedderFailed, EmbedderMissing
from notewell.native_calls import native_calls
from notewell.ports import WindowedVector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from notewell.embedders.wordpiece import WordPiece
    from notewell.ports import Kind, SplitText, Vectors

QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
"""The model was trained with this text before a query; documents have none."""

PART_PIECES = 512
"""What the model reads in one run, including [CLS] and [SEP]."""

MAX_PARTS = 8
"""A chunk of 1600 characters needs at most four; a longer text is cut off after eight."""


class Encoder:
    """The runtime with the mapped weights. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        # Recent releases of onnxruntime send telemetry by default. Notewell sends none.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:
            with native_calls():
                import onnxruntime
                from onnxruntime.capi import onnxruntime_pybind11_state as native
        except ImportError as error:
            raise EmbedderMissing(
                PROVIDER, f"onnxruntime cannot be imported ({error})", "reinstall notewell"
            ) from error
        from notewell.embedders.wordpiece import WordPiece

        # Its exceptions have no common base class, so we catch every one that it defines. The
        # bindings add RuntimeError for C++ exceptions and ValueError for bad arguments.
        foreign = (*_exceptions_in(native), OSError, RuntimeError, ValueError)
        self._foreign: tuple[type[Exception], ...] = foreign
        self._runtime = onnxruntime
        # The runtime refuses weights behind a link that leads out of the folder of the graph, and
        # some installers make links to one folder that has both.
        self._graph = (folder / "model.onnx").resolve()
        self._lock = threading.Lock()
        self._runs = 0
        # A damaged vocabulary may lack [UNK], a damaged table its tabs: a lookup fails.
        unloadable: tuple[type[Exception], ...] = (*foreign, LookupError)
        try:
            self._pieces = WordPiece.load(folder / "vocab.txt", folder / "traditional.tsv")
            self._before_query = self._pieces.pieces(QUERY_PREFIX)
            self._session = self._open(packed=False)
        except unloadable as error:
            raise EmbedderFailed(PROVIDER, f"the model does not load: {error}") from error

    def vector(self, text: str, kind: Kind) -> Vectors:
        before = self._before_query if kind == "query" else []
        return _mean_of(self._states(self._pieces.pieces(text), before))

    def windowed(self, text: SplitText) -> WindowedVector:
        """The vector of a text and those of its windows, out of one pass."""
        import numpy as np

        ids, spans = window_ids(text, self._pieces)
        parts = self._states(ids)
        vector = _mean_of(parts)
        # One row for each id: without [CLS] and [SEP]. A window may be in two parts.
        rows = np.concatenate([part[1:-1] for part in parts])
        windows = (rows[first:end] for first, end in spans)
        # A window without pieces, or behind the last part, is as near as the text.
        means = [unit_vector(w.mean(axis=0), PROVIDER) if len(w) else vector for w in windows]
        return WindowedVector(vector, pack_windows(means))

    def _states(self, ids: Sequence[int], before: Sequence[int] = ()) -> list[Vectors]:
        """The states of each part of a text, with [CLS], `before` and [SEP] around it."""
        return [
            self._run([self._pieces.first, *before, *part, self._pieces.last])
            for part in _parts(ids, PART_PIECES - 2 - len(before))
        ]

    def _run(self, ids: list[int]) -> Vectors:
        import numpy as np

        try:
            feed = {"input_ids": np.array([ids], dtype=np.int64)}
            session = self._ready_session()
            with native_calls():
                (states,) = session.run(None, feed)
        except self._foreign as error:
            raise EmbedderFailed(PROVIDER, f"the model did not run: {error}") from error
        rows: Vectors = states[0]
        return rows

    def _ready_session(self) -> Any:
        """The weights are packed for the second run: that makes a run a third faster and takes
        as long as ten questions. A process that asks one question does without."""
        with self._lock:
            self._runs += 1
            if self._runs == 2:
                self._session = self._open(packed=True)
            return self._session

    def _open(self, *, packed: bool) -> Any:
        options = self._runtime.SessionOptions()
        # Texts are run side by side, each by the thread of its caller.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # Texts differ in length, so the arena would only grow.
        options.enable_cpu_mem_arena = False
        # To plan which arrays share memory takes half of the time of opening; one run gains
        # nothing from it.
        options.enable_mem_reuse = packed
        options.log_severity_level = 3  # Errors only; its warnings are about the graph.
        # The graph has the fused operators already.
        options.graph_optimization_level = self._runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.disable_prepacking", "0" if packed else "1")
        with native_calls():
            return self._runtime.InferenceSession(
                str(self._graph), options, providers=["CPUExecutionProvider"]
            )


def window_ids(text: SplitText, pieces: WordPiece) -> tuple[list[int], list[tuple[int, int]]]:
    """The ids of a text, and of each window the first id and the end. The text is cut at the
    edges of the windows, so that no piece is in two of them. Training uses this, too."""
    ids: list[int] = []
    spans: list[tuple[int, int]] = []
    done = 0
    for window in text.windows:
        ids += pieces.pieces(text.text[done : window.start])
        first = len(ids)
        ids += pieces.pieces(text.text[window.start : window.end])
        spans.append((first, len(ids)))
        done = window.end
    return ids + pieces.pieces(text.text[done:]), spans


def _parts(ids: Sequence[int], room: int) -> Iterator[Sequence[int]]:
    """As few parts as possible, of equal length: a short last part would count as much as a long
    one in the mean."""
    count = min(max(1, math.ceil(len(ids) / room)), MAX_PARTS)
    length = min(math.ceil(len(ids) / count), room)
    for number in range(count):
        yield ids[number * length : (number + 1) * length]


def _mean_of(parts: Sequence[Vectors]) -> Vectors:
    """One vector for the complete text: the mean of its parts, each of length 1."""
    rows = [unit_vector(part[0], PROVIDER) for part in parts]
    return rows[0] if len(rows) == 1 else unit_vector(sum(rows[1:], start=rows[0]), PROVIDER)


def _exceptions_in(module: Any) -> tuple[type[Exception], ...]:
    return tuple(
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Exception)
    )
