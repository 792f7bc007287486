"""A model on this machine that is loaded at its first use. Both embedded models use it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from notewell.embedders import weights
from notewell.errors import EmbedderFailed, EmbedderMissing
from notewell.ports import Lacking

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from notewell.ports import Kind

M = TypeVar("M")

PROVIDER = "embedded"


class LazyModel(Generic[M]):
    """Loaded once. Thread-safe.

    Before documents are embedded, the digests of the files are checked: their vectors are kept. A
    question compares sizes only, because it must be quick.
    """

    def __init__(
        self, files: weights.ModelFiles, folder: Path, load: Callable[[Path], M], action: str
    ) -> None:
        """`action` is what an error message proposes if the files are not there."""
        self._files = files
        self._folder = folder
        self._load = load
        self._action = action
        self._lock = threading.Lock()
        self._is_verified = False
        self._model: M | None = None

    def missing(self) -> Lacking | None:
        """Checks names and sizes only, because `status` calls it."""
        if weights.is_complete(self._folder, self._files):
            return None
        return Lacking(f"the weights of {self._files.name} are not there", self._action)

    def get(self, kind: Kind) -> M:
        with self._lock:
            if kind == "document" and not self._is_verified:
                self._check(digests=True)
                self._is_verified = True
            if self._model is None:
                self._check(digests=False)
                self._model = self._loaded()
            return self._model

    def _loaded(self) -> M:
        try:
            return self._load(self._folder)
        except EmbedderFailed:
            # Of a damaged file the runtime says less than the digests do.
            self._check(digests=True)
            raise

    def _check(self, *, digests: bool) -> None:
        if defect := weights.problem(self._folder, self._files, digests=digests):
            raise EmbedderMissing(PROVIDER, defect, self._action)
